"""`sottovoce datasets find`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run


@pytest.fixture
def quiz(call: Run, answers: Path, tmp_path: Path) -> None:
    """A cached dataset of 3 workers, 12 tasks and 36 answers."""
    (tmp_path / "quiz").mkdir()
    answers.rename(tmp_path / "quiz" / "answers.csv")
    call("datasets", "add", "quiz")


@pytest.mark.usefixtures("quiz")
def test_an_exact_match_is_printed_with_its_sizes(call: Run) -> None:
    done = call("datasets", "find", "--workers", "3", "--tasks", "12", "--label-count", "2")
    [row] = [line.split() for line in done.stdout.splitlines() if line.startswith(" quiz")]
    assert row == ["quiz", "3", "12", "36", "0.000000", "exact"]
    assert "found 1 exact (quiz), 0 near." in done.stdout


@pytest.mark.usefixtures("quiz")
def test_a_near_match_says_what_differs(call: Run) -> None:
    done = call("datasets", "find", "--workers", "3", "--answer-count", "6")
    assert "near: workers matches; answers 36 instead of 6" in done.stdout


@pytest.mark.usefixtures("quiz")
def test_no_match_says_what_was_searched_and_is_no_error(call: Run) -> None:
    done = call("datasets", "find", "--tasks", "177")
    assert done.returncode == 0
    assert done.stdout == (
        "Searched 1 dataset by tasks 177: found 0 exact, 0 near.\nIn the cache: quiz.\n"
    )


@pytest.mark.usefixtures("quiz")
def test_json_has_the_numbers_compared(call: Run) -> None:
    done = call("datasets", "find", "--workers", "3", "--max-sparsity", "0.25", "--json")
    found = json.loads(done.stdout)
    assert found["searched"] == ["quiz"]
    [match] = found["matches"]
    assert (match["exact"], match["matching"]) == (False, ["workers"])
    assert match["differing"] == {"max_sparsity": {"asked": 0.25, "found": 0.0}}
    assert match["sizes"]["answers"] == 36


def test_an_empty_cache_says_how_to_fill_it(call: Run) -> None:
    assert "sottovoce datasets add PATH" in call("datasets", "find", "--workers", "3").stderr


def test_a_search_without_sizes_is_bad_usage(call: Run) -> None:
    done = call("datasets", "find")
    assert (done.returncode, done.stdout) == (2, "")
    assert "give at least one size, such as --workers or --tasks" in done.stderr
