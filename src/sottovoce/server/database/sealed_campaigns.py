"""Rows of sealed campaigns: contributions, messages, opened totals, keyholders, signing key.

A contribution is a row of `reports`. Its `codes` are the digest of the signed text, then the
received bytes, so that a batch is built from digests without reading contributions. Each message of
a keyholder or the server is stored once, as signed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    Select,
    and_,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.sql.functions import Function

from sottovoce.server.database.schema import (
    batched,
    keyholders,
    messages,
    opened,
    reports,
    signing_keys,
)

DIGEST = 32
"""Bytes of the digest in front of a contribution."""

AT_ONCE = 64
"""Rows read at once: a contribution may be long."""

SERVER = 0
"""The sender number of the server; keyholders are 1, 2, …"""

_COORDINATOR = "coordinator"


@dataclass(frozen=True, slots=True)
class WaitingContribution:
    """A contribution that is not in a batch yet."""

    report_id: bytes
    digest: bytes
    length: int


def waiting_contributions(
    connection: Connection, campaign: int, most: int
) -> list[WaitingContribution]:
    """Contributions that are in no batch, the oldest first."""
    digest: Function[bytes] = func.substr(reports.c.codes, 1, DIGEST, type_=LargeBinary)
    query = (
        select(reports.c.report_id, digest, func.length(reports.c.codes))
        .outerjoin(batched, _same_report())
        .where(reports.c.campaign == campaign, batched.c.report_id.is_(None))
        .order_by(reports.c.sequence)
        .limit(most)
    )
    return [WaitingContribution(*row) for row in connection.execute(query)]


def add_batch(
    connection: Connection, campaign: int, number: int, chosen: Sequence[WaitingContribution]
) -> None:
    """Put contributions into a batch, permanently."""
    rows = [
        {"campaign": campaign, "report_id": w.report_id, "number": number, "digest": w.digest}
        for w in chosen
    ]
    connection.execute(insert(batched), rows)


def is_batched(connection: Connection, campaign: int, report_id: bytes) -> bool:
    """Whether a contribution was proposed to the keyholders."""
    query = select(batched.c.number).where(
        batched.c.campaign == campaign, batched.c.report_id == report_id
    )
    return connection.execute(query).first() is not None


def count_batched(connection: Connection, campaign: int, upto: int) -> int:
    """How many contributions are in the batches up to a number."""
    query = select(func.count()).where(batched.c.campaign == campaign, batched.c.number <= upto)
    return connection.execute(query).scalar_one()


def batch_contents(connection: Connection, campaign: int, number: int) -> Iterator[bytes]:
    """The contributions of a batch as received, by digest."""
    content = func.substr(reports.c.codes, DIGEST + 1, type_=LargeBinary)
    query = (
        _batch(select(content), campaign)
        .where(batched.c.number == number)
        .order_by(batched.c.digest)
    )
    rows = connection.execute(query.execution_options(yield_per=AT_ONCE))
    yield from rows.scalars()


def task_lists(
    connection: Connection, campaign: int, upto: int, without: Collection[bytes]
) -> Iterator[bytes]:
    """The tasks (4 bytes each) of all contributions in the batches up to a number, except these."""
    query = _batch(select(batched.c.digest, reports.c.tasks), campaign)
    rows = connection.execute(
        query.where(batched.c.number <= upto).execution_options(yield_per=AT_ONCE)
    )
    return (row.tasks for row in rows if row.digest not in without)


def workers_of(
    connection: Connection, campaign: int, digests: Collection[bytes]
) -> dict[bytes, str]:
    """The pseudonyms of some contributions, by digest."""
    query = _batch(select(batched.c.digest, reports.c.worker), campaign)
    rows = connection.execute(query.where(batched.c.digest.in_(list(digests))))
    return {row.digest: row.worker.hex() for row in rows}


def _same_report() -> ColumnElement[bool]:
    return and_(
        batched.c.campaign == reports.c.campaign, batched.c.report_id == reports.c.report_id
    )


def _batch(query: Select[Any], campaign: int) -> Select[Any]:
    joined = query.join_from(batched, reports, _same_report())
    return joined.where(batched.c.campaign == campaign)


@dataclass(frozen=True, slots=True, order=True)
class MessageKey:
    """The key of a message: there is one message per key."""

    phase: str
    sender: int
    number: int


def add_message(connection: Connection, campaign: int, key: MessageKey, content: bytes) -> None:
    """Store a message, whose key must be free. The campaign must be locked."""
    row = {"phase": key.phase, "sender": key.sender, "number": key.number, "content": content}
    connection.execute(insert(messages), {"campaign": campaign, **row})


def find_message(connection: Connection, campaign: int, key: MessageKey) -> bytes | None:
    """The message of a key."""
    query = _contents(campaign, key.phase).where(
        messages.c.sender == key.sender, messages.c.number == key.number
    )
    return connection.execute(query).scalar_one_or_none()


def messages_of(connection: Connection, campaign: int, phase: str, number: int) -> list[bytes]:
    """The messages of a phase about one batch, by sender."""
    query = _contents(campaign, phase).where(messages.c.number == number)
    return list(connection.execute(query.order_by(messages.c.sender)).scalars())


def series(connection: Connection, campaign: int, phase: str, upto: int) -> list[bytes]:
    """The server's messages in a phase about all batches up to a number, in order."""
    query = _contents(campaign, phase).where(messages.c.sender == SERVER, messages.c.number <= upto)
    return list(connection.execute(query.order_by(messages.c.number)).scalars())


