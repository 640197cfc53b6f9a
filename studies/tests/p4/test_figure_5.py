"""Tests of study `p4-figure-5`: the statements on both of P4's datasets, and the choices."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.figure_5 import ABSENT, CLAIMED, OPEN, judge
from sottovoce_studies.p4.sparse_tables import OURS, Curves
from sottovoce_studies.p4.sparse_trials import CLEAN
from sottovoce_studies.study import Outcome

EPSILONS = (0.1, 3.0, 5.0)


def made_up(**other: tuple[float, float, float]) -> Curves:
    seen: Mapping[str, tuple[float, float, float]] = {
        "LP": (3.0, 1.1, 1.1),
        "RR": (1.1, 1.0, 0.4),
        "2-Layer": (1.1, 1.0, 0.7),
        "2-Layer, narrow": (1.1, 1.0, 0.5),
        "MF d 2": (0.6, 0.6, 0.6),
        "MF d 1": (0.7, 1.2, 0.9),
        "MF d 10, ridge 0.01": (2.0, 1.5, 0.6),
        "MF d 2, V 0 to 1": (2.0, 1.5, 0.9),
        OURS: (1.0, 0.5, 0.2),
        CONSTANT: (0.5, 0.5, 0.5),
    }
    seen = {**seen, **{name.replace("_", " "): each for name, each in other.items()}}
    return {
        epsilon: [{CLEAN: 0.3, **{name: 0.3 + each[k] for name, each in seen.items()}}]
        for k, epsilon in enumerate(EPSILONS)
    }


def judged(web: Curves | None = None, adult: Curves | None = None) -> Outcome:
    found = {"Web": web or made_up(), "AdultContent": adult or made_up()}
    return judge(found, found)


def test_mf_that_is_lowest_in_most_cases_on_both_holds() -> None:
    outcome = judged()
    assert outcome.rulings.verdicts == ("holds", "holds", "partly")
    assert outcome.rulings.shape.reason == "on both, with MF d 2, 2-Layer"
    assert "On Web MF d 2 is never better than the best constant" in outcome.explanation
    assert all(choice.values.keys() == OPEN.keys() for choice in outcome.choices)


@pytest.mark.parametrize(
    ("name", "curve", "says"),
    [
        ("MF_d_2", (1.2, 1.2, 0.2), "MF has the lowest change in most cases"),
        ("RR", (1.4, 1.0, 0.8), "RR drops"),
    ],
)
def test_a_curve_that_goes_another_way_is_a_false_statement(
    name: str, curve: tuple[float, float, float], says: str
) -> None:
    shape = judged(adult=made_up(**{name: curve})).rulings.shape
    assert shape.verdict == "partly"
    assert says in shape.reason
    assert "(AdultContent)" in shape.reason


def test_the_range_of_2_layer_under_which_it_is_like_rr_is_judged() -> None:
    wide = made_up(**{"2-Layer": (1.1, 2.0, 1.4)})
    outcome = judged(web=wide, adult=wide)
    assert outcome.rulings.shape.reason == "on both, with MF d 2, 2-Layer, narrow"


def test_2_layer_that_is_unlike_rr_with_any_range_is_a_false_statement() -> None:
    wide = made_up(**{"2-Layer": (1.1, 2.0, 1.4), "2-Layer, narrow": (1.1, 2.0, 1.4)})
    assert judged(web=wide).claims["P4-VI.D-4"].verdict == "partly"


def test_the_numbers_are_the_share_of_nulls_that_rr_keeps() -> None:
    assert "0.8007" in judged().rulings.numbers.reason


def test_2_layer_and_mf_do_not_keep_the_epsilon_of_the_figure() -> None:
    reason = judged().rulings.guarantee.reason
    assert "MF 0.8 between values, none between NULL" in reason
    assert "2-Layer 1.99" in reason


def test_truths_that_are_not_close_at_large_epsilon_leave_half_of_the_claim() -> None:
    assert judged().claims["P4-VI.D-6"].verdict == "partly"
    near = made_up(RR=(1.1, 1.0, 0.1))
    assert judged(adult=near).claims["P4-VI.D-6"].verdict == "holds"


def test_means_within_a_quarter_of_a_step_are_close() -> None:
    assert judged().claims["P4-VI.D-2"].verdict == "fails"
    near = made_up(MF_d_2=(0.2, 0.2, 0.2))
    assert judged(web=near).claims["P4-VI.D-2"].verdict == "partly"
    both = judged(web=near, adult=near).claims["P4-VI.D-2"]
    assert (both.verdict, "close means up to 0.25" in both.reason) == ("holds", True)


def test_means_that_move_away_from_the_middle_refute_the_text_s_reason() -> None:
    assert judged().claims["P4-VI.D-3"].verdict == "holds"
    away = made_up(LP=(-0.2, -0.2, -0.2), RR=(-0.1, -0.1, -0.2), **{"2-Layer": (-0.1, -0.1, -0.1)})
    assert judged(web=away, adult=away).claims["P4-VI.D-3"].verdict == "fails"


@pytest.mark.parametrize("name", ["Web", "AdultContent"])
def test_without_one_of_the_datasets_nothing_is_said_of_curves(name: str) -> None:
    outcome = judge({name: made_up()}, {name: made_up()})
    assert outcome.rulings.verdicts == ("holds", "cannot be checked", "partly")
    assert ABSENT in outcome.rulings.shape.reason
    assert outcome.claims.keys() == set(CLAIMED)
