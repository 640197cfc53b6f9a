"""How much noise of a random variance a guarantee takes (P3 §IV-B), corrected.

P3 takes the distance D of two answers from how far honest answers lie apart (Lemma 4.7). Whoever
answers outside of that has no guarantee. Here D is the width of the public range.
"""

from __future__ import annotations

import math

from sottovoce.planning.theorems.checking import check_between, check_positive
from sottovoce.planning.theorems.published import Published
from sottovoce.privacy.random_variance import rate_for

__all__ = [
    "noise_floor",
    "published_noise_floor",
    "published_range",
    "published_tradeoff_floor",
    "range_probability",
]

_PUBLIC = "The distance of two answers must come from a public range, not from a quantile."


def noise_floor(lambda1: float, epsilon: float, delta: float, width: float) -> float:
    """The least c = λ₁ / λ₂ that keeps (ε, δ) per answer, however many answers a worker gives.

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

    The proof bounds the distance by γ/√λ₁ and then takes 1/√λ₁ ≤ 1/λ₁, which is the wrong way
    round for λ₁ > 1, the very case it assumes.

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
    """c ≥ γ² / (2 λ₁ ε L), L = ln(1 / (1 − δ)) (P3 Thm. 4.8), beside what the public range takes.

    With D for γ/λ₁ it is λ₁ D² / (2 ε L), which does keep (ε, δ) per answer.
    """
    gamma = _gamma(eta, b)
    value = gamma**2 / _denominator(lambda1, epsilon, delta)
    sound = noise_floor(lambda1, epsilon, delta, width)
    note = f"It rests on Lemma 4.7. {_PUBLIC}"
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
    note = f"It drops the square that Thm. 4.8 has on gamma. {_PUBLIC}"
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
