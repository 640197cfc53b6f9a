"""The audit never claims more than samples prove, and finds the violations that exist."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.errors import DataError, UsageError
from sottovoce.privacy.audit import Audit, audit, audit_samples
from sottovoce.privacy.audit.confidence_bounds import bounds

Samples = npt.NDArray[Any]
Law = Callable[[np.random.Generator, int, int], Samples]

SLOW = pytest.mark.slow
SURE = 1 - 1e-9
E = math.e


def _coin(rng: np.random.Generator, answer: int, count: int) -> Samples:
    """ε = 1."""
    return np.where(rng.random(count) < E / (E + 1), answer, 1 - answer)


def _words(rng: np.random.Generator, answer: int, count: int) -> Samples:
    """ε = 1, three labels in words."""
    other = (answer + rng.integers(1, 3, count)) % 3
    kept = rng.random(count) < E / (E + 2)
    return np.array(["no", "yes", "maybe"])[np.where(kept, answer, other)]


def _laplace(rng: np.random.Generator, answer: int, count: int) -> Samples:
    """ε = 1."""
    return answer + rng.laplace(0, 1, count)


def _grid_laplace(rng: np.random.Generator, answer: int, count: int) -> Samples:
    """ε = 1, in integers."""
    geometric = [rng.geometric(1 - math.exp(-1 / 50), count) for _ in range(2)]
    return 50 * answer + geometric[0] - geometric[1]


def _piecewise(rng: np.random.Generator, answer: int, count: int) -> Samples:
    """ε = 1 (Wang et al. 2019, Alg. 2)."""
    root = math.exp(0.5)
    ends = (root + 1) / (root - 1)
    left = (ends + 1) / 2 * (2 * answer - 1) - (ends - 1) / 2
    outside = rng.random(count) * (ends + 1) - ends
    outside = np.where(outside < left, outside, outside + ends - 1)
    return np.where(
        rng.random(count) < root / (root + 1), left + (ends - 1) * rng.random(count), outside
    )


def _wide(rng: np.random.Generator, answer: int, count: int) -> Samples:
    """ε = 1 in the third of five columns, coins else."""
    columns = rng.integers(0, 2, (count, 5))
    columns[:, 2] = _coin(rng, answer, count)
    return columns


def _nothing(rng: np.random.Generator, answer: int, count: int) -> Samples:
    """ε = 0."""
    return rng.normal(size=(count, 3))


def _two_layer(high: float, answers: int, changed: int) -> Law:
    """P1 Alg. 1 with U(0, high) and two labels: a worker flips all answers with one probability."""

    def law(rng: np.random.Generator, answer: int, count: int) -> Samples:
        truth = np.arange(answers) % 2
        truth[:changed] ^= answer
        flipped = rng.random((count, answers)) < rng.uniform(0, high, (count, 1))
        return truth ^ flipped

    return law


@pytest.mark.statistical
@pytest.mark.parametrize(
    "law",
    [
        _coin,
        _words,
        _laplace,
        *(pytest.param(law, marks=SLOW) for law in (_grid_laplace, _piecewise)),
    ],
)
def test_a_million_samples_come_near_the_true_epsilon_and_stay_below(law: Law) -> None:
    rng = np.random.default_rng(7)
    found = audit_samples(law(rng, 0, 10**6), law(rng, 1, 10**6), confidence=SURE)
    assert 0.95 < found.epsilon <= 1.0


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("law", "audits"), [(_coin, 300), (_laplace, 300), (_wide, 60), (_nothing, 60)]
)
def test_the_confidence_is_true(law: Law, audits: int) -> None:
    rng, wrong = np.random.default_rng(11), 0
    for _ in range(audits):
        found = audit_samples(law(rng, 0, 200), law(rng, 1, 200), confidence=0.95)
        wrong += found.exceeds(0.0 if law is _nothing else 1.0)
    assert wrong <= audits * 0.05 + 6 * math.sqrt(audits * 0.05 * 0.95)


@pytest.mark.statistical
@given(
    st.integers(0, 2**32),
    st.integers(2, 40),
    st.integers(1, 4),
    st.sampled_from(["integers", "numbers", "texts"]),
)
@settings(max_examples=25, deadline=None)
def test_equal_laws_prove_nothing(seed: int, values: int, width: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, values, (2, 600, width))
    if kind == "numbers":
        first, second = first + rng.random(first.shape), second + rng.random(second.shape)
    elif kind == "texts":
        first, second = first.astype(np.str_), second.astype(np.str_)
    assert audit_samples(first, second, confidence=SURE).epsilon == 0


@pytest.mark.statistical
def test_two_layer_as_published_is_exposed() -> None:
    rng = np.random.default_rng(5)
    law = _two_layer(0.538, answers=20, changed=1)
    found = audit_samples(law(rng, 0, 200_000), law(rng, 1, 200_000), confidence=SURE)
    assert 2.6 < found.epsilon < math.log(20)  # nominal 1; the exact ε(20) is ln 20
    assert "how many of" in found.event


@pytest.mark.statistical
def test_what_shows_only_in_how_columns_go_together_is_found() -> None:
    """Under U(0, 1) each report alone is a fair coin, whatever the answer."""
    rng = np.random.default_rng(5)
    law = _two_layer(1.0, answers=20, changed=1)
    found = audit_samples(law(rng, 0, 100_000), law(rng, 1, 100_000), confidence=SURE)
    assert 2.0 < found.epsilon < math.log(20)


@pytest.mark.statistical
def test_losses_of_many_columns_add_up() -> None:
    rng = np.random.default_rng(5)

    def law(answer: int) -> Samples:
        return np.stack([_coin(rng, answer, 100_000) for _ in range(3)], axis=1)

    assert 2.6 < audit_samples(law(0), law(1), confidence=SURE).epsilon < 3.0


@pytest.mark.statistical
def test_matrix_factorisation_as_published_is_exposed_when_an_answer_is_left_out() -> None:
    """P4 Alg. 2 with eight answers and three dimensions at claimed ε = 1: no finite ε holds."""
    rng, public = np.random.default_rng(5), np.random.default_rng(2)
    matrix = public.uniform(-1, 1, (3, 8))
    matrix /= np.abs(matrix).sum(axis=0)
    answers = public.integers(0, 10, 8)

    def law(left_out: int, count: int) -> Samples:
        seen = matrix[:, left_out:]
        noisy = seen @ answers[left_out:] - rng.laplace(0, 10, (count, 3))
        return np.linalg.solve(seen @ seen.T, noisy.T).T @ matrix

    assert audit_samples(law(0, 200_000), law(1, 200_000), confidence=SURE).epsilon > 1.2


@pytest.mark.statistical
def test_delta_forgives_what_is_rare() -> None:
    """One sample in ten reveals the answer: (0, 0.1), and no finite ε alone."""
    rng = np.random.default_rng(5)

    def law(answer: int) -> Samples:
        return np.where(rng.random(100_000) < 0.1, answer, 2)

    pure = audit_samples(law(0), law(1), confidence=SURE)
    assert pure.epsilon > 5
    forgiven = audit_samples(law(0), law(1), delta=0.1, confidence=SURE)
    assert forgiven.epsilon == 0
    tight = audit_samples(law(0), law(1), delta=0.05, confidence=SURE)
    assert 4 < tight.epsilon < pure.epsilon


def test_any_callable_is_audited_in_bounded_pieces() -> None:
    rng, asked = np.random.default_rng(5), []

    def sampler(answer: int, count: int) -> Samples:
        asked.append(count)
        return _coin(rng, answer, count)

    found = audit(sampler, 0, 1, samples=100_001)
    assert sum(asked) == 2 * 100_001
    assert max(asked) <= 1 << 14
    assert found.samples == 100_001
    assert 0.95 < found.epsilon < 1.05


def test_all_samples_that_neither_fit_nor_choose_are_counted() -> None:
    """With P(1) = 1 and P(0) = 1 the bound is that of the second half alone."""
    found = audit_samples(np.zeros(1000, int), np.ones(1000, int), confidence=0.95)
    assert found.p_low == pytest.approx(0.025 ** (1 / 500))
    assert found.q_high == pytest.approx(1 - 0.025 ** (1 / 500))
    assert found.epsilon == pytest.approx(math.log(found.p_low / found.q_high))


def test_a_value_never_seen_before_and_values_that_are_no_numbers_are_taken() -> None:
    first = np.array([np.nan, 1.0, np.inf, -np.inf] * 250)
    second = np.array([2.0, 1.0, np.inf, -np.inf] * 250)
    second[-5] = 1e308
    found = audit_samples(np.stack([first, first], 1), np.stack([second, second], 1))
    assert found.epsilon > 3
    assert "nan" in found.event or "column" in found.event
    texts = np.array(["a", "b"] * 500), np.array(["a", "c"] * 499 + ["a", "never seen"])
    assert audit_samples(*texts).epsilon > 3


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (np.arange(1000), np.arange(1000), "first samples are sorted"),
        (np.zeros(1000), -np.arange(1000), "second samples are sorted"),
        (np.zeros((100, 2)), np.zeros((100, 3)), "2 columns under the first input and 3"),
        (np.zeros(100), np.zeros(15), "at least 16 samples of each input, not 15"),
        (np.zeros((2, 2, 2)), np.zeros(100), r"of shape \(n,\) or \(n, k\)"),
    ],
)
def test_samples_that_prove_nothing_are_refused(
    first: Samples, second: Samples, words: str
) -> None:
    with pytest.raises(DataError, match=words):
        audit_samples(first, second)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence": 1.0}, "confidence must be above 0 and below 1"),
        ({"confidence": math.nan}, "confidence must be above 0 and below 1"),
        ({"delta": -0.1}, "delta must be at least 0"),
        ({"delta": 1.0}, "delta must be at least 0 and below 1"),
    ],
)
def test_impossible_requests_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        audit_samples(np.zeros(100), np.zeros(100), **options)


def test_a_sampler_that_gives_another_number_of_samples_is_refused() -> None:
    with pytest.raises(UsageError, match="gave 3 reports, not 100"):
        audit(lambda answer, count: np.zeros(3), 0, 1, samples=100)


@given(st.integers(1, 50), st.data())
def test_bounds_hold_with_the_stated_chance_for_every_probability(of: int, data: Any) -> None:
    """Clopper and Pearson: P(p_low > P) ≤ doubt / 2, summed exactly over the binomial law."""
    chance = data.draw(st.floats(0.01, 0.99))
    counts = np.arange(of + 1)
    ways = np.array([math.comb(of, count) for count in counts], float)
    law = ways * chance**counts * (1 - chance) ** (of - counts)
    found = bounds(counts, of, counts, of, delta=0.0, doubt=0.1)
    assert law[found.p_low > chance].sum() <= 0.05 + 1e-9
    assert law[found.q_high < chance].sum() <= 0.05 + 1e-9


def test_an_audit_says_what_it_found() -> None:
    found = Audit(1.25, 0.01, 0.95, 1000, "column 1 is 0", "first over second", 0.5, 0.1)
    assert str(found) == "epsilon at least 1.25 at delta 0.01 (confidence 0.95)"
    assert (found.exceeds(1.2), found.exceeds(1.25)) == (True, False)
