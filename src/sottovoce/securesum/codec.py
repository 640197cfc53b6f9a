"""Encoding of numbers as the non-negative integers of a known width that suites add up.

Nothing on the wire is negative, and every total has a known range. A total outside it was wrapped,
overflowed or forged, and is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.model import FloatArray
from sottovoce.securesum.field import Elements, P

Integers = npt.NDArray[np.int64]

GUARD = 1
"""Bits above the largest honest sum that stay zero: a sum that reaches them is detected."""


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Numbers from low to high as integers from 0: round((v - low) · scale), half to even.

    >>> codec = FixedPoint(-1.0, 1.0, 1000)
    >>> codec.encode(np.array([-1.0, 0.25])).tolist()
    [0, 1250]
    >>> codec.decode_sum(np.array([1250]), workers=1).tolist()
    [0.25]
    """

    low: float
    high: float
    scale: int

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise UsageError(f"a fixed point needs low < high, not {self.low:g}..{self.high:g}")
        if self.scale < 1:
            raise UsageError(f"scale must be at least 1, not {self.scale}")
        if (self.high - self.low) * self.scale >= 1 << 53:
            raise UsageError("the range has more steps than a float can represent: lower scale")

    @property
    def greatest(self) -> int:
        """The largest integer of a number."""
        return round((self.high - self.low) * self.scale)

    def encode(self, values: FloatArray) -> Integers:
        """Integers to be added up; refuses numbers out of range instead of clipping them."""
        if not ((values >= self.low) & (values <= self.high)).all():
            raise UsageError(f"a value is not from {self.low:g} to {self.high:g}")
        return np.rint((values - self.low) * self.scale).astype(np.int64)

    def decode_sum(self, totals: Integers, workers: int) -> FloatArray:
        """Sums of the numbers of `workers` workers: total / scale + workers · low."""
        if ((totals < 0) | (totals > workers * self.greatest)).any():
            raise UsageError(f"a total is impossible for {workers:,} workers")
        return totals / self.scale + workers * self.low


@dataclass(frozen=True, slots=True)
class Packing:
    """Many sums in one large integer, each in a slot wide enough for all workers and a guard bit.

    Packed integers are added as integers: slots do not overlap if every worker stays within
    `greatest`.

    >>> packing = Packing(greatest=10, workers=3)
    >>> packing.width, packing.unpack(packing.pack([7, 0, 10]) + packing.pack([7, 1, 10]), 3)
    (6, [14, 1, 20])
    """

    greatest: int
    workers: int

    def __post_init__(self) -> None:
        if self.greatest < 1 or self.workers < 1:
            raise UsageError("a slot is for at least one worker with a value of at least 1")

    @property
    def most(self) -> int:
        """The largest honest sum of a slot."""
        return self.greatest * self.workers

    @property
    def width(self) -> int:
        """Bits of a slot."""
        return self.most.bit_length() + GUARD

    def slots(self, bits: int) -> int:
        """The number of slots in a plaintext of this many bits."""
        return bits // self.width

    def pack(self, values: Sequence[int]) -> int:
        """One worker's values, or sums of them, the first in the lowest bits."""
        if any(not 0 <= value <= self.most for value in values):
            raise UsageError(f"a slot takes values from 0 to {self.most:,}")
        return sum(int(value) << place * self.width for place, value in enumerate(values))

    def unpack(self, packed: int, count: int) -> list[int]:
        """The sums; refused if one is more than the workers can add up to, or bits are left."""
        if packed < 0 or packed >> count * self.width:
            raise UsageError(f"a packed sum does not have {count:,} slots")
        mask = (1 << self.width) - 1
        values = [packed >> place * self.width & mask for place in range(count)]
        if max(values, default=0) > self.most:
            raise UsageError("a slot overflowed: a worker sent more than the maximum")
        return values


def decode_total(
    elements: Elements,
    workers: int,
    least: Sequence[int],
    most: Sequence[int],
    reach: Sequence[int],
) -> Integers:
    """The integers (…, slots) behind opened field elements, the upper half of which are negative.

    A worker adds `least` to `most` to a slot, and noise at most `reach` to either side. A total
    outside this range was not added up by honest parties: it is refused, and none is returned.
    """
    lowest = [workers * one - far for one, far in zip(least, reach, strict=True)]
    highest = [workers * one + far for one, far in zip(most, reach, strict=True)]
    if min(lowest) <= -(P // 2) or max(highest) >= P // 2:
        raise UsageError(f"sums of {workers:,} workers and their noise do not fit the field")
    lifted = np.where(elements > P // 2, elements.astype(np.int64) - P, elements.astype(np.int64))
    if ((lifted < np.array(lowest)) | (lifted > np.array(highest))).any():
        raise SealedRefused(
            "the committee", f"a total is impossible for {workers:,} workers and the noise"
        )
    return lifted
