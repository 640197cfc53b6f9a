"""Every mechanism: the stated guarantee is the exact privacy loss over all listed submissions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtr

from sottovoce.errors import UsageError
from sottovoce.mechanisms import (
    MatrixFactorization,
    RandomVarianceGaussian,
    Sampled,
    TwoLayer,
)
from sottovoce.mechanisms.laws.geometric import Geometric
from sottovoce.mechanisms.laws.hyper_weights import LevelWeights
from sottovoce.mechanisms.laws.task_profiles import integer_profiles
from sottovoce.mechanisms.published_factorization import PublishedFactorization
from sottovoce.model import NULL, WORDS, FloatArray, Unit

if TYPE_CHECKING:
    from tests.contracts.conftest import Case

MOST = 20_000
"""The largest number of entries of a listed law; at most four answers."""

Integers = npt.NDArray[np.object_]
Submission = tuple[int, ...]


class Law(NamedTuple):
    """P(submission | answers) for all vectors of answers (rows) and all submissions (columns)."""

    answers: list[Submission]
    weights: Integers
    total: int

    def neighbors(self, unit: Unit) -> npt.NDArray[np.bool_]:
        """A matrix that marks the pairs of answer vectors that are neighbours."""
        codes = np.array(self.answers)
        apart = np.sum(codes[:, None] != codes[None], axis=2)
        return np.asarray(apart > 0 if unit is Unit.WORKER else apart == 1)

    def epsilon(self, unit: Unit) -> float:
        """max ln P(submission | answers) / P(submission | neighbouring answers)."""
        logs = np.array([[math.log(weight) for weight in row] for row in self.weights.tolist()])
        neighbors = self.neighbors(unit)
        return max(
            float(np.max(row - logs[near])) for row, near in zip(logs, neighbors, strict=True)
        )

    def delta(self, epsilon: float, unit: Unit) -> float:
        """max Σ [P(submission | answers) - exp(ε) P(submission | neighbouring answers)]₊."""
        neighbors = self.neighbors(unit)
        # Integers, whose quotient Python rounds once.
        chances = (self.weights / self.total).astype(np.float64)
        others = math.exp(epsilon) * chances
        return max(
            float(np.max(np.sum(np.maximum(row - others[near], 0), axis=1)))
            for row, near in zip(chances, neighbors, strict=True)
        )


@lru_cache(maxsize=256)
def law_of(case: Case, answers: int) -> Law:
    """The joint law of `answers` reports of one worker, from integers only."""
    mechanism = case.mechanism
    vectors = list(itertools.product(case.answers, repeat=answers))
    if isinstance(mechanism, Sampled):
        return _sampled(case, vectors, mechanism)
    if isinstance(mechanism, TwoLayer):
        return _two_layer(vectors, mechanism)
    if isinstance(mechanism, MatrixFactorization):
        return _factorization(case, vectors, mechanism)
    weights: Integers = np.ones((1, 1), object)
    for task in range(answers):
        channel = mechanism.channel()
        rows = case.rows_of_channel(case.answers, task)
        weights = _product(weights, np.array(channel.weights, object)[rows])
    return Law(vectors, weights, mechanism.channel().total ** answers)


def _product(one: Integers, other: Integers) -> Integers:
    """Independent reports: every row with every row, every column with every column."""
    both: Integers = one[:, None, :, None] * other[None, :, None, :]
    return both.reshape(len(one) * len(other), -1)


def _two_layer(vectors: list[Submission], mechanism: TwoLayer) -> Law:
    """P = E[xᵐ (1 - (s - 1) x)ᵏ⁻ᵐ], x = other / 2⁶⁴, for m mismatches: a sum of moments of x."""
    k, s = len(vectors[0]), mechanism.symbols
    moments = [_moment(mechanism, power) for power in range(k + 1)]
    chance = [
        sum(math.comb(k - m, i) * (1 - s) ** i * moments[m + i] for i in range(k - m + 1))
        for m in range(k + 1)
    ]
    total = math.lcm(*(fraction.denominator for fraction in chance))
    meant = [tuple(s - 1 if a == NULL else a for a in vector) for vector in vectors]
    weights = [
        [int(chance[sum(a != r for a, r in zip(x, y, strict=True))] * total) for y in meant]
        for x in meant
    ]
    return Law(vectors, np.array(weights, object), total)


def _moment(mechanism: TwoLayer, power: int) -> Fraction:
    """E[xᵖ], exactly: a sum over levels, or over all the integers from low to high."""
    hyper = mechanism.hyper
    if isinstance(hyper, LevelWeights):
        levels = zip(hyper.others, hyper.weights, strict=True)
        return Fraction(
            sum(other**power * weight for other, weight in levels), WORDS ** (power + 1)
        )
    powers = _power_sum(hyper.high, power) - _power_sum(hyper.low - 1, power)
    return Fraction(powers, (hyper.high - hyper.low + 1) * WORDS**power)


def _power_sum(last: int, power: int) -> Fraction:
    """0ᵖ + 1ᵖ + … + lastᵖ by Pascal's recursion: Σ_j C(p + 1, j) S_j = (last + 1)ᵖ⁺¹."""
    lower = sum(math.comb(power + 1, j) * _power_sum(last, j) for j in range(power))
    return (Fraction((last + 1) ** (power + 1)) - lower) / (power + 1)


