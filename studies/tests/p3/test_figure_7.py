"""Tests of study `p3-figure-7`: the verdict."""

from __future__ import annotations

from typing import Any

import pytest

from sottovoce_studies.p3.figure_7 import CROWD, STAND_IN, Timed, judge

NOISES = (1.0, 10.0)
OURS = [{"error": 0.1, "rounds": 4.0}]


def timed(clean: float, *noisy: float, drawing: float = 1e-5) -> Timed:
    """Two identical trials."""

    def cost(rounds: float) -> dict[str, float]:
        errors = dict.fromkeys(("error", "error mean", "error median"), 0.1)
        counted = {name: rounds for name in ("rounds", "rounds at 1e-06", "rounds at 0.001")}
        return {**counted, "seconds": rounds / 1000, "noise": 1.0, **errors}

    trial: dict[str, Any] = {
        "clean": cost(clean),
        "noisy": [cost(each) for each in noisy],
        "best constant": 2.0,
        "drawing": drawing,
    }
    return Timed(NOISES, [trial, trial], users=100)


def test_shape_holds_where_rounds_grow_a_little() -> None:
    outcome = judge({CROWD: timed(4, 4, 5), STAND_IN: timed(6, 6, 7)}, OURS)
    assert outcome.rulings.verdicts == ("not claimed", "holds", "not claimed")
    assert "as many rounds or more" in outcome.explanation
    assert outcome.claims["P3-V.C-3"].verdict == "holds"


def test_fewer_rounds_on_the_stand_in_are_named() -> None:
    outcome = judge({CROWD: timed(4, 4, 5), STAND_IN: timed(6, 5, 4)}, OURS)
    assert outcome.rulings.shape.verdict == "holds"
    assert "reports of the stand-in take fewer rounds" in outcome.explanation
    assert outcome.claims["P3-V.C-3"].verdict == "holds"
    assert outcome.claims["P3-V.C-3"].reason.endswith("6.0 without noise, 4.0 to 5.0 with noise")


def test_the_stand_in_is_no_evidence_where_rounds_of_synthetic_users_change_much() -> None:
    outcome = judge({CROWD: timed(4, 4, 7), STAND_IN: timed(6, 6, 7)}, OURS)
    assert outcome.rulings.shape.verdict == "partly"
    assert "rounds hardly change with the noise (4.0 without" in outcome.rulings.shape.reason
    assert [choice.met for choice in outcome.choices] == [1, 1]


def test_shape_holds_in_part_where_noise_never_adds_a_round() -> None:
    outcome = judge({CROWD: timed(4, 4, 4), STAND_IN: timed(6, 6, 6)}, OURS)
    assert outcome.rulings.shape.verdict == "partly"
    assert "slightly more rounds" in outcome.rulings.shape.reason
    assert outcome.claims["P3-V.C-3"].verdict == "fails"


def test_shape_fails_where_noise_saves_many_rounds_everywhere() -> None:
    outcome = judge({CROWD: timed(9, 4, 4), STAND_IN: timed(9, 4, 4)}, OURS)
    assert outcome.rulings.shape.verdict == "fails"


@pytest.mark.parametrize(("drawing", "verdict"), [(1e-3, "holds"), (1e-1, "fails")])
def test_a_users_noise_is_negligible_up_to_a_tenth_of_the_time(
    drawing: float, verdict: str
) -> None:
    """Of 100 users, who draw each on their own; CRH takes 4.5 ms."""
    slow = timed(4, 4, 5, drawing=drawing)
    ruling = judge({CROWD: slow, STAND_IN: slow}, OURS).claims["P3-V.C-1"]
    assert ruling.verdict == verdict
    whole = drawing / 0.0045
    assert ruling.reason.startswith(f"a user's noise takes {whole / 100:.4f} (synthetic)")
    assert ruling.reason.endswith(f"in sequence {whole:.2f} and {whole:.2f}")
