"""Tests of study `p1-table-1`: its counts, and the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sottovoce_studies.crowds import Dataset
from sottovoce_studies.p1.table_1 import STUDY, counted, judge

FOUND: dict[str, Any] = {
    "#question": 2134,
    "#users": 64,
    "#answers": 17729,
    "#groundtruth": 159,
    "per worker": [18, 100, 1834],
    "gold answers": 1221,
    "gold workers": 17,
}


def test_the_printed_sizes_hold() -> None:
    outcome = judge([FOUND])
    assert outcome.rulings.verdicts == ("holds", "not claimed", "not claimed")
    assert [row["difference"] for row in outcome.rows if row.get("difference") is not None] == [
        0
    ] * 4


def test_other_sizes_fail() -> None:
    outcome = judge([FOUND | {"#users": 63}])
    assert str(outcome.rulings.numbers) == "fails: #users of Duchenne differ"


def test_without_the_dataset_nothing_can_be_counted() -> None:
    outcome = judge([])
    assert outcome.rulings.numbers.verdict == "cannot be checked"
    assert outcome.claims["P1-7.1.1-1"].verdict == "cannot be checked"
    assert outcome.charts


def test_a_full_run_searches_for_the_grades_by_their_sizes(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    assert "by workers 72, tasks 26: found 0 exact" in STUDY.run("full").explanation


def test_a_full_run_without_a_cache_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert "no dataset is in the cache to search" in STUDY.run("full").explanation


def test_a_search_for_the_grades_is_recorded() -> None:
    assert "A search by their sizes: found none." in judge([FOUND], "found none").explanation


def test_the_printed_number_of_answers_is_not_that_of_all_other_students() -> None:
    claim = judge([FOUND]).claims["P1-7.1.1-2"]
    assert (claim.verdict, "1,800 answers, not 360" in claim.reason) == ("partly", True)


def test_seventeen_workers_answer_tasks_with_gold(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    source = Dataset.of("duchenne")
    assert source is not None
    found = counted(source)
    assert (found["gold workers"], found["gold answers"]) == (17, 1221)
    assert (min(found["per worker"]), max(found["per worker"])) == (18, 1834)
    assert sum(found["per worker"]) == 17_729
