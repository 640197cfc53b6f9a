"""Sealed campaigns in rows: contributions, messages, opened totals, keyholders and the signing key.

A contribution is a row of `reports`. Its `codes` are the digest of what was signed, then the bytes
as they came: a batch is put together from digests, and no contribution has to be read for that.
Messages of keyholders and server are there once each, as they were signed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

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
"""Bytes of a digest, which stands before the contribution itself."""

AT_ONCE = 64
"""Rows that are read at once: a contribution may be long."""

SERVER = 0
"""The sender of what the server says; keyholders are 1, 2, …"""

_COORDINATOR = "coordinator"


@dataclass(frozen=True, slots=True)
class WaitingContribution:
    """A contribution that was not proposed yet."""

    report_id: bytes
    digest: bytes
    length: int


def waiting_contributions(
    connection: Connection, campaign: int, most: int
) -> list[WaitingContribution]:
    """Contributions that no batch has, the oldest first."""
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
    """These contributions are in the batch of this number, for good."""
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
    """The contributions of a batch as they came, by digest."""
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
    """The tasks (4 bytes each) of every contribution in the batches up to a number, but these."""
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
    """What a message is about: of one key there is one message."""

    phase: str
    sender: int
    number: int


def add_message(connection: Connection, campaign: int, key: MessageKey, content: bytes) -> None:
    """Store a message, whose key must be free. The campaign must be held."""
    row = {"phase": key.phase, "sender": key.sender, "number": key.number, "content": content}
    connection.execute(insert(messages), {"campaign": campaign, **row})


def find_message(connection: Connection, campaign: int, key: MessageKey) -> bytes | None:
    """The message of a key."""
    query = select(messages.c.content).where(
        messages.c.campaign == campaign,
        messages.c.phase == key.phase,
        messages.c.sender == key.sender,
        messages.c.number == key.number,
    )
    return connection.execute(query).scalar_one_or_none()


def messages_of(connection: Connection, campaign: int, phase: str, number: int) -> list[bytes]:
    """The messages of a phase about one batch, by sender."""
    query = (
        select(messages.c.content)
        .where(
            messages.c.campaign == campaign,
            messages.c.phase == phase,
            messages.c.number == number,
        )
        .order_by(messages.c.sender)
    )
    return list(connection.execute(query).scalars())


def series(connection: Connection, campaign: int, phase: str, upto: int) -> list[bytes]:
    """What the server said in a phase about all batches up to a number, in their order."""
    query = (
        select(messages.c.content)
        .where(
            messages.c.campaign == campaign,
            messages.c.phase == phase,
            messages.c.sender == SERVER,
            messages.c.number <= upto,
        )
        .order_by(messages.c.number)
    )
    return list(connection.execute(query).scalars())


def message_keys(connection: Connection, campaign: int) -> frozenset[MessageKey]:
    """Which messages there are, without reading them."""
    columns = (messages.c.phase, messages.c.sender, messages.c.number)
    rows = connection.execute(select(*columns).where(messages.c.campaign == campaign))
    return frozenset(MessageKey(*row) for row in rows)


@dataclass(frozen=True, slots=True, eq=False)
class OpenedTotals:
    """Noised totals, a row for each task, and how many contributions had each task.

    `answered` is None where participation is hidden. `state` names the set that was opened.
    """

    state: str
    workers: int
    totals: npt.NDArray[np.int64]
    answered: npt.NDArray[np.int64] | None = field(default=None)

    @classmethod
    def unpack(
        cls, state: str, workers: int, totals: bytes, answered: bytes | None, tasks: int
    ) -> Self:
        """From what is stored."""
        return cls(
            state,
            workers,
            np.frombuffer(totals, "<i8").astype(np.int64).reshape(tasks, -1),
            None if answered is None else np.frombuffer(answered, "<i8").astype(np.int64),
        )


def store_opened(connection: Connection, campaign: int, found: OpenedTotals) -> None:
    """Keep what was opened: there is one opening, and it is not replaced."""
    answered = None if found.answered is None else found.answered.astype("<i8").tobytes()
    row = {"state": found.state, "workers": found.workers, "answered": answered}
    totals = found.totals.astype("<i8").tobytes()
    connection.execute(insert(opened), {"campaign": campaign, "totals": totals, **row})


def find_opened(connection: Connection, campaign: int, tasks: int) -> OpenedTotals | None:
    """What was opened of a campaign with so many tasks."""
    row = connection.execute(select(opened).where(opened.c.campaign == campaign)).one_or_none()
    if row is None:
        return None
    return OpenedTotals.unpack(row.state, row.workers, row.totals, row.answered, tasks)


def is_opened(connection: Connection, campaign: int) -> bool:
    """Whether a campaign's totals are opened."""
    query = select(opened.c.workers).where(opened.c.campaign == campaign)
    return connection.execute(query).first() is not None


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One keyholder's place in a campaign, and the day on which it was here last."""

    seat: int
    seen_on: int | None


def set_seats(connection: Connection, campaign: int, digests: Sequence[bytes]) -> None:
    """Credentials for the seats 1, 2, … instead of those there were; days stay."""
    before = {each.seat: each.seen_on for each in all_seats(connection, campaign)}
    connection.execute(delete(keyholders).where(keyholders.c.campaign == campaign))
    rows = [
        {"campaign": campaign, "seat": seat, "digest": digest, "seen_on": before.get(seat)}
        for seat, digest in enumerate(digests, 1)
    ]
    connection.execute(insert(keyholders), rows)


def all_seats(connection: Connection, campaign: int) -> list[SeatRow]:
    """The seats that have a credential, in their order."""
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
    """The day on which a keyholder was here last."""
    mine = (keyholders.c.campaign == campaign) & (keyholders.c.seat == seat)
    connection.execute(update(keyholders).where(mine).values(seen_on=day))


def signing_key(connection: Connection) -> bytes | None:
    """The server's secret key, if one was made."""
    query = select(signing_keys.c.secret).where(signing_keys.c.name == _COORDINATOR)
    return connection.execute(query).scalar_one_or_none()


def add_signing_key(connection: Connection, secret: bytes, day: int) -> bytes:
    """Keep this key unless there is one: a database has one for good. Which one it has."""
    found = signing_key(connection)
    if found is not None:
        return found
    row = {"name": _COORDINATOR, "secret": secret, "created_on": day}
    connection.execute(insert(signing_keys), row)
    return secret
