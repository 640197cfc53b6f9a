"""Why reports of a campaign were refused: written down every few seconds, and read."""

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
"""Seconds between two writes: what a server that is killed loses of its counts."""

WORDS_OF = {
    Reason.MALFORMED: "not in the form of a submission",
    Reason.OVERSIZE: "longer than any submission to this campaign",
    Reason.UNSUPPORTED: "in a kind of content or an encoding that is not taken",
    Reason.NO_CREDENTIAL: "without an invite or a receipt",
    Reason.BAD_CREDENTIAL: "with an invite or a receipt that is not known here",
    Reason.INVITE_EXPIRED: "with an invite that had expired",
    Reason.INVITE_USED: "with an invite for one that another worker had used",
    Reason.NOT_OPEN: "while the campaign took no reports",
    Reason.QUOTA_REACHED: "when there were as many workers as wanted",
    Reason.FOREIGN_POLICY: "made under another policy",
    Reason.SIMULATED: "simulated where people answer, or the other way round",
    Reason.NOT_ADMITTED: "with a task or a report that cannot be here",
    Reason.ALREADY_REPORTED: "of a worker who had reported before",
    Reason.CONFLICT: "under the identifier of another submission",
    Reason.ERASED: "taken back by the worker before",
    Reason.BUSY: "when too many were waiting; sent again as a rule",
    Reason.UNAVAILABLE: "when storage did not answer; sent again as a rule",
}
"""What a requester reads about a reason for which reports are refused."""

log = logging.getLogger("sottovoce.campaign")


@dataclass(frozen=True, slots=True)
class Rejected:
    """How many reports were refused for one reason."""

    reason: Reason
    count: int

    @property
    def words(self) -> str:
        """The reason, as a requester reads it."""
        return WORDS_OF[self.reason]


def find_number(service: Service, id: str) -> int | None:
    """The number under which a campaign's refusals are counted; None where there is none."""
    with service.database.reading() as connection:
        return number_of(connection, id)


def list_rejections(service: Service, id: str) -> list[Rejected]:
    """Why reports of a campaign were refused, the most frequent reason first; seconds old."""
    with service.database.reading() as connection:
        found = find_rejections(connection, the_campaign(connection, id).number)
    return [Rejected(reason, count) for reason, count in found.items()]


def write_rejections(service: Service) -> None:
    """Write down what was counted, in one transaction; none where nothing was."""
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
    """Write counts down every few seconds while the block runs, and at its end."""

    def watch(done: threading.Event) -> None:
        while not done.wait(pause):
            _try_to_write(service)
        _try_to_write(service)

    with background_thread(watch, "rejections"):
        yield


def _try_to_write(service: Service) -> None:
    """Where storage does not answer, the counts wait for the next time."""
    try:
        write_rejections(service)
    except Refused:
        log.warning("counts of refused reports wait: storage does not answer")
