"""Every mechanism: the draws follow the stated law."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.mechanisms import (
    MatrixFactorization,
    RandomVarianceGaussian,
    Sampled,
    SubsetSelection,
    Threshold,
    TwoLayer,
)
from sottovoce.mechanisms.laws.geometric import Geometric
from sottovoce.mechanisms.laws.hyper_weights import UniformWeights
from sottovoce.mechanisms.laws.task_profiles import integer_profiles
from sottovoce.model import NULL, WORDS, Cells, FloatArray

if TYPE_CHECKING:
    from tests.contracts.conftest import Case

pytestmark = pytest.mark.statistical

SOME, MANY = 250_000, 1_000_000
"""Draws of every answer; a tenth of it where thresholds are made from names."""


def check_frequencies(seen: npt.NDArray[Any], chances: FloatArray, draws: int) -> None:
    """Every frequency within 6 sigma, and no report that is much rarer than one draw."""
    assert int(seen.sum()) == draws
    spread = np.sqrt(chances * (1 - chances) / draws)
    # A Poisson count needs a little more room than its sigma if few are expected.
    assert (np.abs(seen / draws - chances) <= 6 * spread + 12 / draws).all()


def shuffled(case: Case, each: int) -> tuple[Cells, npt.NDArray[np.int32]]:
    """Equally many workers with each answer, one task, in any order."""
    codes = np.tile(np.array(case.answers, np.int32), each)
    np.random.default_rng(5).shuffle(codes)
    return case.cells(codes[:, None]), codes


@pytest.mark.parametrize("draws", [SOME, pytest.param(MANY, marks=pytest.mark.slow)])
def test_reports_follow_the_channel(finite: Case, draws: int) -> None:
    mechanism, channel = finite.mechanism, finite.mechanism.channel()
    each = draws // 10 if isinstance(mechanism, Threshold) else draws
    randomness = SeededRandomness(11)
    cells, codes = shuffled(finite, each)
    private = mechanism.draw(len(codes), randomness)
    reports = mechanism.perturb(cells, private, randomness).code
    order = np.argsort(np.array(channel.reports))
    columns = np.searchsorted(np.array(channel.reports)[order], reports.astype(np.int64))
    assert (np.array(channel.reports)[order][columns] == reports).all()
    rows = finite.rows_of_channel(finite.answers)
    for answer, row in zip(finite.answers, rows, strict=True):
        seen = np.bincount(columns[codes == answer], minlength=len(order))
        check_frequencies(seen, channel.matrix()[row][order], each)


@pytest.mark.parametrize("rate", [WORDS, WORDS // 9])
def test_gaussian_reports_of_many_workers_follow_the_marginal_law(rate: int) -> None:
    mechanism, draws = RandomVarianceGaussian(3, rate), SOME
    randomness, codes = SeededRandomness(12), np.full(draws, 2, np.int32)
    zeros = np.zeros(draws, np.int32)
    names = np.empty(draws, object)
    cells = Cells(np.arange(draws, dtype=np.int32), zeros, codes, names, names[:1])
    reports = mechanism.perturb(cells, mechanism.draw(draws, randomness), randomness).code
    points = np.arange(-400, 401)
    seen = np.bincount(reports.astype(np.int64) + 400, minlength=801)
    check_frequencies(seen, np.exp(mechanism.log_likelihood(points, 2)), draws)


@pytest.mark.parametrize("answers", [[0, 0, 0], [1, NULL, 0], [1, 1, 1]])
def test_the_noisy_sums_of_a_factorisation_follow_their_law(answers: list[int]) -> None:
    law = Geometric.near(3 << 62, 8)
    mechanism = MatrixFactorization(2, 1, 2, 3, 1, law.centre, law.ratio, law.reach)
    profiles = integer_profiles(["a", "b", "c"], 2, 3, "")
    draws = 300_000
    codes = np.tile(np.array(answers, np.float64), (draws, 1))
    sums = mechanism.sums(codes, profiles, SeededRandomness(13)).astype(np.int64)
    weights = law.weights / WORDS
    noise = np.concatenate([weights[:0:-1], weights])
    true = profiles @ np.where(np.array(answers) == NULL, 0, np.array(answers) - 1)
    for column, middle in enumerate(np.clip(true, -4, 4)):
        reached = np.clip(np.arange(-8, 9) + middle, -4, 4) + 4
        chances = np.bincount(reached, noise, 9).astype(np.float64)
        check_frequencies(np.bincount(sums[:, column] + 4, minlength=9), chances, draws)


def test_what_workers_draw_once_is_uniform(case: Case) -> None:
    if not isinstance(case.mechanism, TwoLayer) or not isinstance(
        case.mechanism.hyper, UniformWeights
    ):
        pytest.skip("draws nothing uniform")
    hyper, draws = case.mechanism.hyper, 500_000
    values = case.mechanism.draw(draws, SeededRandomness(14)).values
    place = (values - np.uint64(hyper.low)) / (hyper.high - hyper.low)
    assert place.min() >= 0
    assert place.max() <= 1
    check_frequencies(np.histogram(place, 20, (0, 1))[0], np.full(20, 0.05), draws)


def test_the_variances_that_workers_draw_are_exponential() -> None:
    mechanism, draws = RandomVarianceGaussian(7, WORDS // 5), 500_000
    values = mechanism.draw(draws, SeededRandomness(15)).values / (7**2 * 5)
    assert values.mean() == pytest.approx(1, abs=6 / math.sqrt(draws))
    assert np.square(values).mean() == pytest.approx(2, abs=6 * math.sqrt(20 / draws))
    edges = -np.log1p(-np.arange(20) / 20)
    seen = np.histogram(values, [*edges, np.inf])[0]
    check_frequencies(seen, np.full(20, 0.05), draws)


def pairs_of_reports(case: Case, draws: int) -> FloatArray:
    """Two reports of each of many workers, as numbers: of a set, whether it has the answer."""
    randomness = SeededRandomness(16)
    cells = case.cells(np.full((draws, 2), case.values - 1))
    private = case.mechanism.draw(draws, randomness)
    codes = case.mechanism.perturb(cells, private, randomness).code
    if isinstance(case.mechanism, SubsetSelection):
        symbol = np.uint64(case.mechanism.symbols(case.values - 1))
        codes = codes >> symbol & np.uint64(1)
    return np.asarray(codes, np.float64).reshape(draws, 2)


def test_answers_of_one_worker_have_independent_noise(finite: Case) -> None:
    if isinstance(finite.mechanism, TwoLayer):
        pytest.skip("whose reports share what the worker drew")
    draws = 20_000 if isinstance(finite.mechanism, Threshold) else 200_000
    one, other = pairs_of_reports(finite, draws).T
    if one.std() == 0 or other.std() == 0:
        pytest.skip("so little noise that none was seen")
    assert abs(np.corrcoef(one, other)[0, 1]) <= 6 / math.sqrt(draws)


def test_two_layer_reports_depend_on_what_the_worker_drew(finite: Case) -> None:
    if not isinstance(finite.mechanism, TwoLayer):
        pytest.skip("draws nothing")
    mechanism, draws = finite.mechanism, 200_000
    moved = pairs_of_reports(finite, draws) != finite.values - 1
    chance, both = np.exp(mechanism.log_likelihood(0, 0)), moved.all(axis=1).mean()
    submissions = (mechanism.symbols - 1) ** 2
    expected = submissions * float(np.exp(mechanism.submission_log_likelihood(2, 2)))
    spread = math.sqrt(expected * (1 - expected) / draws)
    assert both == pytest.approx(expected, abs=6 * spread)
    assert expected > float(1 - chance) ** 2


def test_gaussian_reports_of_a_worker_share_its_variance() -> None:
    mechanism, draws = RandomVarianceGaussian(9, WORDS), 100_000
    randomness = SeededRandomness(17)
    worker = np.repeat(np.arange(draws, dtype=np.int32), 2)
    names = np.empty(draws, object)
    cells = Cells(worker, worker % 2, np.zeros(2 * draws, np.int32), names, names[:2])
    codes = mechanism.perturb(cells, mechanism.draw(draws, randomness), randomness).code
    one, other = codes.astype(np.float64).reshape(draws, 2).T
    assert abs(np.corrcoef(one, other)[0, 1]) <= 12 / math.sqrt(draws)  # E[V²] = 2 E[V]²
    assert np.corrcoef(np.abs(one), np.abs(other))[0, 1] > 0.1


def test_workers_together_report_as_each_of_them_alone(case: Case) -> None:
    """The mean of a report, of all answers in turn, in calls of one worker or of many."""
    mechanism, tasks = case.mechanism, 12
    row = [case.answers[i % len(case.answers)] for i in range(tasks)]

    def means(calls: int, workers: int) -> tuple[FloatArray, FloatArray]:
        found = []
        for call in range(calls):
            randomness = SeededRandomness(1000 + call)
            private = mechanism.draw(workers, randomness)
            reports = mechanism.perturb(case.cells([row] * workers), private, randomness)
            first = np.clip(_small(case, reports.code), -9, 9)
            found += [first[reports.worker == w].mean() for w in range(workers)]
        return np.mean(found), np.std(found) / math.sqrt(len(found))

    alone, alone_error = means(200, 1)
    together, together_error = means(1, 200)
    assert abs(alone - together) <= 6 * math.hypot(float(alone_error), float(together_error))


def _small(case: Case, codes: npt.NDArray[Any]) -> FloatArray:
    inner = case.mechanism.mechanism if isinstance(case.mechanism, Sampled) else case.mechanism
    if isinstance(inner, SubsetSelection):
        codes = codes & np.uint64(1)
    return codes.astype(np.float64)
