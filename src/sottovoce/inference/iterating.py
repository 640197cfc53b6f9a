"""Rounds: how an iteration goes on and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sottovoce.inference.rounding import steady
from sottovoce.model import FloatArray

__all__ = ["Settled", "settle"]


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
    answered: FloatArray,
) -> Settled:
    """Update weights until none moves by more than `tolerance`, relative to the largest.

    A worker without answers has the others' mean weight: nothing speaks for or against it. A
    tolerance of −∞ runs all rounds.
    """
    weights, active = start, answered > 0
    for rounds in range(1, max_rounds + 1):
        updated = steady(update(weights))
        updated[~active] = updated[active].mean()
        largest, change = np.abs(updated).max(), np.abs(updated - weights).max()
        weights = updated
        if tolerance >= 0 and change <= tolerance * largest:
            return Settled(weights, rounds, converged=True)
    return Settled(weights, max_rounds, converged=False)
