"""Ways to sort reports into finitely many cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from sottovoce.privacy.audit.axes import Axis, Bins, Column
from sottovoce.privacy.audit.samples import Encoding, Matrix

__all__ = ["Pair", "Scored", "Single", "View", "Whole"]

Cells = npt.NDArray[np.intp]

AT_ONCE = 1 << 22
"""Numbers looked at together, to bound memory."""

SHOWN = 3


class Scored:
    """Reports with their scores, each computed once and in pieces of bounded size."""

    def __init__(self, samples: Matrix) -> None:
        self.samples = samples
        self._scores: dict[Axis, npt.NDArray[np.generic]] = {}

    def __len__(self) -> int:
        return len(self.samples)

    def on(self, axis: Axis) -> npt.NDArray[np.generic]:
        """The scores on an axis."""
        if axis not in self._scores:
            rows = max(1, AT_ONCE // self.samples.shape[1])
            starts = range(0, max(1, len(self)), rows)
            pieces = [axis(self.samples[start : start + rows]) for start in starts]
            self._scores[axis] = np.concatenate(pieces)
        return self._scores[axis]


class View(Protocol):
    """Sorts reports into cells, and names events."""

    def __len__(self) -> int: ...

    @property
    def ordered(self) -> bool:
        """Whether cells follow each other, so that a first or last few of them mean something."""
        ...

    def __call__(self, reports: Scored) -> Cells:
        """The cell of each report."""
        ...

    def event(self, cells: Cells, encoding: Encoding) -> str:
        """A set of cells in words, the likeliest first."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Single:
    """The bins of one axis."""

    axis: Axis
    bins: Bins

    def __len__(self) -> int:
        return len(self.bins)

    @property
    def ordered(self) -> bool:
        return True

    def __call__(self, reports: Scored) -> Cells:
        return self.bins(reports.on(self.axis))

    def event(self, cells: Cells, encoding: Encoding) -> str:
        named = encoding if isinstance(self.axis, Column) else Encoding(None)
        ordered = np.sort(cells)
        apart = np.diff(ordered) > (0 if named.texts is not None else 1)
        runs = np.split(ordered, np.flatnonzero(apart) + 1)
        return f"{self.axis.words} {_listed([_run(self.bins, run, named) for run in runs])}"


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """The products of the bins of two axes."""

    first: Single
    second: Single

    def __len__(self) -> int:
        return len(self.first) * len(self.second)

    @property
    def ordered(self) -> bool:
        return False

    def __call__(self, reports: Scored) -> Cells:
        return self.first(reports) * len(self.second) + self.second(reports)

    def event(self, cells: Cells, encoding: Encoding) -> str:
        pairs = [divmod(int(cell), len(self.second)) for cell in cells]
        texts = [
            f"({self.first.event(np.array([a]), encoding)}; "
            f"{self.second.event(np.array([b]), encoding)})"
            for a, b in pairs[:SHOWN]
        ]
        return _listed(texts + [""] * (len(pairs) - len(texts)))


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """A cell for each of the most frequent submissions, and one for all others.

    `frequency` is how often the former were seen, on average.
    """

    keys: npt.NDArray[np.uint64]
    examples: Matrix
    frequency: float

    @classmethod
    def fitted(cls, samples: Matrix, most: int) -> Self:
        """The most frequent of some submissions."""
        keys, where, times = np.unique(_keys(samples), return_index=True, return_counts=True)
        kept = np.sort(np.argsort(-times, kind="stable")[:most])
        return cls(keys[kept], samples[where[kept]], float(times[kept].mean()))

    def __len__(self) -> int:
        return len(self.keys) + 1

    @property
    def ordered(self) -> bool:
        return False

    def __call__(self, reports: Scored) -> Cells:
        keys = _keys(reports.samples)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, place, len(self.keys))

    def event(self, cells: Cells, encoding: Encoding) -> str:
        texts = [
            "any other"
            if cell == len(self.keys)
            else f"({', '.join(encoding.name(v) for v in self.examples[cell])})"
            for cell in cells[:SHOWN]
        ]
        return f"submission is {_listed(texts + [''] * (len(cells) - len(texts)))}"


def _keys(samples: Matrix) -> npt.NDArray[np.uint64]:
    """A number for each row; rows that share one by accident share a cell, which harms nothing."""
    wide = samples.astype(np.float64 if samples.dtype.kind == "f" else np.int64)
    keys = np.zeros(len(samples), np.uint64)
    for column in np.ascontiguousarray(wide.T).view(np.uint64):
        keys = (keys ^ column) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return keys


def _run(bins: Bins, run: Cells, encoding: Encoding) -> str:
    """Successive cells of an axis in words."""
    first, last = int(run[0]), int(run[-1])
    if bins.atoms is not None and first == last:
        return f"is {encoding.name(bins.atoms[first])}"
    low = encoding.name(bins.edges[first - 1]) if first > 0 else None
    high = encoding.name(bins.edges[last]) if last < len(bins.edges) else None
    if low is None:
        return f"below {high}" if high is not None else "anything"
    return f"from {low} on" if high is None else f"from {low} to below {high}"


def _listed(texts: list[str]) -> str:
    more = len(texts) - SHOWN
    return " or ".join(texts[:SHOWN]) + (f" or {more:,} more" if more > 0 else "")
