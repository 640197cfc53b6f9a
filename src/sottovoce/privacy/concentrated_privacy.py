"""Zero-concentrated differential privacy (zCDP), in which rounds of Gaussian noise add up.

ρ-zCDP: for all neighbours and all α > 1 the Rényi divergence of order α of the output is at most ρ
α. Rounds that are chosen depending on earlier ones add up: ρ = Σ ρᵣ (Bun & Steinke 2016, lemma
1.7).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from scipy.optimize import minimize_scalar

from sottovoce.errors import UsageError
from sottovoce.privacy.calibration import smallest_number

MARGIN = 1e-9
"""Added to every bound: more than the rounding error."""

MOST_LOG = 60.0
"""Orders up to 1 + exp(60) are tried."""

ROUGH = 0.25
"""The least σ² of one share for which the theorem on sums of shares holds."""


def summed_rho(squared: float, variance: float, shares: int, slots: int) -> float:
    """ρ of a vector that moves by at most √`squared`, under a sum of discrete Gaussian shares.

    With n shares of parameter σ², each with σ ≥ 1/2, in each of d slots, and a move of Δ₂, the
    Rényi divergence of every order α is at most

        α/2 (Δ₂ / (√n σ) + τ √d)²,   τ = 10 Σ exp(-2π²σ² k/(k + 1)) over k = 1 … n - 1

    (Kairouz, Liu & Steinke 2021, prop. 14, the last of its three bounds), which is ρ α. A sum of
    discrete Gaussians is not discrete Gaussian, and τ is the cost of that: below 10⁻²⁷⁰ from σ = 8
    on.

    >>> round(summed_rho(4.0, 64, 10, 1000), 9)
    0.003125
    """
    if squared < 0 or shares < 1 or slots < 1 or variance < ROUGH:
        raise UsageError(
            "sums of noise must have at least one share, each with a variance of at least 1/4"
        )
    tau = 10 * math.fsum(
        math.exp(-2 * math.pi**2 * variance * k / (k + 1)) for k in range(1, shares)
    )
    root = math.sqrt(squared / (shares * variance)) + tau * math.sqrt(slots)
    return root * root / 2 * (1 + MARGIN)


def concentrated_epsilon(rho: float, delta: float) -> float:
    """The ε at delta of a ρ-zCDP mechanism.

    The least over all orders α > 1 of

        ρ α + (ln(1/δ) + (α - 1) ln(1 - 1/α) - ln α) / (α - 1)

    (Canonne, Kamath & Steinke 2020, prop. 12, with ρ α for its divergence). Every order gives a
    bound, so a search that stops early errs on the safe side.

    >>> round(concentrated_epsilon(0.02, 1e-6), 3)
    0.9
    """
    if not 0 < delta < 1:
        raise UsageError(f"delta must be above 0 and below 1, not {delta:g}")
    if rho == 0:
        return 0.0

    def bound(log_excess: float) -> float:
        excess = math.exp(log_excess)  # α - 1
        shared = -math.log(delta) - math.log1p(excess)
        return rho * (1 + excess) + shared / excess - math.log1p(1 / excess)

    return max(_least(bound, rho, delta), 0.0) + MARGIN


@lru_cache(maxsize=64)
def largest_rho(epsilon: float, delta: float) -> float:
    """The largest ρ that keeps (ε, δ); 0 if none does.

    >>> round(concentrated_epsilon(largest_rho(1.0, 1e-6), 1e-6), 6)
    1.0
    """
    # 1/ρ grows until it holds.
    inverse = smallest_number(lambda x: concentrated_epsilon(1 / x, delta) <= epsilon, 1e-6, 1e15)
    return 1 / inverse


def _least(bound: Callable[[float], float], rho: float, delta: float) -> float:
    """The least value near the order 1 + √(ln(1/δ) / ρ), optimal without the other terms."""
    near = min(0.5 * math.log(-math.log(delta) / rho), MOST_LOG - 5)
    return float(minimize_scalar(bound, bounds=(near - 5, near + 5), method="bounded").fun)