def _factorization(case: Case, vectors: list[Submission], mechanism: MatrixFactorization) -> Law:
    """The law of the noisy sums z, from which all reports are computed."""
    tasks = case.cells([[0] * len(vectors[0])]).tasks
    profiles = integer_profiles(tasks, mechanism.dimension, mechanism.resolution, mechanism.salt)
    furthest = mechanism.reach // 2
    noise = Geometric(mechanism.centre, mechanism.ratio, mechanism.reach)
    weights = noise.weights.tolist()
    rows = []
    for vector in vectors:
        offsets = [0 if a == NULL else a - mechanism.middle for a in vector]
        row: Integers = np.ones((1, 1), object)
        for column in profiles.tolist():
            exact = sum(v * o for v, o in zip(column, offsets, strict=True))
            true = max(-furthest, min(furthest, exact))
            reached = [0] * (2 * furthest + 1)
            for z in range(-mechanism.reach, mechanism.reach + 1):
                place = max(-furthest, min(furthest, true + z)) + furthest
                reached[place] += weights[abs(z)]
            row = _product(row, np.array([reached], object))
        rows.append(row[0])
    return Law(vectors, np.array(rows), WORDS**mechanism.dimension)


def _sampled(case: Case, vectors: list[Submission], mechanism: Sampled) -> Law:
    """A submission is the set of sent cells, and their reports."""
    k = len(vectors[0])
    sent = min(k, mechanism.answers)
    inner = law_of(type(case)(case.name, mechanism.mechanism, case.domain), sent)
    place = {vector: i for i, vector in enumerate(inner.answers)}
    parts = [
        inner.weights[[place[tuple(vector[t] for t in chosen)] for vector in vectors]]
        for chosen in itertools.combinations(range(k), sent)
    ]
    return Law(vectors, np.concatenate(parts, axis=1), inner.total * math.comb(k, sent))


def laws(case: Case) -> Iterator[tuple[int, Law]]:
    """As many answers as can be listed."""
    if isinstance(case.mechanism, RandomVarianceGaussian):
        pytest.skip("no finite alphabet: see below")
    alone = law_of(case, 1).weights.size
    for answers in range(1, 5):
        if answers <= 2 or alone**answers <= MOST:
            yield answers, law_of(case, answers)


def test_the_rows_of_the_law_of_all_reports_add_up_to_one(promising: Case) -> None:
    for _, law in laws(promising):
        assert all(sum(row) == law.total for row in law.weights.tolist())


def test_every_submission_is_possible_under_all_answers(promising: Case) -> None:
    for _, law in laws(promising):
        assert min(law.weights.ravel().tolist()) > 0


@pytest.mark.parametrize("unit", Unit)
def test_no_submission_exceeds_the_guarantee(promising: Case, unit: Unit) -> None:
    for answers, law in laws(promising):
        stated = promising.mechanism.guarantee(answers, unit)
        found = law.epsilon(unit)
        assert found <= stated.epsilon + 1e-9
        if stated.exact:
            assert found == pytest.approx(stated.epsilon, abs=1e-9)


@pytest.mark.parametrize("unit", Unit)
def test_no_set_of_submissions_exceeds_the_curve(promising: Case, unit: Unit) -> None:
    for answers, law in laws(promising):
        mechanism, pure = promising.mechanism, law.epsilon(unit)
        exact = mechanism.guarantee(answers, unit, 0.5).exact
        for part in (0.0, 0.3, 0.9):
            epsilon = part * pure
            stated, found = mechanism.delta(epsilon, answers, unit), law.delta(epsilon, unit)
            assert found <= stated + 1e-12
            if exact:
                assert found == pytest.approx(stated, abs=1e-9)


