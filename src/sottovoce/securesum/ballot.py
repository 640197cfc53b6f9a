"""Ballots: an answer to one task, as bits that keyholders can verify without seeing them.

| layout | bits of a task | constraints besides b(b − 1) = 0 | slots, which are opened |
|---|---|---|---|
| votes of 2 | u | | u |
| votes of 2, hidden | u, c | u(1 − c) = 0 | 2u − c, c |
| votes of more, histogram | one for each code | Σb = 1 | the bits |
| the same, hidden | one for each code | S(S − 1) = 0 for S = Σb | the bits |
| sum | weighted bits, v = Σ w b | | v |
| sum, hidden | weighted bits, c | (1 − c)(v − R/2) = 0 | v − R/2, c |

c is 1 if the worker answered; if participation is hidden, a missing answer (NULL) is a ballot too,
whose slots are all zero. Slots are affine in the bits, so shares of bits give shares of slots;
constraints multiply at most two shares, so they lie on polynomials of degree 2t. The code of an
answer is a label's index, or a number's step or bin (`ballot_codes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.codes import answer_codes
from sottovoce.mechanisms.sealed_sum import Layout, SealedSum
from sottovoce.model import NULL, Domain, FloatArray, Label
from sottovoce.securesum.field import Elements, add, dot, elements, multiply, subtract, total

_ONE = np.uint64(1)


@dataclass(frozen=True, slots=True)
class Ballot:
    """The bits, constraints and slots of one task. `size`: labels, bins, or steps R of a range.

    >>> ballot = Ballot(Layout.SUM, 4, hidden=False)
    >>> ballot.weights, ballot.encode(np.array([0, 3, 4])).tolist()
    ((1, 2, 1), [[0, 0, 0], [1, 1, 0], [1, 1, 1]])
    """

    layout: Layout
    size: int
    hidden: bool

    @classmethod
    def of(cls, sealed: SealedSum) -> Self:
        """The ballot of a sealed sum."""
        return cls(sealed.layout, sealed.size, sealed.hidden)

    @property
    def is_one_hot(self) -> bool:
        """Whether each code has a bit."""
        return self.layout is Layout.HISTOGRAM or (self.layout is Layout.VOTES and self.size > 2)

    @property
    def codes(self) -> int:
        """The number of codes, from 0; NULL (−1) is one more if participation is hidden."""
        return self.size + (self.layout is Layout.SUM)

    @property
    def weights(self) -> tuple[int, ...]:
        """The values of a number's bits: 1, 2, 4, … and a rest, which add up to R."""
        return _weights(self.codes)

    @property
    def bits(self) -> int:
        """Bits of a task."""
        return self.size if self.is_one_hot else len(self.weights) + self.hidden

    @property
    def slots(self) -> int:
        """The number of integers that are opened for a task."""
        return self.size if self.is_one_hot else 1 + self.hidden

    @property
    def constraints(self) -> int:
        """The number of values that are zero for an honest ballot: one per bit, one for all."""
        return self.bits + (self.is_one_hot or self.hidden)

    @property
    def least(self) -> tuple[int, ...]:
        """The least that one ballot can add to each slot."""
        if self.is_one_hot or not self.hidden:
            return (0,) * self.slots
        return (-1 if self.layout is Layout.VOTES else -(self.size // 2), 0)

    @property
    def most(self) -> tuple[int, ...]:
        """The most that one ballot can add to each slot."""
        if self.is_one_hot or self.layout is Layout.VOTES:
            return (1,) * self.slots
        return (self.size // 2, 1) if self.hidden else (self.size,)

    def check(self, codes: npt.NDArray[np.integer]) -> None:
        """Refuse invalid answers. The error quotes none."""
        lowest = NULL if self.hidden else 0
        if codes.ndim != 1 or not np.issubdtype(codes.dtype, np.integer):
            raise UsageError("answers must be one code for each task")
        if ((codes < lowest) | (codes >= self.codes)).any():
            raise UsageError(
                f"an answer is not a code from {lowest} to {self.codes - 1:,}: give every task an "
                "answer that the policy asks for"
            )

    def encode(self, codes: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
        """The bits (tasks, bits) of codes; NULL is −1."""
        self.check(codes)
        if self.is_one_hot:
            one_hot: npt.NDArray[np.bool_] = codes[:, None] == np.arange(self.size)
            return one_hot.astype(np.uint8)
        null = codes == NULL
        # A missing number counts as the centre, so that it adds nothing.
        value = np.where(null, 0 if self.layout is Layout.VOTES else self.size // 2, codes)
        binary = len(self.weights) - 1
        last = value >= 1 << binary
        rest = value - last * self.weights[-1]
        digits = rest[:, None] >> np.arange(binary) & 1
        answered = [~null[:, None]] if self.hidden else []
        return np.hstack([digits, last[:, None], *answered]).astype(np.uint8)

    def slot_values(self, bits: Elements) -> Elements:
        """The slots (…, slots) of bits or of their shares (…, bits)."""
        if self.is_one_hot:
            return bits
        if not self.hidden:
            return self._value(bits)[..., None]
        given = bits[..., -1]
        if self.layout is Layout.VOTES:
            first = subtract(add(bits[..., 0], bits[..., 0]), given)
        else:
            first = self._centred(bits)
        return np.stack([first, given], axis=-1)

    def constraint_values(self, bits: Elements) -> Elements:
        """The constraints (…, constraints) on bits, or shares of them on shares (…, bits)."""
        is_bit = multiply(bits, subtract(bits, _ONE))
        if self.constraints == self.bits:
            return is_bit
        return np.concatenate([is_bit, self._group(bits)[..., None]], axis=-1)

    def _group(self, bits: Elements) -> Elements:
        """The constraint on all bits of a task."""
        if self.is_one_hot:
            one_less = subtract(total(bits), _ONE)
            return multiply(total(bits), one_less) if self.hidden else one_less
        missing = subtract(_ONE, bits[..., -1])
        return multiply(
            missing, bits[..., 0] if self.layout is Layout.VOTES else self._centred(bits)
        )

    def _centred(self, bits: Elements) -> Elements:
        """v − R/2."""
        return subtract(self._value(bits), np.uint64(self.size // 2))

    def _value(self, bits: Elements) -> Elements:
        """v = Σ w b: the number that the bits represent."""
        if self.codes == 2:  # one bit, which is worth 1
            return bits[..., 0]
        weights = elements(self.weights)
        return dot(bits[..., : len(weights)], weights)


@lru_cache(maxsize=64)
def _weights(codes: int) -> tuple[int, ...]:
    binary = (codes - 1).bit_length() - 1
    return (*(1 << i for i in range(binary)), codes - (1 << binary))


def ballot_codes(
    values: Sequence[Label | None], domain: Domain, ballot: Ballot
) -> npt.NDArray[np.int64]:
    """Answers as codes of ballots; None is NULL. Errors quote no answer.

    >>> ballot = Ballot(Layout.SUM, 4, hidden=True)
    >>> ballot_codes([0, 2.5, 10, None], Domain.numeric(0, 10), ballot).tolist()
    [0, 1, 4, -1]
    """
    if ballot.layout is Layout.VOTES:
        return answer_codes(values, domain).astype(np.int64)
    codes = np.full(len(values), NULL, np.int64)
    given = np.array([value is not None for value in values], bool)
    codes[given] = number_codes(_numbers(values), domain, ballot)
    return codes


def number_codes(numbers: FloatArray, domain: Domain, ballot: Ballot) -> npt.NDArray[np.int64]:
    """Numbers as steps of the range, half to even, or as bins; the last bin includes its end.

        sum        round((x - low) R / (high - low))
        histogram  min(bins - 1, ⌊(x - low) bins / (high - low)⌋)

    In floats and in this order, as browsers compute it.
    """
    if not ((numbers >= domain.low) & (numbers <= domain.high)).all():
        raise DataError(f"an answer is not a number from {domain.low:g} to {domain.high:g}")
    places = (numbers - domain.low) * ballot.size / (domain.high - domain.low)
    if ballot.layout is Layout.SUM:
        return np.rint(places).astype(np.int64)
    return np.minimum(np.floor(places), ballot.size - 1).astype(np.int64)


def _numbers(values: Sequence[Label | None]) -> FloatArray:
    try:
        return np.array([float(value) for value in values if value is not None], np.float64)
    except ValueError:
        raise DataError("an answer is not a number, but the policy asks for numbers") from None
