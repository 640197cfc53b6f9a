"""Draws from uniform 64-bit words: exact integers, and floats where integers cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, overload

import numpy as np
import numpy.typing as npt
import scipy  # its parts are imported on first use

from sottovoce.model import WORDS, FloatArray, Words
from sottovoce.seams import Randomness

BLOCK = 1 << 16
"""Rows at a time, so that intermediate values stay in the processor's cache."""


def blocks(count: int) -> Iterator[slice]:
    """The rows 0 … count - 1 in runs of at most BLOCK."""
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))


def below(bound: int, count: int, randomness: Randomness) -> Words:
    """Uniform integers from 0 to bound - 1: words beyond the last whole run of them are redrawn."""
    if bound == WORDS:
        return randomness.words(count)
    words = randomness.words(count)
    whole = WORDS - WORDS % bound
    if whole < WORDS:
        redrawn: npt.NDArray[np.intp] = np.flatnonzero(words >= np.uint64(whole))
        while redrawn.size:
            words[redrawn] = randomness.words(redrawn.size)
            redrawn = redrawn[words[redrawn] >= np.uint64(whole)]
    return words % np.uint64(bound)


@overload
def leading(count: int, bits: Literal[8], randomness: Randomness) -> npt.NDArray[np.uint8]: ...
@overload
def leading(count: int, bits: Literal[16], randomness: Randomness) -> npt.NDArray[np.uint16]: ...
def leading(
    count: int, bits: Literal[8, 16], randomness: Randomness
) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint16]:
    """The first 8 or 16 bits of some words; `completed` draws the rest of those that need it."""
    words = randomness.words(-(-count * bits // 64))
    return words.view(np.uint8)[:count] if bits == 8 else words.view(np.uint16)[:count]


def completed(first: npt.NDArray[np.uint16], randomness: Randomness) -> Words:
    """Whole words that begin with the given 16 bits; the other bits are fresh."""
    rest: Words = randomness.words(len(first)) >> np.uint64(16)
    return rest | first.astype(np.uint64) << np.uint64(48)


HALF = np.uint64(WORDS // 2)


def exponential(words: Words) -> FloatArray:
    """-ln u for u = (word + ½) / 2⁶⁴, accurate also where u is near 1.

    >>> exponential(np.array([0, 2**64 - 1], np.uint64)) * [1, 2.0**65]
    array([45.05456674,  1.        ])
    """
    near_zero = (words.astype(np.float64) + 0.5) / WORDS
    near_one = ((~words).astype(np.float64) + 0.5) / WORDS
    return -np.where(words < HALF, np.log(near_zero), np.log1p(-np.minimum(near_one, 0.5)))


def normal(words: Words) -> FloatArray:
    """The normal quantile: the first bit is the sign, the others the position in the lower tail.

    >>> normal(np.array([0, 2**62, 2**63], np.uint64)).round(3)
    array([-9.155, -0.674,  9.155])
    """
    tail = scipy.special.ndtri(((words & (HALF - np.uint64(1))).astype(np.float64) + 0.5) / WORDS)
    return np.where(words < HALF, tail, -tail)


def laplace(words: Words) -> FloatArray:
    """Laplace noise of scale 1: the first bit is the sign, the others an exponential."""
    size = exponential(words << np.uint64(1))
    return np.where(words < HALF, -size, size)
