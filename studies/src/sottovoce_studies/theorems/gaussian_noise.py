"""How far noise of a random variance can move the truths (P3 §IV-A, Thm. 4.3), corrected.

Worker s errs with variance σₛ² ~ Exp(λ₁) and adds noise of variance δₛ² ~ Exp(λ₂); the noise level
is c = λ₁ / λ₂. With many tasks, and weights that fall as distances grow, truths before and after
the noise differ on average by at most

    √(2/π) Ȳ,   Ȳ = S⁻² Σₛ Σₛ′ Yₛₛ′,   Yₛₛ′ = √(σₛ² + σₛ′² + δₛ′²)                    (P3 eq. 8)

Both conditions are P3's and are not proven for any aggregator; the results depend on them.

The noise that a guarantee needs (P3 §IV-B) is corrected too. P3 derives the distance D of two
answers from the distance of honest answers (Lemma 4.7). A worker who answers outside of it has no
guarantee. Here D is the width of the public range.

`published_…` are P3's own figures as printed, of its utility Thm. 4.3 and Thm. A.1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported on first use

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray
from sottovoce.privacy.random_variance import rate_for
from sottovoce_studies.theorems.statement import (
    Published,
    check_between,
    check_positive,
    check_whole,
)

__all__ = [
    "alpha_bound",
    "beta_bound",
    "mean_distance",
    "noise_ceiling",
    "noise_floor",
    "published_alpha_bound",
    "published_beta_bound",
    "published_mean_distance",
    "published_noise_ceiling",
    "published_noise_floor",
    "published_range",
    "published_tradeoff_floor",
    "range_probability",
    "variance_of_mean",
]

ABSOLUTE = math.sqrt(2 / math.pi)
"""E|Z| of a standard normal Z."""

DRAWS = 200_000

LEAST_DRAWS = 1_000

_PUBLIC = "The distance of two answers must come from a public range, not from a quantile."


def noise_floor(lambda1: float, epsilon: float, delta: float, width: float) -> float:
    """The least c = λ₁ / λ₂ that keeps (ε, δ) per answer, for any number of answers.

        c = λ₁ D² / (2L (ε + L)),   L = ln(1 / (1 − δ))

    with D the width of the public range (`privacy.random_variance.rate_for`).

    >>> round(noise_floor(1.0, 1.0, 0.1, width=10.0), 2)
    429.33
    """
    check_positive(lambda1=lambda1, epsilon=epsilon, width=width)
    check_between(0, 1, delta=delta)
    return lambda1 / rate_for(epsilon, delta, width)


def range_probability(lambda1: float, distance: float) -> float:
    """P(|x¹ − x²| ≤ distance) for two answers of a worker about one task: 1 − exp(−distance √λ₁).

    Their difference is N(0, 2V) with V ~ Exp(λ₁), which is Laplace with scale 1/√λ₁.

    >>> round(range_probability(4.0, 0.5), 4)
    0.6321
    """
    check_positive(lambda1=lambda1, distance=distance)
    return -math.expm1(-distance * math.sqrt(lambda1))


def published_range(lambda1: float, eta: float, b: float) -> Published:
    """η (1 − 2 exp(−b²/2) / b), at least P(|x¹ − x²| ≤ γ/λ₁), γ = b √(2 ln(1/(1−η))) (Lemma 4.7).

    The proof bounds the distance by γ/√λ₁ and then uses 1/√λ₁ ≤ 1/λ₁, which is reversed for λ₁ > 1,
    the case it assumes.

    >>> claim = published_range(25, 0.9, 2)
    >>> round(claim.value, 3), round(claim.sound, 3), claim.holds
    (0.778, 0.576, False)
    """
    check_positive(lambda1=lambda1)
    sound = range_probability(lambda1, _gamma(eta, b) / lambda1)
    value = eta * (1 - 2 * math.exp(-b * b / 2) / b)
    note = f"1/sqrt(lambda1) <= 1/lambda1 is reversed for lambda1 > 1. {_PUBLIC}"
    return Published(
        value=value, sound=sound, holds=value <= sound, source="P3 Lemma 4.7", note=note
    )


def published_noise_floor(
    lambda1: float, epsilon: float, delta: float, *, eta: float, b: float, width: float
) -> Published:
    """c ≥ γ² / (2 λ₁ ε L), L = ln(1 / (1 − δ)) (P3 Thm. 4.8); sound is the c of the public range.

    With D for γ/λ₁ it is λ₁ D² / (2 ε L), which does keep (ε, δ) per answer.
    """
    gamma = _gamma(eta, b)
    value = gamma**2 / _denominator(lambda1, epsilon, delta)
    sound = noise_floor(lambda1, epsilon, delta, width)
    note = f"It depends on Lemma 4.7. {_PUBLIC}"
    return Published(
        value=value, sound=sound, holds=value >= sound, source="P3 Thm. 4.8", note=note
    )


def published_tradeoff_floor(
    lambda1: float, epsilon: float, delta: float, *, eta: float, b: float, width: float
) -> Published:
    """c ≥ γ / (2 λ₁ ε L) (P3 Thm. 4.9): Thm. 4.8 without the square on γ.

    >>> claim = published_tradeoff_floor(1.0, 1.0, 0.1, eta=0.9, b=2, width=10)
    >>> round(claim.value, 2), round(claim.sound, 2), claim.holds
    (20.37, 429.33, False)
    """
    value = _gamma(eta, b) / _denominator(lambda1, epsilon, delta)
    sound = noise_floor(lambda1, epsilon, delta, width)
    note = f"It omits the square that Thm. 4.8 has on gamma. {_PUBLIC}"
    return Published(
        value=value, sound=sound, holds=value >= sound, source="P3 Thm. 4.9", note=note
    )


def _gamma(eta: float, b: float) -> float:
    """γ = b √(2 ln(1 / (1 − η)))."""
    check_between(0, 1, eta=eta)
    check_positive(b=b)
    return b * math.sqrt(-2 * math.log1p(-eta))


def _denominator(lambda1: float, epsilon: float, delta: float) -> float:
    """2 λ₁ ε L."""
    check_positive(lambda1=lambda1, epsilon=epsilon)
    check_between(0, 1, delta=delta)
    return -2 * lambda1 * epsilon * math.log1p(-delta)


def mean_distance(lambda1: float, c: float) -> float:
    """E[Y] = √(π/λ₁) (3 + 6u + 4u² + 2u³) / (4 (1 + u)²), u = √c.

    This is √π {3λ₂ / (4√λ₁ (λ₂ − λ₁)) + (λ₁² − λ₂√(λ₁λ₂)) / (2√λ₂ (λ₂ − λ₁)²)} divided by its
    factor λ₂ − λ₁, so c = 1 is no special case: there it is (15/16) √(π/λ₁).

    >>> round(mean_distance(1, 1 / 2), 6), round(mean_distance(2, 2), 6)
    (1.512884, 1.351608)
    """
    check_positive(lambda1=lambda1, c=c)
    u = math.sqrt(c)
    # Divided by (1 + u)² step by step: u³ may overflow where E[Y] does not.
    ratio = (2 * u + 4 / (1 + u) - 1 / (1 + u) ** 2) / 4
    return math.sqrt(math.pi / lambda1) * ratio


def alpha_bound(lambda1: float, c: float) -> float:
    """2 √(2/π) E[Y], the lower limit of α in P3 Thm. 4.3; at c = 1, 15√2 / (8√λ₁).

    The proof splits α into halves, hence the 2. `beta_bound` needs no more than half of it.

    >>> round(alpha_bound(1, 0.5), 4), round(alpha_bound(1, 2), 4)
    (2.4142, 3.0503)
    """
    return 2 * ABSOLUTE * mean_distance(lambda1, c)


def variance_of_mean(
    lambda1: float, c: float, workers: int, rng: np.random.Generator, draws: int = DRAWS
) -> float:
    """Var(Ȳ), from simulated moments; accurate to about 1 % with the default number of draws.

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
    """The β for an α: P(mean change of a truth ≥ α) ≤ (2/π) Var(Ȳ) / (α − √(2/π) E[Y])².

    Chebyshev's inequality on Ȳ, whose mean is at most E[Y] (the pairs s = s′ have less). It is 1,
    which is vacuous, if α is not above √(2/π) E[Y].
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

    Mean and variance of Ȳ both rise with c, and so does the β for an α. The same draws are used for
    all c, so the searched curve is smooth.
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
    """An upper bound on P(|Ȳ − E Ȳ| ≥ room); 1 without room."""
    return min(1.0, variance / room**2) if room > 0 else 1.0


def _unit_draws(rng: np.random.Generator, draws: int) -> FloatArray:
    """Three workers' variances of error and of noise, with λ₁ = λ₂ = 1."""
    if draws < LEAST_DRAWS:
        raise UsageError(f"draws must be at least {LEAST_DRAWS:,} for a variance, not {draws}")
    return rng.exponential(size=(3, 2, draws))


