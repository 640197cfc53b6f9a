"""The library's errors name Python's keywords, and commands print options instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sottovoce
from sottovoce.cli.option_names import with_options

MATHS = ("engines", "files", "inference", "mechanisms", "planning", "privacy", "securesum")


@pytest.mark.parametrize(
    ("message", "printed"),
    [
        ("out exists; pass force=True to replace it", "out exists; pass --force to replace it"),
        ("choose with repeats= (first or last)", "choose with --repeats (first or last)"),
        (
            'if they are numbers, pass domain="numeric"',
            "if they are numbers, pass --domain numeric",
        ),
        (
            "a sample needs unit=Unit.WORKER: drop sample=",
            "a sample needs --unit worker: drop --sample",
        ),
        (
            "list them: domain=Domain.ordinal([...])",
            "list them: --domain ordinal:low,mid,high",
        ),
        (
            "this is not an invite link, which looks like https://host/c/leaf0#svi_…",
            "this is not an invite link, which looks like https://host/c/leaf0#svi_…; in a shell "
            "put it in quotes",
        ),
        ("drop calibration=Calibration.AS_PUBLISHED", "drop --as-published"),
        (
            "RandomizedResponse(labels=3) and colour=red",
            "RandomizedResponse(labels=3) and colour=red",
        ),
    ],
)
def test_keywords_become_options(message: str, printed: str) -> None:
    assert with_options(message) == printed


@pytest.mark.parametrize("package", MATHS)
def test_no_error_of_the_library_names_an_option(package: str) -> None:
    folder = Path(sottovoce.__file__).parent / package
    named = [
        f"{path.name}: {line.strip()}"
        for path in folder.rglob("*.py")
        for line in path.read_text().splitlines()
        if re.search(r"(?<![\w-])--[a-z]", line) and "spark-submit --archives" not in line
    ]
    assert named == []
