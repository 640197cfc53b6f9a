"""How many reports each task has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sottovoce.campaign.overview.bins import MOST_BINS
from sottovoce.server.database.results import Columns

__all__ = ["Coverage", "Level", "Run", "coverage_of"]

MOST_RUNS = 60
"""Runs of tasks in a strip."""


@dataclass(frozen=True, slots=True)
class Run:
    """Tasks that follow each other, and how many reports they have on average."""

    first: str
    last: str
    tasks: int
    mean: float


@dataclass(frozen=True, slots=True)
class Level:
    """How many tasks have so many answers, or up to as many as the next level starts with."""

    answers: int
    tasks: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Reports by task; tasks without any count with 0.

    Where participation is hidden, everybody reports on every task it is given, answered or not: how
    many reports there are says nothing about answers, and no numbers are given.
    """

    hidden: bool
    untouched: int | None = None
    least: int | None = None
    median: float | None = None
    most: int | None = None
    strip: tuple[Run, ...] = ()
    histogram: tuple[Level, ...] = ()


def coverage_of(
    columns: Columns, tasks: int, names: Callable[[Sequence[int]], Sequence[str]], *, hidden: bool
) -> Coverage:
    """The coverage of so many tasks; `names` are asked for by place."""
    if hidden or tasks == 0:
        return Coverage(hidden)
    counts = np.zeros(tasks, np.int64)
    counts[columns.place] = columns.answers
    return Coverage(
        False,
        int(np.count_nonzero(counts == 0)),
        int(counts.min()),
        float(np.median(counts)),
        int(counts.max()),
        _strip(counts, names),
        _levels(counts),
    )


def _strip(
    counts: npt.NDArray[np.int64], names: Callable[[Sequence[int]], Sequence[str]]
) -> tuple[Run, ...]:
    """The tasks in their order, cut into runs of much the same length."""
    runs = min(MOST_RUNS, len(counts))
    starts = np.arange(runs) * len(counts) // runs
    lengths = np.diff(starts, append=len(counts))
    means = np.add.reduceat(counts, starts) / lengths
    firsts, lasts = names(starts.tolist()), names((starts + lengths - 1).tolist())
    return tuple(map(Run, firsts, lasts, lengths.tolist(), means.tolist()))


def _levels(counts: npt.NDArray[np.int64]) -> tuple[Level, ...]:
    """One level for each number of reports, or for several where there are many numbers."""
    least, most = int(counts.min()), int(counts.max())
    width = -(-(most - least + 1) // MOST_BINS)
    tasks = np.bincount((counts - least) // width)
    return tuple(Level(least + width * place, int(count)) for place, count in enumerate(tasks))
