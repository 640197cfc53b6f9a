"""Arithmetic modulo the Mersenne prime p = 2⁶¹ − 1, on arrays of 64-bit words.

An element is a uint64 below p. With 2⁶¹ ≡ 1 a number is reduced by adding its upper bits to its
lower ones, so nothing here divides and no branch depends on a value: it is safe for secrets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError

BITS = 61
P = (1 << BITS) - 1
WIDTH = 8
"""Bytes of an element on the wire, little-endian."""

Elements: TypeAlias = npt.NDArray[np.uint64]
Operand: TypeAlias = Elements | np.uint64
Draw: TypeAlias = Callable[[int], bytes]
"""Unpredictable bytes, `count` of them."""

_P = np.uint64(P)
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_LOWER_HALF = np.uint64((1 << 32) - 1)
# Factors are cut into 30 upper and 31 lower bits, mixed products into 32 and 30.
_CUT, _LOWER = np.uint64(31), np.uint64((1 << 31) - 1)
_MIDDLE, _LOWER_MIDDLE = np.uint64(30), np.uint64((1 << 30) - 1)
_REST, _LOWER_REST = np.uint64(29), np.uint64((1 << 29) - 1)
_FOLD = np.uint64(BITS)


def elements(integers: npt.ArrayLike) -> Elements:
    """Integers, also negative ones, as elements: −1 is p − 1.

    >>> elements([-1, 2]).tolist()
    [2305843009213693950, 2]
    """
    return np.mod(np.asarray(integers, np.int64), P).astype(np.uint64)


def add(a: Operand, b: Operand) -> Elements:
    """a + b."""
    return _below(np.add(a, b))


def subtract(a: Operand, b: Operand) -> Elements:
    """a − b."""
    return _below(np.add(a, np.subtract(_P, b)))


def multiply(a: Operand, b: Operand) -> Elements:
    """a · b, element by element; arrays are broadcast.

    >>> multiply(elements([P - 1]), elements([P - 1])).tolist()
    [1]
    """
    return _reduced(_product(a, b))


def dot(a: Elements, b: Elements) -> Elements:
    """Σ a · b along the last axis: all products first, reduced once for the sum."""
    return _halves_summed(_product(a, b), -1)


def total(a: Elements, axis: int = -1) -> Elements:
    """Σ a along an axis, of up to 2³² elements."""
    return _halves_summed(a, axis)


def random_elements(count: int, draw: Draw = os.urandom) -> Elements:
    """Uniform elements: 61 bits of 8 bytes each; p itself is drawn again."""
    drawn = _words(draw(WIDTH * count))
    while (missing := count - len(drawn)) > 0:
        drawn = np.concatenate([drawn, _words(draw(WIDTH * missing))])
    return drawn


def to_bytes(values: Elements) -> bytes:
    """Elements as they are sent: 8 bytes each, little-endian."""
    return values.astype("<u8").tobytes()


def from_bytes(content: bytes) -> Elements:
    """The elements in these bytes; each has one encoding, and others are refused."""
    if len(content) % WIDTH:
        raise UsageError(f"{len(content):,} bytes are not field elements of {WIDTH} bytes")
    values = np.frombuffer(content, "<u8").astype(np.uint64)
    if (values >= _P).any():
        raise UsageError("a field element is not below 2^61 - 1")
    return values


def lagrange(points: Sequence[int], at: int = 0) -> list[int]:
    """The weights w with f(at) = Σ wᵢ f(pointᵢ) for every f of degree below the number of points.

        wᵢ = Πⱼ≠ᵢ (at − xⱼ) / (xᵢ − xⱼ)      (Shamir 1979)

    >>> lagrange([1, 2])  # f(0) = 2 f(1) - f(2)
    [2, 2305843009213693950]
    """
    if len({x % P for x in points}) != len(points):
        raise UsageError("points of a polynomial must differ from each other")
    weights = []
    for i, x in enumerate(points):
        above = below = 1
        for y in (*points[:i], *points[i + 1 :]):
            above, below = above * (at - y) % P, below * (x - y) % P
        weights.append(above * pow(below, -1, P) % P)
    return weights


def _words(content: bytes) -> Elements:
    """61 bits of each 8 bytes, without invalid elements."""
    words = np.frombuffer(content, "<u8").astype(np.uint64) & _P
    kept: Elements = words[words != _P]
    return kept


def _product(a: Operand, b: Operand) -> Elements:
    """a · b, below 2⁶⁴ but not reduced.

    With a = a₁ 2³¹ + a₀ and 2⁶² ≡ 2: a b ≡ 2 a₁b₁ + (a₁b₀ + a₀b₁) 2³¹ + a₀b₀. The middle is
    m₁ 2³⁰ + m₀, and 2³¹ times it ≡ m₁ + m₀ 2³¹. In all less than 2⁶¹ + 2³² + 2⁶¹ + 2⁶² < 2⁶⁴.
    """
    a1, a0, b1, b0 = a >> _CUT, a & _LOWER, b >> _CUT, b & _LOWER
    middle = a1 * b0 + a0 * b1
    twice_upper, shifted = (a1 * b1) << _ONE, (middle & _LOWER_MIDDLE) << _CUT
    product: Elements = twice_upper + (middle >> _MIDDLE) + shifted + a0 * b0
    return product


def _halves_summed(words: Elements, axis: int) -> Elements:
    """The sum of 64-bit words, modulo p: their halves do not overflow for 2³² of them.

    The sum of the upper halves, u = u₁ 2²⁹ + u₀, counts 2³² u ≡ u₁ + u₀ 2³².
    """
    lower = np.sum(words & _LOWER_HALF, axis=axis, dtype=np.uint64)
    upper = np.sum(words >> _HALF, axis=axis, dtype=np.uint64)
    shifted = (upper >> _REST) + ((upper & _LOWER_REST) << _HALF)
    return _reduced(shifted + (lower & _P) + (lower >> _FOLD))


def _reduced(words: Elements) -> Elements:
    """Any 64-bit words modulo p."""
    return _below((words & _P) + (words >> _FOLD))


def _below(sums: Elements) -> Elements:
    """Numbers of at most 2p, minus p if that is not below zero; no branch on a value."""
    return np.minimum(sums, np.subtract(sums, _P))
