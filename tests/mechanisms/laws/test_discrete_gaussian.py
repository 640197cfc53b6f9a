"""Discrete Gaussian noise: exact draws, and its reach."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws import discrete_gaussian
from sottovoce.mechanisms.laws.discrete_gaussian import MOST_VARIANCE, DiscreteGaussian
from sottovoce.model import Words

DRAWS = 60_000


class Counting:
    """Consecutive words below a multiple of all small bounds: residues come up equally often."""

    simulated = True

    def words(self, count: int) -> Words:
        multiple = np.uint64(9 * math.lcm(*range(1, 41)))
        return multiple - np.arange(1, count + 1, dtype=np.uint64)


@pytest.mark.statistical
@pytest.mark.parametrize("variance", [1, 2, 7, 900, 1_000_003, MOST_VARIANCE])
def test_draws_follow_the_law(variance: int) -> None:
    """A chi-square test over at most 60 classes; fails by chance once in 10⁹ seeds."""
    drawn = DiscreteGaussian(variance).sample(DRAWS, SeededRandomness(20))
    law, reach = DiscreteGaussian(variance).law()
    edges = np.unique(np.searchsorted(np.cumsum(law), np.linspace(0, 1, 61)[1:-1])) - reach
    expected = np.diff(np.concatenate([[0.0], np.cumsum(law)[edges + reach], [1.0]])) * DRAWS
    observed = np.bincount(np.searchsorted(edges, drawn), minlength=len(expected))
    kept = expected > 5
    assert kept.sum() > 3
    statistic = float(np.sum((observed[kept] - expected[kept]) ** 2 / expected[kept]))
    assert stats.chi2.sf(statistic, int(kept.sum()) - 1) > 1e-9


@pytest.mark.statistical
def test_every_value_of_a_small_law_has_its_chance() -> None:
    """Each count is binomial; one of 9 is off by 7 deviations in 4 · 10¹⁰ seeds."""
    drawn = DiscreteGaussian(2).sample(DRAWS, SeededRandomness(3))
    weights = [math.exp(-z * z / 4) for z in range(-40, 41)]
    for z in range(-4, 5):
        chance = math.exp(-z * z / 4) / math.fsum(weights)
        deviation = math.sqrt(DRAWS * chance * (1 - chance))
        assert abs(int(np.sum(drawn == z)) - DRAWS * chance) < 7 * deviation


@pytest.mark.statistical
def test_signs_are_alike() -> None:
    """Fails by chance once in 10⁹ seeds."""
    drawn = DiscreteGaussian(50).sample(DRAWS, SeededRandomness(8))
    positive, negative = int(np.sum(drawn > 0)), int(np.sum(drawn < 0))
    assert stats.binomtest(positive, positive + negative).pvalue > 1e-9


def test_proposals_of_one_sign_are_counted_exactly() -> None:
    """Residues of consecutive words are even, so u has every value below t equally often."""
    sizes, negative = discrete_gaussian._laplace(4, 4 * math.factorial(7), Counting())
    assert set(np.unique(sizes % np.uint64(4)).tolist()) == {0, 1, 2, 3}
    assert not ((sizes == 0) & negative).any()


def test_the_law_adds_up_and_is_no_wider_than_it_says() -> None:
    law, reach = DiscreteGaussian(3).law()
    z = np.arange(-reach, reach + 1)
    assert float(law.sum()) == pytest.approx(1, abs=1e-12)
    assert float(law @ (z * z)) <= 3 * (1 + 1e-12)
    assert float(law @ (z * z)) == pytest.approx(3, abs=1e-6)


def test_nothing_is_drawn_for_nobody() -> None:
    assert DiscreteGaussian(5).sample(0, SeededRandomness(1)).tolist() == []


@pytest.mark.parametrize("variance", [0, MOST_VARIANCE + 1, 2.5])
def test_what_is_no_such_noise_is_refused(variance: int) -> None:
    with pytest.raises(UsageError, match="variance of discrete Gaussian noise"):
        DiscreteGaussian(variance)
