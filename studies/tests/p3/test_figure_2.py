"""Tests of study `p3-figure-2`: two distances, and the verdicts."""

from __future__ import annotations

import pytest
from studies.tests.p3.made_up import trials

from sottovoce.planning.trials import Spread
from sottovoce_studies.p3.figure_2 import LAMBDAS, STUDY, Point, Tried, judge
from sottovoce_studies.p3.pipeline import noise_of, over_range, published_distance
from sottovoce_studies.paper_tables import spread_by

OURS = {1.0: Spread.of([0.3])}
STRICT = {"b and eta": "3 and 0.99", "delta": "0.01"}


def seen_with(change: float | None, lambdas: tuple[float, ...]) -> dict[Point, dict[str, Spread]]:
    """Noise that falls as 10 / lambda1, and a constant loss, or one that falls too."""
    return {
        Point(at, 1.0, public): spread_by(trials(change or 1 / at, 10 / at))
        for public in (False, True)
        for at in lambdas
    }


def test_both_distances_are_the_same_noise_at_another_epsilon() -> None:
    assert noise_of(over_range(5.0, 2.0, 10.0), 10.0) == pytest.approx(
        noise_of(2.0, published_distance(5.0))
    )


def test_a_point_over_the_public_range_keeps_its_epsilon() -> None:
    assert Point(25.0, 1.0, public=True).kept < 1 < Point(25.0, 1.0, public=False).kept


def test_shape_holds_and_the_guarantee_fails_where_curves_fall_but_nothing_is_kept() -> None:
    outcome = judge(seen_with(None, LAMBDAS["quick"]), OURS)
    assert outcome.rulings.verdicts == ("not claimed", "holds", "fails")
    assert outcome.rulings.guarantee.reason.startswith("epsilon 1 is truly 4.3 at lambda1 1 and 93")
    assert outcome.claims["P3-V.A-6"].verdict == "partly"


def test_shape_holds_in_part_where_the_loss_does_not_fall() -> None:
    ruling = judge(seen_with(0.5, LAMBDAS["quick"]), OURS).rulings.shape
    assert ruling.verdict == "partly"
    assert "the loss falls as lambda1 grows (0.5 to 0.5 at epsilon 1)" in ruling.reason


def test_the_guarantee_holds_where_data_are_so_bad_that_the_distance_spans_the_range() -> None:
    """For lambda1 of 0.4 and less the distance of Lemma 4.7 is beyond the range of 10."""
    outcome = judge(seen_with(None, (0.1, 0.2, 0.4)), {0.1: Spread.of([0.3])})
    assert outcome.rulings.guarantee.verdict == "holds"
    assert outcome.claims["P3-V.A-6"].verdict == "holds"
    mixed = judge(seen_with(None, (0.1, 0.4, 25.0)), {0.1: Spread.of([0.3])})
    assert mixed.rulings.guarantee.verdict == "partly"


def test_a_choice_has_the_true_epsilon_at_its_own_delta() -> None:
    falling = Tried(STRICT, (1.0, 25.0), [spread_by(trials(1.0, 9.0)), spread_by(trials(0.1))])
    assert (falling.choice.met, falling.choice.of) == (2, 2)
    rising = Tried(STRICT, (1.0, 25.0), [spread_by(trials(0.1, 9.0)), spread_by(trials(1.0))])
    assert rising.choice.met == 1
    outcome = judge(seen_with(None, LAMBDAS["quick"]), OURS, [falling])
    assert f"at 25 over the public range, there {falling.kept:.2g} or more in all" in (
        outcome.rulings.guarantee.reason
    )


def test_the_distance_of_the_lemma_is_too_small_whatever_the_range() -> None:
    outcome = judge(seen_with(None, LAMBDAS["quick"]), OURS)
    assert outcome.rulings.guarantee.reason.endswith(
        "42% of honest pairs at 25 lie farther apart than Delta"
    )


def test_noise_of_another_delta_is_drawn() -> None:
    """With b 3, eta .99 and delta .01 the noise is 2.12 and 3.24 times that of the first choice."""
    cells = STUDY.plan("quick", 1).cells
    first, last = cells[-8].arguments[2], cells[-2].arguments[2]
    ratio = noise_of(last, 10.0) / noise_of(first, 10.0)
    assert ratio == pytest.approx(3 * 2**0.5 / 2 * (0.1053605 / 0.0100503) ** 0.5, rel=1e-5)
