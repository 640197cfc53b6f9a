"""Sealed campaigns go on by themselves: batches fall due while nobody sends a message."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.campaign.backgrounds import beside
from sottovoce.campaign.sealed.advancing import advance, what_is_due
from sottovoce.campaign.sealed.seats import sealed_desk
from sottovoce.campaign.service import Service
from sottovoce.server.database.campaigns import find_campaign, sealed_ids

__all__ = ["advance_all", "advancing"]

LOOK = 2.0
"""Seconds between two looks."""

log = logging.getLogger("sottovoce.sealed")


def advance_all(service: Service) -> None:
    """Do what is due in every sealed campaign. One that fails does not hold up the others."""
    with service.database.reading() as connection:
        ids = sealed_ids(connection)
    for id in ids:
        try:
            if _is_due(service, id):
                advance(service, id)
        except Exception as error:
            # The message may hold what was read: only the kind of error is kept.
            log.warning("a sealed campaign waits", extra={"error": type(error).__name__})


@contextmanager
def advancing(service: Service, *, look: float = LOOK) -> Iterator[None]:
    """Do what falls due while the block runs."""

    def watch(done: threading.Event) -> None:
        while not done.wait(look):
            try:
                advance_all(service)
            except Exception as error:
                log.warning("sealed campaigns wait", extra={"error": type(error).__name__})

    with beside(watch, "sealed"):
        yield


def _is_due(service: Service, id: str) -> bool:
    """Whether there is anything to do: looked up without the writer, which has others to serve."""
    desk = sealed_desk(service, id)
    with service.database.reading() as connection:
        stored = find_campaign(connection, id)
        if stored is None:
            return False
        return what_is_due(connection, stored, desk, service.attendance) is not None
