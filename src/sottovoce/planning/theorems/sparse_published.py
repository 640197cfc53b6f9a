"""P4's expected errors of sparse private numbers, Thms. 2, 3 and 5, as printed."""

from __future__ import annotations

import math

import numpy as np

from sottovoce.planning.theorems.checking import check_positive, check_whole
from sottovoce.planning.theorems.published import Published
from sottovoce.planning.theorems.sparse import (
    SparseSetting,
    keep_probability,
    laplace_error,
    null_response_error,
)

__all__ = [
    "published_factorization_error",
    "published_laplace_error",
    "published_null_response_error",
]


def published_laplace_error(setting: SparseSetting, scale: float | None = None) -> Published:
    """(1 − s)(φ + |Γ|/ε) + s (σ √(2/π) + |Γ|/ε), φ = |μ − E(v)| (P4 Thm. 2).

    Another `scale` takes the place of |Γ|/ε in both the printed and the sound figure.

    >>> paper = SparseSetting(values=tuple(range(10)), truth=0, answered=0.1, epsilon=1)
    >>> round(published_laplace_error(paper).value, 5)
    14.12979
    >>> round(published_laplace_error(paper, scale=9).value, 5)
    13.12979
    """
    b = len(setting.values) / setting.epsilon if scale is None else scale
    sound = laplace_error(setting, b).most
    fill, chance = setting.null_law()
    phi = abs(setting.truth - float(chance @ fill))
    s = setting.answered
    value = (1 - s) * phi + s * setting.sigma * math.sqrt(2 / math.pi) + b
    note = (
        "Where a random replacement can fall on either side of the truth, phi must be E|v - mu|. "
        "In a crowd it is far from sharp, since noise averages out. The scale must be the range of "
        "the values over epsilon, not their number."
    )
    return Published(value=value, sound=sound, holds=value >= sound, source="P4 Thm. 2", note=note)


def published_null_response_error(setting: SparseSetting) -> Published:
    """(1 − s)|μ − Σ y/(e^ε + |Γ|)| + s Σₓ N(x; μ, σ)|μ − Σ y Pₓᵧ| (P4 Thm. 3), as it stands.

    N is the normal density, taken at the values of Γ and not normalised. The printed example is
    3.551; the formula gives this.

    >>> paper = SparseSetting(values=tuple(range(10)), truth=0, answered=0.1, epsilon=1)
    >>> claim = published_null_response_error(paper)
    >>> round(claim.value, 5), round(claim.sound, 2), claim.holds
    (3.4368, 4.43, False)
    """
    values, mu, s = setting.support, setting.truth, setting.answered
    keep = keep_probability(setting.epsilon, len(values))
    other = keep * math.exp(-setting.epsilon)
    density = np.exp(-np.square((values - mu) / setting.sigma) / 2) / (
        setting.sigma * math.sqrt(2 * math.pi)
    )
    answered = density @ np.abs(mu - (values.sum() * other + values * (keep - other)))
    value = (1 - s) * abs(mu - float(values.sum()) * other) + s * float(answered)
    sound = null_response_error(setting).most
    note = "It counts a report NULL as the value 0, though the estimate leaves it out."
    return Published(value=value, sound=sound, holds=value >= sound, source="P4 Thm. 3", note=note)


def published_factorization_error(
    tasks: int, dimensions: int, values: int, epsilon: float, *, share: float = 1.0
) -> Published:
    """q̃m (√(2/π) + d|Γ| / (nε)) (P4 Thm. 5), with `share` for q̃m, the greatest quality times m.

    >>> claim = published_factorization_error(1_000, 100, 10, 1.0)
    >>> round(claim.value, 5), claim.sound
    (1.79788, inf)
    """
    check_whole(tasks=tasks, dimensions=dimensions, values=values)
    check_positive(epsilon=epsilon, share=share)
    value = share * (math.sqrt(2 / math.pi) + dimensions * values / (tasks * epsilon))
    note = (
        "No bound of this form holds: a worker with fewer answers than dimensions has no minimum, "
        "and what the public factors cannot represent is lost even if every cell is answered "
        "(factorization_error)."
    )
    return Published(value=value, sound=math.inf, holds=False, source="P4 Thm. 5", note=note)
