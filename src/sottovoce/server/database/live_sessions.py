"""Rows of live sessions: their members, and the events of their rounds.

The current round has every accepted reply and every end of a phase, in order. A finished round has
only what was opened. The session's `sequence` counts all events: a writer gives the count it knows,
so that of two servers on one database the second notices that it is out of date. `live_faults`
checks the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

import numpy as np
from sqlalchemy import Column, Connection, bindparam, delete, func, insert, null, select, update
from sqlalchemy.engine import Row

from sottovoce.errors import Reason, Refused
from sottovoce.model.sum_rounds import RoundRecord
from sottovoce.server.database.schema import live_events, live_members, live_rounds, live_sessions

DEALER = 0
"""The seat of the dealer; workers' links have the seats 1, 2, …"""

_NONE: Mapping[int, bytes] = {}

_WIDTH = 8
"""Bytes of a total."""


class LiveState(StrEnum):
    """The state of a session. `done` and `aborted` are final."""

    GATHERING = "gathering"
    DEALING = "dealing"
    RUNNING = "running"
    DONE = "done"
    ABORTED = "aborted"

    @property
    def is_over(self) -> bool:
        """Whether the state is final."""
        return self in (LiveState.DONE, LiveState.ABORTED)


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A stored session: its offer, terms, deal and outcome.

    `ending` is the last turn of every member that was not excluded.
    """

    number: int
    id: str
    state: LiveState
    offer: Mapping[str, Any]
    terms: Mapping[str, Any] | None
    deal: bytes | None = field(repr=False)
    ending: bytes | None = field(repr=False)
    outcome: Mapping[str, Any] | None
    result: Mapping[str, Any] | None
    created_on: int


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A link, and the member who joined with it. `replied` is the hash of its last reply."""

    seat: int
    number: int | None
    signing: str | None
    sealing: str | None
    replied: bytes | None


@dataclass(frozen=True, slots=True)
class AuthenticatedMember:
    """The holder of a credential, and its session."""

    session: int
    state: LiveState
    member: MemberRow


class EventKind(StrEnum):
    """A member's reply, or the end of a phase by timeout."""

    REPLY = "reply"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """One event of a session."""

    kind: EventKind
    member: int | None = None
    content: bytes | None = field(default=None, repr=False)


def add_session(
    connection: Connection,
    id: str,
    offer: Mapping[str, Any],
    digests: Mapping[int, bytes],
    secret: bytes | None,
    today: date,
) -> None:
    """Add a session that gathers workers; `digests` are the hashes of the seats' credentials."""
    row = {"id": id, "state": LiveState.GATHERING, "offer": json.dumps(offer), "secret": secret}
    connection.execute(insert(live_sessions), {**row, "created_on": today.toordinal()})
    number = the_session(connection, id).number
    rows = [{"session": number, "seat": seat, "digest": each} for seat, each in digests.items()]
    connection.execute(insert(live_members), rows)


def the_session(connection: Connection, id: str, *, hold: bool = False) -> StoredSession:
    """The session with this identifier; `hold` locks it until the commit."""
    query = select(live_sessions).where(live_sessions.c.id == id)
    row = connection.execute(query.with_for_update() if hold else query).one_or_none()
    if row is None:
        raise _unknown()
    return _stored(row)


def all_sessions(connection: Connection) -> list[StoredSession]:
    """Every session, the newest first, without the long fields: terms, keys, last turns, truths."""
    long = ("terms", "secret", "deal", "ending", "result")
    columns = (null().label(c.name) if c.name in long else c for c in live_sessions.c)
    query = select(*columns)
    rows = connection.execute(query.order_by(live_sessions.c.number.desc()))
    return [_stored(row) for row in rows]


def session_ids(connection: Connection, state: LiveState | None = None) -> list[str]:
    """The sessions in a state, or all, the oldest first."""
    query = select(live_sessions.c.id).order_by(live_sessions.c.number)
    if state is not None:
        query = query.where(live_sessions.c.state == state)
    return list(connection.execute(query).scalars())


def change_session(
    connection: Connection,
    number: int,
    *,
    state: LiveState,
    terms: str | None = None,
    deal: bytes | None = None,
) -> None:
    """Set a session's state, with its terms or deal."""
    values: dict[str, Any] = {"state": state}
    if terms is not None:
        values["terms"] = terms
    if deal is not None:
        values["deal"] = deal
    connection.execute(update(live_sessions).where(_is(number)).values(**values))


