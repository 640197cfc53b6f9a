"""The lint of `prose.py` finds what it should, and nothing in the project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.prose import CHECKED, ROOT, findings_in, text_findings


def test_the_project_has_no_idiom_to_rewrite() -> None:
    found = findings_in(ROOT / name for name in CHECKED if (ROOT / name).exists())
    assert [str(each) for each in found] == []


@pytest.mark.parametrize(
    "text",
    [
        "Whoever has the link can answer.",
        "It says what reports betray.",
        "The results are measured anew.",
        "Mend the row, or leave it out.",
        "The file exists; say --force to replace it.",
        "It is fast. What is sent is random.",
        "First.\n\nWho answers is not known.",
        "A table beside the plot.",
    ],
)
def test_a_planted_idiom_is_found(text: str) -> None:
    assert list(text_findings(text))


@pytest.mark.parametrize(
    "text",
    [
        "What does the server see? Reports only.",
        "What the server sees",
        "Amend the policy; recommended besides.",
        "Where the server has a domain, use TLS.",
        "It is at the very least exact.",
    ],
)
def test_plain_english_passes(text: str) -> None:
    assert list(text_findings(text)) == []


def test_code_blocks_of_pages_are_left_out_and_lines_are_true(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```text\nwhoever\n```\n\nUse `anew`.\n\nRun it anew.\n")
    assert [(each.line, each.found) for each in findings_in([page])] == [(9, "anew")]


def test_strings_of_python_are_read(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""A module."""\n\nwhoever = f"{1} rows to mend"\n')
    assert [(each.line, each.found) for each in findings_in([module])] == [(3, "mend")]


def test_the_command_fails_on_a_planted_idiom(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Somebody answers.\n")
    command = [sys.executable, "-m", "tests.docs.prose", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, f"{page}:1: 'Somebody': write someone\n")
