"""Tests of study `p3-figure-4`: the verdicts."""

from __future__ import annotations

import pytest
from studies.tests.p3.made_up import sweep_seen, trials

from sottovoce_studies.p3.figure_1 import sweep
from sottovoce_studies.p3.figure_4 import judge, ratios
from sottovoce_studies.paper_tables import spread_by

GTM, CRH = sweep("quick", "gtm"), sweep("quick", "crh")


def test_shape_holds_where_both_methods_lose_alike() -> None:
    gtm, crh = sweep_seen(GTM, [0.07] * 3), sweep_seen(CRH, [0.08] * 3)
    outcome = judge(gtm, crh)
    assert outcome.rulings.verdicts == ("not claimed", "holds", "partly")
    assert ratios(gtm, crh) == pytest.approx([7 / 8] * 3)


@pytest.mark.parametrize(
    ("shares", "why"),
    [
        ([0.03, 0.06, 0.09], "falls as epsilon grows"),
        ([0.11, 0.11, 0.11], "less than 0.1 at noise 1 (0.110)"),
        ([0.09, 0.09, 0.04], "factor of 1.5"),
    ],
)
def test_shape_holds_in_part_where_the_pattern_is_another(shares: list[float], why: str) -> None:
    ruling = judge(sweep_seen(GTM, shares), sweep_seen(CRH, [0.08] * 3)).rulings.shape
    assert ruling.verdict == "partly"
    assert why in ruling.reason


def test_a_choice_is_tried_with_both_methods() -> None:
    values = {"lambda1": "0.1"}
    found = {"gtm": spread_by(trials(0.12)), "crh": spread_by(trials(0.1))}
    gtm, crh = sweep_seen(GTM, [0.07] * 3), sweep_seen(CRH, [0.08] * 3)
    [choice] = judge(gtm, crh, [(values, found)]).choices
    assert (choice.met, choice.of) == (1, 2)
