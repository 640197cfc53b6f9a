"""Views: ways to sort reports into finitely many cells, from samples of the two inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from sottovoce.privacy.audit.confidence_bounds import log_ratios
from sottovoce.privacy.audit.samples import Encoding, Matrix, numbers
from sottovoce.privacy.audit.scores import (
    Axis,
    Bins,
    Columns,
    ColumnScore,
    Direction,
    Distance,
    LogRatioSum,
    Usual,
)

Cells = npt.NDArray[np.intp]

AT_ONCE = 1 << 22
"""Numbers processed together, to bound memory."""

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
        """Whether cells are ordered, so that a first or last few of them make sense."""
        ...

    def __call__(self, reports: Scored) -> Cells:
        """The cell of each report."""
        ...

    def event(self, cells: Cells, encoding: Encoding) -> str:
        """A set of cells in words, the likeliest first."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class SingleView:
    """The bins of one axis."""

    axis: Axis
    bins: Bins

    ordered: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.bins)

    def __call__(self, reports: Scored) -> Cells:
        return self.bins(reports.on(self.axis))

    def event(self, cells: Cells, encoding: Encoding) -> str:
        named = encoding if isinstance(self.axis, ColumnScore) else Encoding(None)
        ordered = np.sort(cells)
        apart = np.diff(ordered) > (0 if named.texts is not None else 1)
        runs = np.split(ordered, np.flatnonzero(apart) + 1)
        return f"{self.axis.words} {_listed([_run(self.bins, run, named) for run in runs])}"


@dataclass(frozen=True, slots=True, eq=False)
class PairView:
    """The products of the bins of two axes."""

    first: SingleView
    second: SingleView

    ordered: ClassVar[bool] = False

    def __len__(self) -> int:
        return len(self.first) * len(self.second)

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
class WholeView:
    """A cell for each of the most frequent submissions, and one for all others.

    `frequency` is the mean frequency of the former.
    """

    keys: npt.NDArray[np.uint64]
    examples: Matrix
    frequency: float

    ordered: ClassVar[bool] = False

    @classmethod
    def fitted(cls, samples: Matrix, most: int) -> Self:
        """The most frequent of some submissions."""
        keys, where, times = np.unique(_keys(samples), return_index=True, return_counts=True)
        kept = np.sort(np.argsort(-times, kind="stable")[:most])
        return cls(keys[kept], samples[where[kept]], float(times[kept].mean()))

    def __len__(self) -> int:
        return len(self.keys) + 1

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
    """A number for each row; an accidental collision shares a cell, which is harmless."""
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


ALONE, PAIRED, WITHIN = 256, 64, 32
"""Bins of a single axis, of one of a pair, and of a column that is added up."""
DISTINCT = 1 << 14
"""The most submissions with a separate cell."""
SUMMED = 64
"""The most columns that are added up: those whose laws differ most."""
TINIEST = 1e-50
"""Spreads below are set to this, to avoid overflow of quotients."""
LOOKED_AT = 1 << 22
"""The most numbers from which columns and directions are fitted."""


