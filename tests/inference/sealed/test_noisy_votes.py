"""Labels from noisy totals: exact laws, calibrated, and plausible with little information."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from sottovoce.api.infer_opened import infer_opened, sum_answers
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.inference.sealed import likelihood
from sottovoce.inference.sealed.likelihood import CountLaw, counts_of
from sottovoce.mechanisms.laws.polya import noise_law
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Result
from sottovoce.model.opened_totals import NoiseLaw, Opened
from sottovoce.planning.crowds import LabelAbility
from sottovoce.planning.scenario import Scenario

LAW = NoiseLaw(*noise_law(Fraction(1, 2), Fraction(3, 2)))
GRID = np.array([0.3, 0.8])

ABLE = LabelAbility(tuple(np.linspace(0.55, 0.8, 26).tolist()))


def opened(
    totals: list[list[int]], labels: int, answered: list[int] | None, workers: int = 60
) -> Opened:
    table = np.array(totals, np.int64)
    return Opened(
        np.arange(len(table)), Domain.categorical(range(labels)), "votes", labels,
        answered is None, table, None if answered is None else np.array(answered, np.int64),
        workers, (LAW,) * table.shape[1],
    )  # fmt: skip


def fitted(
    labels: int, epsilon: float, *, hidden: bool = False, seed: int = 0, answers: int = 50
) -> tuple[Result, np.ndarray]:
    """200 workers of ability 0.55 to 0.8 and 200 tasks."""
    domain = Domain.categorical(range(labels))
    drawn, truths = Scenario(domain, 200, 200, answers, ABLE).draw(seed)
    target = Target(epsilon, answers=200 if hidden else answers, hide_participation=hidden)
    policy = make_policy(domain, "sealed-sum", target)
    return infer_opened(sum_answers(drawn, policy, SeededRandomness(seed))), truths


def chance(noise: int) -> float:
    return float(LAW.chances(np.array([noise]))[0])


def test_two_labels_are_binomial_counts_with_noise() -> None:
    [found] = likelihood.binary_public_likelihood(opened([[4]], 2, [6]), np.array([6]), GRID)
    expected = [
        sum(comb(6, x) * p**x * (1 - p) ** (6 - x) * chance(4 - x) for x in range(7)) for p in GRID
    ]
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_hidden_count_is_summed_over() -> None:
    counts = CountLaw(np.array([3, 4]), np.array([0.25, 0.75]))
    [found] = likelihood.binary_hidden_likelihood(opened([[1, 5]], 2, None), counts, GRID)
    expected = [
        sum(
            weight
            * chance(5 - n)
            * comb(n, x)
            * p**x
            * (1 - p) ** (n - x)
            * chance(1 - (2 * x - n))
            for n, weight in ((3, 0.25), (4, 0.75))
            for x in range(n + 1)
        )
        for p in GRID
    ]
    assert found == pytest.approx(expected, rel=1e-12)


def brute(totals: list[int], truth: int, right: float, answers: int) -> float:
    """P(totals | truth) over all sequences of answers."""
    shares = [right if label == truth else (1 - right) / 2 for label in range(3)]
    return sum(
        float(np.prod([shares[each] for each in given]))
        * float(np.prod([chance(totals[k] - given.count(k)) for k in range(3)]))
        for given in product(range(3), repeat=answers)
    )


def test_three_labels_are_multinomial_counts_with_noise() -> None:
    found = likelihood.several_public_likelihood(opened([[3, 0, 2]], 3, [5]), np.array([5]), GRID)
    expected = [[brute([3, 0, 2], truth, right, 5) for right in GRID] for truth in range(3)]
    assert found[0] == pytest.approx(np.array(expected), rel=1e-9)


def test_three_labels_with_a_hidden_count_are_summed_over_it() -> None:
    counts = CountLaw(np.array([2, 4]), np.array([0.5, 0.5]))
    found = likelihood.several_hidden_likelihood(opened([[3, 0, 2]], 3, None), counts, GRID)
    expected = [
        [sum(brute([3, 0, 2], truth, right, n) for n in (2, 4)) / 2 for right in GRID]
        for truth in range(3)
    ]
    assert found[0] == pytest.approx(np.array(expected), rel=1e-9)


def test_counts_are_learnt_from_all_tasks_without_their_noise() -> None:
    rng = np.random.default_rng(3)
    noise = rng.choice(np.arange(-LAW.reach, LAW.reach + 1), (400, 2), p=LAW.pmf / LAW.pmf.sum())
    counted = rng.binomial(60, 0.5, 400)
    found = counts_of(opened((np.stack([0 * counted, counted], 1) + noise).tolist(), 2, None))
    assert found.mean == pytest.approx(30, abs=1.5)
    assert 6 < found.variance < 26  # 15 without noise, 27 with it


@pytest.mark.parametrize(("epsilon", "most"), [(1.0, 0.06), (0.5, 0.12)])
def test_few_labels_are_wrong_on_the_stated_crowd(epsilon: float, most: float) -> None:
    # Means are 0.013 and 0.038, and one campaign's deviations 0.0085 and 0.014: over 5 sigma.
    result, truths = fitted(2, epsilon, seed=11)
    assert (result.truths != truths).mean() <= most


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "most"), [(1.0, 0.015), (0.5, 0.045)])
def test_over_twenty_campaigns_few_labels_are_wrong(epsilon: float, most: float) -> None:
    trials = (fitted(2, epsilon, seed=seed) for seed in range(20))
    assert np.mean([(found.truths != truths).mean() for found, truths in trials]) <= most


@pytest.mark.parametrize("labels", [2, 5])
@pytest.mark.parametrize("hidden", [False, True])
def test_confidence_is_calibrated(labels: int, hidden: bool) -> None:
    assert calibration_error(labels, 0.5, hidden, trials=2) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("labels", [2, 5])
@pytest.mark.parametrize("hidden", [False, True])
def test_confidence_is_calibrated_over_many(labels: int, hidden: bool, epsilon: float) -> None:
    assert calibration_error(labels, epsilon, hidden, trials=10) < 0.05


def calibration_error(labels: int, epsilon: float, hidden: bool, trials: int) -> float:
    found = [fitted(labels, epsilon, hidden=hidden, seed=seed) for seed in range(trials)]
    sure = np.concatenate(
        [result.confidence for result, _ in found if result.confidence is not None]
    )
    right = np.concatenate([result.truths == truths for result, truths in found])
    tenth = np.minimum((10 * sure).astype(int), 9)
    return float(sum(abs((sure - right)[tenth == each].sum()) for each in range(10)) / len(sure))


@pytest.mark.parametrize("labels", [2, 3])
def test_one_task_with_a_clear_majority_is_told_and_one_without_votes_is_not(labels: int) -> None:
    one = [[36]] if labels == 2 else [[2, 38, 0]]
    clear = infer_opened(opened(one, labels, [40]))
    assert clear.values.tolist() == [1]
    assert clear.confidence is not None
    assert clear.confidence[0] > 0.9
    even = infer_opened(opened([[0] * len(one[0])], labels, [0]))
    assert even.confidence is not None
    assert even.confidence[0] < 0.7


def test_totals_that_noise_never_reaches_do_not_break_it() -> None:
    found = infer_opened(opened([[10**6], [-(10**6)], [3]], 2, [5, 5, 5]))
    assert found.posterior is not None
    assert np.isfinite(found.posterior).all()


def test_nobody_has_a_weight_and_the_counts_are_the_answers() -> None:
    found = infer_opened(opened([[3], [1]], 2, [5, 4]))
    assert (len(found.workers), len(found.weights), found.answers.tolist()) == (0, 0, [5, 4])
    assert found.provenance.method == "sealed-votes"


def test_a_majority_of_the_totals_is_a_method_too() -> None:
    found = infer_opened(opened([[3, -2, 9]], 3, [10]), "sealed-majority-vote")
    assert found.truths.tolist() == [2]
    assert found.confidence == pytest.approx([0.75])


def test_a_method_for_another_layout_is_refused() -> None:
    with pytest.raises(UsageError, match="sealed-mean does not read totals of layout votes"):
        infer_opened(opened([[3]], 2, [5]), "sealed-mean")
