"""What happens in the rounds of live sessions, in rows.

Of the round that is on there is every accepted reply and every end of a phase, in their order. Of a
round that is over there is what was opened, and nothing else. The session's `sequence` counts all
of it: whoever writes names the count it knows, so that of two servers on one database the second
sees that it does not know everything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from sottovoce.stores.database.tables import live_events, live_members, live_rounds, live_sessions

__all__ = ["Event", "EventKind", "StoredRound", "count_rounds", "events_of", "record", "rounds_of"]


class EventKind(StrEnum):
    """A member's reply, or the end of a phase whose time was up."""

    REPLY = "reply"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened."""

    kind: EventKind
    member: int | None = None
    content: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class StoredRound:
    """A round that is over: its totals, who is in them, and who was excluded in it, and why."""

    totals: npt.NDArray[np.int64]
    contributors: tuple[int, ...]
    excluded: Mapping[int, str]


def events_of(connection: Connection, number: int, after: int = 0) -> list[tuple[int, Event]]:
    """What has happened in the round that is on, with its place in the sequence."""
    query = (
        select(live_events)
        .where(live_events.c.session == number, live_events.c.sequence > after)
        .order_by(live_events.c.sequence)
    )
    return [
        (row.sequence, Event(EventKind(row.kind), row.member, row.content))
        for row in connection.execute(query)
    ]


def rounds_of(connection: Connection, number: int) -> list[StoredRound]:
    """The rounds that are over, in their order."""
    query = select(live_rounds).where(live_rounds.c.session == number).order_by(live_rounds.c.round)
    return [
        StoredRound(
            np.frombuffer(row.totals, "<i8").astype(np.int64),
            tuple(json.loads(row.contributors)),
            {int(member): reason for member, reason in json.loads(row.excluded).items()},
        )
        for row in connection.execute(query)
    ]


def count_rounds(connection: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """How many rounds of each session were opened."""
    query = (
        select(live_rounds.c.session, func.count())
        .where(live_rounds.c.session.in_(numbers))
        .group_by(live_rounds.c.session)
    )
    return {session: count for session, count in connection.execute(query)}


def record(
    connection: Connection,
    number: int,
    known: int,
    happened: int,
    *,
    events: Sequence[Event],
    rounds: Sequence[StoredRound],
    opened: int,
    replied: Mapping[int, bytes],
) -> bool:
    """Add what has happened, if nothing else has since `known`; whether it was added.

    Of `happened` events the last ones, `events`, are of the round that is on. After `opened` rounds
    that were over before, `rounds` are over now, and what happened in them is not kept. `replied`
    are the hashes of members' last replies.
    """
    mine = live_sessions.c.number == number
    same = (live_sessions.c.sequence == known) & (live_sessions.c.state == "running")
    counted = update(live_sessions).where(mine, same).values(sequence=known + happened)
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


def _round_row(number: int, round: int, over: StoredRound) -> dict[str, Any]:
    return {
        "session": number,
        "round": round,
        "totals": over.totals.astype("<i8").tobytes(),
        "contributors": json.dumps(over.contributors),
        "excluded": json.dumps(over.excluded),
    }


def _event_row(number: int, sequence: int, event: Event) -> dict[str, Any]:
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