def views(first: Scored, second: Scored, *, nominal: bool) -> list[View]:
    """The views to try, the simplest first; `nominal` codes are texts, which are not added up.

    The laws may differ in one column alone, in many independent ones, in the spread along some
    direction, or in the dependence of a column on the others: then a value drawn once per worker
    shows in them (two-layer's probability in the number of usual values, a random variance in their
    distance).
    """
    alone = partial(_single, first=first, second=second, most=ALONE)
    whole = _whole(first.samples, second.samples)
    if first.samples.shape[1] == 1:
        return [alone(ColumnScore(0)), *whole]
    rows = max(1, LOOKED_AT // first.samples.shape[1])
    some, others = first.samples[:rows], second.samples[:rows]
    singles, pairs = _plain(some, others, nominal)
    paired = partial(_single, first=first, second=second, most=PAIRED)
    found: list[View] = [alone(axis) for axis in singles]
    found += [PairView(paired(a), paired(b)) for a, b in pairs]
    found += whole
    if not nominal:
        mean, *spreads = _directions(some, others)
        found += [alone(mean), *map(alone, spreads), PairView(*map(paired, spreads))]
        found.append(PairView(paired(mean), paired(singles[-1])))
    return found


def _plain(
    first: Matrix, second: Matrix, nominal: bool
) -> tuple[list[Axis], list[tuple[Axis, Axis]]]:
    """Scores of a vector that are used alone, and those that are used together."""
    everything = np.arange(first.shape[1])
    evidence, ranked = _evidence(first, second)
    changed, next_changed = (ColumnScore(int(j)) for j in ranked[:2])
    contexts = _contexts(first, second, everything, nominal)
    rest = _contexts(first, second, np.delete(everything, changed.index), nominal)
    pairs: list[tuple[Axis, Axis]] = [(changed, context) for context in rest]
    pairs += [(changed, next_changed)]
    pairs += [(evidence, context) for context in contexts]
    return [changed, next_changed, evidence, *contexts], pairs


def _single(axis: Axis, first: Scored, second: Scored, most: int) -> SingleView:
    return SingleView(axis, Bins.fitted(np.concatenate([first.on(axis), second.on(axis)]), most))


def _whole(first: Matrix, second: Matrix) -> list[View]:
    """The submissions themselves, unless nearly all of them are different."""
    view = WholeView.fitted(np.concatenate([first, second]), DISTINCT)
    return [view] if view.frequency >= 4 else []


def _evidence(first: Matrix, second: Matrix) -> tuple[LogRatioSum, Columns]:
    """The log ratios of the columns, and the columns from the most to the least different."""
    bins, ratios, differences = [], [], []
    for a, b in zip(first.T, second.T, strict=True):
        cut = Bins.fitted(np.concatenate([a, b]), WITHIN)
        x, y = (np.bincount(cut(part), minlength=len(cut)) for part in (a, b))
        bins.append(cut)
        ratio, error = log_ratios(x, y)
        # Columns that do not differ would add only noise.
        ratios.append(np.where(np.abs(ratio) > 3 * error, ratio, 0.0))
        differences.append(np.abs(x / len(a) - y / len(b)).sum() / 2)
    ranked = np.argsort(-np.array(differences), kind="stable")
    kept = np.sort(ranked[:SUMMED])
    return LogRatioSum(kept, tuple(bins[j] for j in kept), tuple(ratios[j] for j in kept)), ranked


def _contexts(first: Matrix, second: Matrix, columns: Columns, nominal: bool) -> list[Axis]:
    """The joint scores of many columns."""
    found: list[Axis] = []
    values = [
        np.unique(np.concatenate([first[:, j], second[:, j]]), return_counts=True) for j in columns
    ]
    if all(len(seen) <= WITHIN for seen, _ in values):
        usual = np.array([seen[np.argmax(times)] for seen, times in values])
        found.append(Usual(columns, usual))
    if not nominal:
        weights = np.zeros(first.shape[1])
        weights[columns] = 1.0
        found += [Direction("the sum", weights), _distance(first, second, columns)]
    return found


def _distance(first: Matrix, second: Matrix, columns: Columns) -> Distance:
    both = numbers(np.concatenate([first[:, columns], second[:, columns]]))
    low, middle, high = np.quantile(both, [0.25, 0.5, 0.75], axis=0)
    spread = np.where(high > low, np.maximum(high - low, TINIEST), 1.0)
    return Distance(columns, middle, spread)


def _directions(first: Matrix, second: Matrix) -> list[Axis]:
    """The directions of the largest difference of means, and of the largest and smallest spread.

    The generalised eigenvectors of the two covariance matrices, after the tails are clipped, which
    would otherwise dominate.
    """
    a, b = numbers(first), numbers(second)
    both = np.concatenate([a, b])
    low, high = np.quantile(both, [0.005, 0.995], axis=0)
    a, b = np.clip(a, low, high), np.clip(b, low, high)
    ones, others = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    values, vectors = np.linalg.eigh((ones + others) / 2)
    kept = values > 1e-9 * values[-1]
    kept[-1] = True
    whitening = vectors[:, kept] / np.sqrt(np.maximum(values[kept], TINIEST**2))
    _, spreads = np.linalg.eigh(whitening.T @ ones @ whitening)
    mean = whitening @ (whitening.T @ (a.mean(axis=0) - b.mean(axis=0)))
    return [
        Direction("the means", mean),
        Direction("the larger spread", whitening @ spreads[:, -1]),
        Direction("the smaller spread", whitening @ spreads[:, 0]),
    ]
