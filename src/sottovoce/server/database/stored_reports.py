"""Stored reports: of one worker, as arrays since a submission, or by ranges of pseudonyms.

A submission is one row; its reports are bytes in that row. Rows are joined before they are read as
arrays, so that a report needs no Python object.

Pseudonyms are hashes, so equal ranges hold about equally many. A range is read unsorted and sorted
here, so that no database sorts a whole campaign. The order of arrival is never read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Select, delete, exists, func, insert, select, update
from sqlalchemy.engine import Row

from sottovoce.model import Codes
from sottovoce.server.database.schema import campaigns, erased, reports

AT_ONCE = 1 << 15
"""Reports read at once, unless one worker has more."""

PSEUDONYM = 16
"""Bytes of a worker's pseudonym."""

EVERYBODY = range(1 << 8 * PSEUDONYM)
"""All possible pseudonyms, as numbers."""


@dataclass(frozen=True, slots=True)
class OwnRow:
    """One packed submission."""

    report_id: bytes
    day: int
    tasks: bytes
    codes: bytes


def own_rows(connection: Connection, campaign: int, worker: bytes) -> list[OwnRow]:
    """A worker's submissions, by identifier: the order of arrival stays on the server."""
    query = (
        select(reports.c.report_id, reports.c.day, reports.c.tasks, reports.c.codes)
        .where(reports.c.campaign == campaign, reports.c.worker == worker)
        .order_by(reports.c.report_id)
    )
    return [OwnRow(*row) for row in connection.execute(query)]


def has_reported(connection: Connection, campaign: int, worker: bytes) -> bool:
    """Whether the campaign has anything of a worker."""
    query = select(reports.c.sequence).where(
        reports.c.campaign == campaign, reports.c.worker == worker
    )
    return connection.execute(query.limit(1)).first() is not None


def is_erased(connection: Connection, campaign: int, report_id: bytes) -> bool:
    """Whether a submission was deleted."""
    query = select(erased).where(erased.c.campaign == campaign, erased.c.report_id == report_id)
    return connection.execute(select(query.exists())).scalar_one()


def owner_of(connection: Connection, campaign: int, report_id: bytes) -> bytes | None:
    """The worker of a submission; None if there is none."""
    query = select(reports.c.worker).where(
        reports.c.campaign == campaign, reports.c.report_id == report_id
    )
    return connection.execute(query).scalar_one_or_none()


def erase_report(connection: Connection, campaign: int, report_id: bytes) -> None:
    """Delete a submission, leave a tombstone, and update counts. The campaign must be locked."""
    of_campaign = reports.c.campaign == campaign
    row = connection.execute(
        delete(reports)
        .where(of_campaign, reports.c.report_id == report_id)
        .returning(reports.c.worker, reports.c.tasks)
    ).one()
    connection.execute(insert(erased), {"campaign": campaign, "report_id": report_id})
    others = exists(select(reports.c.sequence).where(of_campaign, reports.c.worker == row.worker))
    is_still_there = connection.execute(select(others)).scalar_one()
    connection.execute(
        update(campaigns)
        .where(campaigns.c.number == campaign)
        .values(
            workers=campaigns.c.workers - int(not is_still_there),
            submissions=campaigns.c.submissions - 1,
            reports=campaigns.c.reports - len(row.tasks) // 4,
            erasures=campaigns.c.erasures + 1,
        )
    )


@dataclass(frozen=True, slots=True, eq=False)
class PackedReports:
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
) -> Iterator[PackedReports]:
    """The submissions of a campaign after a given one, or all after 0, in chunks.

    `block` is the most reports of a submission.
    """
    query = _after(connection, _columns(), campaign, after)
    for rows in _partitions(connection, query, block):
        yield _packed(rows, kind)


def packed_by_worker(
    connection: Connection, campaign: int, kind: np.dtype[Any], *, block: int
) -> Iterator[PackedReports]:
    """All submissions of a campaign, by pseudonym; those of a worker come together."""
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
    """The number of reports, counted from the rows."""
    query = select(func.coalesce(func.sum(func.length(reports.c.tasks)), 0)).where(
        reports.c.campaign == campaign, reports.c.sequence > after
    )
    return int(connection.execute(query).scalar_one()) // 4


