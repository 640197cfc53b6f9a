"""P3 Lemma 4.7: the distance of two answers as a quantile of the data, which P3 calibrates to."""

from __future__ import annotations

import math

from sottovoce.planning.theorems.gaussian_noise import published_range
from sottovoce.planning.theorems.statement import Published

__all__ = ["DISTANCE", "ETA", "B", "coverage", "published_distance"]

B, ETA = 2.0, 0.9
"""P3 prints neither b nor eta: these are ours. The lemma then claims 0.778 of all pairs."""


def published_distance(lambda1: float) -> float:
    """Δ = γ / λ₁ with γ = b √(2 ln(1/(1 - η))).

    >>> round(published_distance(25.0), 4)
    0.1717
    """
    return B * math.sqrt(-2 * math.log1p(-ETA)) / lambda1


def coverage(lambda1: float) -> Published:
    """How often two answers of a user lie no farther apart: as claimed, and in truth."""
    return published_range(lambda1, ETA, B)


DISTANCE = published_distance(1.0)
"""The Δ of users with λ₁ = 1."""
