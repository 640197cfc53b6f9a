"""Tests of study `p1-hyper-distributions`: guarantees against independent sums, the verdict."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.model import Unit
from sottovoce_studies.crowds import LabelCrowd
from sottovoce_studies.p1.hyper_distributions import (
    ANSWERS,
    Kept,
    applicable,
    more_private,
    most_private,
    theorems,
    useful,
)
from sottovoce_studies.p1.hyper_trials import LAWS, NONE, UNIFORM, errors_of, kept_by, law_named


def kept(law: str, *answer: float, claimed: float = 1.0) -> Kept:
    return Kept(law, 1.0, claimed, answer, (5.0,) * 3, (0.1,) * 3)


def all_kept(**others: tuple[float, ...]) -> list[Kept]:
    """Every distribution with larger epsilons than the uniform one, except these."""
    return [
        kept(law, *others.get(law, (1.0, 2.0, 4.0) if law == UNIFORM else (1.0, 3.0, 5.0)))
        for law in LAWS
    ]


def trials(**apart: float) -> dict[float, list[dict[str, float]]]:
    names = [f"{law} TD" for law in LAWS]
    return {
        1.0: [
            {name: 0.3 + jitter + apart.get(name.removesuffix(" TD"), 0.0) for name in names}
            for jitter in (0.0, 0.01)
        ]
    }


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_every_law_claims_the_same(law: str, epsilon: float) -> None:
    assert law_named(law, epsilon).claim().epsilon == pytest.approx(epsilon, abs=1e-9)


@pytest.mark.parametrize("law", ["normal", "Beta(2, 2)", "arcsine"])
def test_epsilon_of_levels_is_the_ratio_of_their_moments(law: str) -> None:
    hyper = law_named(law, 1.0).hyper
    flip = np.array(hyper.others, float) / 2**64  # type: ignore[union-attr]
    share = np.array(hyper.weights, float) / 2**64  # type: ignore[union-attr]
    k = 10
    # All but one of k reports equal the answers; the last one does or does not.
    matched = (share * (1 - flip) ** k).sum()
    changed = (share * (1 - flip) ** (k - 1) * flip).sum()
    found = kept_by(law, 1.0, [k])["answer"]
    assert found == pytest.approx([math.log(matched / changed)], rel=1e-9)


def test_one_layer_keeps_what_it_claims_for_any_number_of_answers() -> None:
    found = kept_by(NONE, 1.0, ANSWERS)
    assert found["answer"] == pytest.approx([1.0] * 3)
    assert found["worker"] == pytest.approx(ANSWERS)


def test_a_trial_has_an_error_for_every_law() -> None:
    errors = errors_of(LabelCrowd(20, 40, 20, 2, "heterogeneous"), LAWS, 1.0, 0, 1)
    assert {f"{law} TD" for law in LAWS} < set(errors)


def test_a_distribution_with_a_smaller_loss_than_the_uniform_is_more_private() -> None:
    assert more_private(all_kept(arcsine=(1.0, 1.5, 3.0)), Unit.ANSWER) == {
        "arcsine": (1.5, 2.0, 10)
    }
    assert more_private(all_kept(), Unit.ANSWER) == {}


def test_a_smaller_loss_for_some_number_of_answers_refutes_the_claim() -> None:
    said = most_private(all_kept(arcsine=(1.0, 1.5, 4.5)), Unit.ANSWER)
    assert (said.true, said.seen) == (False, "arcsine has 1.5 for 10 answers, uniform 2")
    assert most_private(all_kept(), Unit.ANSWER).true


def test_units_are_judged_apart() -> None:
    assert most_private(all_kept(arcsine=(1.0, 1.5, 3.0)), Unit.WORKER).true


def test_one_layer_is_not_another_distribution() -> None:
    assert more_private([*all_kept(), kept(NONE, 1.0, 1.0, 1.0)], Unit.ANSWER) == {}


def test_a_law_with_another_claim_refutes_nothing() -> None:
    other = kept("arcsine", 0.5, 0.6, 0.7, claimed=0.5)
    others = [each for each in all_kept() if each.law != "arcsine"]
    assert more_private([*others, other], Unit.ANSWER) == {}


def test_theorem_6_3_is_true_for_one_answer_only() -> None:
    one = kept(NONE, 1.0, 1.0, 1.0)
    grown, level = kept(UNIFORM, 1.0, 2.0, 4.0), kept(UNIFORM, 1.0, 1.0, 1.0)
    wrong = kept(UNIFORM, 1.5, 2.0, 4.0)
    verdicts = [theorems([one, two])["P1-6.1.2-3"].verdict for two in (grown, level, wrong)]
    assert verdicts == ["partly", "holds", "fails"]


def test_other_distributions_apply_if_none_is_worse_and_one_is_better() -> None:
    def true(**apart: float) -> bool:
        return all(each.true for each in applicable(trials(**apart), [1.0]))

    assert true(arcsine=-0.1)
    assert not true()
    assert not true(uniform=-0.1)
    assert not true(arcsine=-0.1, normal=0.1)


def test_a_law_is_useful_where_td_errs_less_than_with_one_layer() -> None:
    assert useful(trials(arcsine=-0.1, normal=0.1), [1.0]) == ["arcsine"]


def test_an_unknown_law_is_refused() -> None:
    with pytest.raises(UsageError, match="no distribution 'cauchy'"):
        law_named("cauchy", 1.0)
