"""Tests of study `p3-figure-2`: two distances, and the verdict."""

from __future__ import annotations

import pytest
from studies.tests.p3.made_up import trials

from sottovoce.planning.trials import Spread
from sottovoce_studies.p3.figure_2 import LAMBDAS, Point, judge, over_range
from sottovoce_studies.p3.pipeline import noise_of, published_distance
from sottovoce_studies.paper_tables import spread_by

OURS = {1.0: Spread.of([0.3])}


def test_both_distances_are_the_same_noise_at_another_epsilon() -> None:
    assert noise_of(over_range(5.0, 2.0), 10.0) == pytest.approx(
        noise_of(2.0, published_distance(5.0))
    )


def test_a_point_over_the_public_range_keeps_its_epsilon() -> None:
    assert Point(25.0, 1.0, public=True).kept < 1 < Point(25.0, 1.0, public=False).kept


def test_it_fails_where_curves_fall_but_nothing_is_kept() -> None:
    seen = {
        Point(at, 1.0, public): spread_by(trials(1 / at, 10 / at))
        for public in (False, True)
        for at in LAMBDAS["quick"]
    }
    outcome = judge(seen, OURS)
    assert outcome.verdict == "fails"
    assert outcome.reason.startswith("curves fall, but at lambda1 25")


def test_it_fails_where_the_loss_does_not_fall() -> None:
    seen = {
        Point(at, 1.0, public): spread_by(trials(0.5, 10 / at))
        for public in (False, True)
        for at in LAMBDAS["quick"]
    }
    assert judge(seen, OURS).reason == "at epsilon 1 the loss does not fall as lambda1 grows"


def test_it_holds_where_data_are_so_bad_that_the_distance_spans_the_range() -> None:
    """For lambda1 of 0.4 and less the distance of Lemma 4.7 is beyond the range of 10."""
    seen = {
        Point(at, 1.0, public): spread_by(trials(1 / at, 10 / at))
        for public in (False, True)
        for at in (0.1, 0.2, 0.4)
    }
    assert judge(seen, {0.1: Spread.of([0.3])}).verdict == "holds in shape"
