"""Numbers on a public grid, so that reports have no digits without noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.model.arrays import Codes, FloatArray
from sottovoce.model.domain import Domain

FINEST = 1 << 16
"""The most steps of a range."""

FARTHEST = 1e100
"""The largest number in a range: reports beyond its ends must be numbers too."""

_EXACT = 1 << 30
_ROOM = 1 << 20
"""How much coarser steps are than floating point, so that reports beyond the ends differ."""

USUAL = 1000
"""The number of steps of a range without a given step."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The points low, low + step, …, low + steps · step; code i stands for point i.

    >>> grid = Grid.over(Domain.numeric(0, 10, step=0.5))
    >>> grid.steps, grid.values([0, 3, 20]).tolist(), grid.codes([1.4, 9.9]).tolist()
    (20, [0.0, 1.5, 10.0], [3, 20])
    """

    low: Fraction
    step: Fraction
    steps: int

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise UsageError("step must be above 0")
        if not 1 <= self.steps <= FINEST:
            raise UsageError(
                f"a range is cut into 1 to {FINEST:,} steps, not {float(self.steps):,g}: "
                "choose another step"
            )
        largest = float(max(abs(self.low), abs(self.high)))
        if largest > FARTHEST:
            raise UsageError(f"a range ends within {FARTHEST:g} of 0: divide by a common factor")
        if self.step < Fraction(math.ulp(largest)) * _ROOM:
            raise UsageError(
                f"steps of {float(self.step):g} are too fine for numbers up to {largest:g}: "
                "choose a larger step, or subtract a common offset"
            )

    @classmethod
    def over(cls, domain: Domain) -> Self:
        """The grid of a numeric domain with a range, or of labels that are evenly spaced numbers.

        Labels that are not numbers are spaced by their order in an ordinal domain.
        """
        if not domain.is_numeric:
            return cls._over_labels(domain)
        if not np.isfinite([domain.low, domain.high]).all():
            raise UsageError(
                "numbers need a public range to be protected: domain=Domain.numeric(LOW, HIGH)"
            )
        low, high = Fraction(repr(domain.low)), Fraction(repr(domain.high))
        step = Fraction(repr(domain.step)) if domain.step is not None else (high - low) / USUAL
        steps = (high - low) / step
        if steps.denominator != 1:
            raise UsageError(
                f"step {domain.step:g} does not divide the range {domain.low:g}..{domain.high:g}"
            )
        return cls(low, step, int(steps))

    @classmethod
    def _over_labels(cls, domain: Domain) -> Self:
        points = [Fraction(repr(float(point))) for point in domain.scale]
        if len(points) < 2:
            raise UsageError("a mechanism for numbers needs at least two labels")
        step = points[1] - points[0]
        if step <= 0 or any(b - a != step for a, b in pairwise(points)):
            raise UsageError(
                "a mechanism for numbers needs labels that are evenly spaced, in rising order"
            )
        return cls(points[0], step, len(points) - 1)

    @property
    def high(self) -> Fraction:
        """The last point."""
        return self.low + self.steps * self.step

    def values(self, codes: npt.ArrayLike) -> FloatArray:
        """The numbers of codes, also of codes outside the range."""
        below = math.lcm(self.low.denominator, self.step.denominator)
        low, step = int(self.low * below), int(self.step * below)
        if np.asarray(codes).dtype.kind == "f" or max(abs(low), step) > _EXACT:
            return float(self.low) + np.asarray(codes, np.float64) * float(self.step)
        # In integers, so that 3 steps of 0.1 are 0.3 and not 0.30000000000000004.
        return (low + np.asarray(codes, np.int64) * step) / below

    def codes(self, values: npt.ArrayLike) -> Codes:
        """The nearest points; a number outside the range is an error that does not quote it."""
        numbers = np.asarray(values, np.float64)
        low, high = float(self.low), float(self.high)
        outside = ~((numbers >= low) & (numbers <= high))
        if outside.any():
            row = int(np.flatnonzero(outside)[0]) + 1
            raise DataError(
                f"answer {row:,} is outside the range {low:g}..{high:g} of the policy "
                f"({int(outside.sum()):,} of {numbers.size:,} are): clip it, or widen the range",
                row=row,
            )
        return np.rint((numbers - low) / float(self.step)).astype(np.int32)