def task_lists_after(
    connection: Connection, campaign: int, after: int = 0
) -> Iterator[tuple[int, bytes]]:
    """The tasks (4 bytes each) of submissions after a given one, joined in chunks.

    Each chunk comes with the number of its last submission.
    """
    query = _after(connection, select(reports.c.sequence, reports.c.tasks), campaign, after)
    for rows in _partitions(connection, query, AT_ONCE // 1000):
        yield max(row.sequence for row in rows), b"".join(row.tasks for row in rows)


def factorized(pseudonyms: bytes) -> tuple[Codes, bytes]:
    """Codes of pseudonyms by sorted order, and the sorted distinct pseudonyms.

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


def worker_names(pseudonyms: bytes) -> list[str]:
    """Pseudonyms as in tables: 32 hexadecimal digits each."""
    text = pseudonyms.hex()
    return [text[start : start + 2 * PSEUDONYM] for start in range(0, len(text), 2 * PSEUDONYM)]


def _columns() -> Select[Any]:
    return select(reports.c.sequence, reports.c.worker, reports.c.tasks, reports.c.codes)


def _after(connection: Connection, query: Select[Any], campaign: int, after: int) -> Select[Any]:
    """The query for submissions of a campaign after a given one."""
    if not after:
        return query.where(reports.c.campaign == campaign)
    # Only the end of the table is needed: an index on campaigns would read everything. PostgreSQL
    # has the campaign's reports in their own table.
    of = reports.c.campaign + 0 if connection.dialect.name == "sqlite" else reports.c.campaign
    return query.where(of == campaign, reports.c.sequence > after)


def _partitions(
    connection: Connection, query: Select[Any], block: int
) -> Iterator[Sequence[Row[Any]]]:
    size = max(AT_ONCE // max(block, 1), 1)
    with connection.execute(query.execution_options(yield_per=size)) as result:
        yield from result.partitions()


def _packed(rows: Sequence[Row[Any]], kind: np.dtype[Any]) -> PackedReports:
    sequences, workers, tasks, codes = zip(*rows, strict=True)
    code = np.frombuffer(b"".join(codes), kind)
    return PackedReports(
        max(sequences),
        b"".join(workers),
        np.array([len(each) for each in tasks], np.int64) // 4,
        np.frombuffer(b"".join(tasks), "<u4").astype(np.uint32, copy=False),
        code.astype(kind.newbyteorder("="), copy=False),
    )


@dataclass(frozen=True, slots=True, eq=False)
class OrderedReports:
    """Some reports by pseudonym, then by the task's place; all of a worker's are among them.

    `worker` holds places among `pseudonyms`, which are joined, and `task` places in the campaign's
    list.
    """

    pseudonyms: bytes
    worker: Codes
    task: npt.NDArray[np.uint32]
    code: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.task)


def split_range(workers: range, count: int) -> list[range]:
    """Split a range of pseudonyms into `count` equal ranges.

    >>> split_range(range(10), 3)
    [range(0, 3), range(3, 6), range(6, 10)]
    """
    width = workers.stop - workers.start
    bounds = (workers.start + width * turn // count for turn in range(count + 1))
    return [range(start, stop) for start, stop in pairwise(bounds)]


def reports_between(
    connection: Connection, campaign: int, kind: np.dtype[Any], workers: range, *, most: int
) -> Iterator[OrderedReports]:
    """The reports of the workers in a range, sorted by pseudonym.

    A range with more than `most` submissions is halved until it has fewer, so memory does not
    depend on how even pseudonyms are, unless one worker alone has more.
    """
    is_one = workers.stop - workers.start == 1
    query: Select[Any] = (
        select(reports.c.worker, reports.c.tasks, reports.c.codes)
        .where(
            reports.c.campaign == campaign,
            reports.c.worker.between(_bytes(workers.start), _bytes(workers.stop - 1)),
        )
        .limit(None if is_one else most + 1)
    )
    rows = connection.execute(query).all()
    if len(rows) > most and not is_one:
        for half in split_range(workers, 2):
            yield from reports_between(connection, campaign, kind, half, most=most)
    elif rows:
        yield _ordered(rows, kind)


def _bytes(pseudonym: int) -> bytes:
    return pseudonym.to_bytes(PSEUDONYM)


def _ordered(rows: Sequence[Row[Any]], kind: np.dtype[Any]) -> OrderedReports:
    workers, tasks, codes = zip(*rows, strict=True)
    submission, pseudonyms = factorized(b"".join(workers))
    worker = np.repeat(submission, [len(each) // 4 for each in tasks])
    task = np.frombuffer(b"".join(tasks), "<u4").astype(np.uint32, copy=False)
    code = np.frombuffer(b"".join(codes), kind).astype(kind.newbyteorder("="), copy=False)
    # Sorting by one key instead of two is several times as fast; a worker has a task once.
    order = np.argsort(worker.astype(np.int64) << 32 | task)
    return OrderedReports(pseudonyms, worker[order], task[order], code[order])
