"""Tests of study `never-worse`: when ours counts as worse, and the data."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce_studies.beyond.never_worse import LABELS, RANGES, STUDY, Case, best_other, judge
from sottovoce_studies.contests import CONSTANT, Contest
from sottovoce_studies.crowds import Dataset


def test_without_datasets_it_cannot_be_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    outcome = STUDY.run("quick")
    assert str(outcome.rulings) == "shape cannot be checked: no dataset in the cache"


def test_never_worse_covers_every_dataset_with_gold() -> None:
    assert len({*LABELS, *RANGES}) == 10


def test_worse_is_worse_beyond_what_is_allowed_and_two_standard_errors() -> None:
    case = Case("bluebirds", 1.0, Contest(Dataset("bluebirds", None, ()), 1.0, ()))
    other = {"one-layer + TD": 0.20, "two-layer + TD": 0.5, CONSTANT: 0.5}
    trials = [
        {"randomised response + aware": error, "randomised response + majority vote": 0.3, **other}
        for error in (0.215, 0.225, 0.235)  # 0.025 worse than TD, standard error 0.0058
    ]
    assert best_other(trials) == "one-layer + TD"
    assert str(judge([case], trials, 3).rulings) == "shape fails: worse in 1 of 1 cells"
    closer = [{**trial, "one-layer + TD": 0.205} for trial in trials]  # 0.020 - 0.012 < 0.01
    outcome = judge([case], closer, 3)
    assert str(outcome.rulings) == "shape holds"
    assert outcome.rows[0]["difference"] == pytest.approx(0.02)


def test_numbers_may_be_worse_by_a_share_of_their_range() -> None:
    assert Case("emotion", 1.0, None).allowed == pytest.approx(2.0)
    assert Case("rte", 1.0, None).allowed == pytest.approx(0.01)
