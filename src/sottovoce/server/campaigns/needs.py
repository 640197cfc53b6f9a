"""Needs of tasks: which reports a campaign wants first, from the reports it already has.

Only counts and the latest result are used, and both are computed from reports that were received
before. So the choice of a worker's tasks depends on nothing that the guarantees do not cover: see
`docs/explanation/assignment.md`.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache
from sqlalchemy import Connection

from sottovoce.model import Domain, FloatArray, assigned
from sottovoce.model.campaign import MOST_TASKS
from sottovoce.server.campaigns.certainty import is_decided
from sottovoce.server.campaigns.result_cache import ResultCache
from sottovoce.server.database.campaigns import Stored
from sottovoce.server.database.results import Columns, find_result
from sottovoce.server.database.stored_reports import task_lists_after

FEW = 10
"""A task with fewer reports comes before all others, whatever is inferred about it."""

MANY = 2.0
"""A task with more than this many times the mean number of reports waits for the others."""

LEVELS = 20
"""The levels of doubt. Within a level a worker's pseudonym decides."""

Needs = npt.NDArray[np.int64]
"""The need of each task, by place: the largest is wanted first, and 0 is not asked."""


def needs_of(counts: npt.NDArray[np.int64], doubt: FloatArray) -> Needs:
    """The need of each task, by its number of reports and the doubt about its truth (0: settled).

    First every task gets `FEW` reports, those with the fewest first: with fewer, a confidence says
    little. Then tasks come by doubt, except that a task with `MANY` times the mean number of
    reports waits, because it may be too hard to decide. Settled tasks are not asked.

    >>> doubt = np.array([0.5, 0.0, 0.5, 0.1, 0.4, 0.0])
    >>> needs_of(np.array([0, 9, 10, 12, 30, 10]), doubt).tolist()
    [32, 23, 21, 5, 1, 0]
    """
    levels = 2 + np.floor((LEVELS - 1) * doubt / max(float(doubt.max()), 1e-300)).astype(np.int64)
    needs = np.where(counts > MANY * counts.mean(), 1, levels)
    needs[doubt == 0] = 0
    return np.where(counts < FEW, LEVELS + 2 + FEW - counts, needs)


def doubt_of(columns: Columns, domain: Domain, tasks: int) -> FloatArray:
    """The doubt about each task: the chance that its label is wrong, or the standard error.

    It is 0 if the task is settled, and the largest of all if nothing is known about it.
    """
    doubt = np.full(tasks, np.nan)
    wrong = columns.certainty if columns.is_numeric else 1 - columns.certainty
    doubt[columns.place] = np.where(is_decided(columns, domain), 0.0, wrong)
    finite = np.isfinite(doubt)
    return np.where(finite, doubt, doubt[finite].max(initial=0.0) or 1.0)


def needed(
    campaign: str, worker: str, needs: Needs, count: int, own: Collection[int] = ()
) -> list[int]:
    """The places of a worker's tasks: those it has reported on, then the most needed others.

    Of tasks with the same need, a hash of the pseudonym chooses.

    >>> needed("leaf", "c1d2", np.array([2, 1, 3, 0]), 3, own=[3])
    [3, 2, 0]
    """
    free, chosen = np.ones(len(needs), np.bool_), sorted(own)
    free[chosen] = False
    for level in np.unique(needs)[::-1]:
        places = np.flatnonzero(free & (needs == level))
        chosen += places[assigned(campaign, worker, len(places), count - len(chosen))].tolist()
    return chosen


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """Reports per task up to a submission."""

    sequence: int
    erasures: int
    counts: npt.NDArray[np.int64]


class NeedCache:
    """The reports per task of the most recently used campaigns: only new reports are read."""

    def __init__(self) -> None:
        self._counted: LRUCache[str, _Counted] = LRUCache(
            4 * MOST_TASKS, lambda each: len(each.counts)
        )
        self._lock = threading.Lock()

    def counts(self, connection: Connection, stored: Stored) -> npt.NDArray[np.int64]:
        """The number of reports on each task, as of now."""
        campaign, erasures = stored.campaign, stored.campaign.counts.erasures
        with self._lock:
            known = self._counted.get(campaign.id)
        if known is None or known.erasures != erasures:
            known = _Counted(0, erasures, np.zeros(campaign.tasks, np.int64))
        for sequence, tasks in task_lists_after(connection, stored.number, known.sequence):
            places = np.frombuffer(tasks, "<u4")
            more = np.bincount(places, minlength=campaign.tasks)
            known = _Counted(sequence, erasures, known.counts + more)
        with self._lock:
            self._counted[campaign.id] = known
        return known.counts

    def needs(self, connection: Connection, stored: Stored, results: ResultCache) -> Needs:
        """The need of each task.

        A result that warns is no ground for it, and with known truths only counts are, so that
        nothing which workers receive depends on these truths.
        """
        campaign, counts = stored.campaign, self.counts(connection, stored)
        found = find_result(connection, stored.number)
        if found is None or found.summary.problem is not None or found.summary.warnings:
            return needs_of(counts, 1 / (1.0 + counts))
        cached = results.result(connection, stored, found)
        if cached.known:
            return needs_of(counts, 1 / (1.0 + counts))
        doubt = cached.derived.get("doubt")
        if not isinstance(doubt, np.ndarray):
            domain = campaign.terms.policy.domain
            doubt = cached.derived["doubt"] = doubt_of(cached.columns, domain, campaign.tasks)
        return needs_of(counts, doubt)

    def forget(self, id: str) -> None:
        """Drop the counts of a deleted campaign."""
        with self._lock:
            self._counted.pop(id, None)
