"""Tests of study `p1-figure-1`: products of uniform draws, and the verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce_studies.p1.figure_1 import (
    LAWS,
    SHARES,
    drawn,
    judge,
    long_tailed,
    published_factor,
    sooner_small,
)
from sottovoce_studies.theorems.weighted_vote import DeltaLaw

DRAWS = 20_000


def found() -> list[dict[str, Any]]:
    return [drawn(b, n, DRAWS, place) for place, (b, n) in enumerate(LAWS)]


def test_one_draw_is_uniform() -> None:
    seen = drawn(0.8, 1, DRAWS, 3)
    assert seen["mean"] == pytest.approx(0.4, abs=0.01)
    assert seen["below"] == pytest.approx(SHARES, abs=0.02)


def test_the_law_of_products_has_the_shape_that_is_said() -> None:
    assert judge(found(), DRAWS).rulings.verdicts == ("not claimed", "holds", "not claimed")


def test_the_published_factor_has_its_known_values() -> None:
    assert published_factor(np.array([0.1, 0.5])) == pytest.approx([0.1355, 1.0], abs=5e-5)


def test_2p_is_near_the_published_factor_but_not_in_proportion() -> None:
    claim = judge(found(), DRAWS).claims["P1-6.2.2-3"]
    assert claim.verdict == "partly"
    assert claim.reason.startswith("gap at most 0.076")
    assert "G is 0.68 of 2p (p = 0.1)" in claim.reason


def test_claims_about_delta_do_not_decide_about_utility() -> None:
    claims = judge(found(), DRAWS).claims
    for name in ("P1-6.2.3-9", "P1-6.2.3-10", "P1-6.2.3-11"):
        assert claims[name].verdict == "holds"
        assert claims[name].reason.endswith("whether utility follows: P1-7.3-1")


def test_other_draws_fail() -> None:
    others = [drawn(b, n + 1, DRAWS, 7) for b, n in LAWS]
    outcome = judge(others, DRAWS)
    assert outcome.rulings.shape.verdict == "partly"
    assert "products of 3 draws from U(0, 1) have another distribution" in str(outcome.rulings)
    assert outcome.claims["P1-6.2.3-8"].verdict == "fails"


def test_one_uniform_draw_has_no_long_tail() -> None:
    assert not long_tailed(DeltaLaw(0.8, 1))
    assert long_tailed(DeltaLaw(0.8, 2))


def test_small_values_come_sooner_one_way_only() -> None:
    assert sooner_small(DeltaLaw(0.4, 3), DeltaLaw(0.8, 3))
    assert not sooner_small(DeltaLaw(0.8, 3), DeltaLaw(0.4, 3))
    assert not sooner_small(DeltaLaw(0.8, 3), DeltaLaw(0.8, 3))
