"""Supervision of live sessions: progress, stopping, deleting, and phase timeouts."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from sottovoce.errors import SottovoceError
from sottovoce.live.server.active_sessions import ProgressRequest, Stop, sessions_of
from sottovoce.live.server.replica import PhaseStatus
from sottovoce.live.server.transitions import look, stopped_early, wish
from sottovoce.securesum.star.terms import StarTerms
from sottovoce.server.background_jobs import background_thread
from sottovoce.server.database.campaigns import note_event
from sottovoce.server.database.live_sessions import (
    LiveState,
    StoredSession,
    all_sessions,
    count_rounds,
    delete_session,
    end_session,
    joined,
    session_ids,
    the_session,
)
from sottovoce.server.service import Service

STOPPED = "the requester stopped it"

LOOK = 2.0
"""Seconds between two checks for phase timeouts, if nobody asks for a turn."""

PATIENCE = 5.0
"""Seconds to wait for a busy session; after that its last state is shown."""


@dataclass(frozen=True, slots=True)
class SessionProgress:
    """A session: its offer, its members and its progress.

    `round`, `phase` and `waiting` are of the current round, `opened` counts finished rounds.
    """

    id: str
    state: LiveState
    offer: Mapping[str, Any]
    created_on: date
    joined: int
    opened: int
    terms: Mapping[str, Any] | None = None
    session: str | None = None
    round: int | None = None
    phase: str | None = None
    waiting: tuple[int, ...] = ()
    alive: tuple[int, ...] = ()
    excluded: Mapping[int, str] = field(default_factory=dict)
    reason: str | None = None
    culprits: tuple[str, ...] = ()


def list_sessions(service: Service) -> list[SessionProgress]:
    """Every session, the newest first, with its stored state only."""
    with service.database.reading() as connection:
        return _shown(connection, all_sessions(connection))


def progress(service: Service, id: str) -> SessionProgress:
    """The progress of a session, after its due work is done."""
    view = _view(service, id)
    with service.database.reading() as connection:
        return _shown(connection, [the_session(connection, id)], view)[0]


def stop(service: Service, id: str) -> None:
    """Stop a session permanently; opened totals stay. A finished session is not changed."""

    def work(connection: Connection) -> LiveState:
        stored = the_session(connection, id, hold=True)
        if stored.state in (LiveState.GATHERING, LiveState.DEALING):
            end_session(connection, stored.number, LiveState.ABORTED, stopped_early(STOPPED))
        if not stored.state.is_over:
            note_event(connection, "live.stopped", service.today(), id)
        return stored.state

    if service.change(work) is LiveState.RUNNING:
        wish(service, sessions_of(service).session(id), Stop(STOPPED)).result()
    service.attendance.ring(id)


def remove(service: Service, id: str) -> None:
    """Delete a session and everything in it, in any state; the deletion is recorded."""

    def work(connection: Connection) -> None:
        delete_session(connection, the_session(connection, id, hold=True).number)
        note_event(connection, "live.deleted", service.today(), id)

    service.change(work)
    sessions_of(service).forget(id)
    service.attendance.ring(id)


@contextmanager
def phase_supervision(service: Service, *, look_every: float = LOOK) -> Iterator[None]:
    """End phases that have timed out while the block runs, also of earlier sessions."""

    def watch(done: threading.Event) -> None:
        # If storage does not respond now, the next request for a turn checks the session.
        with suppress(SottovoceError, SQLAlchemyError):
            _look_at_running(service)
        while not done.wait(look_every):
            for active in sessions_of(service).due():
                look(service, active)

    with background_thread(watch, "live"):
        yield


def _look_at_running(service: Service) -> None:
    with service.database.reading() as connection:
        running = session_ids(connection, LiveState.RUNNING)
    for id in running:
        look(service, sessions_of(service).session(id))


def _view(service: Service, id: str) -> PhaseStatus | None:
    with service.database.reading() as connection:
        running = the_session(connection, id).state is LiveState.RUNNING
    if not running:
        return None
    active = sessions_of(service).session(id)
    with suppress(TimeoutError):
        wish(service, active, ProgressRequest()).result(PATIENCE)
    return active.view


def _shown(
    connection: Connection, found: Sequence[StoredSession], view: PhaseStatus | None = None
) -> list[SessionProgress]:
    numbers = [stored.number for stored in found]
    workers, rounds = joined(connection, numbers), count_rounds(connection, numbers)
    return [
        SessionProgress(
            stored.id,
            stored.state,
            stored.offer,
            date.fromordinal(stored.created_on),
            workers.get(stored.number, 0),
            rounds.get(stored.number, 0),
            stored.terms,
            None if stored.terms is None else StarTerms.of_json(stored.terms).id,
            **_known(stored, view),
        )
        for stored in found
    ]


def _known(stored: StoredSession, view: PhaseStatus | None) -> dict[str, Any]:
    """The state of the current round, or the end of the session."""
    outcome = stored.outcome or {}
    if stored.state is LiveState.RUNNING and view is not None:
        return asdict(view)
    if not outcome:
        return {}
    return {
        "alive": tuple(outcome["alive"]),
        "excluded": {int(member): why for member, why in outcome["excluded"].items()},
        "reason": outcome["reason"] or None,
        "culprits": tuple(outcome["culprits"]),
    }
