"""Transitions of a live session: queued replies are applied, stored, then acknowledged.

Several servers may share one database. Each works on its own replica and stores its events together
with the event count that it knew. If another server was first, nothing is stored: the replica is
discarded, and the queued work is repeated on the stored state.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused, SealedRefused
from sottovoce.live.server.active_sessions import (
    ActiveSession,
    ProgressRequest,
    QueuedItem,
    QueuedReply,
    Stop,
    sessions_of,
)
from sottovoce.live.server.replica import Replica, catch_up, restored
from sottovoce.live.server.session_result import result_document
from sottovoce.model.sum_rounds import RoundRecord
from sottovoce.securesum.star.messages import read_frame
from sottovoce.server.database.connection import unavailable
from sottovoce.server.database.live_sessions import (
    EventKind,
    LiveState,
    SessionEvent,
    end_session,
    members_of,
    record,
    state_of,
)
from sottovoce.server.sealed.keyholders import coordinator_key
from sottovoce.server.service import Service

log = logging.getLogger("sottovoce.live")

ATTEMPTS = 20
"""How often to retry when other servers were first."""


@dataclass(slots=True)
class _Step:
    """Events of a replica that are not stored yet."""

    replica: Replica
    opened: int
    happened: int = 0
    events: list[SessionEvent] = field(default_factory=list)
    rounds: list[RoundRecord] = field(default_factory=list)
    replied: dict[int, bytes] = field(default_factory=dict)

    def note(self, event: SessionEvent) -> None:
        """Add an event. Of a finished round only the opened totals are kept."""
        self.happened += 1
        self.events.append(event)
        records = self.replica.session.records
        if len(records) > self.opened + len(self.rounds):
            self.rounds += records[self.opened + len(self.rounds) :]
            self.events.clear()


def look(service: Service, active: ActiveSession) -> None:
    """Schedule due work of a session."""
    sessions_of(service).schedule(active, partial(_advance, service, active))


def wish(service: Service, active: ActiveSession, item: QueuedItem) -> Future[bool]:
    """Queue work; its future settles once the outcome is durable."""
    active.add(item)
    look(service, active)
    return item.future


def _advance(service: Service, active: ActiveSession) -> None:
    items = active.taken()
    with active.lock:
        outcomes, moved = _tried(service, active, items)
    for item, outcome in zip(items, outcomes, strict=True):
        if isinstance(outcome, Refused):
            item.future.set_exception(outcome)
        else:
            item.future.set_result(outcome)
    if moved:  # not at every reply: all waiters would wake up for nothing
        service.attendance.ring(active.id)


def _tried(
    service: Service, active: ActiveSession, items: Sequence[QueuedItem]
) -> tuple[list[bool | Refused], bool]:
    """The outcome of each item, and whether the phase has changed; every item is settled.

    After an error the replica is undefined and is discarded. The items are then processed one by
    one, so that a reply that causes an error does not affect others.
    """
    try:
        return _done(service, active, items)
    except Refused as refused:
        active.replica = None
        return [refused] * len(items), False
    except Exception as error:
        active.replica = None
        if len(items) == 1:
            return [unavailable(error)], False
        log.error("a live session waits", extra={"error": type(error).__name__})
        each = [_tried(service, active, [item]) for item in items]
        outcomes = [outcome for found, _ in each for outcome in found]
        return outcomes, any(moved for _, moved in each)


def _done(
    service: Service, active: ActiveSession, items: Sequence[QueuedItem]
) -> tuple[list[bool | Refused], bool]:
    """The outcome of each item, once durable, and whether the phase has changed."""
    for _ in range(ATTEMPTS):
        replica = active.replica = _current(service, active)
        if replica is None:
            sessions_of(service).forget(active.id)
            return _not_running(service, active, items), True
        moved = active.show(replica)
        step = _Step(replica, len(replica.session.records))
        outcomes = [_taken(step, item) for item in items]
        if active.is_due and not step.happened and replica.session.state == "running":
            replica.session.close()
            step.note(SessionEvent(EventKind.CLOSE))
        over = replica.session.state != "running"
        if not (step.happened or over):
            return outcomes, moved
        if _is_stored(service, replica, step):
            if over:
                sessions_of(service).forget(active.id)
            return outcomes, active.show(replica) or moved
        active.replica = None
    raise Refused(Reason.BUSY, "other servers were first each time; send it again")


def _not_running(
    service: Service, active: ActiveSession, items: Sequence[QueuedItem]
) -> list[bool | Refused]:
    """Acknowledge only replies accepted before: the session is not running."""
    with service.database.reading() as connection:
        number, state, _ = state_of(connection, active.id)
        last = {each.number: each.replied for each in members_of(connection, number)}
    refused = Refused(Reason.NOT_OPEN, f"the session is {state}; no reply is accepted")
    return [
        True
        if not isinstance(item, QueuedReply) or last.get(item.member) == _hash(item.content)
        else refused
        for item in items
    ]


def _current(service: Service, active: ActiveSession) -> Replica | None:
    """The up-to-date replica; None if the session is not running."""
    with service.database.reading() as connection:
        _, state, sequence = state_of(connection, active.id)
        if state is not LiveState.RUNNING:
            return None
        if active.replica is not None:
            if active.replica.sequence == sequence:
                return active.replica
            if catch_up(connection, active.replica, sequence):
                return active.replica
        return restored(connection, active.id, coordinator_key(service))


def _taken(step: _Step, item: QueuedItem) -> bool | Refused:
    """Apply a reply; return whether it was accepted before, or why it is refused."""
    replica = step.replica
    if isinstance(item, ProgressRequest):
        return False
    if isinstance(item, Stop):
        replica.session.stop(item.reason)
        return False
    hash = _hash(item.content)
    if replica.replied.get(item.member) == hash:
        return True
    try:
        if not replica.session.take(item.content, item.member):
            return True
    except SealedRefused as refused:
        return not_taken(replica, item, refused)
    replica.replied[item.member] = step.replied[item.member] = hash
    step.note(SessionEvent(EventKind.REPLY, item.member, item.content))
    return False


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _is_stored(service: Service, replica: Replica, step: _Step) -> bool:
    ended = end_of(replica)

    def work(connection: Connection) -> bool:
        added = record(
            connection,
            replica.number,
            replica.sequence,
            step.happened,
            events=step.events,
            rounds=step.rounds,
            opened=step.opened,
            replied=step.replied,
        )
        if added and ended is not None:
            end_session(connection, replica.number, **ended)
        return added

    if not service.change(work):
        return False
    replica.sequence += step.happened
    return True


def end_of(replica: Replica) -> dict[str, Any] | None:
    """The end of a session as `end_session` stores it; None while it runs.

    Its state, the last turns (`endings` of excluded members), the reason and the truths.
    """
    session = replica.session
    if session.state == "running":
        return None
    excluded = session.excluded
    turns = {member: session.turn(member) for member in excluded}
    alive = sorted(session.alive)
    result = None
    if session.state == "done":
        opened = [record.opened for record in session.records]
        result = result_document(replica.planner, opened)
    return {
        "state": LiveState(session.state),
        "outcome": _outcome(session.reason, session.culprits, excluded, alive),
        "ending": session.turn(alive[0]) if alive else None,
        "endings": {member: turn for member, turn in turns.items() if turn is not None},
        "result": result,
    }


def stopped_early(reason: str) -> Mapping[str, Any]:
    """The result of a session that ended before its first round."""
    return _outcome(reason, (), {}, [])


def _outcome(
    reason: str, culprits: tuple[str, ...], excluded: Mapping[int, str], alive: list[int]
) -> dict[str, Any]:
    return {
        "reason": reason,
        "culprits": list(culprits),
        "excluded": {str(member): why for member, why in excluded.items()},
        "alive": alive,
    }


def not_taken(replica: Replica, item: QueuedReply, refused: SealedRefused) -> Refused:
    """The refusal of a reply. It quotes nothing of it."""
    session, words = replica.session, f"this reply is refused: {refused.reason}"
    if session.place is None or item.member in session.excluded:
        return Refused(Reason.NOT_OPEN, words)
    try:
        place = read_frame(replica.terms, item.content, sender=item.member).place
    except SealedRefused:
        return Refused(Reason.MALFORMED, words)
    if place != session.place:
        return Refused(Reason.NOT_OPEN, words)
    asked = item.member in session.waiting
    return Refused(Reason.MALFORMED if asked else Reason.CONFLICT, words)
