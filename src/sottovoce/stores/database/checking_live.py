"""Whether what a database holds of live sessions is what the service wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import Connection, func, select

from sottovoce.stores.database.live import (
    LiveState,
    StoredSession,
    members_of,
    session_ids,
    state_of,
    the_session,
)
from sottovoce.stores.database.tables import live_events, live_rounds

__all__ = ["live_faults"]

_WIDTH = 8
"""Bytes of a total."""


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
        yield f"it is {stored.state} and has no terms"
    if stored.state is LiveState.GATHERING and stored.terms is not None:
        yield "it has terms before it began"
    if stored.state.is_over is not (stored.outcome is not None):
        yield f"it is {stored.state}, and what is stored of its end says otherwise"


def _members(connection: Connection, stored: StoredSession) -> Iterator[str]:
    numbers = [member.number for member in members_of(connection, stored.number)]
    if numbers != list(range(1, len(numbers) + 1)):
        yield "its workers are not numbered from 1 on"
    elif stored.terms is not None and len(stored.terms.get("members", ())) != len(numbers):
        yield "its terms name other workers than have joined"


def _events(connection: Connection, stored: StoredSession) -> Iterator[str]:
    mine = select(live_events.c.sequence).where(live_events.c.session == stored.number)
    found = list(connection.execute(mine.order_by(live_events.c.sequence)).scalars())
    if found and stored.state is not LiveState.RUNNING:
        yield f"it is {stored.state} and has events"
    _, _, counted = state_of(connection, stored.id)
    if found != list(range(counted - len(found) + 1, counted + 1)):
        yield "its events are not the last ones that were counted"


def _rounds(connection: Connection, stored: StoredSession) -> Iterator[str]:
    columns = (live_rounds.c.round, func.length(live_rounds.c.totals), live_rounds.c.contributors)
    mine = select(*columns).where(live_rounds.c.session == stored.number)
    rows = connection.execute(mine.order_by(live_rounds.c.round)).all()
    if [row[0] for row in rows] != list(range(len(rows))):
        yield "its rounds are not numbered from 0 on"
    for number, length, contributors in rows:
        if length == 0 or length % _WIDTH:
            yield f"the totals of round {number} are no whole numbers"
        if not json.loads(contributors):
            yield f"round {number} was opened of nobody"
