"""Reasons why reports of a campaign were refused, stored every few seconds."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused
from sottovoce.server.background_jobs import background_thread
from sottovoce.server.database.campaigns import number_of, the_campaign
from sottovoce.server.database.intake import add_rejections, find_rejections
from sottovoce.server.service import Service

PAUSE = 3.0
"""Seconds between two writes. A killed server loses the counts since the last one."""

WORDS_OF = {
    Reason.MALFORMED: "not in the format of a submission",
    Reason.OVERSIZE: "longer than any submission to this campaign",
    Reason.UNSUPPORTED: "in a content type or an encoding that is not supported",
    Reason.NO_CREDENTIAL: "without an invite or a receipt",
    Reason.BAD_CREDENTIAL: "with an unknown invite or receipt",
    Reason.INVITE_EXPIRED: "with an invite that had expired",
    Reason.INVITE_USED: "with an invite for one worker that another worker had used",
    Reason.NOT_OPEN: "while the campaign was not open",
    Reason.QUOTA_REACHED: "after the maximum number of workers was reached",
    Reason.FOREIGN_POLICY: "made under another policy",
    Reason.SIMULATED: "simulated reports to a real campaign, or real ones to a simulated campaign",
    Reason.NOT_ADMITTED: "with a task or a report that is not valid in this campaign",
    Reason.ALREADY_REPORTED: "from a worker who had already reported",
    Reason.CONFLICT: "under the identifier of another submission",
    Reason.ERASED: "already deleted by the worker",
    Reason.BUSY: "when too many were waiting; usually sent again",
    Reason.UNAVAILABLE: "when storage did not respond; usually sent again",
}
"""The text for requesters for each reason."""

log = logging.getLogger("sottovoce.campaign")


@dataclass(frozen=True, slots=True)
class Rejected:
    """How many reports were refused for one reason."""

    reason: Reason
    count: int

    @property
    def words(self) -> str:
        """The reason in words, for requesters."""
        return WORDS_OF[self.reason]


def find_number(service: Service, id: str) -> int | None:
    """The database number of a campaign; None if it does not exist."""
    with service.database.reading() as connection:
        return number_of(connection, id)


def list_rejections(service: Service, id: str) -> list[Rejected]:
    """Refused reports of a campaign by reason, the most frequent first; seconds old."""
    with service.database.reading() as connection:
        found = find_rejections(connection, the_campaign(connection, id).number)
    return [Rejected(reason, count) for reason, count in found.items()]


def write_rejections(service: Service) -> None:
    """Store the counts in one transaction, if there are any."""
    counts = service.rejections.taken()
    if not counts:
        return

    def work(connection: Connection) -> None:
        add_rejections(connection, counts)

    try:
        service.change(work)
    except Exception:
        service.rejections.give_back(counts)
        raise


@contextmanager
def rejection_writer(service: Service, *, pause: float = PAUSE) -> Iterator[None]:
    """Store the counts every few seconds while the block runs, and at its end."""

    def watch(done: threading.Event) -> None:
        while not done.wait(pause):
            _try_to_write(service)
        _try_to_write(service)

    with background_thread(watch, "rejections"):
        yield


def _try_to_write(service: Service) -> None:
    """Store the counts; if storage does not respond, keep them for the next time."""
    try:
        write_rejections(service)
    except Refused:
        log.warning("counts of refused reports wait: storage does not answer")
