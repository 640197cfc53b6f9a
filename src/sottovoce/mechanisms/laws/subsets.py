"""The law behind subset selection: a set with the symbol, or one without it.

Sets of a given size are 64-bit masks, one to one with the integers below their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.draws import below
from sottovoce.mechanisms.validation import check_integer, check_weight
from sottovoce.model import WORDS, FiniteChannel, FloatArray, Guarantee, Unit, UnitName, Words
from sottovoce.model.policy import check_target
from sottovoce.privacy.calibration import smallest_integer
from sottovoce.privacy.composition import repeated_delta, repeated_guarantee
from sottovoce.seams import Randomness

LISTED = 1 << 16
"""Up to this many sets, a table of them is cached."""


def masks(ranks: Words, elements: int, size: int) -> Words:
    """The rank-th set of `size` of the elements 0 … elements - 1, as a mask; element i is bit i.

    The combinatorial number system: sets in the order of their masks, the set
    e₁ < e₂ < … < e_d having rank C(e₁, 1) + C(e₂, 2) + … + C(e_d, d) (Knuth, TAOCP 7.2.1.3,
    thm. L). All of it fits 64 bits for up to 64 elements, since C(64, 32) < 2⁶¹.

    >>> [f"{mask:03b}" for mask in masks(np.arange(3, dtype=np.uint64), 3, 2).tolist()]
    ['011', '101', '110']
    """
    left = ranks.copy()
    missing = np.full(len(ranks), size, np.intp)
    found = np.zeros(len(ranks), np.uint64)
    for element in reversed(range(elements)):
        below_it = np.array([math.comb(element, d) for d in range(size + 1)], np.uint64)[missing]
        # With no element missing C(element, 0) = 1 exceeds the rank 0 that is left.
        taken = left >= below_it
        left -= np.where(taken, below_it, np.uint64(0))
        missing -= taken
        found |= taken.astype(np.uint64) << np.uint64(element)
    return found


def uniform_masks(elements: int, size: int, count: int, randomness: Randomness) -> Words:
    """`count` independent sets, each uniform over the C(elements, size) sets."""
    number = math.comb(elements, size)
    ranks = below(number, count, randomness)
    if number <= LISTED:
        return _listed(elements, size)[ranks.astype(np.intp)]
    return masks(ranks, elements, size)


@lru_cache(maxsize=16)
def _listed(elements: int, size: int) -> Words:
    return masks(np.arange(math.comb(elements, size), dtype=np.uint64), elements, size)


MOST_SYMBOLS = 64


@dataclass(frozen=True, slots=True)
class Subsets:
    """Of `symbols` symbols send a set of `size`, with weight `include` one that has the symbol."""

    symbols: int
    size: int
    include: int

    def check(self) -> None:
        """Refuse sizes that reveal nothing, and weights that are invalid or below chance."""
        check_integer("size", self.size, 1, self.symbols - 1)
        check_weight("include", self.include)
        if self.include * self.symbols < WORDS * self.size:
            least = -(-WORDS * self.size // self.symbols)
            raise UsageError(
                f"include must be at least {least}, at which nothing is revealed, "
                f"not {self.include}"
            )

    @property
    def exclude(self) -> int:
        """The weight of the sets without the symbol."""
        return WORDS - self.include

    @property
    def epsilon(self) -> float:
        """ln(include (K - d) / (exclude d)): the largest privacy loss of one report."""
        inside, outside = self.include * (self.symbols - self.size), self.exclude * self.size
        return math.log1p((inside - outside) / outside)

    @property
    def plus(self) -> float:
        """How often a set has the symbol and not a given other one: include (K - d) / (K - 1).

        Only these sets have the loss +ε; with the two symbols swapped it is -ε, and sets with both
        or neither have loss 0.
        """
        return self.include * (self.symbols - self.size) / ((self.symbols - 1) * WORDS)

    @classmethod
    def calibrated(
        cls, symbols: int, epsilon: float, *, unit: UnitName, delta: float, answers: int
    ) -> Self:
        """The largest weight whose exact guarantee is within the target, at the best size.

        The best size depends on the ε of one report, which for delta > 0 depends slightly on the
        size: the size is chosen by the previous ε.
        """
        check_target(epsilon, delta, answers)

        def largest(size: int) -> int:
            def holds(exclude: int) -> bool:
                law = cls(symbols, size, WORDS - exclude)
                if delta > 0:
                    return law.delta(epsilon, answers, unit) <= delta
                return law.guarantee(answers, unit).epsilon <= epsilon

            return WORDS - smallest_integer(holds, 1, WORDS * (symbols - size) // symbols)

        size = best_size(symbols, epsilon / (answers if Unit(unit) is Unit.WORKER else 1))
        first = cls(symbols, size, largest(size))
        size = best_size(symbols, first.epsilon)
        return first if size == first.size else cls(symbols, size, largest(size))

    def sample(self, symbols: npt.NDArray[np.int64], randomness: Randomness) -> Words:
        """A word decides on the symbol; a set of the others is uniform by its rank."""
        inside = randomness.words(len(symbols)) < np.uint64(self.include)
        others: Words = np.empty(len(symbols), np.uint64)
        for has, size in ((inside, self.size - 1), (~inside, self.size)):
            count = int(np.count_nonzero(has))
            others[has] = uniform_masks(self.symbols - 1, size, count, randomness)
        # Bits from the symbol's position on are shifted up by one to make room for it.
        place = symbols.astype(np.uint64)
        lower = others & ((np.uint64(1) << place) - np.uint64(1))
        sets: Words = lower | (others - lower) << np.uint64(1) | inside.astype(np.uint64) << place
        return sets

    def channel(self) -> FiniteChannel:
        """All sets as masks, over the total 2⁶⁴ C(K - 1, d - 1) C(K - 1, d)."""
        number = math.comb(self.symbols, self.size)
        if number > LISTED:
            raise UsageError(f"there are {number:,} sets: too many to list; use log_likelihood")
        having, lacking = self._numbers
        sets = list(combinations(range(self.symbols), self.size))
        inside, outside = self.include * lacking, self.exclude * having
        return FiniteChannel(
            tuple(
                tuple(inside if symbol in chosen else outside for chosen in sets)
                for symbol in range(self.symbols)
            ),
            tuple(sum(1 << member for member in chosen) for chosen in sets),
            WORDS * having * lacking,
        )

    def log_likelihood(self, reports: Words, symbols: npt.NDArray[np.int64]) -> FloatArray:
        """The probability of having the symbol or not, shared among all such sets."""
        having, lacking = self._numbers
        inside = math.log(self.include) - math.log(WORDS * having)
        outside = math.log(self.exclude) - math.log(WORDS * lacking)
        has = (reports >> symbols.astype(np.uint64)) & np.uint64(1)
        return np.where(has == 1, inside, outside)

    @property
    def _numbers(self) -> tuple[int, int]:
        """The numbers of sets with and without a symbol."""
        others = self.symbols - 1
        return math.comb(others, self.size - 1), math.comb(others, self.size)

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        """Exact: the loss of a report is ε, 0 or -ε, and reports are independent."""
        return repeated_guarantee(self.epsilon, self.plus, answers, unit, delta)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        """The exact curve."""
        return repeated_delta(epsilon, self.epsilon, self.plus, answers, unit)


def best_size(symbols: int, epsilon: float) -> int:
    """The size at which a report is most informative about a uniform answer.

    The likelihood ratio of a set to the average is K exp(ε) / (d exp(ε) + K - d) if it has the
    answer, K / (…) if not. Its variance, d (K - d) (exp(ε) - 1)² / (d exp(ε) + K - d)², is largest
    at d = K / (exp(ε) + 1), up to rounding: the size of Ye & Barg 2018.

    >>> best_size(20, 1.0), best_size(5, 3.0)
    (5, 1)
    """
    shrink = math.exp(-epsilon)
    return max(
        range(1, symbols), key=lambda d: d * (symbols - d) / (d + (symbols - d) * shrink) ** 2
    )
