"""Tests of study `weighted-rounds`: the results of a block of sessions, and the verdict."""

from __future__ import annotations

import pytest

from sottovoce.planning.trials import trial_seed
from sottovoce.planning.weighted_rounds import weighted_rounds_that_pay
from sottovoce_studies.beyond.weighted_rounds import (
    CROWDS,
    MIXED,
    QUICK,
    Case,
    Crowd,
    judge,
    sessions,
)

CROWD = Crowd("mixed, 20", 20, 20, MIXED)


def case(epsilon: float, *excess: float, spread: float = 0.001) -> Case:
    """Two blocks with given excesses of 1, 2, … weighted rounds over a single count of 0.2."""
    blocks = [
        {"errors": [0.2, *(0.2 + each + turn for each in excess)], "sealed": 0.2, "constant": 0.46}
        for turn in (-spread, spread)
    ]
    return Case(CROWD, epsilon, blocks)


def test_the_claim_holds_where_two_and_three_rounds_are_clearly_worse() -> None:
    outcome = judge([case(0.5, -0.1, 0.05, 0.1), case(1, -0.1, 0.05, 0.1), case(8, -0.1, -0.1)])
    assert (
        str(outcome.rulings) == "shape holds"
    )  # one round, and a large epsilon, are no part of the claim
    assert "in 4 of 4 cases and better in 0" in outcome.explanation
    assert "mixed, 20 at epsilon 8 (1 round: 0.100 instead of 0.200)" in outcome.explanation


def test_the_claim_holds_in_part_where_nothing_is_clear() -> None:
    outcome = judge([case(1, 0.0, 0.05, 0.1, spread=0.03)])
    seen = "significantly worse in 1 of 2 cases, and better in none"
    assert str(outcome.rulings) == f"shape partly: {seen}"


def test_the_claim_fails_where_rounds_are_clearly_better() -> None:
    outcome = judge([case(1, 0.0, -0.05, 0.1)])
    assert str(outcome.rulings) == "shape fails: better in 1 of 2 cases up to epsilon 1"


def test_rounds_whose_noise_cannot_be_drawn_are_not_judged() -> None:
    outcome = judge([case(1, 0.05, 0.05), case(8, 0.05)])
    assert "in 1 of 1 cases" in outcome.explanation
    [chart] = outcome.charts
    assert [series.name for series in chart.series] == ["one noised count", "1 weighted round"]


def test_differences_are_taken_block_by_block() -> None:
    blocks = [{"errors": [level, level + 0.01]} for level in (0.1, 0.4)]
    excess = Case(CROWD, 1, blocks).excess(1)
    assert excess.mean == pytest.approx(0.01)
    assert excess.standard_error == pytest.approx(0.0)


def test_a_block_has_the_planners_errors_and_the_best_constant() -> None:
    block = sessions(CROWD, 4, 2, 0, 1)
    planned = weighted_rounds_that_pay(
        20, 100, 20, 4, 1e-6, ability=MIXED, trials=2, seed=trial_seed(1, 0)
    )
    assert (block["errors"], block["sealed"]) == (list(planned.errors), planned.sealed)
    assert 0.3 < block["constant"] <= 0.5


def test_every_worker_answers_as_many_tasks_as_its_crowd_says() -> None:
    assert {each.answers_per_task * 100 % each.workers for each in CROWDS} == {0}
    assert {*QUICK} < {each.name for each in CROWDS}
