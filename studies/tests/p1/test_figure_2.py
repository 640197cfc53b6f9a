"""Tests of study `p1-figure-2`: weights under given flips, and the verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce_studies.p1.crowds import PeerGrades
from sottovoce_studies.p1.figure_2 import changes_when, judge, spared
from sottovoce_studies.p1.layers import FLIPS, PICKED, read_as_printed, weights_after, weights_at


def trial(large: float, small: float, number: int) -> dict[str, Any]:
    """Eight workers of weight 1; the picked ones have given changes at each flip probability."""
    wiggle = 0.1 * (number % 2)
    after = [[1 + change + wiggle] * PICKED for change in (large, small)]
    return {
        "before": [1.0] * 8,
        "after": [0.5 + wiggle] * 8,
        "flips": [0.05 + 0.06 * place for place in range(8)],
        "picked": list(range(PICKED)),
        "set": after,
        "shown": after,
    }


def trials(large: float, small: float) -> dict[float, list[dict[str, Any]]]:
    return {1.0: [trial(large, small, number) for number in range(6)]}


def test_without_flips_weights_stay() -> None:
    answers, _ = PeerGrades().draw(1)
    clean = read_as_printed(answers, "td", None).weights
    assert weights_after(answers, 1.0, np.zeros(72), 3) == pytest.approx(clean)


def test_who_flips_always_is_the_only_one_whose_reports_change() -> None:
    answers, _ = PeerGrades(workers=40, answers=26).draw(1)
    clean = read_as_printed(answers, "td", None).weights
    flips = np.zeros(40)
    best = int(clean.argmax())
    flips[best] = 0.5
    changed = weights_after(answers, 1.0, flips, 3)
    assert changed[best] < clean[best]


def test_a_trial_sets_one_worker_at_a_time() -> None:
    found = weights_at(PeerGrades(), 1.0, 0, 1)
    assert len(found["before"]) == len(found["flips"]) == 72
    assert max(found["flips"]) <= 0.5379
    assert [len(weights) for weights in found["set"]] == [PICKED] * len(FLIPS)
    # `shown` has the weights when the second picked worker is set.
    assert [shown[1] for shown in found["shown"]] == [weights[1] for weights in found["set"]]


def test_a_change_is_the_mean_over_picked_workers() -> None:
    assert changes_when(trials(-0.5, 0.0)[1.0], FLIPS[0]).mean == pytest.approx(-0.45)


def test_the_shape_holds_where_weights_fall_at_large_flips_only() -> None:
    assert judge(trials(-0.5, 0.2), "x").rulings.verdicts == ("not claimed", "holds", "not claimed")


def test_other_epsilons_are_named_but_not_judged() -> None:
    found = trials(-0.5, 0.2) | {0.1: trials(-0.5, -0.4)[1.0]}
    outcome = judge(found, "x")
    assert outcome.rulings.shape.verdict == "holds"
    assert "At epsilon 0.1 (not judged; false here)" in outcome.explanation


def test_a_statement_that_is_false_is_named() -> None:
    rising, falling = judge(trials(0.1, 0.2), "x"), judge(trials(-0.5, -0.4), "x")
    assert "weights fall at flip probability 0.46" in rising.rulings.shape.reason
    assert rising.claims["P1-7.2-9"].verdict == "fails"
    assert "weights do not fall at 0.01" in falling.rulings.shape.reason
    assert falling.claims["P1-7.2-10"].verdict == "fails"


def test_the_shape_fails_where_both_statements_are_false() -> None:
    assert judge(trials(0.1, -0.4), "x").rulings.shape.verdict == "fails"


def test_good_workers_with_small_draws_are_spared_only_if_weights_show_it() -> None:
    level = trials(-0.5, 0.2)[1.0]
    assert not spared(level).true
    sloped = [{**each, "after": [0.8 - 0.1 * n for n in range(8)]} for each in level]
    assert spared(sloped).true
