"""Help names every mechanism and method that is registered, and loads them only to say so."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from sottovoce import AWARE_METHODS, MECHANISMS, METHODS
from sottovoce.cli.app import app
from sottovoce.cli.command_classes import with_names


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("infer", [*METHODS, *AWARE_METHODS]),
        ("guarantee", MECHANISMS),
        ("perturb", MECHANISMS),
        ("campaign create", MECHANISMS),
    ],
)
def test_help_names_all_there_are(command: str, names: list[str]) -> None:
    said = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "80"}).output
    assert [name for name in names if name not in said] == []
    assert "s}" not in said


def test_a_text_without_a_list_stays_as_it_is() -> None:
    assert with_names("As ordinal:low,mid,high.") == "As ordinal:low,mid,high."


def test_a_command_starts_without_them() -> None:
    code = "import sottovoce.cli.app, sys; print('sottovoce.mechanisms' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"
