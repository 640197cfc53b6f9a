"""The law behind every kind of randomised response: keep a symbol, or send another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.laws.draws import blocks, completed, leading
from sottovoce.model import (
    WORDS,
    Codes,
    FiniteChannel,
    FloatArray,
    Guarantee,
    UnitName,
    Words,
)
from sottovoce.model.policy import check_target
from sottovoce.privacy.calibration import smallest_integer
from sottovoce.privacy.composition import repeated_delta, repeated_guarantee
from sottovoce.seams import Randomness

Shifts: TypeAlias = npt.NDArray[np.int8] | npt.NDArray[np.int32]

MOST_FOR_8_BITS = 16
"""Up to this many symbols the first 8 bits nearly always decide: few words are undecided."""
MOST_COMPARED = 4
"""Up to this many symbols comparing is faster than looking up."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """Keep a symbol with weight 2⁶⁴ - (symbols - 1) other; each other symbol has weight `other`.

    One word decides: below `keep` the symbol stays, and the rest is cut into symbols - 1 equal
    runs, one for each cyclic shift.

    >>> coin = Keeping(2, 1 << 62)
    >>> coin.shifts(np.array([0, 3 << 62], np.uint64)).tolist()
    [0, 1]
    """

    symbols: int
    other: int

    @property
    def most(self) -> int:
        """The largest weight of another symbol, at which nothing is revealed."""
        return WORDS // self.symbols

    @property
    def keep(self) -> int:
        """The weight of the symbol itself."""
        return WORDS - (self.symbols - 1) * self.other

    @property
    def keep_probability(self) -> float:
        """The probability that the symbol itself is sent."""
        return self.keep / WORDS

    @property
    def epsilon(self) -> float:
        """ln(keep / other): the largest privacy loss of one report."""
        # keep - other is exact in integers, where the difference of two logarithms would cancel.
        return math.log1p((self.keep - self.other) / self.other)

    @classmethod
    def calibrated(
        cls, symbols: int, epsilon: float, *, unit: UnitName, delta: float, answers: int
    ) -> Self:
        """The smallest weight of other symbols whose exact guarantee is within the target."""
        check_target(epsilon, delta, answers)

        def holds(other: int) -> bool:
            law = cls(symbols, other)
            if delta > 0:
                return law.delta(epsilon, answers, unit) <= delta
            return law.guarantee(answers, unit).epsilon <= epsilon

        return cls(symbols, smallest_integer(holds, 1, WORDS // symbols))

    def shifts(self, words: Words) -> npt.NDArray[np.int32]:
        """How far each word moves a symbol: 0 below `keep`, then one more for each run of `other`.

        Exact, because `keep` and `other` divide the words without remainder.
        """
        runs = (words - np.uint64(self.keep)) // np.uint64(self.other)
        # words - keep wraps around where nothing moves, and is then multiplied by 0.
        moves = words >= np.uint64(self.keep)
        return (runs.astype(np.int32) + np.int32(1)) * moves

    def sample(self, codes: Codes, randomness: Randomness) -> Codes:
        """One word per symbol; mostly only its first bits are drawn, because these decide."""
        reports = np.empty_like(codes)
        for block in blocks(len(codes)):
            moved = self._drawn_shifts(block.stop - block.start, randomness)
            moved += codes[block].astype(moved.dtype)
            wraps = (moved >= self.symbols).astype(moved.dtype)
            wraps *= moved.dtype.type(self.symbols)
            moved -= wraps
            reports[block] = moved
        return reports

    def _drawn_shifts(self, count: int, randomness: Randomness) -> Shifts:
        """`shifts` of fresh words: of 8 bits, or of 16 or all if fewer leave it undecided."""
        if self.symbols > MOST_FOR_8_BITS:
            return self._shifts_of_16(leading(count, 16, randomness), randomness)
        first = leading(count, 8, randomness)
        shift: Shifts
        if self.symbols <= MOST_COMPARED:
            shift, undecided = self._compared(first)
        else:
            shift = _known(self.symbols, self.other, 8).take(first, mode="clip")
            undecided = shift < 0
        rows = np.flatnonzero(undecided)
        if rows.size:
            longer = first[rows].astype(np.uint16) << np.uint16(8)
            longer |= leading(rows.size, 8, randomness)
            shift[rows] = self._shifts_of_16(longer, randomness)
        return shift

    def _compared(
        self, first: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
        """The shifts by 8 bits, and which are undecided, in operations on whole vectors."""
        shift, undecided = np.zeros(len(first), np.int8), np.zeros(len(first), bool)
        for run in range(self.symbols - 1):
            edge = np.uint8((self.keep + run * self.other) >> 56)
            shift += (first > edge).view(np.int8)
            undecided |= first == edge
        return shift, undecided

    def _shifts_of_16(self, first: npt.NDArray[np.uint16], randomness: Randomness) -> Shifts:
        shift = _known(self.symbols, self.other, 16).take(first)
        rows = np.flatnonzero(shift < 0)
        if rows.size:
            shift[rows] = self.shifts(completed(first[rows], randomness))
        return shift

    def channel(self) -> FiniteChannel:
        """The square of weights: keep on the diagonal, other elsewhere."""
        return FiniteChannel(
            tuple(
                tuple(self.keep if a == r else self.other for r in range(self.symbols))
                for a in range(self.symbols)
            ),
            tuple(range(self.symbols)),
        )

    def log_likelihood(
        self, reports: npt.NDArray[np.generic], answers: npt.NDArray[np.generic]
    ) -> FloatArray:
        """ln keep or ln other, over 2⁶⁴."""
        same = math.log(self.keep) - math.log(WORDS)
        return np.where(reports == answers, same, math.log(self.other) - math.log(WORDS))

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        """Exact: the loss of a report is ε, 0 or -ε, and reports are independent."""
        return repeated_guarantee(self.epsilon, self.keep_probability, answers, unit, delta)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        """The exact curve."""
        return repeated_delta(epsilon, self.epsilon, self.keep_probability, answers, unit)


@lru_cache(maxsize=64)
def _known(symbols: int, other: int, bits: int) -> Shifts:
    """The shift of all words with the same first bits; -1 if they differ."""
    law, rest = Keeping(symbols, other), np.uint64(64 - bits)
    first = np.arange(1 << bits, dtype=np.uint64) << rest
    low, high = law.shifts(first), law.shifts(first | (np.uint64(1) << rest) - np.uint64(1))
    known = np.where(low == high, low, np.int32(-1))
    # 8 bits hold symbol + shift before it wraps.
    return known.astype(np.int8) if symbols <= 63 else known
