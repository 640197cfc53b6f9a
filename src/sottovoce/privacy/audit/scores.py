"""One-dimensional scores of a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from sottovoce.model import FloatArray
from sottovoce.privacy.audit.samples import Matrix, numbers

Columns = npt.NDArray[np.intp]

RAREST = 8
"""The outermost bins have about this many of the fitted samples."""


class Axis(Protocol):
    """A number for every report."""

    @property
    def words(self) -> str:
        """A description of the number."""
        ...

    def __call__(self, samples: Matrix) -> npt.NDArray[np.generic]:
        """The numbers of some reports."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Cells of the line: cell i is [edges[i - 1], edges[i]). NaN comes last.

    `atoms` are the values seen, if each has a cell.
    """

    edges: npt.NDArray[np.generic]
    atoms: npt.NDArray[np.generic] | None = None

    @classmethod
    def fitted(cls, values: npt.NDArray[np.generic], most: int) -> Self:
        """A cell for each value if there are few, else about `most` equally likely ones and tails.

        The tails are halved repeatedly: an unbounded ε is found there.
        """
        found = np.unique(values)
        if len(found) <= most:
            return cls(found[1:], found)
        real = found.dtype.kind != "f" or not np.isnan(found[-1])
        # NaN sorts after every number, here and in `searchsorted`.
        ordered = np.sort(values)
        count = len(ordered)
        tail = 0.5 ** np.arange(1, max(2, int(np.log2(count / RAREST)) + 1))
        levels = np.unique(np.concatenate([np.linspace(0, 1, most + 1)[1:-1], tail, 1 - tail]))
        edges, times = np.unique(ordered[(levels * count).astype(np.intp)], return_counts=True)
        # A value at several levels is an atom: it gets a separate cell.
        after = np.searchsorted(found, edges[times > 1]) + 1
        edges = np.unique(np.concatenate([edges, found[after[after < len(found)]]]))
        if not real:
            edges = np.unique(np.append(edges, found[-1]))
        return cls(edges)

    def __len__(self) -> int:
        return len(self.edges) + 1

    def __call__(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.intp]:
        return np.searchsorted(self.edges, values, side="right")


@dataclass(frozen=True, slots=True)
class ColumnScore:
    """One report of the submission."""

    index: int

    @property
    def words(self) -> str:
        return f"column {self.index + 1}"

    def __call__(self, samples: Matrix) -> npt.NDArray[np.generic]:
        return samples[:, self.index]


@dataclass(frozen=True, slots=True, eq=False)
class Usual:
    """The number of some columns that show their most frequent value."""

    columns: Columns
    values: Matrix

    @property
    def words(self) -> str:
        return f"how many of {len(self.columns)} columns show their usual value"

    def __call__(self, samples: Matrix) -> npt.NDArray[np.generic]:
        count = np.zeros(len(samples), np.int32)
        for column, value in zip(self.columns, self.values, strict=True):
            count += samples[:, column] == value
        return count


@dataclass(frozen=True, slots=True, eq=False)
class LogRatioSum:
    """Σ ln(P / Q) over columns, as if they were independent."""

    columns: Columns
    bins: tuple[Bins, ...]
    ratios: tuple[FloatArray, ...]

    @property
    def words(self) -> str:
        return f"sum of the log ratios of {len(self.columns)} columns"

    def __call__(self, samples: Matrix) -> npt.NDArray[np.generic]:
        total = np.zeros(len(samples))
        for column, bins, ratios in zip(self.columns, self.bins, self.ratios, strict=True):
            total += ratios[bins(samples[:, column])]
        # Equal sums in another order differ in their last bits, and would be different atoms.
        return np.round(total, 9)


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """The projection on a direction."""

    name: str
    weights: FloatArray

    @property
    def words(self) -> str:
        return f"projection on the direction of {self.name}"

    def __call__(self, samples: Matrix) -> npt.NDArray[np.generic]:
        return np.round(numbers(samples) @ self.weights, 9)


@dataclass(frozen=True, slots=True, eq=False)
class Distance:
    """ln of the squared distance from a centre, over some columns, each in units of its spread."""

    columns: Columns
    centre: FloatArray
    spread: FloatArray

    @property
    def words(self) -> str:
        return f"log of the squared distance of {len(self.columns)} columns from their middle"

    def __call__(self, samples: Matrix) -> npt.NDArray[np.generic]:
        away = (numbers(samples[:, self.columns]) - self.centre) / self.spread
        squared: FloatArray = np.einsum("ij,ij->i", away, away)
        return np.round(np.log(squared + 1e-300), 9)