def gaussian_law(mechanism: RandomVarianceGaussian, reach: int) -> tuple[FloatArray, FloatArray]:
    """P(noise = n | V) for n = -reach, …, reach at nodes of V, and the nodes' weights."""
    at, step = np.linspace(-60.0, 4.5, 6001, retstep=True)
    share = np.exp(at - np.exp(at)) * step
    deviation = np.sqrt(np.exp(at) * mechanism.steps**2 / (mechanism.rate / WORDS))
    edges = np.arange(-reach, reach + 2) - 0.5
    # From the nearer tail, where the normal distribution function is accurate.
    below = ndtr(np.minimum(edges, -edges)[:, None] / deviation)
    below = np.where((edges > 0)[:, None], 1 - below, below)
    return np.diff(below, axis=0), share


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("answers", [1, 2])
def test_the_curve_of_the_gaussian_bounds_the_loss_of_reports_on_the_grid(
    answers: int, unit: Unit
) -> None:
    mechanism, reach = RandomVarianceGaussian(1, WORDS), 40
    chances, share = gaussian_law(mechanism, reach)
    # Reports from 1 - reach to reach, under the answers 0 and 1.
    given = {answer: chances[1 - answer : len(chances) - answer] for answer in (0, 1)}
    changed = [(0, 1)] if answers == 1 else [(0, 1), (0, 1) if unit is Unit.WORKER else (0, 0)]

    def law(side: int) -> FloatArray:
        factors: list[Any] = [given[pair[side]] for pair in changed]
        if answers == 1:
            return np.asarray(factors[0] @ share)
        return np.asarray((factors[0] * share) @ factors[1].T)

    one, other = law(0), law(1)
    assert float(one.sum()) == pytest.approx(1, abs=1e-9)
    for epsilon in (0.0, 0.3, 1.0, 1.4, 2.0):
        found = float(np.sum(np.maximum(one - math.exp(epsilon) * other, 0)))
        assert found <= mechanism.delta(epsilon, answers, unit) + 1e-9


@pytest.mark.parametrize("unit", Unit)
def test_a_larger_delta_never_raises_epsilon(followed: Case, unit: Unit) -> None:
    held = [followed.mechanism.guarantee(3, unit, delta).epsilon for delta in (0.0, 1e-3, 0.2)]
    assert held == sorted(held, reverse=True)


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_more_answers_never_lower_epsilon(followed: Case, unit: Unit, delta: float) -> None:
    if isinstance(followed.mechanism, Sampled) and unit is Unit.ANSWER and delta > 0:
        pytest.skip("of more answers a smaller part is sent")
    held = [followed.mechanism.guarantee(k, unit, delta).epsilon for k in (1, 3, 20)]
    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(held))


@pytest.mark.parametrize("unit", Unit)
def test_epsilon_and_delta_are_two_ways_along_one_curve(followed: Case, unit: Unit) -> None:
    mechanism, answers = followed.mechanism, 3
    for delta in (1e-6, 0.05):
        epsilon = mechanism.guarantee(answers, unit, delta).epsilon
        if math.isinf(epsilon):
            assert mechanism.delta(40.0, answers, unit) > delta
            continue
        assert mechanism.delta(epsilon, answers, unit) <= delta * (1 + 1e-9)
        if epsilon > 1e-6:  # a little below it, delta is more than that
            assert mechanism.delta(epsilon * (1 - 1e-6), answers, unit) > delta * (1 - 1e-9)


@pytest.mark.parametrize("unit", Unit)
def test_a_unit_may_be_given_by_its_name(unit: Unit, case: Case) -> None:
    assert case.mechanism.guarantee(3, unit.value) == case.mechanism.guarantee(3, unit)
    assert case.mechanism.delta(0.5, 3, unit.value) == case.mechanism.delta(0.5, 3, unit)


def test_another_text_is_not_taken_for_a_unit(case: Case) -> None:
    unit: Any = "workers"
    with pytest.raises(UsageError, match="the unit must be 'answer' or 'worker', not 'workers'"):
        case.mechanism.guarantee(3, unit)
    if not isinstance(case.mechanism, PublishedFactorization):  # whose delta is 1 anyway
        with pytest.raises(UsageError, match="the unit must be 'answer' or 'worker'"):
            case.mechanism.delta(0.5, 3, unit)