def end_session(
    connection: Connection,
    number: int,
    state: LiveState,
    outcome: Mapping[str, Any],
    *,
    ending: bytes | None = None,
    endings: Mapping[int, bytes] = _NONE,
    result: Mapping[str, Any] | None = None,
) -> None:
    """End a session: keep its outcome, delete replies and the server's share of the key.

    `endings` are for members who were excluded, `ending` is for all others.
    """
    values = {
        "state": state,
        "outcome": json.dumps(outcome),
        "ending": ending,
        "result": None if result is None else json.dumps(result),
        "secret": None,
    }
    connection.execute(update(live_sessions).where(_is(number)).values(**values))
    connection.execute(delete(live_events).where(live_events.c.session == number))
    for member, turn in endings.items():
        mine = (live_members.c.session == number) & (live_members.c.number == member)
        connection.execute(update(live_members).where(mine).values(ending=turn))


def delete_session(connection: Connection, number: int) -> None:
    """Delete a session and everything that belongs to it."""
    connection.execute(delete(live_sessions).where(_is(number)))


def find_member(connection: Connection, id: str, digest: bytes) -> AuthenticatedMember | None:
    """The member whose credential has this hash; None if there is none in this session."""
    query = (
        select(live_members, live_sessions.c.state)
        .join(live_sessions, live_sessions.c.number == live_members.c.session)
        .where(live_sessions.c.id == id, live_members.c.digest == digest)
    )
    row = connection.execute(query).one_or_none()
    return (
        None
        if row is None
        else AuthenticatedMember(row.session, LiveState(row.state), _member(row))
    )


def state_of(connection: Connection, id: str) -> tuple[int, LiveState, int]:
    """The session's number, its state, and the number of its events."""
    columns = (live_sessions.c.number, live_sessions.c.state, live_sessions.c.sequence)
    row = connection.execute(select(*columns).where(live_sessions.c.id == id)).one_or_none()
    if row is None:
        raise _unknown()
    return row.number, LiveState(row.state), row.sequence


def ending_of(connection: Connection, number: int, seat: int) -> bytes | None:
    """The last turn of an excluded member."""
    mine = (live_members.c.session == number) & (live_members.c.seat == seat)
    found: bytes | None = connection.execute(select(live_members.c.ending).where(mine)).scalar_one()
    return found


def secret_of(connection: Connection, number: int) -> bytes | None:
    """The secret that opens the server's share of the session's key."""
    found: bytes | None = connection.execute(
        select(live_sessions.c.secret).where(_is(number))
    ).scalar_one()
    return found


def members_of(connection: Connection, number: int) -> list[MemberRow]:
    """The workers who have joined, by number."""
    mine = (live_members.c.session == number) & live_members.c.number.is_not(None)
    rows = connection.execute(select(live_members).where(mine).order_by(live_members.c.number))
    return [_member(row) for row in rows]


