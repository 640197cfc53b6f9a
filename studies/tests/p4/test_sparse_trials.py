"""Tests of a trial of P4's experiments against the public functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms.codes import answer_cells
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Domain, Reports, Unit
from sottovoce.planning.pipelines import Pipeline
from sottovoce.planning.trials import trial_seed
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.crowds import GoldAnswers, Scored
from sottovoce_studies.p4.factorization import MF
from sottovoce_studies.p4.sparse_trials import (
    CLEAN,
    LP,
    NARROW,
    RR,
    TWO_LAYER,
    crowd,
    maes,
    maes_and_means,
    ours,
    policy_at,
    reports_of,
)

TEN = Domain.ordinal(range(10))
ALL = (LP, RR, TWO_LAYER, NARROW, ours())


@pytest.mark.parametrize("pair", ALL, ids=lambda pair: pair.name)
def test_reports_are_those_of_the_public_function(pair: Pipeline) -> None:
    answers, _ = crowd(30, 20, 0.5).draw(3)
    policy = policy_at(pair, TEN, 1.0, 20)
    expected = perturb(answers, policy, SeededRandomness(7))
    found = reports_of(answer_cells(answers, TEN).dense(), policy, 7)
    assert len(found) == 30 * 20
    np.testing.assert_array_equal(found.worker, expected.worker)
    np.testing.assert_array_equal(found.task, expected.task)
    np.testing.assert_array_equal(found.value, expected.value)


def test_errors_are_mean_distances_to_the_truth() -> None:
    source = crowd(60, 30, 0.5)
    found = maes(source, 10, 2.0, (LP, RR), 4, 1)
    answers, truths = source.draw(trial_seed(1, 0, 4))
    clean = infer(answers.as_numbers(), "inverse-deviation").truths
    assert found[CLEAN] == pytest.approx(np.abs(clean - truths).mean())
    assert found[CONSTANT] == pytest.approx(np.abs(truths - np.median(truths)).mean())
    assert set(found) == {CLEAN, "LP", "RR", CONSTANT}


def test_codes_of_truths_stand_for_the_numbers_of_their_labels() -> None:
    class Few:
        def draw(self, seed: int) -> tuple[Reports, np.ndarray]:
            answers = Reports.of(
                [0, 0, 1, 1], [0, 1, 0, 1], [2, 0, 2, 0], domain=Domain.ordinal(["0", "1", "2"])
            )
            return answers, np.array([1, -1])

    assert maes(Few(), 3, 1.0, (), 0, 1) == {CLEAN: pytest.approx(1.0), CONSTANT: 0.0}


def test_half_of_the_workers_are_poor_and_most_cells_are_empty() -> None:
    answers, truths = crowd(1_000, 200, 0.9).draw(5)
    assert len(answers) == pytest.approx(20_000, abs=6 * math.sqrt(200_000 * 0.09))
    assert abs(truths.mean()) < 6 / math.sqrt(200)
    # Answers are clipped at 0: those of poor workers reach 9, those of good ones do not.
    high = np.bincount(answers.worker, answers.value == 9, 1_000) > 0
    assert 300 < high.sum() <= 500


def test_other_truths_lie_all_over_the_range() -> None:
    _, truths = crowd(20, 2_000, 0.5, "U(1, 8)").draw(5)
    assert 1 <= truths.min() < 1.1
    assert 7.9 < truths.max() <= 8


def test_two_layer_is_randomised_response_at_an_epsilon_of_each_worker() -> None:
    drawn = mechanism_of(policy_at(TWO_LAYER, TEN, 1.0, 20)).draw(20_000, SeededRandomness(3))
    assert drawn is not None
    other = drawn.values / 2**64
    epsilons = np.log((1 - 10 * other) / other)
    # Uniform from 0 to 2: mean 1 within six standard errors.
    assert epsilons.mean() == pytest.approx(1.0, abs=6 * 2 / math.sqrt(12 * 20_000))
    assert 0 < epsilons.min() < epsilons.max() < 2


def test_a_narrow_range_of_budgets_has_the_same_mean() -> None:
    drawn = mechanism_of(policy_at(NARROW, TEN, 1.0, 20)).draw(20_000, SeededRandomness(3))
    assert drawn is not None
    other = drawn.values / 2**64
    epsilons = np.log((1 - 10 * other) / other)
    assert epsilons.mean() == pytest.approx(1.0, abs=6 / math.sqrt(12 * 20_000))
    assert 0.5 < epsilons.min() < epsilons.max() < 1.5


def test_the_means_of_inferred_truths_go_with_the_errors() -> None:
    source = crowd(60, 30, 0.5)
    both = maes_and_means(source, 10, 2.0, (LP, RR), 4, 1)
    assert both["maes"] == maes(source, 10, 2.0, (LP, RR), 4, 1)
    answers, _ = source.draw(trial_seed(1, 0, 4))
    clean = infer(answers.as_numbers(), "inverse-deviation").truths
    assert both["means"][CLEAN] == pytest.approx(clean.mean())


def test_labels_in_their_order_are_scores() -> None:
    class Labels:
        def draw(self, seed: int) -> tuple[Reports, np.ndarray]:
            domain = Domain.categorical(["1", "2", "3"])
            return Reports.of([0, 1], [0, 0], [0, 2], domain=domain), np.array([0])

    answers, truths = Scored(Labels()).draw(0)
    assert answers.domain == Domain.ordinal(range(5))
    assert answers.value.tolist() == [0, 2]
    assert truths.tolist() == [0]


def test_mf_of_a_small_dimension_reports_about_nothing() -> None:
    """Its estimates are around 0 for any truths, so it looks good for truths around 0."""
    found = maes(crowd(500, 100, 0.5, "U(1, 8)"), 10, 3.0, (MF[2],), 0, 1)
    _, truths = crowd(500, 100, 0.5, "U(1, 8)").draw(trial_seed(1, 0, 0))
    assert found["MF d 2"] == pytest.approx(truths.mean(), rel=0.1)


def test_ours_keeps_its_epsilon_for_missing_answers_too() -> None:
    mechanism = mechanism_of(policy_at(ours(), TEN, 1.0, 20))
    assert mechanism.hides_participation
    assert mechanism.guarantee(20, Unit.ANSWER).epsilon <= 1


def test_tasks_without_gold_are_cut_out() -> None:
    class Whole:
        def draw(self, seed: int) -> tuple[Reports, np.ndarray]:
            answers = Reports.of(
                [0, 1, 2, 2],
                [0, 1, 2, 0],
                [1, 0, 1, 0],
                domain=Domain.ordinal("01"),
                workers=np.array(["a", "b", "c"]),
                tasks=np.array(["x", "y", "z"]),
            )
            return answers, np.array([1, -1, 0])

    answers, truths = GoldAnswers(Whole()).draw(0)
    assert truths.tolist() == [1, 0]
    assert answers.workers.tolist() == ["a", "c"]
    assert answers.tasks.tolist() == ["x", "z"]
    assert list(zip(answers.worker, answers.task, answers.value, strict=True)) == [
        (0, 0, 1),
        (1, 1, 1),
        (1, 0, 0),
    ]
