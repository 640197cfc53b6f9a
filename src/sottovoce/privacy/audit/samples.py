"""Samples of reports: categories, numbers, or vectors of either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.model import FloatArray

Matrix: TypeAlias = npt.NDArray[Any]
"""One report per row, numbers or texts."""

LARGEST = 1e100
"""Numbers are clipped here before they are squared."""


def matrix(samples: npt.ArrayLike) -> Matrix:
    """Rows of reports; anything but a number becomes text."""
    array = np.asarray(samples)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(f"samples must be of shape (n,) or (n, k), not {array.shape}")
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    return array if array.dtype.kind in "iuf" else array.astype(np.str_)


def numbers(samples: Matrix) -> FloatArray:
    """As finite floats, for sums and squares; anything but a number counts as 0."""
    values = samples.astype(np.float64)
    if samples.dtype.kind == "f":
        np.nan_to_num(values, copy=False, posinf=LARGEST, neginf=-LARGEST)
        np.clip(values, -LARGEST, LARGEST, out=values)
    return values


class Stream:
    """Samples in the order drawn, a given number at a time."""

    def __init__(self, pieces: Iterator[Matrix]) -> None:
        head = next(pieces)
        self.width = head.shape[1]
        self._pieces = chain([head], pieces)

    def take(self, count: int) -> Matrix:
        """The next `count` samples."""
        taken: list[Matrix] = []
        while count > 0:
            piece = next(self._pieces)
            taken.append(piece[:count])
            if len(piece) > count:
                self._pieces = chain([piece[count:]], self._pieces)
            count -= len(taken[-1])
        return np.concatenate(taken)

    def rest(self) -> Iterator[Matrix]:
        """All remaining samples."""
        return self._pieces


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """Texts as codes, numbers unchanged. A text that was not fitted is one extra code."""

    texts: npt.NDArray[np.str_] | None

    @classmethod
    def fitted(cls, *parts: Matrix) -> Self:
        """The texts of some samples."""
        if any(part.dtype.kind == "U" for part in parts):
            return cls(np.unique(np.concatenate([np.unique(p.astype(np.str_)) for p in parts])))
        return cls(None)

    def __call__(self, samples: Matrix) -> Matrix:
        if self.texts is None:
            return samples
        texts = samples.astype(np.str_)
        place = np.minimum(np.searchsorted(self.texts, texts), len(self.texts) - 1)
        return np.where(self.texts[place] == texts, place, len(self.texts)).astype(np.int32)

    def name(self, value: Any) -> str:
        """A value as it was written."""
        if self.texts is None:
            return f"{value:.6g}" if isinstance(value, float | np.floating) else f"{value}"
        return str(self.texts[int(value)]) if int(value) < len(self.texts) else "other"


def check_unsorted(samples: Matrix, which: str) -> None:
    """Refuse samples in increasing or decreasing order: their halves would follow different laws.

    Independent samples are sorted by chance less than once in 10¹³ if there are at least 64, of
    which 16 differ from the most frequent one.
    """
    column = samples[:, 0]
    if len(column) < 64:
        return
    before, after = column[:-1], column[1:]
    if not ((before <= after).all() or (before >= after).all()):
        return
    runs = np.diff(np.concatenate([[0], np.flatnonzero(before != after) + 1, [len(column)]]))
    if len(column) - int(runs.max()) >= 16:
        raise DataError(f"the {which} samples are sorted: give them in the order they were drawn")
