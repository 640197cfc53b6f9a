"""Many sums in few ciphertexts: how a worker's values are laid out in messages.

Each message has a tally in its lowest bits, which is 1 for every worker, and then as many slots
(`codec.Packing`) as fit. So each opened message says how many workers are in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model.sum_rounds import Integers, SumSpec
from sottovoce.securesum.codec import Packing

__all__ = ["Slots"]


@dataclass(frozen=True, slots=True)
class Slots:
    """The layout of one sum of at most so many workers, in messages of so many bits.

    >>> slots = Slots(SumSpec(values=3, greatest=10), workers=3, bits=16)
    >>> slots.messages, slots.pack(np.array([7, 0, 10]))
    (2, [57, 81])
    >>> slots.unpack([57 + 9, 81 + 41], workers=2)
    array([ 8,  0, 15])
    """

    spec: SumSpec
    workers: int
    bits: int

    def __post_init__(self) -> None:
        if self.values.most >= 1 << 63:
            raise UsageError(
                f"{self.workers:,} workers with values up to {self.spec.greatest:,} add up to more "
                "than 63 bits: lower the scale"
            )
        if self.each < 1:
            raise UsageError("a ciphertext has no room for one value: take a larger key")

    @property
    def tally(self) -> Packing:
        """The slot of the ones."""
        return Packing(1, self.workers)

    @property
    def values(self) -> Packing:
        """The slots of the values."""
        return Packing(self.spec.greatest, self.workers)

    @property
    def each(self) -> int:
        """How many values a message has."""
        return self.values.slots(self.bits - self.tally.width)

    @property
    def messages(self) -> int:
        """How many messages a contribution has."""
        return -(-self.spec.values // self.each)

    def pack(self, values: Integers) -> list[int]:
        """One worker's messages."""
        packing, shift = self.values, self.tally.width
        return [
            1 | packing.pack(values[start : start + self.each].tolist()) << shift
            for start in range(0, self.spec.values, self.each)
        ]

    def unpack(self, messages: list[int], workers: int) -> Integers | None:
        """The totals of so many workers; None where they cannot add up to these messages."""
        shift, totals = self.tally.width, list[int]()
        for message in map(int, messages):
            if message & (1 << shift) - 1 != workers:
                return None
            count = min(self.each, self.spec.values - len(totals))
            try:
                totals += self.values.unpack(message >> shift, count)
            except UsageError:
                return None
        if max(totals) > workers * self.spec.greatest:
            return None
        return np.array(totals, np.int64)
