"""The lint of `prose.py` finds what it should, and nothing in the project."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.prose import CHECKED, ROOT, Idiom, findings_in, idioms, text_findings


def test_the_project_has_no_idiom_to_rewrite() -> None:
    found = findings_in(ROOT / name for name in CHECKED if (ROOT / name).exists())
    assert [str(each) for each in found] == []


@pytest.mark.parametrize("idiom", idioms(), ids=lambda idiom: idiom.instead)
def test_every_idiom_of_the_list_is_found_in_its_example(idiom: Idiom) -> None:
    [(_, found, instead)] = text_findings(idiom.example)
    assert re.fullmatch(idiom.pattern, found, re.IGNORECASE)
    assert instead == idiom.instead


@pytest.mark.parametrize(
    "text",
    [
        "What is sent is random.",
        "It is fast. What is sent is random.",
        "First.\n\nWho answers stays unknown.",
    ],
)
def test_a_sentence_that_opens_with_a_noun_clause_is_found(text: str) -> None:
    assert [instead for *_, instead in text_findings(text)] == ["the subject first"]


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
    page.write_text("# Page\n\n```text\nshall\n```\n\nUse `shall`.\n\nIt shall run.\n")
    assert [(each.line, each.found) for each in findings_in([page])] == [(9, "shall")]


def test_strings_of_python_are_read(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""A module."""\n\nshall = f"{1} row shall stay"\n')
    assert [(each.line, each.found) for each in findings_in([module])] == [(3, "shall")]


def test_the_command_fails_on_a_planted_idiom(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Nothing shall fail.\n")
    command = [sys.executable, "-m", "tests.docs.prose", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, f"{page}:1: 'shall': write will, must or should\n")