def joined(connection: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """How many workers have joined each session."""
    return _counted(connection, live_members.c.session, live_members.c.number, numbers)


def set_joined(
    connection: Connection, session: int, seat: int, number: int, signing: str, sealing: str
) -> None:
    """Record that a member joined with a link. The session must be locked."""
    mine = (live_members.c.session == session) & (live_members.c.seat == seat)
    values = {"number": number, "signing": signing, "sealing": sealing}
    connection.execute(update(live_members).where(mine).values(**values))


def _is(number: int) -> Any:
    return live_sessions.c.number == number


def _unknown() -> Refused:
    return Refused(Reason.NOT_FOUND, "the live session does not exist")


def _member(row: Row[Any]) -> MemberRow:
    return MemberRow(row.seat, row.number, row.signing, row.sealing, row.replied)


def _stored(row: Row[Any]) -> StoredSession:
    return StoredSession(
        row.number,
        row.id,
        LiveState(row.state),
        json.loads(row.offer),
        _parsed(row.terms),
        row.deal,
        row.ending,
        _parsed(row.outcome),
        _parsed(row.result),
        row.created_on,
    )


def _parsed(text: str | None) -> Mapping[str, Any] | None:
    return None if text is None else json.loads(text)


def events_of(
    connection: Connection, number: int, after: int = 0
) -> list[tuple[int, SessionEvent]]:
    """The events of the current round, with their places in the sequence."""
    query = (
        select(live_events)
        .where(live_events.c.session == number, live_events.c.sequence > after)
        .order_by(live_events.c.sequence)
    )
    return [
        (row.sequence, SessionEvent(EventKind(row.kind), row.member, row.content))
        for row in connection.execute(query)
    ]


def rounds_of(connection: Connection, number: int) -> list[RoundRecord]:
    """The finished rounds, in order."""
    query = select(live_rounds).where(live_rounds.c.session == number).order_by(live_rounds.c.round)
    return [
        RoundRecord(
            np.frombuffer(row.totals, "<i8").astype(np.int64),
            tuple(json.loads(row.contributors)),
            {int(member): reason for member, reason in json.loads(row.excluded).items()},
        )
        for row in connection.execute(query)
    ]


def count_rounds(connection: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """The number of opened rounds of each session."""
    return _counted(connection, live_rounds.c.session, live_rounds.c.round, numbers)


def _counted(
    connection: Connection, session: Column[Any], of: Column[Any], numbers: Sequence[int]
) -> dict[int, int]:
    query = select(session, func.count(of)).where(session.in_(numbers)).group_by(session)
    return {number: count for number, count in connection.execute(query)}


def record(
    connection: Connection,
    number: int,
    known: int,
    happened: int,
    *,
    events: Sequence[SessionEvent],
    rounds: Sequence[RoundRecord],
    opened: int,
    replied: Mapping[int, bytes],
) -> bool:
    """Add events unless others were added since `known`; return whether they were added.

    Of `happened` events the last ones, `events`, are of the current round. After `opened` earlier
    rounds, `rounds` are finished now, and their events are not kept. `replied` are the hashes of
    members' last replies.
    """
    same = (live_sessions.c.sequence == known) & (live_sessions.c.state == "running")
    counted = update(live_sessions).where(_is(number), same).values(sequence=known + happened)
    if connection.execute(counted).rowcount != 1:
        return False
    if rounds:
        connection.execute(delete(live_events).where(live_events.c.session == number))
        rows = [_round_row(number, at, each) for at, each in enumerate(rounds, opened)]
        connection.execute(insert(live_rounds), rows)
    if events:
        start = known + happened - len(events) + 1
        rows = [_event_row(number, at, each) for at, each in enumerate(events, start)]
        connection.execute(insert(live_events), rows)
    _note_replies(connection, number, replied)
    return True


def _round_row(number: int, round: int, over: RoundRecord) -> dict[str, Any]:
    return {
        "session": number,
        "round": round,
        "totals": over.totals.astype("<i8").tobytes(),
        "contributors": json.dumps(over.contributors),
        "excluded": json.dumps(over.excluded),
    }


def _event_row(number: int, sequence: int, event: SessionEvent) -> dict[str, Any]:
    row = {"kind": event.kind, "member": event.member, "content": event.content}
    return {"session": number, "sequence": sequence, **row}


def _note_replies(connection: Connection, number: int, replied: Mapping[int, bytes]) -> None:
    if not replied:
        return
    statement = (
        update(live_members)
        .where(live_members.c.session == number, live_members.c.number == bindparam("member"))
        .values(replied=bindparam("hash"))
    )
    rows = [{"member": member, "hash": hash} for member, hash in replied.items()]
    connection.execute(statement, rows)


def live_faults(connection: Connection) -> Iterator[str]:
    """The faults of all live sessions."""
    for id in session_ids(connection):
        name = f"live session {id}"
        try:
            stored = the_session(connection, id)
        except (KeyError, ValueError):
            yield f"{name}: it cannot be read"
            continue
        for kind in (_state, _members, _events, _rounds):
            yield from (f"{name}: {fault}" for fault in kind(connection, stored))


def _state(_: Connection, stored: StoredSession) -> Iterator[str]:
    fixed = stored.state in (LiveState.DEALING, LiveState.RUNNING, LiveState.DONE)
    if fixed and stored.terms is None:
        yield f"it is {stored.state} but has no terms"
    if stored.state is LiveState.GATHERING and stored.terms is not None:
        yield "it has terms before its start"
    if stored.state.is_over is not (stored.outcome is not None):
        yield f"it is {stored.state}, but its stored end says otherwise"


def _members(connection: Connection, stored: StoredSession) -> Iterator[str]:
    numbers = [member.number for member in members_of(connection, stored.number)]
    if numbers != list(range(1, len(numbers) + 1)):
        yield "its workers are not numbered from 1"
    elif stored.terms is not None and len(stored.terms.get("members", ())) != len(numbers):
        yield "its terms do not match the workers who joined"


def _events(connection: Connection, stored: StoredSession) -> Iterator[str]:
    mine = select(live_events.c.sequence).where(live_events.c.session == stored.number)
    found = list(connection.execute(mine.order_by(live_events.c.sequence)).scalars())
    if found and stored.state is not LiveState.RUNNING:
        yield f"it is {stored.state} but has events"
    _, _, counted = state_of(connection, stored.id)
    if found != list(range(counted - len(found) + 1, counted + 1)):
        yield "its events do not match its count"


def _rounds(connection: Connection, stored: StoredSession) -> Iterator[str]:
    columns = (live_rounds.c.round, func.length(live_rounds.c.totals), live_rounds.c.contributors)
    mine = select(*columns).where(live_rounds.c.session == stored.number)
    rows = connection.execute(mine.order_by(live_rounds.c.round)).all()
    if [row[0] for row in rows] != list(range(len(rows))):
        yield "its rounds are not numbered from 0"
    for number, length, contributors in rows:
        if length == 0 or length % _WIDTH:
            yield f"the totals of round {number} are not whole numbers"
        if not json.loads(contributors):
            yield f"round {number} was opened without members"
