"""Rounds: how an iteration goes on and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.rounding import steady
from sottovoce.model import FloatArray

__all__ = ["Settled", "check_limits", "settle"]


class Settled(NamedTuple):
    """Where an iteration ended: the weights, the rounds it took, whether they had settled."""

    weights: FloatArray
    rounds: int
    converged: bool


def settle(
    update: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    *,
    max_rounds: int,
    tolerance: float,
) -> Settled:
    """Update weights until none moves by more than `tolerance`, relative to the largest.

    A change within the rounding of `steady` ends it too: nothing more would happen.
    """
    weights = start
    for rounds in range(1, max_rounds + 1):
        updated = steady(update(weights))
        largest, change = np.abs(updated).max(), np.abs(updated - weights).max()
        weights = updated
        if change <= tolerance * largest:
            return Settled(weights, rounds, converged=True)
    return Settled(weights, max_rounds, converged=False)


def check_limits(max_rounds: int, tolerance: float) -> None:
    """Refuse limits under which nothing would be computed or nothing would ever stop."""
    if max_rounds < 1:
        raise UsageError(f"max_rounds must be at least 1, not {max_rounds}")
    if np.isnan(tolerance):
        raise UsageError("tolerance must be a number; a negative one runs all rounds")
