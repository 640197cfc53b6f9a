"""Tests of study `p3-figure-4`: the verdict."""

from __future__ import annotations

import pytest
from studies.tests.p3.made_up import sweep_seen

from sottovoce_studies.p3.figure_1 import sweep
from sottovoce_studies.p3.figure_4 import judge, ratios

GTM, CRH = sweep("quick", "gtm"), sweep("quick", "crh")


def test_it_holds_in_shape_where_both_methods_lose_alike() -> None:
    gtm, crh = sweep_seen(GTM, [0.07] * 3), sweep_seen(CRH, [0.08] * 3)
    assert judge(gtm, crh).verdict == "holds in shape"
    assert ratios(gtm, crh) == pytest.approx([7 / 8] * 3)


@pytest.mark.parametrize(
    ("shares", "why"),
    [
        ([0.03, 0.06, 0.09], "does not fall"),
        ([0.11, 0.11, 0.11], "not less than 0.1"),
        ([0.09, 0.09, 0.04], "factor of 1.5"),
    ],
)
def test_it_fails_where_the_pattern_is_another(shares: list[float], why: str) -> None:
    outcome = judge(sweep_seen(GTM, shares), sweep_seen(CRH, [0.08] * 3))
    assert outcome.verdict == "fails"
    assert why in outcome.reason
