"""Exact draws from uniform 64-bit words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from sottovoce.model import WORDS, Words
from sottovoce.seams import Randomness

__all__ = ["below", "blocks", "completed", "leading"]

BLOCK = 1 << 16
"""Rows at a time: what is computed on the way stays in the processor's cache."""


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
    """The first 8 or 16 bits of so many words; `completed` draws the rest of those that need it."""
    words = randomness.words(-(-count * bits // 64))
    return words.view(np.uint8)[:count] if bits == 8 else words.view(np.uint16)[:count]


def completed(first: npt.NDArray[np.uint16], randomness: Randomness) -> Words:
    """Whole words that begin with the given 16 bits; the others are fresh."""
    rest: Words = randomness.words(len(first)) >> np.uint64(16)
    return rest | first.astype(np.uint64) << np.uint64(48)
