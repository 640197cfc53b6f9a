"""How far noise of a random variance can move the truths (P3 §IV-A, Thm. 4.3), corrected.

Worker s errs with variance σₛ² ~ Exp(λ₁) and adds noise of variance δₛ² ~ Exp(λ₂); the noise level
is c = λ₁ / λ₂. With many tasks, and weights that fall as distances grow, truths before and after
the noise differ on average by at most

    √(2/π) Ȳ,   Ȳ = S⁻² Σₛ Σₛ′ Yₛₛ′,   Yₛₛ′ = √(σₛ² + σₛ′² + δₛ′²)                    (P3 eq. 8)

Both conditions are P3's and are not proven of any aggregator; what follows rests on them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray
from sottovoce.planning.theorems.checking import check_between, check_positive, check_whole

__all__ = ["alpha_bound", "beta_bound", "mean_distance", "noise_ceiling", "variance_of_mean"]

ABSOLUTE = math.sqrt(2 / math.pi)
"""E|Z| of a standard normal Z."""
DRAWS = 200_000
LEAST_DRAWS = 1_000


def mean_distance(lambda1: float, c: float) -> float:
    """E[Y] = √(π/λ₁) (3 + 6u + 4u² + 2u³) / (4 (1 + u)²), u = √c.

    This is √π {3λ₂ / (4√λ₁ (λ₂ − λ₁)) + (λ₁² − λ₂√(λ₁λ₂)) / (2√λ₂ (λ₂ − λ₁)²)} with its factor
    λ₂ − λ₁ divided out, so c = 1 is no special case: there it is (15/16) √(π/λ₁).

    >>> round(mean_distance(1, 1 / 2), 6), round(mean_distance(2, 2), 6)
    (1.512884, 1.351608)
    """
    check_positive(lambda1=lambda1, c=c)
    u = math.sqrt(c)
    # Divided by (1 + u)² step by step: u³ may overflow where E[Y] does not.
    ratio = (2 * u + 4 / (1 + u) - 1 / (1 + u) ** 2) / 4
    return math.sqrt(math.pi / lambda1) * ratio


def alpha_bound(lambda1: float, c: float) -> float:
    """2 √(2/π) E[Y], what α must exceed in P3 Thm. 4.3; at c = 1, 15√2 / (8√λ₁).

    The proof splits α into halves, hence the 2. `beta_bound` needs no more than half of it.

    >>> round(alpha_bound(1, 0.5), 4), round(alpha_bound(1, 2), 4)
    (2.4142, 3.0503)
    """
    return 2 * ABSOLUTE * mean_distance(lambda1, c)


def variance_of_mean(
    lambda1: float, c: float, workers: int, rng: np.random.Generator, draws: int = DRAWS
) -> float:
    """Var(Ȳ), from simulated moments; right to about 1 % with the usual number of draws.

    The Yₛₛ′ share workers, so they are not independent. With g(X, X′) the mean of Yₛₛ′ and Yₛ′ₛ,
    and d(X) = Yₛₛ, counting which pairs of pairs share a worker gives

        S⁴ Var(Ȳ) = S(S−1) {4(S−2) Cov(g(X,X′), g(X,X″)) + 2 Var g + 4 Cov(g(X,X′), d(X))} + S Var d

    which falls like 1/S. Only the four moments are simulated, so a large crowd costs no more.
    """
    check_positive(lambda1=lambda1, c=c)
    check_whole(workers=workers)
    return _Moments.of(_unit_draws(rng, draws), c).variance(workers) / lambda1


def beta_bound(
    alpha: float,
    lambda1: float,
    c: float,
    workers: int,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> float:
    """The β that α allows: P(mean change of a truth ≥ α) ≤ (2/π) Var(Ȳ) / (α − √(2/π) E[Y])².

    Chebyshev's inequality on Ȳ, whose mean is at most E[Y] (the pairs s = s′ have less). It is 1,
    and says nothing, if α is not above √(2/π) E[Y].
    """
    check_positive(alpha=alpha)
    room = alpha / ABSOLUTE - mean_distance(lambda1, c)
    return _chebyshev(variance_of_mean(lambda1, c, workers, rng, draws), room)


def noise_ceiling(
    alpha: float,
    beta: float,
    lambda1: float,
    workers: int,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> float:
    """The largest noise level c at which `beta_bound` is at most β; 0 if none is.

    Mean and variance of Ȳ both rise with c, so the β that α allows does. The same draws serve all
    c, so that what is searched is a smooth curve.
    """
    check_positive(alpha=alpha, lambda1=lambda1)
    check_between(0, 1, beta=beta)
    check_whole(workers=workers)
    unit = _unit_draws(rng, draws)
    reach = alpha * math.sqrt(lambda1) / ABSOLUTE  # the change of scale to λ₁ = 1

    def excess(c: float) -> float:
        variance = _Moments.of(unit, c).variance(workers)
        return _chebyshev(variance, reach - mean_distance(1.0, c)) - beta

    least, most = 1e-12, 1.0
    if excess(least) > 0:
        return 0.0
    while excess(most) <= 0:
        most *= 4
    return float(scipy.optimize.brentq(excess, least, most, xtol=1e-12, rtol=1e-9))


def _chebyshev(variance: float, room: float) -> float:
    """P(|Ȳ − E Ȳ| ≥ room) at most; 1 without room."""
    return min(1.0, variance / room**2) if room > 0 else 1.0


def _unit_draws(rng: np.random.Generator, draws: int) -> FloatArray:
    """Three workers' variances of error and of noise, with λ₁ = λ₂ = 1."""
    if draws < LEAST_DRAWS:
        raise UsageError(f"draws must be at least {LEAST_DRAWS:,} for a variance, not {draws}")
    return rng.exponential(size=(3, 2, draws))


class _Moments(NamedTuple):
    """What Var(Ȳ) is made of, with λ₁ = 1."""

    sharing: float
    pair: float
    crossed: float
    alone: float

    @classmethod
    def of(cls, unit: FloatArray, c: float) -> _Moments:
        before = unit[:, 0]
        after = before + c * unit[:, 1]

        def g(s: int, t: int) -> FloatArray:
            return np.asarray(np.sqrt(before[s] + after[t]) + np.sqrt(before[t] + after[s])) / 2

        alone = np.sqrt(before[0] + after[0])
        matrix = np.cov(np.stack([g(0, 1), g(0, 2), alone]), ddof=0)
        pair, crossed = (matrix[0, 0] + matrix[1, 1]) / 2, (matrix[0, 2] + matrix[1, 2]) / 2
        return cls(float(matrix[0, 1]), float(pair), float(crossed), float(matrix[2, 2]))

    def variance(self, workers: int) -> float:
        S = workers
        pairs = 4 * (S - 2) * self.sharing + 2 * self.pair + 4 * self.crossed
        return (S * (S - 1) * pairs + S * self.alone) / S**4
