"""Packed reports as arrays: what arrived since, or everything by worker.

A submission is one row; its reports are bytes in that row. Rows are joined before they are read as
arrays, so that a report costs no Python object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Select, func, select
from sqlalchemy.engine import Row

from sottovoce.model import Codes
from sottovoce.stores.database.tables import reports

__all__ = [
    "Packed",
    "all_task_lists",
    "count_reports",
    "factorized",
    "names_of",
    "packed_after",
    "packed_by_worker",
]

AT_ONCE = 1 << 15
"""Reports that are read at once, unless one worker has more."""

PSEUDONYM = 16
"""Bytes of a worker's pseudonym."""


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Some submissions: the j-th is of pseudonym j and has count[j] reports, one after another.

    `task` holds places in the campaign's list, `code` codes of the mechanism's alphabet. `sequence`
    is the last submission's.
    """

    sequence: int
    pseudonyms: bytes
    count: npt.NDArray[np.int64]
    task: npt.NDArray[np.uint32]
    code: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.task)


def packed_after(
    connection: Connection, campaign: int, after: int, kind: np.dtype[Any], *, block: int
) -> Iterator[Packed]:
    """What a campaign received after a submission, or everything after 0, some at a time.

    `block` is the most reports of a submission.
    """
    query, of_campaign = _columns(), reports.c.campaign == campaign
    if after:
        query = query.where(reports.c.sequence > after)
        if connection.dialect.name == "sqlite":
            # Only the end of the table is of interest: an index on campaigns would lead through
            # all. PostgreSQL has the campaign's reports in a table of their own.
            of_campaign = (reports.c.campaign + 0) == campaign
    query = query.where(of_campaign)
    for rows in _partitions(connection, query, block):
        yield _packed(rows, kind)


def packed_by_worker(
    connection: Connection, campaign: int, kind: np.dtype[Any], *, block: int
) -> Iterator[Packed]:
    """Everything a campaign received, by pseudonym; all submissions of a worker come together."""
    query = _columns().where(reports.c.campaign == campaign).order_by(reports.c.worker)
    held: list[Row[Any]] = []
    for rows in _partitions(connection, query, block):
        held.extend(rows)
        whole = len(held)
        while whole and held[whole - 1].worker == held[-1].worker:
            whole -= 1
        if whole:
            yield _packed(held[:whole], kind)
            held = held[whole:]
    if held:
        yield _packed(held, kind)


def count_reports(connection: Connection, campaign: int, after: int = 0) -> int:
    """How many reports there are, by counting them."""
    query = select(func.coalesce(func.sum(func.length(reports.c.tasks)), 0)).where(
        reports.c.campaign == campaign, reports.c.sequence > after
    )
    return int(connection.execute(query).scalar_one()) // 4


def all_task_lists(connection: Connection, campaign: int) -> Iterator[bytes]:
    """The tasks (4 bytes each) of all submissions, some submissions joined at a time."""
    query = select(reports.c.tasks).where(reports.c.campaign == campaign)
    with connection.execute(query.execution_options(yield_per=1000)) as result:
        for rows in result.scalars().partitions():
            yield b"".join(rows)


def factorized(pseudonyms: bytes) -> tuple[Codes, bytes]:
    """Codes of pseudonyms in their own order, and the distinct ones in that order.

    >>> codes, distinct = factorized(b"b" * 16 + b"a" * 16 + b"b" * 16)
    >>> codes.tolist(), distinct == b"a" * 16 + b"b" * 16
    ([1, 0, 1], True)
    """
    high, low = np.frombuffer(pseudonyms, ">u8").astype(np.uint64).reshape(-1, 2).T
    order = np.lexsort((low, high))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(high[order]) != 0) | (np.diff(low[order]) != 0)
    codes = np.empty(len(order), np.int32)
    codes[order] = np.cumsum(new, dtype=np.int32) - 1
    rows = np.frombuffer(pseudonyms, np.uint8).reshape(-1, PSEUDONYM)
    return codes, rows[order[new]].tobytes()


def names_of(pseudonyms: bytes) -> list[str]:
    """Pseudonyms as tables have them: 32 hexadecimal digits each."""
    text = pseudonyms.hex()
    return [text[start : start + 2 * PSEUDONYM] for start in range(0, len(text), 2 * PSEUDONYM)]


def _columns() -> Select[Any]:
    return select(reports.c.sequence, reports.c.worker, reports.c.tasks, reports.c.codes)


def _partitions(
    connection: Connection, query: Select[Any], block: int
) -> Iterator[Sequence[Row[Any]]]:
    size = max(AT_ONCE // max(block, 1), 1)
    with connection.execute(query.execution_options(yield_per=size)) as result:
        yield from result.partitions()


def _packed(rows: Sequence[Row[Any]], kind: np.dtype[Any]) -> Packed:
    sequences, workers, tasks, codes = zip(*rows, strict=True)
    code = np.frombuffer(b"".join(codes), kind)
    return Packed(
        max(sequences),
        b"".join(workers),
        np.array([len(each) for each in tasks], np.int64) // 4,
        np.frombuffer(b"".join(tasks), "<u4").astype(np.uint32, copy=False),
        code.astype(kind.newbyteorder("="), copy=False),
    )