class _Moments(NamedTuple):
    """The moments in Var(Ȳ), with λ₁ = 1."""

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


def published_mean_distance(lambda1: float, c: float) -> Published:
    """E[Y] = √π {3λ₂/(4√λ₁(λ₂−λ₁)) + (λ₁²−λ₂√(λ₁λ₂))/(√(2λ₂)(λ₂−λ₁)²)}; (15/16)√(λ₁π) at c = 1.

    >>> claim = published_mean_distance(1, 1 / 2)
    >>> round(claim.value, 4), round(claim.sound, 4), claim.holds
    (1.0383, 1.5129, False)
    """
    check_positive(lambda1=lambda1, c=c)
    if c == 1:
        value = 15 / 16 * math.sqrt(lambda1 * math.pi)
        source, note = "P3 Thm. A.1", "It has sqrt(lambda1 pi) for sqrt(pi / lambda1)."
    else:
        # With λ₂ = λ₁ / c substituted: λ₁ factors out as 1/√λ₁, and nothing overflows.
        u = math.sqrt(c)
        inner = 3 / (4 * (1 - c)) - c * (1 - u**3) / (math.sqrt(2) * (1 - c) ** 2)
        value = math.sqrt(math.pi / lambda1) * inner
        source, note = "P3 Thm. 4.3, E[Y]", "It has sqrt(2 lambda2) for 2 sqrt(lambda2)."
    sound = mean_distance(lambda1, c)
    holds = math.isclose(value, sound, rel_tol=1e-9)
    return Published(value=value, sound=sound, holds=holds, source=source, note=note)


