"""Live sessions and who takes part in them, in rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, delete, func, insert, null, select, update
from sqlalchemy.engine import Row

from sottovoce.errors import Reason, Refused
from sottovoce.stores.database.tables import live_events, live_members, live_sessions

__all__ = [
    "DEALER",
    "LiveState",
    "Seat",
    "StoredMember",
    "StoredSession",
    "add_session",
    "all_sessions",
    "change_session",
    "delete_session",
    "end_session",
    "ending_of",
    "find_member",
    "joined",
    "members_of",
    "secret_of",
    "session_ids",
    "set_joined",
    "state_of",
    "the_session",
]

DEALER = 0
"""The seat of who deals the key; workers' links have the seats 1, 2, …"""

_NONE: Mapping[int, bytes] = {}


class LiveState(StrEnum):
    """How far a session is. `done` and `aborted` are for good."""

    GATHERING = "gathering"
    DEALING = "dealing"
    RUNNING = "running"
    DONE = "done"
    ABORTED = "aborted"

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens."""
        return self in (LiveState.DONE, LiveState.ABORTED)


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session as it is stored: what was offered, agreed and dealt, and what came of it.

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
class StoredMember:
    """A link, and whoever joined by it. `replied` is the hash of its last reply."""

    seat: int
    number: int | None
    signing: str | None
    sealing: str | None
    replied: bytes | None


@dataclass(frozen=True, slots=True)
class Seat:
    """Who showed a credential, and of which session."""

    session: int
    state: LiveState
    member: StoredMember


def add_session(
    connection: Connection,
    id: str,
    offer: Mapping[str, Any],
    digests: Mapping[int, bytes],
    secret: bytes | None,
    today: date,
) -> None:
    """A new session that gathers workers; `digests` are of the credential of each seat."""
    row = {"id": id, "state": LiveState.GATHERING, "offer": json.dumps(offer), "secret": secret}
    connection.execute(insert(live_sessions), {**row, "created_on": today.toordinal()})
    number = the_session(connection, id).number
    rows = [{"session": number, "seat": seat, "digest": each} for seat, each in digests.items()]
    connection.execute(insert(live_members), rows)


def the_session(connection: Connection, id: str, *, hold: bool = False) -> StoredSession:
    """The session with this identifier; with `hold`, nobody changes it until the commit."""
    query = select(live_sessions).where(live_sessions.c.id == id)
    row = connection.execute(query.with_for_update() if hold else query).one_or_none()
    if row is None:
        raise _unknown()
    return _stored(row)


def all_sessions(connection: Connection) -> list[StoredSession]:
    """Every session, the newest first, without what is long: terms, keys, last turns, truths."""
    long = (live_sessions.c[name] for name in ("terms", "deal", "ending", "result"))
    columns = [live_sessions.c[name] for name in ("number", "id", "state", "offer", "outcome",
                                                  "created_on")]  # fmt: skip
    query = select(*columns, *(null().label(column.name) for column in long))
    rows = connection.execute(query.order_by(live_sessions.c.number.desc()))
    return [_stored(row) for row in rows]


def session_ids(connection: Connection, state: LiveState | None = None) -> list[str]:
    """The sessions that are in a state, or all, the oldest first."""
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
    """Another state, with the terms or the deal that it came with."""
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
    """The end: what came of it stays; replies and the server's share of the key go.

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
    """The session and everything that belongs to it."""
    connection.execute(delete(live_sessions).where(_is(number)))


def find_member(connection: Connection, id: str, digest: bytes) -> Seat | None:
    """Whose credential has this hash; None for nobody's of this session."""
    query = (
        select(live_members, live_sessions.c.state)
        .join(live_sessions, live_sessions.c.number == live_members.c.session)
        .where(live_sessions.c.id == id, live_members.c.digest == digest)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else Seat(row.session, LiveState(row.state), _member(row))


def state_of(connection: Connection, id: str) -> tuple[int, LiveState, int]:
    """The session's number, its state, and how much has happened in its rounds."""
    columns = (live_sessions.c.number, live_sessions.c.state, live_sessions.c.sequence)
    row = connection.execute(select(*columns).where(live_sessions.c.id == id)).one_or_none()
    if row is None:
        raise _unknown()
    return row.number, LiveState(row.state), row.sequence


def ending_of(connection: Connection, number: int, seat: int) -> bytes | None:
    """The last turn of a member who was excluded."""
    mine = (live_members.c.session == number) & (live_members.c.seat == seat)
    found: bytes | None = connection.execute(select(live_members.c.ending).where(mine)).scalar_one()
    return found


def secret_of(connection: Connection, number: int) -> bytes | None:
    """What opens the server's share of the session's key."""
    found: bytes | None = connection.execute(
        select(live_sessions.c.secret).where(_is(number))
    ).scalar_one()
    return found


def members_of(connection: Connection, number: int) -> list[StoredMember]:
    """The workers who have joined, by number."""
    mine = (live_members.c.session == number) & live_members.c.number.is_not(None)
    rows = connection.execute(select(live_members).where(mine).order_by(live_members.c.number))
    return [_member(row) for row in rows]


def joined(connection: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """How many workers have joined each session."""
    query = (
        select(live_members.c.session, func.count(live_members.c.number))
        .where(live_members.c.session.in_(numbers))
        .group_by(live_members.c.session)
    )
    return {session: count for session, count in connection.execute(query)}


def set_joined(
    connection: Connection, session: int, seat: int, number: int, signing: str, sealing: str
) -> None:
    """Somebody joined by a link. The session must be held."""
    mine = (live_members.c.session == session) & (live_members.c.seat == seat)
    values = {"number": number, "signing": signing, "sealing": sealing}
    connection.execute(update(live_members).where(mine).values(**values))


def _is(number: int) -> Any:
    return live_sessions.c.number == number


def _unknown() -> Refused:
    return Refused(Reason.NOT_FOUND, "there is no such live session")


def _member(row: Row[Any]) -> StoredMember:
    return StoredMember(row.seat, row.number, row.signing, row.sealing, row.replied)


def _stored(row: Row[Any]) -> StoredSession:
    return StoredSession(
        row.number, row.id, LiveState(row.state), json.loads(row.offer), _parsed(row.terms),
        row.deal, row.ending, _parsed(row.outcome), _parsed(row.result), row.created_on,
    )  # fmt: skip


def _parsed(text: str | None) -> Mapping[str, Any] | None:
    return None if text is None else json.loads(text)
