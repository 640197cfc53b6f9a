"""The joint privacy loss of reports when a worker's flip probability is drawn once."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from sottovoce.errors import UsageError
from sottovoce.model import Unit
from sottovoce.privacy.composition import repeated_delta
from sottovoce.privacy.hyper_distribution import Hyper, LevelsHyper, UniformHyper
from sottovoce.privacy.mixtures import (
    answer_delta,
    answer_epsilon,
    log_submission,
    mixture_delta,
    mixture_guarantee,
    worker_delta_bound,
    worker_epsilon,
)


def exact_moment(hyper: Hyper, m: int, k: int) -> Fraction:
    """E[pᵐ (1 - p)ᵏ⁻ᵐ] in rational arithmetic, the polynomial integrated term by term."""
    if isinstance(hyper, LevelsHyper):
        return sum(
            (
                Fraction(chance) * Fraction(p) ** m * (1 - Fraction(p)) ** (k - m)
                for p, chance in zip(hyper.levels, hyper.chances, strict=True)
            ),
            Fraction(0),
        )
    a, b = Fraction(hyper.low), Fraction(hyper.high)
    if a == b:
        return a**m * (1 - a) ** (k - m)
    whole = sum(
        Fraction((-1) ** j * math.comb(k - m, j), m + j + 1) * (b ** (m + j + 1) - a ** (m + j + 1))
        for j in range(k - m + 1)
    )
    return whole / (b - a)


def brute_force(hyper: Hyper, symbols: int, k: int) -> dict[tuple[int, ...], dict[int, Fraction]]:
    """P(reports | answers) for all answers and all reports of a small submission, by number."""
    g = [exact_moment(hyper, m, k) / Fraction(symbols - 1) ** m for m in range(k + 1)]
    everything = list(itertools.product(range(symbols), repeat=k))
    return {
        answers: {
            i: g[sum(a != r for a, r in zip(answers, reports, strict=True))]
            for i, reports in enumerate(everything)
        }
        for answers in everything
    }


def neighbours(
    law: dict[tuple[int, ...], dict[int, Fraction]], unit: Unit
) -> list[tuple[dict[int, Fraction], dict[int, Fraction]]]:
    return [
        (law[x], law[y])
        for x in law
        for y in law
        if 0 < sum(a != b for a, b in zip(x, y, strict=True)) <= (1 if unit is Unit.ANSWER else 99)
    ]


def worst_epsilon(hyper: Hyper, symbols: int, k: int, unit: Unit) -> float:
    pairs = neighbours(brute_force(hyper, symbols, k), unit)
    if any(q[i] == 0 < p[i] for p, q in pairs for i in p):
        return math.inf
    worst = max(p[i] / q[i] for p, q in pairs for i in p if p[i] > 0)
    return math.log(worst)


def worst_delta(hyper: Hyper, symbols: int, k: int, unit: Unit, epsilon: float) -> float:
    factor = Fraction(math.exp(epsilon))
    pairs = neighbours(brute_force(hyper, symbols, k), unit)
    return float(max(sum(max(p[i] - factor * q[i], Fraction(0)) for i in p) for p, q in pairs))


SMALL: list[tuple[Hyper, int, int]] = [
    (UniformHyper(0, 1), 2, 3),
    (UniformHyper(0.0, 0.538), 2, 4),
    (UniformHyper(0.1, 0.6), 4, 2),
    (UniformHyper(0.2, 0.9), 3, 3),
    (UniformHyper(0.7, 1.0), 3, 2),
    (UniformHyper(0.25, 0.25), 2, 3),
    (LevelsHyper((0.0, 0.3, 0.8), (0.25, 0.5, 0.25)), 3, 3),
    (LevelsHyper((0.125, 1.0), (0.75, 0.25)), 2, 4),
]


@pytest.mark.parametrize(("hyper", "symbols", "k"), SMALL)
@pytest.mark.parametrize("unit", Unit)
def test_epsilon_is_the_worst_over_all_submissions(
    hyper: Hyper, symbols: int, k: int, unit: Unit
) -> None:
    stated = mixture_guarantee(hyper, symbols, k, unit)
    assert stated.exact
    assert stated.epsilon == pytest.approx(worst_epsilon(hyper, symbols, k, unit), abs=1e-12)


@pytest.mark.parametrize(("hyper", "symbols", "k"), SMALL)
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.0])
def test_delta_per_answer_is_the_worst_over_all_sets_of_submissions(
    hyper: Hyper, symbols: int, k: int, epsilon: float
) -> None:
    expected = worst_delta(hyper, symbols, k, Unit.ANSWER, epsilon)
    assert answer_delta(hyper, symbols, k, epsilon) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(("hyper", "symbols", "k"), SMALL)
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 2.5])
def test_delta_per_worker_is_an_upper_bound(
    hyper: Hyper, symbols: int, k: int, epsilon: float
) -> None:
    expected = worst_delta(hyper, symbols, k, Unit.WORKER, epsilon)
    assert mixture_delta(hyper, symbols, k, Unit.WORKER, epsilon) >= expected - 1e-13


@pytest.mark.parametrize(
    ("low", "high", "symbols", "k", "answer", "worker"),
    [
        (0.0, 0.538, 2, 1, 0.99970, 0.99970),
        (0.0, 0.538, 2, 5, 1.6805, 3.7096),
        (0.0, 0.538, 2, 14, 2.6392, 9.3070),
        (0.0, 0.538, 2, 100, 4.6052, 67.184),
        (0.1, 0.6, 4, 1, 1.71765, 1.71765),
        (0.1, 0.6, 4, 10, 2.60361, 15.4461),
        (0.2, 0.9, 3, 7, 1.54045, 4.76523),
    ],
)
def test_epsilon_has_its_reference_values(
    low: float, high: float, symbols: int, k: int, answer: float, worker: float
) -> None:
    hyper = UniformHyper(low, high)
    assert answer_epsilon(hyper, symbols, k) == pytest.approx(answer, rel=3e-5)
    assert worker_epsilon(hyper, symbols, k) == pytest.approx(worker, rel=3e-5)


@pytest.mark.parametrize(("k", "delta"), [(1, 0.0), (5, 0.15144), (14, 0.20469)])
def test_delta_has_its_reference_values(k: int, delta: float) -> None:
    assert answer_delta(UniformHyper(0.0, 0.538), 2, k, 1.0) == pytest.approx(delta, abs=5e-6)


@pytest.mark.parametrize("k", [1, 2, 9, 1000, 100_000])
def test_a_flip_probability_of_any_size_has_closed_forms(k: int) -> None:
    hyper, half = UniformHyper(0, 1), k // 2
    choices = float(gammaln(k + 1) - gammaln(half + 1) - gammaln(k - half + 1))
    assert answer_epsilon(hyper, 2, k) == pytest.approx(math.log(k), abs=1e-12)
    assert worker_epsilon(hyper, 2, k) == pytest.approx(choices, abs=1e-9)


@given(
    ends=st.tuples(st.integers(0, 1 << 40), st.integers(0, 1 << 40)).map(sorted),
    symbols=st.sampled_from([2, 3, 11, 1000]),
    k=st.integers(1, 40),
)
def test_closed_forms_agree_with_rational_arithmetic(ends: list[int], symbols: int, k: int) -> None:
    hyper = UniformHyper(Fraction(ends[0], 1 << 40), Fraction(ends[1], 1 << 40))
    moments = [exact_moment(hyper, m, k) for m in (0, 1, k - 1, k)]
    ratios = [(symbols - 1) * moments[0] / moments[1] if moments[1] else math.inf]
    ratios += [moments[3] / moments[2] / (symbols - 1) if moments[2] else math.inf]
    worst = max(ratios)
    found = answer_epsilon(hyper, symbols, k)
    assert found == pytest.approx(math.log(worst), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("exponent", [10, 20, 40, 60])
@pytest.mark.parametrize("near_one", [False, True])
@pytest.mark.parametrize("k", [1, 3, 30])
def test_ranges_far_out_and_narrow_lose_no_digits(exponent: int, near_one: bool, k: int) -> None:
    tiny = Fraction(1, 1 << exponent)
    low, high = (1 - 5 * tiny, 1 - 3 * tiny) if near_one else (3 * tiny, 5 * tiny)
    hyper = UniformHyper(low, high)
    first, last = (k - 1, k) if near_one else (1, 0)
    ratio = exact_moment(hyper, last, k) / exact_moment(hyper, first, k)
    assert answer_epsilon(hyper, 2, k) == pytest.approx(math.log(ratio), abs=1e-13)
    middle = [exact_moment(hyper, m, k) for m in range(k + 1)]
    widest = max(middle) / min(middle)
    spread = math.log(widest.numerator) - math.log(widest.denominator)
    assert worker_epsilon(hyper, 2, k) == pytest.approx(spread, abs=1e-10)


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.538), (0.1, 0.6), (0.3, 0.30001), (0.4, 1.0)])
def test_a_long_submission_leans_on_its_least_noisy_draw(low: float, high: float) -> None:
    k = 100_000
    found = answer_epsilon(UniformHyper(low, high), 3, k)
    limits = [math.inf if low == 0 else math.log(2 * (1 - low) / low)]
    limits += [math.inf if high == 1 else math.log(high / (1 - high) / 2)]
    assert found <= max(limits)
    assert found >= min(max(limits), math.log(k / 2)) - 1e-3


@pytest.mark.parametrize("k", [1, 2, 25, 3000])
@pytest.mark.parametrize("hyper", [UniformHyper(0.1, 0.6), LevelsHyper((0.0, 0.4), (0.5, 0.5))])
def test_delta_per_answer_is_the_sum_over_mismatches(hyper: Hyper, k: int) -> None:
    m = np.arange(k)
    log_choices = gammaln(k) - gammaln(m + 1) - gammaln(k - m)
    moments = hyper.log_moments(np.arange(k + 1), k)
    same, moved = np.exp(log_choices + moments[:-1]), np.exp(log_choices + moments[1:]) / 3
    expected = np.maximum(same - math.e * moved, 0).sum()
    expected += np.maximum(moved - math.e * same, 0).sum()
    assert answer_delta(hyper, 4, k, 1.0) == pytest.approx(expected, abs=1e-11)


@settings(max_examples=30)
@given(k=st.integers(1, 60), m=st.integers(0, 60), ends=st.tuples(*[st.floats(0, 1)] * 2))
def test_moments_agree_with_rational_arithmetic(k: int, m: int, ends: tuple[float, float]) -> None:
    hyper = UniformHyper(*sorted(ends))
    exact = exact_moment(hyper, min(m, k), k)
    if exact > Fraction(1, 10**300):
        found = float(hyper.log_moments(min(m, k), k))
        assert found == pytest.approx(math.log(exact), rel=1e-13, abs=1e-12)


def test_submissions_have_probabilities_that_add_up_to_one() -> None:
    k, symbols = 200, 5
    m = np.arange(k + 1)
    ways = gammaln(k + 1) - gammaln(m + 1) - gammaln(k - m + 1) + m * math.log(symbols - 1)
    law = log_submission(UniformHyper(0.05, 0.7), symbols, m, k)
    assert np.exp(ways + law).sum() == pytest.approx(1, abs=1e-11)


@pytest.mark.parametrize(
    ("levels", "k", "finite"),
    [
        ((0.0,), 1, False),
        ((1.0,), 2, False),
        ((0.0, 1.0), 1, True),
        ((0.0, 1.0), 2, False),
        ((0.0, 1.0), 5, False),
        ((0.0, 0.5, 1.0), 5, True),
    ],
)
@pytest.mark.parametrize("unit", Unit)
def test_epsilon_is_infinite_where_a_submission_is_impossible(
    levels: tuple[float, ...], k: int, finite: bool, unit: Unit
) -> None:
    hyper = LevelsHyper(levels, (1 / len(levels),) * len(levels))
    assert math.isfinite(mixture_guarantee(hyper, 2, k, unit).epsilon) == finite
    assert math.isfinite(worst_epsilon(hyper, 2, k, unit)) == finite


def test_one_level_is_randomized_response() -> None:
    hyper, cell = UniformHyper(0.25, 0.25), math.log(3)
    assert answer_epsilon(hyper, 2, 50) == pytest.approx(cell, abs=1e-14)
    assert worker_epsilon(hyper, 2, 50) == pytest.approx(50 * cell, abs=1e-12)
    exact = repeated_delta(9.0, cell, 0.75, 20, Unit.WORKER)
    assert worker_delta_bound(hyper, 2, 20, 9.0) == pytest.approx(exact, abs=1e-13)


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("k", [1, 6])
def test_epsilon_at_delta_is_on_the_curve(unit: Unit, k: int) -> None:
    hyper = UniformHyper(0.1, 0.5)
    stated = mixture_guarantee(hyper, 3, k, unit, delta=0.01)
    assert mixture_delta(hyper, 3, k, unit, stated.epsilon) <= 0.01
    assert mixture_delta(hyper, 3, k, unit, stated.epsilon - 1e-6) > 0.01
    assert stated.exact == (unit is Unit.ANSWER or k == 1)


@pytest.mark.parametrize("ends", [(-0.1, 0.5), (0.6, 0.5), (0.5, 1.1), (math.nan, 0.5)])
def test_a_range_that_is_none_is_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(UsageError, match="0 <= low <= high <= 1"):
        UniformHyper(*ends)


@pytest.mark.parametrize(
    ("levels", "chances", "words"),
    [
        ((), (), "at least one level"),
        ((0.5,), (0.5, 0.5), "one chance for each"),
        ((1.5,), (1.0,), "from 0 to 1"),
        ((0.5, 0.6), (0.5, 0.6), "add up to 1"),
        ((0.5, 0.6), (1.5, -0.5), "at least 0"),
    ],
)
def test_levels_that_are_no_law_are_refused(
    levels: tuple[float, ...], chances: tuple[float, ...], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        LevelsHyper(levels, chances)


def test_what_cannot_be_asked_is_refused() -> None:
    hyper = UniformHyper(0.1, 0.5)
    with pytest.raises(UsageError, match="answers must be at least 1"):
        mixture_guarantee(hyper, 2, 0, Unit.ANSWER)
    with pytest.raises(UsageError, match="symbols must be at least 2"):
        mixture_guarantee(hyper, 1, 1, Unit.ANSWER)
    with pytest.raises(UsageError, match="delta must be at least 0 and below 1"):
        mixture_guarantee(hyper, 2, 1, Unit.ANSWER, math.nan)
    with pytest.raises(UsageError, match="epsilon must be at least 0"):
        mixture_delta(hyper, 2, 1, Unit.ANSWER, math.nan)
