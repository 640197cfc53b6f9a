"""The use case: everything an overview shows, from the result on the shelf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from sqlalchemy import Connection

from sottovoce.campaign.overview.certainty import Certainty, certainty_of
from sottovoce.campaign.overview.coverage import Coverage, coverage_of
from sottovoce.campaign.overview.further import Further, further_of
from sottovoce.campaign.overview.weights import Weights, weights_of
from sottovoce.campaign.results import found_result, reports_waiting
from sottovoce.campaign.service import Service
from sottovoce.mechanisms.policies import release_of
from sottovoce.model import State
from sottovoce.server.database.campaigns import Stored, tasks_at
from sottovoce.server.database.results import Columns, Found, Summary
from sottovoce.server.database.stored_reports import all_task_lists

__all__ = ["Overview", "overview"]

Names: TypeAlias = Callable[[Sequence[int]], Sequence[str]]
"""The names of tasks by their places."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a result's columns say: kept beside them."""

    coverage: Coverage
    certainty: Certainty | None
    further: Further | None
    weights: Weights


@dataclass(frozen=True, slots=True)
class Overview:
    """A campaign at a glance. All but the counts is as of the latest result.

    `waiting` is how many reports that has not seen. `further` is None for a closed campaign too.
    """

    tasks: int
    workers: int
    reports: int
    waiting: int
    summary: Summary | None
    seen: Seen
    further: Further | None


def overview(service: Service, id: str) -> Overview:
    """A campaign at a glance."""
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


def _seen(service: Service, connection: Connection, stored: Stored, found: Found | None) -> Seen:
    if found is None:
        return _before_any(connection, stored)
    shelved = service.shelf.result(connection, stored, found)
    kept = shelved.derived.get("overview")
    if isinstance(kept, Seen):
        return kept
    names = shelved.names
    seen = _looked(stored, found.summary, shelved.columns, lambda at: [names[i] for i in at])
    shelved.derived["overview"] = seen
    return seen


def _looked(stored: Stored, summary: Summary | None, columns: Columns, names: Names) -> Seen:
    campaign = stored.campaign
    policy, tasks = campaign.terms.policy, campaign.tasks
    hidden = release_of(policy).hides_participation
    return Seen(
        coverage_of(columns, tasks, names, hidden=hidden),
        certainty_of(columns, policy.domain),
        further_of(columns, policy.domain, tasks),
        weights_of(columns, summary),
    )


def _before_any(connection: Connection, stored: Stored) -> Seen:
    """What there is before a first result. On which tasks sealed answers are is seen."""
    names = _names(connection, stored)
    seen = _looked(stored, None, Columns.none(), names)
    if not stored.campaign.terms.policy.sealed or seen.coverage.hidden:
        return seen
    counted = _counted(connection, stored)
    return replace(seen, coverage=coverage_of(counted, stored.campaign.tasks, names, hidden=False))


def _counted(connection: Connection, stored: Stored) -> Columns:
    """How many submissions have each task, counted in the rows themselves."""
    counts = np.zeros(stored.campaign.tasks, np.int64)
    for tasks in all_task_lists(connection, stored.number):
        np.add.at(counts, np.frombuffer(tasks, "<u4"), 1)
    place = np.arange(len(counts), dtype=np.int32)
    return replace(Columns.none(), place=place, answers=counts)


def _names(connection: Connection, stored: Stored) -> Names:
    """Names that are looked up: a campaign without a result is not on the shelf."""

    def names(places: Sequence[int]) -> list[str]:
        return [task.name for task in tasks_at(connection, stored.number, places)]

    return names