def published_alpha_bound(lambda1: float, c: float) -> Published:
    """α > 2√2/(√λ₁(1−c)) {3/4 − c(c+√c+1)/(√2(1+√c))} (Thm. 4.3); 15√(2λ₁)/8 at c = 1 (Thm. A.1).

    >>> claim = published_alpha_bound(1, 0.5)
    >>> round(claim.value, 3), round(claim.sound, 3), claim.holds
    (1.657, 2.414, False)
    """
    check_positive(lambda1=lambda1, c=c)
    if c == 1:
        value = 15 * math.sqrt(2 * lambda1) / 8
        source, note = "P3 Thm. A.1", "It has sqrt(2 lambda1) for sqrt(2 / lambda1)."
    else:
        u = math.sqrt(c)
        inner = 3 / 4 - c * (c + u + 1) / (math.sqrt(2) * (1 + u))
        value = 2 * math.sqrt(2) / (math.sqrt(lambda1) * (1 - c)) * inner
        source, note = "P3 Thm. 4.3, alpha", "The inner denominator has sqrt(2) for 2, as E[Y] has."
    note += " P3's proof halves alpha and needs the sound figure; another proof needs half of it."
    sound = alpha_bound(lambda1, c)
    return Published(value=value, sound=sound, holds=value >= sound, source=source, note=note)


def published_beta_bound(
    alpha: float, lambda1: float, c: float, workers: int, rng: np.random.Generator
) -> Published:
    """β ≥ 4√2 Var(Y) / (√π α² S²), to which eq. 10 is reduced, with the right Var(Y).

    It treats S² pairs as independent, so its variance falls like 1/S²; the true one like 1/S.
    """
    check_positive(alpha=alpha, lambda1=lambda1, c=c)
    check_whole(workers=workers)
    variance = (2 + c) / lambda1 - mean_distance(lambda1, c) ** 2
    value = 4 * math.sqrt(2 / math.pi) * variance / (alpha * workers) ** 2
    sound = beta_bound(alpha, lambda1, c, workers, rng)
    note = (
        "The pairs Y share workers and are not independent: the variance of their mean is O(1/S)."
    )
    return Published(value=value, sound=sound, holds=value >= sound, source="P3 eq. 10", note=note)


def published_noise_ceiling(
    alpha: float, beta: float, lambda1: float, workers: int, rng: np.random.Generator
) -> Published:
    """C = λ₁√π (α²βS²/(4√2) + α²√π/8 + α + 2/√π) − 2, the largest c of P3 Thm. 4.3 (eq. 12).

    It only bounds Var(Y); the condition on α, which rises with c, is left to the reader.
    """
    check_positive(alpha=alpha, lambda1=lambda1)
    check_between(0, 1, beta=beta)
    check_whole(workers=workers)
    root = math.sqrt(math.pi)
    inner = alpha**2 * beta * workers**2 / (4 * math.sqrt(2)) + alpha**2 * root / 8
    value = lambda1 * root * (inner + alpha + 2 / root) - 2
    sound = noise_ceiling(alpha, beta, lambda1, workers, rng)
    note = (
        "It treats pairs that share workers as independent, and adds a sqrt(2) without a source "
        "to E[Y]."
    )
    return Published(value=value, sound=sound, holds=value <= sound, source="P3 eq. 12", note=note)
