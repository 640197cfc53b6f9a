"""P3's utility of noise of a random variance, Thm. 4.3 and Thm. A.1, as printed."""

from __future__ import annotations

import math

import numpy as np

from sottovoce.planning.theorems.checking import check_between, check_positive, check_whole
from sottovoce.planning.theorems.gaussian_utility import (
    alpha_bound,
    beta_bound,
    mean_distance,
    noise_ceiling,
)
from sottovoce.planning.theorems.published import Published

__all__ = [
    "published_alpha_bound",
    "published_beta_bound",
    "published_mean_distance",
    "published_noise_ceiling",
]


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
        # With λ₂ = λ₁ / c put in: λ₁ comes out as 1/√λ₁, and nothing overflows.
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
    sound = alpha_bound(lambda1, c)
    return Published(value=value, sound=sound, holds=value >= sound, source=source, note=note)


def published_beta_bound(
    alpha: float, lambda1: float, c: float, workers: int, rng: np.random.Generator
) -> Published:
    """β ≥ 4√2 Var(Y) / (√π α² S²), to which eq. 10 is reduced, with the right Var(Y).

    It takes S² pairs for independent, so its variance falls like 1/S²; the true one like 1/S.
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
        "It takes pairs that share workers for independent, and adds a sqrt(2) without a source "
        "to E[Y]."
    )
    return Published(value=value, sound=sound, holds=value <= sound, source="P3 eq. 12", note=note)
