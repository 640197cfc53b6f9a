"""What trials say together: their mean, how sure it is, and where most of them lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sottovoce.errors import UsageError

__all__ = ["BAND", "Spread", "trial_seed"]

BAND = 0.9
"""The share of trials, or how often one further trial, that a band holds."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean of trials, its standard error, and the middle 90 % of them.

    >>> Spread.of([1.0, 2.0, 3.0]).mean
    2.0
    """

    trials: int
    mean: float
    standard_error: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Of one trial the standard error is unknown, which is NaN."""
        if not len(values):
            raise UsageError("a mean needs at least one trial")
        numbers = np.asarray(values, np.float64)
        count = len(numbers)
        error = float(numbers.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
        low, high = np.quantile(numbers, [(1 - BAND) / 2, (1 + BAND) / 2])
        return cls(count, float(numbers.mean()), error, float(low), float(high))

    def flipped(self) -> Spread:
        """The same of 1 - value: accuracies where errors were."""
        return Spread(self.trials, 1 - self.mean, self.standard_error, 1 - self.high, 1 - self.low)


def trial_seed(seed: int, *place: int) -> int:
    """The seed of one trial of a run: its own at every place, the same in every run.

    >>> trial_seed(7, 0, 1) == trial_seed(7, 0, 1) != trial_seed(7, 0, 2)
    True
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise UsageError(f"a seed is a whole number from 0 up, not {seed!r}")
    state = np.random.SeedSequence(seed, spawn_key=place).generate_state(1, np.uint64)
    return int(state[0])
