"""Contributions to sealed campaigns: those that wait, and those that were proposed in batches.

A contribution is a row of `reports`. Its `codes` are the digest of what was signed, then the bytes
as they came: a batch is put together from digests, and no contribution has to be read for that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, LargeBinary, Select, and_, func, insert, select
from sqlalchemy.sql.functions import Function

from sottovoce.stores.database.tables import batched, reports

__all__ = [
    "DIGEST",
    "Waiting",
    "add_batch",
    "batch_contents",
    "count_batched",
    "is_batched",
    "task_lists",
    "waiting_contributions",
    "workers_of",
]

DIGEST = 32
"""Bytes of a digest, which stands before the contribution itself."""

AT_ONCE = 64
"""Rows that are read at once: a contribution may be long."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A contribution that was not proposed yet."""

    report_id: bytes
    digest: bytes
    length: int


def waiting_contributions(connection: Connection, campaign: int, most: int) -> list[Waiting]:
    """Contributions that no batch has, the oldest first."""
    query = (
        select(reports.c.report_id, _digest(), func.length(reports.c.codes))
        .outerjoin(batched, _same_report())
        .where(reports.c.campaign == campaign, batched.c.report_id.is_(None))
        .order_by(reports.c.sequence)
        .limit(most)
    )
    return [Waiting(*row) for row in connection.execute(query)]


def add_batch(
    connection: Connection, campaign: int, number: int, chosen: Sequence[Waiting]
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


def _digest() -> Function[bytes]:
    return func.substr(reports.c.codes, 1, DIGEST, type_=LargeBinary)


def _same_report() -> ColumnElement[bool]:
    return and_(
        batched.c.campaign == reports.c.campaign, batched.c.report_id == reports.c.report_id
    )


def _batch(query: Select[Any], campaign: int) -> Select[Any]:
    joined = query.join_from(batched, reports, _same_report())
    return joined.where(batched.c.campaign == campaign)
