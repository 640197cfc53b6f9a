"""What the requester reads: truths, how sure they are, and the weights of workers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from sottovoce.campaign.service import Service
from sottovoce.campaign.shelf import Shelved
from sottovoce.model import Label, Policy
from sottovoce.server.database.campaigns import Stored, the_campaign
from sottovoce.server.database.results import Found, Summary, find_result
from sottovoce.server.database.stored_reports import PSEUDONYM, count_reports, worker_names
from sottovoce.tables.writers import json_rows

__all__ = [
    "Page",
    "Sort",
    "certainty_name",
    "found_result",
    "reports_waiting",
    "truth_columns",
    "truths_page",
    "worker_columns",
    "workers_page",
]


class Sort(StrEnum):
    """The order of truths: as the tasks are listed, or the least sure first."""

    PLACE = "place"
    CONFIDENCE = "confidence"


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a result as columns, of how many there are, and what the result says of itself.

    `waiting` is how many reports the result has not seen.
    """

    summary: Summary | None
    columns: dict[str, list[Any]]
    total: int
    waiting: int

    def rows(self) -> str:
        """The rows as a JSON list."""
        return json_rows(self.columns)


def truths_page(
    service: Service, id: str, offset: int = 0, limit: int = 1000, sort: Sort = Sort.PLACE
) -> Page:
    """Truths of tasks that have reports. `sort` by confidence gives the least sure first."""
    with service.database.reading() as connection:
        stored, found = found_result(connection, id)
        waiting = reports_waiting(connection, stored, found)
        if found is None:
            return Page(None, {}, 0, waiting)
        shelved = service.shelf.result(connection, stored, found)
    window = slice(offset, offset + limit)
    rows = np.arange(len(shelved.least_sure)) if sort is Sort.PLACE else shelved.least_sure
    columns = truth_columns(shelved, stored.campaign.terms.policy, rows[window])
    return Page(found.summary, columns, len(rows), waiting)


def workers_page(service: Service, id: str, offset: int = 0, limit: int = 1000) -> Page:
    """The weights of workers, by pseudonym."""
    with service.database.reading() as connection:
        stored, found = found_result(connection, id)
        waiting = reports_waiting(connection, stored, found)
        if found is None:
            return Page(None, {}, 0, waiting)
        shelved = service.shelf.result(connection, stored, found)
    columns = worker_columns(shelved, offset, offset + limit)
    return Page(found.summary, columns, len(shelved.columns.weight), waiting)


def truth_columns(
    shelved: Shelved, policy: Policy, rows: npt.NDArray[np.intp]
) -> dict[str, list[Any]]:
    """Some truths as columns: task, truth, confidence or standard error, answers."""
    columns = shelved.columns
    names, labels = shelved.names, policy.domain.labels
    truth: list[Label] = columns.truth[rows].tolist()
    if not columns.is_numeric:
        truth = [labels[int(code)] for code in truth]
    return {
        "task": [names[place] for place in columns.place[rows].tolist()],
        "truth": truth,
        certainty_name(shelved): _numbers(columns.certainty[rows]),
        "answers": columns.answers[rows].tolist(),
    }


def certainty_name(shelved: Shelved) -> str:
    """What says how sure a truth is."""
    return "standard_error" if shelved.columns.is_numeric else "confidence"


def worker_columns(shelved: Shelved, start: int, end: int) -> dict[str, list[Any]]:
    """Some workers as columns: worker, weight, and how many reports each has sent."""
    columns = shelved.columns
    pseudonyms = columns.pseudonyms[PSEUDONYM * start : PSEUDONYM * end]
    return {
        "worker": worker_names(pseudonyms.tobytes()),
        "weight": _numbers(columns.weight[start:end]),
        "answers": columns.worker_reports[start:end].tolist(),
    }


def _numbers(values: npt.NDArray[np.float64]) -> list[float | None]:
    """Numbers as JSON has them: it has no word for what is not finite."""
    numbers: list[float | None] = values.tolist()
    if np.isfinite(values).all():
        return numbers
    return [n if n is not None and math.isfinite(n) else None for n in numbers]


def found_result(connection: Connection, id: str) -> tuple[Stored, Found | None]:
    """A campaign, which must be there, and its result if there is one."""
    stored = the_campaign(connection, id)
    return stored, find_result(connection, stored.number)


def reports_waiting(connection: Connection, stored: Stored, found: Found | None) -> int:
    """How many reports a result has not seen."""
    counts = stored.campaign.counts
    if found is None:
        return counts.reports
    if found.erasures == counts.erasures:
        return max(counts.reports - found.summary.reports, 0)
    return count_reports(connection, stored.number, found.sequence)
