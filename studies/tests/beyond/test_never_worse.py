"""Tests of study `never-worse`: when ours counts as worse, and the data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sottovoce_studies.beyond.label_trials import FREQUENT, VOTE
from sottovoce_studies.beyond.never_worse import (
    BASELINES,
    EPSILONS,
    STUDY,
    TRIALS,
    Duel,
    allowed,
    judge,
)
from sottovoce_studies.contests import CONSTANT


def duel(ours: Sequence[float], vote: Sequence[float], epsilon: float = 1.0) -> Duel:
    """A duel whose other rival is always far worse."""
    frequent = [0.5] * len(ours)
    rivals = {VOTE: vote, FREQUENT: frequent}
    return Duel(BASELINES, "bluebirds", epsilon, None, ours, rivals, {CONSTANT: 0.5})


def test_without_datasets_it_cannot_be_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    outcome = STUDY.run("quick")
    assert str(outcome.rulings) == "shape cannot be checked: no dataset in the cache"


def test_a_full_run_has_forty_trials_at_six_epsilons() -> None:
    assert (TRIALS["full"], EPSILONS["full"]) == (40, (0.5, 1, 2, 3, 4, 8))


def test_the_rival_is_the_better_one_by_its_mean() -> None:
    assert duel([0.2, 0.2], [0.4, 0.5]).best == VOTE
    assert duel([0.2, 0.2], [0.5, 0.6]).best == FREQUENT


def test_worse_is_significantly_worse_than_the_allowed_excess() -> None:
    rival = [0.2] * 4
    worse = judge([duel([0.225, 0.226, 0.224, 0.225], rival)])
    assert worse.rulings.shape.verdict == "fails"
    assert "worse in 1 of 1 cells: bluebirds at epsilon 1" in worse.rulings.shape.reason
    within = judge([duel([0.205, 0.206, 0.204, 0.205], rival)])
    assert str(within.rulings) == "shape holds"
    noisy = judge([duel([0.1, 0.4, 0.1, 0.4], rival)])
    assert noisy.rows[0]["difference"] == pytest.approx(0.05)
    assert str(noisy.rulings) == "shape holds"


def test_more_cells_need_a_clearer_difference() -> None:
    close = duel([0.22, 0.212, 0.222, 0.218], [0.2] * 4)
    others = [duel([0.2] * 4, [0.2] * 4, epsilon) for epsilon in range(2, 21)]
    alone, among = judge([close]), judge([close, *others])
    assert (alone.rows[0]["worse"], among.rows[0]["worse"]) == ("yes", "no")


def test_numbers_may_be_worse_by_a_share_of_their_range() -> None:
    assert allowed("emotion") == pytest.approx(2.0)
    assert allowed("rte") == pytest.approx(0.01)
