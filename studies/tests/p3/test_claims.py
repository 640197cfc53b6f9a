"""Tests that numbers in rulings on P3's theory are those of the calculators."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from sottovoce.privacy.random_variance import delta_limit, rate_published
from sottovoce_studies.claims import CLAIMS
from sottovoce_studies.theorems.catalogue import THEOREMS
from sottovoce_studies.theorems.gaussian_noise import (
    noise_ceiling,
    noise_floor,
    published_alpha_bound,
    published_beta_bound,
    published_mean_distance,
    published_noise_ceiling,
    published_noise_floor,
    published_range,
    published_tradeoff_floor,
    range_probability,
)


@cache
def ceiling(
    alpha: float = 8.0, beta: float = 0.05, lambda1: float = 1.0, users: int = 150
) -> float:
    """The corrected ceiling of c."""
    return noise_ceiling(alpha, beta, lambda1, users, np.random.default_rng(1))


def floors() -> tuple[float, float, float]:
    """The least c by Thm. 4.9, by Thm. 4.8, and for the range 0..10."""
    square = published_noise_floor(1, 1, 0.1, eta=0.9, b=2, width=10)
    tradeoff = published_tradeoff_floor(1, 1, 0.1, eta=0.9, b=2, width=10)
    return tradeoff.value, square.value, square.sound


def least_alpha(lambda1: float, c: float) -> float:
    """The least alpha of a sound bound, sqrt(2/pi) E(Y); P3's proof needs twice it."""
    return math.sqrt(2 / math.pi) * published_mean_distance(lambda1, c).sound


def first_theorem() -> list[str]:
    mean, alpha = published_mean_distance(1, 0.9), published_alpha_bound(1, 0.9)
    noise = published_noise_ceiling(8, 0.05, 1, 100, np.random.default_rng(1))
    return [
        f"E(Y) is {mean.value:.1f} and the bound on alpha {alpha.value:.1f}",
        f"{least_alpha(1, 0.9):.2f} is needed",
        f"up to {noise.sound:.0f}, printed {noise.value:,.0f}",
    ]


def chance() -> list[str]:
    beta = published_beta_bound(4, 1, 0.5, 150, np.random.default_rng(1))
    return [f"{beta.sound:.0e}".replace("e-0", "e-"), f"{beta.value:.0e}".replace("e-0", "e-")]


def special_case() -> list[str]:
    small = published_alpha_bound(0.25, 1.0)
    assert published_alpha_bound(1.0, 1.0).holds
    assert published_alpha_bound(4.0, 1.0).holds
    return [f"it is {small.value:.2f} where the proof needs {2 * least_alpha(0.25, 1.0):.2f}"]


def variance_ceilings() -> list[str]:
    low, high = ceiling(), ceiling(lambda1=4.0)
    return [f"from {low:.0f} to {high:.0f}", f"from {low:.0f} to {high / 4:.0f}"]


def lemma() -> list[str]:
    far = published_range(25, 0.9, 2)
    assert published_range(8.1, 0.9, 2).holds
    assert not published_range(8.2, 0.9, 2).holds
    return ["up to lambda1 8.1", f"{far.sound:.3f}, claimed {far.value:.3f}"]


NUMBERS: dict[str, Callable[[], list[str]]] = {
    "P3-IV.A-1": first_theorem,
    "P3-IV.A-5": lambda: [
        f"{published_mean_distance(1, 0.5).sound:.3f}, "
        f"printed {published_mean_distance(1, 0.5).value:.3f}"
    ],
    "P3-IV.A-6": chance,
    "P3-IV.A-8": lambda: [
        f"{ceiling(alpha=4):.0f} at alpha 4 and {ceiling():.0f} at alpha 8",
        f"{ceiling(beta=0.01):.0f} at beta 0.01",
    ],
    "P3-IV.A-9": lambda: [
        f"from {ceiling(users=100):.0f} with 100 users to {ceiling(users=1000):.0f} with 1,000"
    ],
    "P3-IV.A-10": variance_ceilings,
    "P3-A-1": special_case,
    "P3-IV.B-2": lemma,
    "P3-IV.B-5": lambda: [f"c is {floors()[1]:.0f}", f"needs {floors()[2]:.0f}"],
    "P3-IV.B-6": lambda: [f"ratio is {math.exp((36 - 25) / 2):.0f}", f"{math.exp(0.5):.2f}"],
    "P3-IV.B-8": lambda: [
        f"{noise_floor(4, 1, 0.1, 10):,.0f} at lambda1 4 against {noise_floor(1, 1, 0.1, 10):.0f}"
    ],
    "P3-IV.B-9": lambda: [f"{1 - published_range(25, 0.9, 2).sound:.0%}".replace("%", " %")],
    "P3-IV.C-1": lambda: [
        f"c is {floors()[0]:.0f} printed, {floors()[1]:.0f} by Theorem 4.8",
        f"{floors()[2]:.0f} for the range",
        f"allows {ceiling(users=100):.0f}",
    ],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_ruling_has_the_numbers_of_the_calculator(name: str) -> None:
    fixed = CLAIMS[name].fixed
    assert fixed is not None
    for words in NUMBERS[name]():
        assert words in fixed.reason


def test_a_calculator_that_judges_is_a_command() -> None:
    judges = [claim.judge for claim in CLAIMS.values() if claim.paper == "P3" and claim.fixed]
    named = [judge.removeprefix("sottovoce theorem ") for judge in judges if " " in judge]
    assert named
    assert set(named) <= THEOREMS.keys()


def test_the_distance_of_answers_falls_with_the_root_of_lambda1() -> None:
    """P3-IV.B-4: a fourfold lambda1 halves the distance that covers the same share of pairs."""
    assert range_probability(4.0, 1.0) == pytest.approx(range_probability(1.0, 2.0))
    assert range_probability(4.0, 1.0) > range_probability(4.0, 0.5)


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5])
def test_the_theorem_holds_per_answer_even_if_the_variance_is_published(delta: float) -> None:
    """P3-IV-3: `delta_limit` is the delta of one answer for a known variance."""
    for epsilon in (0.1, 1.0, 10.0):
        assert delta_limit(epsilon, rate_published(epsilon, delta, 10.0), 10.0) < delta


def test_distances_of_pairs_with_a_common_user_are_dependent() -> None:
    """P3-IV.A-5: 100,000 draws; a correlation of independent numbers would be within 0.02."""
    rng = np.random.default_rng(1)
    common, *others = rng.exponential(size=(5, 100_000))
    first, second = (np.sqrt(common + s + 2 * d) for s, d in (others[:2], others[2:]))
    assert np.corrcoef(first, second)[0, 1] > 0.1
    assert np.mean(first**2) == pytest.approx(2 + 2, rel=0.02)  # E(Y^2) = 2/lambda1 + 1/lambda2
