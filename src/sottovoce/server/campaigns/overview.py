"""Overview of a campaign: reports per task, certainty of truths, and weights of workers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from sottovoce.mechanisms.policies import release_of
from sottovoce.model import State
from sottovoce.model.campaign import Assignment
from sottovoce.server.campaigns.certainty import Certainty, Further, certainty_of, further_of
from sottovoce.server.campaigns.histogram import MOST_BINS, Bin, binned
from sottovoce.server.campaigns.results import found_result, reports_waiting
from sottovoce.server.database.campaigns import Stored, tasks_at
from sottovoce.server.database.results import Columns, StoredResult, Summary
from sottovoce.server.service import Service

MOST_RUNS = 60
"""The most runs of tasks in a strip."""

Names: TypeAlias = Callable[[Sequence[int]], Sequence[str]]
"""The names of tasks by their places."""


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive tasks, and their mean number of reports."""

    first: str
    last: str
    tasks: int
    mean: float


@dataclass(frozen=True, slots=True)
class CoverageLevel:
    """How many tasks have this many answers, up to the start of the next level."""

    answers: int
    tasks: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Reports per task; tasks without reports count as 0.

    If participation is hidden, workers report on every task they get, answered or not. The number
    of reports then says nothing about answers and is not given.
    """

    hidden: bool
    untouched: int | None = None
    least: int | None = None
    median: float | None = None
    most: int | None = None
    strip: tuple[Run, ...] = ()
    histogram: tuple[CoverageLevel, ...] = ()


def coverage_of(columns: Columns, tasks: int, names: Names, *, hidden: bool) -> Coverage:
    """The coverage of the tasks; `names` maps places to names."""
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


def _strip(counts: npt.NDArray[np.int64], names: Names) -> tuple[Run, ...]:
    """The tasks in order, divided into runs of about the same length."""
    runs = min(MOST_RUNS, len(counts))
    starts = np.arange(runs) * len(counts) // runs
    lengths = np.diff(starts, append=len(counts))
    means = np.add.reduceat(counts, starts) / lengths
    firsts, lasts = names(starts.tolist()), names((starts + lengths - 1).tolist())
    return tuple(map(Run, firsts, lasts, lengths.tolist(), means.tolist()))


def _levels(counts: npt.NDArray[np.int64]) -> tuple[CoverageLevel, ...]:
    """One level per number of reports, or per range if there are many numbers."""
    least, most = int(counts.min()), int(counts.max())
    width = -(-(most - least + 1) // MOST_BINS)
    tasks = np.bincount((counts - least) // width)
    return tuple(
        CoverageLevel(least + width * place, int(count)) for place, count in enumerate(tasks)
    )


@dataclass(frozen=True, slots=True)
class Weights:
    """The number of workers and the distribution of their weights, or why there is none."""

    workers: int
    why_none: str | None
    histogram: tuple[Bin, ...] = ()


def weights_of(columns: Columns, summary: Summary | None) -> Weights:
    """The weights of a result."""
    finite = columns.weight[np.isfinite(columns.weight)]
    if not len(finite):
        return Weights(len(columns.weight), _why(summary))
    low, high = float(finite.min()), float(finite.max())
    return Weights(len(columns.weight), None, binned(finite, low, high))


def _why(summary: Summary | None) -> str:
    if summary is None:
        return "Nothing is inferred yet. Weights appear with the first result."
    if summary.problem is not None:
        return f"There is no result: {summary.problem}."
    return f"The method {summary.method} gives workers no weights."


@dataclass(frozen=True, slots=True)
class ResultFigures:
    """Figures computed from a result's columns, cached with them."""

    coverage: Coverage
    certainty: Certainty | None
    further: Further | None
    weights: Weights


@dataclass(frozen=True, slots=True)
class Overview:
    """A campaign's overview. Everything but the counts is as of the latest result.

    `waiting` is how many reports it does not include yet. `further` is None for a closed campaign
    too.
    """

    tasks: int
    workers: int
    reports: int
    waiting: int
    summary: Summary | None
    seen: ResultFigures
    further: Further | None


def overview(service: Service, id: str) -> Overview:
    """Compute a campaign's overview."""
    with service.database.reading() as connection:
        stored, found = found_result(connection, id)
        waiting = reports_waiting(connection, stored, found)
        seen = _seen(service, connection, stored, found)
    campaign = stored.campaign
    return Overview(
        campaign.tasks,
        campaign.counts.workers,
        campaign.counts.reports,
        waiting,
        None if found is None else found.summary,
        seen,
        None if campaign.state is State.CLOSED else seen.further,
    )


def _seen(
    service: Service, connection: Connection, stored: Stored, found: StoredResult | None
) -> ResultFigures:
    if found is None:
        return _before_any(service, connection, stored)
    cached = service.result_cache.result(connection, stored, found)
    kept = cached.derived.get("overview")
    if isinstance(kept, ResultFigures):
        return kept
    names = cached.names
    seen = _looked(
        stored, found.summary, cached.columns, lambda at: [names[i] for i in at], cached.known
    )
    cached.derived["overview"] = seen
    return seen


def _looked(
    stored: Stored,
    summary: Summary | None,
    columns: Columns,
    names: Names,
    known: Collection[int] = (),
) -> ResultFigures:
    campaign = stored.campaign
    policy, tasks = campaign.terms.policy, campaign.tasks
    hidden = release_of(policy).hides_participation
    by_need = campaign.terms.assignment is Assignment.NEED and not known
    further = further_of(columns, policy.domain, tasks, known, by_need=by_need)
    return ResultFigures(
        coverage_of(columns, tasks, names, hidden=hidden),
        certainty_of(columns, policy.domain),
        # A result that warns is no ground for a forecast.
        None if summary and summary.warnings else further,
        weights_of(columns, summary),
    )


def _before_any(service: Service, connection: Connection, stored: Stored) -> ResultFigures:
    """The coverage before a first result. The tasks of sealed answers are visible."""

    def names(places: Sequence[int]) -> list[str]:
        return [task.name for task in tasks_at(connection, stored.number, places)]

    seen = _looked(stored, None, Columns.none(), names)
    if not stored.campaign.terms.policy.sealed or seen.coverage.hidden:
        return seen
    counts = service.need_cache.counts(connection, stored)
    counted = replace(Columns.none(), place=np.arange(len(counts), dtype=np.int32), answers=counts)
    return replace(seen, coverage=coverage_of(counted, len(counts), names, hidden=False))