def _contents(campaign: int, phase: str) -> Select[bytes]:
    own = messages.c.campaign == campaign
    return select(messages.c.content).where(own, messages.c.phase == phase)


def message_keys(connection: Connection, campaign: int) -> frozenset[MessageKey]:
    """The keys of all messages, without reading them."""
    columns = (messages.c.phase, messages.c.sender, messages.c.number)
    rows = connection.execute(select(*columns).where(messages.c.campaign == campaign))
    return frozenset(MessageKey(*row) for row in rows)


@dataclass(frozen=True, slots=True, eq=False)
class OpenedTotals:
    """Noisy totals, a row per task, and how many contributions had each task.

    `answered` is None if participation is hidden. `state` identifies the opened set.
    """

    state: str
    workers: int
    totals: npt.NDArray[np.int64]
    answered: npt.NDArray[np.int64] | None = field(default=None)


def store_opened(connection: Connection, campaign: int, found: OpenedTotals) -> None:
    """Store the opened totals: there is one opening, and it is never replaced."""
    answered = None if found.answered is None else found.answered.astype("<i8").tobytes()
    row = {"state": found.state, "workers": found.workers, "answered": answered}
    totals = found.totals.astype("<i8").tobytes()
    connection.execute(insert(opened), {"campaign": campaign, "totals": totals, **row})


def find_opened(connection: Connection, campaign: int, tasks: int) -> OpenedTotals | None:
    """The opened totals of a campaign with `tasks` tasks."""
    row = connection.execute(select(opened).where(opened.c.campaign == campaign)).one_or_none()
    if row is None:
        return None
    totals = _integers(row.totals).reshape(tasks, -1)
    answered = None if row.answered is None else _integers(row.answered)
    return OpenedTotals(row.state, row.workers, totals, answered)


def _integers(content: bytes) -> npt.NDArray[np.int64]:
    return np.frombuffer(content, "<i8").astype(np.int64)


def is_opened(connection: Connection, campaign: int) -> bool:
    """Whether a campaign's totals are opened."""
    query = select(opened.c.workers).where(opened.c.campaign == campaign)
    return connection.execute(query).first() is not None


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One keyholder's seat in a campaign, and the last day on which it was online."""

    seat: int
    seen_on: int | None


def set_seats(connection: Connection, campaign: int, digests: Sequence[bytes]) -> None:
    """Replace the credentials of the seats 1, 2, …; days stay."""
    before = {each.seat: each.seen_on for each in all_seats(connection, campaign)}
    connection.execute(delete(keyholders).where(keyholders.c.campaign == campaign))
    rows = [
        {"campaign": campaign, "seat": seat, "digest": digest, "seen_on": before.get(seat)}
        for seat, digest in enumerate(digests, 1)
    ]
    connection.execute(insert(keyholders), rows)


def all_seats(connection: Connection, campaign: int) -> list[SeatRow]:
    """The seats that have a credential, in order."""
    query = (
        select(keyholders.c.seat, keyholders.c.seen_on)
        .where(keyholders.c.campaign == campaign)
        .order_by(keyholders.c.seat)
    )
    return [SeatRow(row.seat, row.seen_on) for row in connection.execute(query)]


def find_seat(connection: Connection, campaign: int, digest: bytes) -> SeatRow | None:
    """The seat of a credential."""
    query = select(keyholders.c.seat, keyholders.c.seen_on).where(
        keyholders.c.campaign == campaign, keyholders.c.digest == digest
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else SeatRow(row.seat, row.seen_on)


def note_seen(connection: Connection, campaign: int, seat: int, day: int) -> None:
    """Record the last day on which a keyholder was online."""
    mine = (keyholders.c.campaign == campaign) & (keyholders.c.seat == seat)
    connection.execute(update(keyholders).where(mine).values(seen_on=day))


def signing_key(connection: Connection) -> bytes | None:
    """The server's secret key, if one was made."""
    query = select(signing_keys.c.secret).where(signing_keys.c.name == _COORDINATOR)
    return connection.execute(query).scalar_one_or_none()


def add_signing_key(connection: Connection, secret: bytes, day: int) -> bytes:
    """Store this key unless there is one; return the stored key. It is never replaced."""
    found = signing_key(connection)
    if found is not None:
        return found
    row = {"name": _COORDINATOR, "secret": secret, "created_on": day}
    connection.execute(insert(signing_keys), row)
    return secret
