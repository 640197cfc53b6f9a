"""Reads results: truths with their certainty, weights of workers, published truths.

The requester publishes truths to workers once; this cannot be undone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused
from sottovoce.model import Campaign, Credential, Label, Policy, State, digest, pseudonym
from sottovoce.server.campaigns.offers import found_campaign
from sottovoce.server.campaigns.result_cache import CachedResult
from sottovoce.server.credentials import checked_credential
from sottovoce.server.database.campaigns import Stored, change_campaign, note_event, the_campaign
from sottovoce.server.database.hashed_credentials import find_invite
from sottovoce.server.database.results import StoredResult, Summary, find_result
from sottovoce.server.database.stored_reports import (
    PSEUDONYM,
    count_reports,
    has_reported,
    worker_names,
)
from sottovoce.server.service import Service
from sottovoce.tables.writers import json_rows


class Sort(StrEnum):
    """The order of truths: task order, or the least certain first."""

    PLACE = "place"
    CONFIDENCE = "confidence"


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a result as columns, with the total number of rows and the summary.

    `waiting` is how many reports the result does not include yet.
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
    """Truths of tasks that have reports. `sort` by confidence puts the least certain first."""
    with service.database.reading() as connection:
        stored, found = found_result(connection, id)
        waiting = reports_waiting(connection, stored, found)
        if found is None:
            return Page(None, {}, 0, waiting)
        cached = service.result_cache.result(connection, stored, found)
    window = slice(offset, offset + limit)
    rows = np.arange(len(cached.least_sure)) if sort is Sort.PLACE else cached.least_sure
    columns = truth_columns(cached, stored.campaign.terms.policy, rows[window])
    return Page(found.summary, columns, len(rows), waiting)


def workers_page(service: Service, id: str, offset: int = 0, limit: int = 1000) -> Page:
    """The weights of workers, by pseudonym."""
    with service.database.reading() as connection:
        stored, found = found_result(connection, id)
        waiting = reports_waiting(connection, stored, found)
        if found is None:
            return Page(None, {}, 0, waiting)
        cached = service.result_cache.result(connection, stored, found)
    columns = worker_columns(cached, offset, offset + limit)
    return Page(found.summary, columns, len(cached.columns.weight), waiting)


def truth_columns(
    cached: CachedResult, policy: Policy, rows: npt.NDArray[np.intp]
) -> dict[str, list[Any]]:
    """Some truths as columns: task, truth, confidence or standard error, answers.

    If truths of the campaign are known, `known` says which.
    """
    columns = cached.columns
    names, labels = cached.names, policy.domain.labels
    truth: list[Label] = columns.truth[rows].tolist()
    if not columns.is_numeric:
        truth = [labels[int(code)] for code in truth]
    places: list[int] = columns.place[rows].tolist()
    known = {"known": [place in cached.known for place in places]} if cached.known else {}
    return {
        "task": [names[place] for place in places],
        "truth": truth,
        certainty_name(cached): _numbers(columns.certainty[rows]),
        "answers": columns.answers[rows].tolist(),
        **known,
    }


def certainty_name(cached: CachedResult) -> str:
    """The name of the certainty column."""
    return "standard_error" if cached.columns.is_numeric else "confidence"


def worker_columns(cached: CachedResult, start: int, end: int) -> dict[str, list[Any]]:
    """Some workers as columns: worker, weight, and how many reports each has sent."""
    columns = cached.columns
    pseudonyms = columns.pseudonyms[PSEUDONYM * start : PSEUDONYM * end]
    return {
        "worker": worker_names(pseudonyms.tobytes()),
        "weight": _numbers(columns.weight[start:end]),
        "answers": columns.worker_reports[start:end].tolist(),
    }


def _numbers(values: npt.NDArray[np.float64]) -> list[float | None]:
    """Numbers for JSON: those that are not finite become null."""
    numbers: list[float | None] = values.tolist()
    if np.isfinite(values).all():
        return numbers
    return [n if n is not None and math.isfinite(n) else None for n in numbers]


def found_result(connection: Connection, id: str) -> tuple[Stored, StoredResult | None]:
    """A campaign, which must exist, and its result if there is one."""
    stored = the_campaign(connection, id)
    return stored, find_result(connection, stored.number)


def reports_waiting(connection: Connection, stored: Stored, found: StoredResult | None) -> int:
    """How many reports a result does not include yet."""
    counts = stored.campaign.counts
    if found is None:
        return counts.reports
    if found.erasures == counts.erasures:
        return max(counts.reports - found.summary.reports, 0)
    return count_reports(connection, stored.number, found.sequence)


def publish(service: Service, id: str) -> Campaign:
    """Publish the truths of a closed campaign to its workers. This cannot be undone."""

    def work(connection: Connection) -> Campaign:
        stored = the_campaign(connection, id, hold=True)
        if not stored.campaign.published:
            _check_publishes(connection, stored)
            change_campaign(connection, stored.number, published=True)
            note_event(connection, "campaign.published", service.today(), id)
        return the_campaign(connection, id).campaign

    return service.change(work)


def published_truths(service: Service, id: str, credential: str) -> str:
    """Task and truth as a JSON list, for holders of an invite and workers who reported."""
    with service.database.reading() as connection:
        stored, found = found_result(connection, id)
        _check_entitled(connection, stored, credential)
        if found is None or not stored.campaign.published:
            raise Refused(Reason.NOT_FOUND, "the requester has not published the truths")
        cached = service.result_cache.result(connection, stored, found)
    rows = np.arange(len(cached.columns.place))
    columns = truth_columns(cached, stored.campaign.terms.policy, rows)
    return json_rows({"task": columns["task"], "truth": columns["truth"]})


def _check_publishes(connection: Connection, stored: Stored) -> None:
    if stored.campaign.state is not State.CLOSED:
        raise Refused(
            Reason.NOT_OPEN, "the campaign is not closed; truths can be published after it is"
        )
    found = find_result(connection, stored.number)
    if found is None or found.summary.method is None:
        raise Refused(Reason.NOT_FOUND, "nothing is inferred yet, so there is nothing to publish")


def _check_entitled(connection: Connection, stored: Stored, credential: str) -> None:
    found_campaign(connection, stored.campaign.id)
    if credential.startswith(Credential.RECEIPT):
        receipt = checked_credential(credential, Credential.RECEIPT)
        worker = bytes.fromhex(pseudonym(stored.campaign.id, receipt))
        entitled = has_reported(connection, stored.number, worker)
    else:
        shown = digest(checked_credential(credential, Credential.INVITE))
        entitled = find_invite(connection, stored.number, shown) is not None
    if not entitled:
        raise Refused(
            Reason.BAD_CREDENTIAL,
            "this is neither an invite to the campaign nor the receipt of a worker who took part",
        )
