"""Concentrated privacy: the ρ of sums of shares, and its epsilon and delta."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize_scalar

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.discrete_gaussian import DiscreteGaussian
from sottovoce.model import FloatArray
from sottovoce.privacy.concentrated_privacy import (
    MARGIN,
    concentrated_epsilon,
    largest_rho,
    summed_rho,
)

rhos = st.floats(1e-6, 20)
deltas = st.floats(1e-12, 0.1)


def concentrated_delta(rho: float, epsilon: float) -> float:
    """The δ at ε of a ρ-zCDP mechanism: the inverse on the same curve.

    The least over all orders α > 1 of

    exp((α - 1)(ρ α - ε)) (1 - 1/α)^α / (α - 1)
    """
    if rho == 0:
        return 0.0

    def bound(log_excess: float) -> float:
        excess = math.exp(log_excess)
        power = excess * (rho * (1 + excess) - epsilon)
        return power - (1 + excess) * math.log1p(1 / excess) - log_excess

    # The best order is near that of the Gaussian, 1/2 + ε / 2ρ.
    near = math.log(max(epsilon / (2 * rho) - 0.5, 1e-6))
    found = minimize_scalar(bound, bounds=(near - 5, near + 5), method="bounded")
    return min(math.exp(min(float(found.fun), 0.0)) * (1 + MARGIN), 1.0)


def summed_law(variance: int, shares: int) -> FloatArray:
    """The law of a sum of discrete Gaussians, by convolution."""
    one, _ = DiscreteGaussian(variance).law(1e-250)
    law = one
    for _ in range(shares - 1):
        law = np.convolve(law, one)
    return law


def divergence(law: FloatArray, move: int, order: float) -> float:
    """The Rényi divergence of order α of the law from its shifted copy."""
    first, second = law[move:], law[:-move]
    seen = (first > 1e-250) & (second > 1e-250)
    ratio = order * np.log(first[seen]) + (1 - order) * np.log(second[seen])
    return float(np.log(np.exp(ratio).sum()) / (order - 1))


@pytest.mark.parametrize(("variance", "shares"), [(1, 2), (1, 5), (4, 3), (64, 10)])
@pytest.mark.parametrize("order", [1.5, 2.0, 8.0])
def test_sums_of_shares_keep_what_is_said(variance: int, shares: int, order: float) -> None:
    law = summed_law(variance, shares)
    for move in (1, 2, 3):
        assert divergence(law, move, order) <= order * summed_rho(move**2, variance, shares, 1)


def test_the_bound_on_sums_is_nearly_that_of_the_gaussian() -> None:
    assert summed_rho(9.0, 64, 10, 10_000) == pytest.approx(9 / (2 * 640), rel=1e-8)


@pytest.mark.parametrize(("rho", "epsilon"), [(0.01, 0.5), (0.1, 2.0), (1.0, 8.0)])
def test_the_conversion_is_above_the_gaussian_and_not_far(rho: float, epsilon: float) -> None:
    """Balle & Wang 2018, thm. 8: the exact delta of Gaussian noise, which is ρ-zCDP."""
    mu = math.sqrt(2 * rho)
    exact = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(
        -mu / 2 - epsilon / mu
    )
    found = concentrated_delta(rho, epsilon)
    assert exact <= found <= 8 * exact


@given(rhos, deltas)
def test_the_conversion_is_below_the_usual_one(rho: float, delta: float) -> None:
    """Bun & Steinke 2016, prop. 1.3: ε = ρ + 2 √(ρ ln(1/δ))."""
    usual = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert concentrated_epsilon(rho, delta) <= usual + 1e-6


@given(rhos, deltas)
def test_epsilon_and_delta_are_one_curve(rho: float, delta: float) -> None:
    epsilon = concentrated_epsilon(rho, delta)
    if epsilon > 1e-6:
        assert concentrated_delta(rho, epsilon) == pytest.approx(delta, rel=1e-3)


@given(rhos, rhos, deltas)
def test_more_rounds_cost_more(first: float, second: float, delta: float) -> None:
    assert concentrated_epsilon(first, delta) <= concentrated_epsilon(first + second, delta)


@given(st.floats(0.01, 20), deltas)
def test_the_largest_rho_keeps_what_was_asked_for(epsilon: float, delta: float) -> None:
    rho = largest_rho(epsilon, delta)
    assert concentrated_epsilon(rho, delta) <= epsilon
    assert concentrated_epsilon(rho * 1.001, delta) > epsilon


def test_zero_rho_has_no_privacy_loss() -> None:
    assert concentrated_epsilon(0.0, 1e-6) == 0
    assert concentrated_delta(0.0, 1.0) == 0


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-6])
def test_a_conversion_needs_a_delta(delta: float) -> None:
    with pytest.raises(UsageError, match="delta must be above 0"):
        concentrated_epsilon(0.1, delta)


@pytest.mark.parametrize(("variance", "shares"), [(0.1, 3), (4.0, 0)])
def test_noise_the_theorem_does_not_speak_of_is_refused(variance: float, shares: int) -> None:
    with pytest.raises(UsageError, match="sums of noise"):
        summed_rho(1.0, variance, shares, 1)
