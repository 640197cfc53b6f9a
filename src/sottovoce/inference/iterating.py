"""Rounds: how an iteration goes on and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from sottovoce.inference.rounding import steady
from sottovoce.model import Codes, FloatArray

__all__ = ["Limits", "Settled", "settle"]


class Settled(NamedTuple):
    """Where an iteration ended: the weights, the rounds it took, whether they had settled."""

    weights: FloatArray
    rounds: int
    converged: bool

    def among(self, workers: Codes, count: int) -> Settled:
        """Where it ended for some of the workers."""
        return self._replace(weights=self.weights[workers])


class Limits(Protocol):
    """What a method that iterates says about when to stop."""

    @property
    def max_rounds(self) -> int:
        """How many rounds there are at the most."""
        ...

    @property
    def tolerance(self) -> float:
        """How little the weights may move in the last round, relative to the largest."""
        ...


def settle(
    limits: Limits,
    update: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    answered: FloatArray,
) -> Settled:
    """Update weights until none moves by more than `tolerance`, relative to the largest.

    A worker without answers has the others' mean weight: nothing speaks for or against it. A
    tolerance of −∞ runs all rounds.
    """
    weights, active = start, answered > 0
    for rounds in range(1, limits.max_rounds + 1):
        updated = steady(update(weights))
        updated[~active] = updated[active].mean()
        largest, change = np.abs(updated).max(), np.abs(updated - weights).max()
        weights = updated
        if limits.tolerance >= 0 and change <= limits.tolerance * largest:
            return Settled(weights, rounds, converged=True)
    return Settled(weights, limits.max_rounds, converged=False)
