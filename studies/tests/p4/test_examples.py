"""Tests of study `p4-examples`: its crowds, its bounds, and the verdict."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.planning.trials import Spread
from sottovoce_studies.contests import CONSTANT, Contest
from sottovoce_studies.p4.crowds import AlikeCrowd, errors, factored_errors
from sottovoce_studies.p4.examples import LP, MF, OURS, RR, Case, cases, formulas, judge
from sottovoce_studies.p4.factorization import Factorization
from sottovoce_studies.study import Outcome
from sottovoce_studies.theorems.sparse_numbers import (
    SparseSetting,
    laplace_error,
    null_response_error,
)

SETTING = SparseSetting(values=tuple(range(10)), truth=0, answered=0.1, epsilon=1, workers=2_000)


def spread(mean: float, error: float = 0.01) -> Spread:
    return Spread(9, mean, error, mean - error, mean + error)


def judged(lp: float, rr: float, mf: float, error: float = 0.01) -> Outcome:
    """The outcome for these simulated errors at the settings of the examples."""
    first = Case(AlikeCrowd(9, 9, 0, 0.9), (LP, RR, OURS), 9)
    second = Case(AlikeCrowd(9, 9, 7, 0.0), MF, 9)
    zero = spread(0.0)
    return judge(
        [
            (
                first,
                {
                    "LP": spread(lp, error),
                    "RR": spread(rr, error),
                    OURS.name: spread(0.5),
                    CONSTANT: zero,
                },
            ),
            (second, {**{each.name: spread(mf, error) for each in MF}, CONSTANT: zero}),
        ]
    )


def test_a_crowd_is_as_sparse_and_as_good_as_it_should_be() -> None:
    answers, truths = AlikeCrowd(400, 250, 7, 0.9).draw(3)
    assert (len(answers.workers), len(answers.tasks)) == (400, 250)
    assert set(truths.tolist()) == {7.0}
    # Six standard errors of a share of 100,000 cells, and of a mean of 10,000 answers.
    assert len(answers) / 100_000 == pytest.approx(0.1, abs=0.006)
    law = SparseSetting(values=tuple(range(10)), truth=7, answered=1, epsilon=1).answer_law()
    assert answers.value.mean() == pytest.approx(float(law @ np.arange(10)), abs=0.06)


def test_a_crowd_that_answers_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="sparsity must be at least 0 and below 1"):
        AlikeCrowd(3, 3, 0, 1.0)


def test_simulated_errors_are_those_that_are_computed() -> None:
    """LP and RR on 2,000 workers: mostly bias, which is known exactly."""
    contest = Contest(AlikeCrowd(2_000, 40, 0, 0.9), 1.0, (LP, RR), hide_participation=True)
    found = errors(contest, 0, 1)
    lp, rr = laplace_error(SETTING, 10.0), null_response_error(SETTING)
    assert found["LP"] == pytest.approx(lp.estimate, abs=0.3)  # s.e. of 40 tasks 0.05
    assert found["RR"] == pytest.approx(rr.estimate, abs=0.05)  # s.e. 0.011
    assert found[CONSTANT] == 0


def test_the_pairs_of_a_trial_see_the_same_answers() -> None:
    contest = Contest(AlikeCrowd(50, 10, 0, 0.5), 1.0, (LP, RR), hide_participation=True)
    alone = Contest(contest.source, 1.0, (RR,), hide_participation=True)
    assert errors(contest, 3, 1)["RR"] == errors(alone, 3, 1)["RR"]


def test_bounds_depend_on_sparsity_as_the_theorems_say() -> None:
    dense, sparse = formulas(0.0), formulas(0.9)
    assert dense["LP"] == pytest.approx(np.sqrt(2 / np.pi) + 10)
    assert dense["MF"] == sparse["MF"]
    assert dense["RR"] < sparse["RR"]


def test_numbers_are_judged_by_their_formulas_and_bounds_by_errors() -> None:
    outcome = judged(lp=4.0, rr=3.5, mf=1.7)
    assert outcome.rulings.verdicts == ("partly", "holds", "partly")
    assert "not Theorem 3" in outcome.rulings.numbers.reason


def test_thm_1_holds_for_consecutive_integers_eq_8_holds_and_thm_4_fails() -> None:
    claims = judged(lp=4.0, rr=3.5, mf=1.7).claims
    verdicts = [claims[name].verdict for name in ("P4-IV.A-1", "P4-IV.B-1", "P4-V-4")]
    assert verdicts == ["partly", "holds", "fails"]
    assert "50 for the values 0 and 100" in claims["P4-IV.A-1"].reason


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ((15.0, 3.0, 1.0), "Theorem 2 holds (error 15"),
        ((4.0, 4.4, 1.0), "Theorem 3 holds (error 4.4"),
        ((4.0, 3.0, 6.4), "Theorem 5 holds (MF d 100: error 6.4"),
    ],
)
def test_each_bound_can_be_false(errors: tuple[float, float, float], words: str) -> None:
    shape = judged(*errors).rulings.shape
    assert shape.verdict == "partly"
    assert words in shape.reason


def test_an_error_above_a_bound_by_chance_refutes_nothing() -> None:
    assert judged(lp=4.0, rr=3.6, mf=1.9, error=0.05).rulings.shape.verdict == "holds"


def test_a_slide_with_other_truths_than_the_paper_has_another_bound() -> None:
    claims = judged(lp=4.0, rr=3.5, mf=1.7).claims
    assert claims["P4-slides-3"].verdict == claims["P4-slides-4"].verdict == "partly"
    assert "13.22979 and the error is 3.16" in claims["P4-slides-3"].reason
    assert "3.43680 and the error is 4.43" in claims["P4-slides-4"].reason
    assert "2.53772 and the error is 3.44" in claims["P4-slides-4"].reason


def test_a_false_bound_leaves_half_of_what_the_paper_says_of_it() -> None:
    false, true = judged(lp=4.0, rr=3.5, mf=6.4).claims, judged(lp=4.0, rr=3.5, mf=1.7).claims
    for name in ("P4-V-8", "P4-V-9", "P4-slides-7"):
        assert (false[name].verdict, true[name].verdict) == ("partly", "holds")


def test_an_error_is_large_from_a_quarter_of_the_range_on() -> None:
    found = [judged(lp=lp, rr=rr, mf=1.7).claims["P4-slides-15"] for lp, rr in ((4, 4), (1, 3))]
    assert [ruling.verdict for ruling in found] == ["holds", "partly"]


def test_mf_without_a_ridge_is_refused_where_workers_have_no_minimum() -> None:
    plain, ridged = Factorization(20), Factorization(20, 0.01)
    found = factored_errors(AlikeCrowd(5, 40, 7, 0.9), 1.0, (plain, ridged), 0, 1)
    assert set(found) == {ridged.name, CONSTANT}


def test_both_sizes_have_the_worked_settings() -> None:
    for size in ("quick", "full"):
        found = cases(size)
        worked = [case for case in found if case.crowd.sparsity == 0.9]
        assert {pair.name for case in worked for pair in case.pairs} >= {"LP", "RR", "MF d 100"}
        assert {case.crowd.tasks for case in found if case.pairs == MF} == {1_000}
