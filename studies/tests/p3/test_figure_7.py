"""Tests of study `p3-figure-7`: the verdict."""

from __future__ import annotations

from typing import Any

from sottovoce_studies.p3.figure_7 import CROWD, STAND_IN, Timed, judge

NOISES = (1.0, 10.0)
OURS = [{"error": 0.1, "rounds": 4.0}]


def timed(clean: float, *noisy: float) -> Timed:
    """Two identical trials."""

    def cost(rounds: float) -> dict[str, float]:
        errors = dict.fromkeys(("error", "error mean", "error median"), 0.1)
        return {"rounds": rounds, "seconds": rounds / 1000, "noise": 1.0, **errors}

    trial: dict[str, Any] = {
        "clean": cost(clean),
        "noisy": [cost(each) for each in noisy],
        "best constant": 2.0,
    }
    return Timed(NOISES, [trial, trial])


def test_it_holds_in_shape_where_rounds_grow_a_little() -> None:
    outcome = judge({CROWD: timed(4, 4, 5), STAND_IN: timed(6, 6, 7)}, OURS)
    assert outcome.verdict == "holds in shape"
    assert "as many rounds or more" in outcome.explanation


def test_fewer_rounds_on_the_stand_in_are_named() -> None:
    outcome = judge({CROWD: timed(4, 4, 5), STAND_IN: timed(6, 5, 4)}, OURS)
    assert outcome.verdict == "holds in shape"
    assert "reports of the stand-in take fewer rounds" in outcome.explanation


def test_it_fails_where_rounds_change_much() -> None:
    outcome = judge({CROWD: timed(4, 4, 7), STAND_IN: timed(6, 6, 6)}, OURS)
    assert outcome.ruling == "fails: synthetic: 7.0 rounds at noise 10, 4.0 without"


def test_it_fails_where_noise_never_adds_a_round() -> None:
    outcome = judge({CROWD: timed(4, 4, 4), STAND_IN: timed(6, 6, 6)}, OURS)
    assert outcome.verdict == "fails"
    assert "no more rounds" in outcome.reason
