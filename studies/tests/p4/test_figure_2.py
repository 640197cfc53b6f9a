"""Tests of study `p4-figure-2`: the statements of the text, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.figure_2 import judge, judged
from sottovoce_studies.p4.sparse_tables import OURS, THREE, VALUES, Found, Place, same_guarantee
from sottovoce_studies.p4.sparse_trials import CLEAN

EPSILONS = (0.1, 1.0, 5.0)
AS_PUBLISHED: Mapping[str, Mapping[float, tuple[float, ...]]] = {
    "LP": {0.9: (4.0, 3.4, 3.4), 0.5: (3.0, 2.0, 2.0)},
    "RR": {0.9: (3.7, 3.6, 2.0), 0.5: (3.7, 3.4, 1.0)},
    "MF d 2": {0.9: (0.2, 0.2, 0.2), 0.5: (0.2, 0.2, 0.2)},
    "MF d 1": {0.9: (0.9, 0.2, 0.2), 0.5: (0.9, 0.2, 0.2)},
    "MF d 10, ridge 0.01": {0.9: (5.0, 0.2, 0.2), 0.5: (0.5, 0.2, 0.2)},
    "MF d 2, V 0 to 1": {0.9: (0.9, 0.5, 0.4), 0.5: (0.6, 0.4, 0.3)},
    OURS: {0.9: (1.0, 0.1, -0.5), 0.5: (0.1, -0.4, -0.7)},
    CONSTANT: {0.9: (0.1, 0.1, 0.1), 0.5: (0.1, 0.1, 0.1)},
}


def made_up(**other: Mapping[float, tuple[float, ...]]) -> Found:
    """Three almost identical trials at each place, with an error of 0.8 without noise."""
    table = {**AS_PUBLISHED, **{name.replace("_", " "): each for name, each in other.items()}}
    return {
        Place(2_000, 200, sparsity, epsilon): [
            {
                CLEAN: 0.8,
                **{name: 0.8 + each[sparsity][k] + trial / 1000 for name, each in table.items()},
            }
            for trial in range(3)
        ]
        for sparsity in (0.9, 0.5)
        for k, epsilon in enumerate(EPSILONS)
    }


def test_the_published_curves_hold_under_the_choice_that_meets_most_statements() -> None:
    outcome = judge(made_up())
    assert outcome.rulings.verdicts == ("not claimed", "holds", "partly")
    assert outcome.rulings.shape.reason == "with MF d 2"
    assert "never better than the best constant" in outcome.explanation
    assert [(choice.met, choice.of) for choice in outcome.choices] == [
        (6, 6),
        (5, 6),
        (3, 6),
        (4, 6),
    ]


def test_the_guarantee_is_that_of_lp_and_rr_and_not_of_mf_for_null() -> None:
    guarantee = judge(made_up()).rulings.guarantee
    assert guarantee.verdict == "partly"
    assert "RR 1, MF 0.9 between values, none between NULL and a value" in guarantee.reason


def test_a_guarantee_that_no_method_keeps_fails() -> None:
    assert same_guarantee(THREE[2:], VALUES, 200).verdict == "fails"
    assert same_guarantee(THREE[:2], VALUES, 200).verdict == "holds"


def test_a_choice_that_learns_something_is_not_called_a_constant() -> None:
    good = {0.9: (0.0, 0.0, 0.0), 0.5: (0.0, 0.0, 0.0)}
    assert "never better" not in judge(made_up(MF_d_2=good)).explanation


def test_a_choice_without_a_minimum_meets_no_statement_about_mf() -> None:
    found = {
        place: [{n: x for n, x in trial.items() if n != "MF d 2"} for trial in trials]
        if place.sparsity == 0.9
        else trials
        for place, trials in made_up(MF_d_10=AS_PUBLISHED["MF d 2"]).items()
    }
    first = judged(found).choices[0]
    assert (first.values["dimension"], first.met) == ("2", 3)


@pytest.mark.parametrize(
    ("name", "curves", "says"),
    [
        ("LP", {0.9: (3.4, 3.4, 3.4), 0.5: (3.0, 2.0, 2.0)}, "LP drops"),
        ("LP", {0.9: (4.0, 3.4, 2.0), 0.5: (3.0, 2.0, 1.0)}, "LP drops"),
        ("LP", {0.9: (4.0, 3.4, 3.4), 0.5: (4.2, 3.5, 3.5)}, "LP changes less"),
        ("RR", {0.9: (3.0, 3.6, 2.0), 0.5: (3.7, 3.4, 1.0)}, "RR keeps falling"),
        ("MF_d_2", {0.9: (4.5, 4.5, 4.5), 0.5: (4.5, 4.5, 4.5)}, "MF always has"),
        ("MF_d_2", {0.9: (0.6, 0.6, 0.6), 0.5: (0.2, 0.2, 0.2)}, "MF is not affected"),
    ],
)
def test_a_curve_that_goes_another_way_is_a_false_statement(
    name: str, curves: Mapping[float, tuple[float, ...]], says: str
) -> None:
    outcome = judge(made_up(**{name: curves}))
    assert outcome.rulings.shape.verdict == "partly"
    assert says in outcome.rulings.shape.reason


def test_claims_of_the_text_have_the_statement_s_verdict() -> None:
    claims = judge(made_up()).claims
    assert {ruling.verdict for ruling in claims.values()} == {"holds"}
    rising = judge(made_up(RR={0.9: (3.0, 3.6, 2.0), 0.5: (3.7, 3.4, 1.0)})).claims
    assert rising["P4-VI.C-3"].verdict == "fails"
