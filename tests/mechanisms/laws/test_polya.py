"""Polya noise: exact draws, and the law of the opened noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws import polya
from sottovoce.mechanisms.laws.polya import Polya, exponential_coins, noise_law
from sottovoce.model import Words

HALF = Fraction(1, 2)


class Counting:
    """Consecutive words below a multiple of all small bounds: residues come up equally often."""

    simulated = True

    def words(self, count: int) -> Words:
        multiple = np.uint64(9 * math.lcm(*range(1, 41)))
        return multiple - np.arange(1, count + 1, dtype=np.uint64)


class Scripted:
    """The given words, in order."""

    simulated = True

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int) -> Words:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count
        return np.array(taken, np.uint64)


def test_coins_of_one_over_e_are_counted_exactly() -> None:
    """Of 7! rows 1/j go on in round j: those that stop in odd rounds are the derangements of 7."""
    coins = exponential_coins(np.ones(5040, np.uint64), 1, Counting())
    assert int(coins.sum()) == 1854


def test_coins_of_a_fraction_are_counted_exactly() -> None:
    """Of 3⁴ 4! rows with γ = 2/3, as far as they can be divided, 1 - γ + γ²/2! - … are true."""
    rows = 81 * 24
    coins = exponential_coins(np.full(rows, 2, np.uint64), 3, Counting())
    terms = [Fraction((-2) ** k, 3**k * math.factorial(k)) for k in range(6)]
    assert rows * sum(terms) <= int(coins.sum()) <= rows * sum(terms[:5])


def test_a_coin_of_exp_0_is_always_true() -> None:
    assert exponential_coins(np.zeros(100, np.uint64), 7, SeededRandomness(1)).all()


@pytest.mark.parametrize(
    ("word", "more", "below"),
    [
        ((1 << 63) - 1, (), True),  # a(1) = 1/2: the last word below, and the first that is not
        (1 << 63, (), False),
    ],
)
def test_a_word_at_the_edge_is_compared_in_integers(
    word: int, more: tuple[int, ...], below: bool
) -> None:
    drawn, words = np.array([1]), np.array([word], np.uint64)
    assert polya._compared(drawn, words, HALF)[1].all()
    assert polya._accepted(drawn, words, HALF, Scripted(*more)).tolist() == [below]


def test_a_word_that_the_edge_cuts_is_continued_by_the_next() -> None:
    """1/3 of 2⁶⁴ lies a third into the word ⌊2⁶⁴ / 3⌋."""
    third = Fraction(1, 3)
    cut = (1 << 64) // 3
    assert polya._is_below(cut, third, Scripted(cut - 1))
    assert not polya._is_below(cut, third, Scripted(cut + 1))
    assert polya._is_below(cut, third, Scripted(cut, cut - 1))


@pytest.mark.parametrize("shape", [HALF, Fraction(1, 3), Fraction(2, 3)])
def test_floats_are_as_near_to_the_exact_chance_as_is_said(shape: Fraction) -> None:
    table = polya._acceptances(shape, 512)
    errors = [abs(Fraction(float(table[k])) / polya._acceptance(shape, k) - 1) for k in range(513)]
    assert all(error <= k * Fraction(1, 1 << 52) for k, error in enumerate(errors))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("shape", "decay"),
    [
        (HALF, Fraction(1)),
        (HALF, Fraction(1, 256)),
        (Fraction(1, 3), Fraction(7, 5)),
        (Fraction(1), Fraction(3, 1000)),
        (Fraction(1, 14), Fraction(1, 10)),
    ],
)
def test_draws_follow_the_law(shape: Fraction, decay: Fraction) -> None:
    """A chi-square test over at most 60 classes; fails by chance once in 10⁹ seeds."""
    drawn = Polya(shape, decay).sample(50_000, SeededRandomness(20))
    law, reach = noise_law(decay, shape)
    edges = np.unique(np.searchsorted(np.cumsum(law), np.linspace(0, 1, 61)[1:-1])) - reach
    expected = np.diff(np.concatenate([[0.0], np.cumsum(law)[edges + reach], [1.0]])) * len(drawn)
    observed = np.bincount(np.searchsorted(edges, drawn), minlength=len(expected))
    kept = expected > 5
    assert kept.sum() > 3
    statistic = float(np.sum((observed[kept] - expected[kept]) ** 2 / expected[kept]))
    assert stats.chi2.sf(statistic, int(kept.sum()) - 1) > 1e-9


@pytest.mark.statistical
def test_shares_of_noise_add_up_to_discrete_laplace() -> None:
    """Two of shape 1/2: fails by chance once in 10⁹ seeds."""
    decay = Fraction(1, 2)
    drawn = Polya(HALF, decay).sample(100_000, SeededRandomness(5)).reshape(2, -1).sum(axis=0)
    chances = stats.dlaplace(float(decay)).pmf(np.arange(-9, 10))
    observed = np.array([np.sum(drawn == z) for z in range(-9, 10)])
    statistic = float(np.sum((observed - 50_000 * chances) ** 2 / (50_000 * chances)))
    assert stats.chi2.sf(statistic, len(chances)) > 1e-9


@pytest.mark.parametrize(
    ("decay", "shape"),
    [(Fraction(1), Fraction(3, 2)), (Fraction(1, 20), HALF), (Fraction(1, 3), Fraction(5, 4))],
)
def test_the_law_is_that_of_the_difference_of_two_negative_binomials(
    decay: Fraction, shape: Fraction
) -> None:
    law, reach = noise_law(decay, shape)
    one = stats.nbinom.pmf(np.arange(2000), float(shape), -math.expm1(-float(decay)))
    expected = np.convolve(one, one[::-1])[1999 - reach : 2000 + reach]
    assert np.allclose(law, expected, rtol=1e-10, atol=0)
    assert float(law.sum()) == pytest.approx(1, abs=1e-14)


def test_the_law_reaches_far_enough_and_not_further() -> None:
    law, reach = noise_law(Fraction(1), Fraction(1), 1e-9)
    beyond = 2 * math.exp(-(reach + 1)) / (1 + math.exp(-1))
    assert beyond <= 1e-9 < beyond * math.e
    assert len(law) == 2 * reach + 1


def test_noise_that_never_occurs_is_a_point() -> None:
    law, reach = noise_law(Fraction(1000), Fraction(3, 2))
    assert (law.tolist(), reach) == ([0.0, 1.0, 0.0], 1)
    assert not Polya(HALF, Fraction(1000)).sample(100, SeededRandomness(3)).any()


def test_nothing_is_drawn_for_nobody() -> None:
    assert Polya(HALF, Fraction(1)).sample(0, Scripted()).tolist() == []


@pytest.mark.parametrize(
    ("shape", "decay", "wrong"),
    [
        (Fraction(3, 2), Fraction(1), "shape must be at most 1"),
        (Fraction(0), Fraction(1), "shape must be a Fraction above 0"),
        (HALF, 1.0, "decay must be a Fraction above 0"),
        (HALF, Fraction(1, 1 << 18), "decay must be at least"),
        (HALF, Fraction((1 << 41) + 1, 1 << 41), "decay must be a fraction of integers up to"),
        (Fraction(1, 1 << 17), Fraction(1), "shape must be a fraction of integers up to"),
    ],
)
def test_what_is_no_such_noise_is_refused(
    shape: Fraction, decay: Fraction | float, wrong: str
) -> None:
    with pytest.raises(UsageError, match=wrong):
        Polya(shape, decay)  # type: ignore[arg-type]
