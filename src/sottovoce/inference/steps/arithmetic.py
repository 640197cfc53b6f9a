"""Arithmetic of steps: sums and reductions that do not depend on the order of their terms.

- Sums are exact in any order (`split`): of all values, of rows and columns, over the reports of
  each task, or of each group of reports.
- `steady` rounds, so that the order of additions has no effect.
- NumPy reduces a short last axis slowly: reductions over the labels of each task go label by label
  over contiguous columns, which is several times faster.
- A kernel is compiled once per machine, and only when it is first used (`compiled`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from sottovoce.model import CodedArray, Codes, FloatArray, StartsArray

COMPILED_FROM = 100_000
"""From this number of rows on compiled code is used; smaller tables do not wait for a compiler."""

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code, cached on disk, running without the interpreter's lock.

    No fast-math: additions happen in the order written, so results do not depend on the compiler's
    choices. numba is imported here, so that small tables never wait for it. If no folder is
    writable, each process compiles for itself.
    """
    import numba

    kernel: Callable[P, R]
    try:
        kernel = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # numba found no folder for its cache
        kernel = numba.njit(nogil=True, error_model="numpy")(function)
    return kernel


def split(
    values: FloatArray, top: npt.ArrayLike, count: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Two parts of every value, whose sums over a group are exact in any order.

    `top` is the largest absolute value of the group a value belongs to and `count` the group's
    size. Each part is a multiple of a power of two so coarse that adding up the group never rounds
    (Demmel & Nguyen 2013, pre-rounding): `high` keeps about 52 − log₂ n bits below the largest
    value, `low` the next as many bits, and the rest is below what a plain sum would keep.

    Inference iterates, and can be at an unstable equilibrium where a difference in the last bit
    grows severalfold each round. With exact sums the same answers in another order give the same
    bits.
    """
    growth = np.frexp(np.asarray(count, np.float64))[1] + 1
    exponent = np.frexp(np.asarray(top, np.float64))[1] + growth
    high = _on_grid(values, exponent)
    return high, _on_grid(values - high, exponent - 52 + growth)


def total(values: FloatArray) -> float:
    """The sum of all values, independent of their order."""
    high, low = split(values, np.abs(values).max(initial=0.0), values.size)
    return float(high.sum() + low.sum())


def _on_grid(values: FloatArray, exponent: npt.NDArray[np.int32]) -> FloatArray:
    """The nearest multiples of 2^(exponent − 52): adding 1.5 · 2^exponent rounds to that grid."""
    anchor = np.ldexp(1.5, exponent)
    return np.asarray((values + anchor) - anchor)


TIE = 1e-9
"""Scores closer than this, relative to the larger, are a tie."""

_SPLIT = float(2**13 + 1)


def steady(values: FloatArray) -> FloatArray:
    """The values rounded to 40 significant bits (about 1e-12 relative; Veltkamp's splitting).

    Sums of the same numbers in another order differ in their last bits. Iterated inference can be
    at an unstable equilibrium, where the difference doubles each round until it decides which of
    two equal labels wins. Every aggregator therefore rounds its worker parameters once a round:
    values that differ only by the order of additions stay equal.
    """
    scaled = values * _SPLIT
    return np.asarray(scaled - (scaled - values))


def columns_of(scores: FloatArray) -> FloatArray:
    """A copy with one contiguous row for each label."""
    return np.array(scores.T, order="C", copy=True)


def row_max(scores: FloatArray) -> FloatArray:
    """The largest score of each row."""
    return np.asarray(columns_of(scores).max(axis=0))


def row_sum(scores: FloatArray) -> FloatArray:
    """The sum of each row, independent of the order of the labels."""
    top = row_max(np.abs(scores))[:, np.newaxis]
    high, low = split(scores, top, scores.shape[1])
    return _left_to_right(high) + _left_to_right(low)


def column_sum(scores: FloatArray) -> FloatArray:
    """The sum of each column, independent of the order of the rows."""
    high, low = split(scores, np.abs(scores).max(axis=0, initial=0.0), len(scores))
    return np.asarray(high.sum(axis=0) + low.sum(axis=0))


def shares(scores: FloatArray) -> FloatArray:
    """Non-negative scores scaled to sum to one in each row; uniform if all are zero."""
    totals = _left_to_right(scores)
    empty = totals <= 0
    if empty.any():
        scores = np.where(empty[:, np.newaxis], 1.0, scores)
        totals = np.where(empty, scores.shape[1], totals)
    return np.asarray(scores / totals[:, np.newaxis])


def _left_to_right(scores: FloatArray) -> FloatArray:
    first, *others = columns_of(scores)
    for column in others:
        first += column
    return np.asarray(first)


def segment_sums(values: FloatArray, starts: StartsArray) -> FloatArray:
    """Σ values[starts[i] : starts[i + 1]] for each i, along the first axis; 0 where empty."""
    offsets = starts - starts[0]
    sums = np.zeros((len(starts) - 1, *values.shape[1:]))
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        firsts, counts = offsets[filled], np.diff(offsets)[filled]
        top = np.repeat(np.maximum.reduceat(np.abs(values), firsts, axis=0), counts, axis=0)
        shape = (-1,) + (1,) * (values.ndim - 1)
        for piece in split(values, top, np.repeat(counts, counts).reshape(shape)):
            sums[filled] += np.add.reduceat(piece, firsts, axis=0)
    return sums


def grouped_sums(
    groups: Codes | CodedArray | npt.NDArray[np.int64], values: FloatArray, size: int
) -> FloatArray:
    """Σ values of each group 0 … size − 1."""
    top, counts = np.zeros(size), np.bincount(groups, minlength=size)
    np.maximum.at(top, groups, np.abs(values))
    pieces = split(values, top[groups], counts[groups])
    high, low = (np.bincount(groups, piece, size) for piece in pieces)
    return np.asarray(high + low, np.float64)
