"""A session is stopped or deleted by its requester, and goes on by itself when time is up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from sottovoce.campaign.backgrounds import beside
from sottovoce.campaign.live.advancing import look, wish
from sottovoce.campaign.live.desks import Stop, desks_of
from sottovoce.campaign.live.ending import stopped_early
from sottovoce.campaign.service import Service
from sottovoce.errors import SottovoceError
from sottovoce.server.database.campaigns import note_event
from sottovoce.server.database.live_sessions import (
    LiveState,
    delete_session,
    end_session,
    session_ids,
    the_session,
)

__all__ = ["remove", "stop", "tending"]

STOPPED = "the requester stopped it"

LOOK = 2.0
"""Seconds between two looks for phases whose time is up, if nobody asks for a turn meanwhile."""


def stop(service: Service, id: str) -> None:
    """End a session, for good: what was opened stays. One that is over stays as it is."""

    def work(connection: Connection) -> LiveState:
        stored = the_session(connection, id, hold=True)
        if stored.state in (LiveState.GATHERING, LiveState.DEALING):
            end_session(connection, stored.number, LiveState.ABORTED, stopped_early(STOPPED))
        if not stored.state.is_over:
            note_event(connection, "live.stopped", service.today(), id)
        return stored.state

    if service.change(work) is LiveState.RUNNING:
        wish(service, desks_of(service).desk(id), Stop(STOPPED)).result()
    service.attendance.ring(id)


def remove(service: Service, id: str) -> None:
    """Forget a session and everything in it, in any state; that it was deleted is noted."""

    def work(connection: Connection) -> None:
        delete_session(connection, the_session(connection, id, hold=True).number)
        note_event(connection, "live.deleted", service.today(), id)

    service.change(work)
    desks_of(service).forget(id)
    service.attendance.ring(id)


@contextmanager
def tending(service: Service, *, look_every: float = LOOK) -> Iterator[None]:
    """End phases whose time is up while the block runs, also of sessions that ran before."""

    def watch(done: threading.Event) -> None:
        # Where storage does not answer now, whoever asks for a turn has its session looked at.
        with suppress(SottovoceError, SQLAlchemyError):
            _look_at_running(service)
        while not done.wait(look_every):
            for desk in desks_of(service).due():
                look(service, desk)

    with beside(watch, "live"):
        yield


def _look_at_running(service: Service) -> None:
    with service.database.reading() as connection:
        running = session_ids(connection, LiveState.RUNNING)
    for id in running:
        look(service, desks_of(service).desk(id))
