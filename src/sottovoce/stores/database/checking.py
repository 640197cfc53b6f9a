"""Whether a database is what the service wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select, text
from sqlalchemy.engine import Row

from sottovoce.errors import Reason, SottovoceError
from sottovoce.mechanisms.admitting import code_type
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import occurs_twice
from sottovoce.stores.database.campaigns import Stored, all_campaigns
from sottovoce.stores.database.checking_live import live_faults
from sottovoce.stores.database.checking_sealed import contribution_fault, sealed_faults
from sottovoce.stores.database.connecting import Database
from sottovoce.stores.database.partitions import hold_partitions, without_partition
from sottovoce.stores.database.reaching import reaching
from sottovoce.stores.database.tables import (
    erased,
    invites,
    keyholders,
    live_members,
    rejections,
    reports,
    signing_keys,
    tasks,
    tokens,
)

__all__ = ["check", "integrity"]

MOST_SHOWN = 20
"""Faults of one campaign that are told; a damaged one may have millions."""

_DIGEST, _NAME = 32, 16


def check(database: Database) -> list[str]:
    """What is wrong, a sentence each; nothing if all is well. Quotes no report and no credential.

    Reads everything once, in constant memory, while a server may go on writing.
    """
    with reaching(database), database.reading() as connection:
        hold_partitions(connection)
        faults = integrity(connection, whole=True)
        if faults:  # what the rows say means nothing now
            return faults
        faults.extend(_credentials(connection))
        try:
            campaigns = all_campaigns(connection)
        except (SottovoceError, KeyError, ValueError):
            return [*faults, "a campaign's terms cannot be read"]
        homeless = set(without_partition(connection))
        for stored in campaigns:
            if stored.number in homeless:
                faults.append(f"campaign {stored.campaign.id}: it has no partition for reports")
            faults.extend(_first(_campaign(connection, stored)))
        faults.extend(_first(live_faults(connection)))
        return faults


def integrity(connection: Connection, *, whole: bool) -> list[str]:
    """What SQLite itself finds; PostgreSQL checks its pages as it reads them.

    Not `whole` is quicker: it does not compare indexes with their tables.
    """
    if connection.dialect.name != "sqlite":
        return []
    pragma = "integrity_check" if whole else "quick_check"
    said = connection.execute(text(f"PRAGMA {pragma}({MOST_SHOWN})")).scalars().all()
    faults = [f"SQLite: {line}" for line in said if line != "ok"]
    orphans = connection.execute(text("PRAGMA foreign_key_check")).fetchmany(MOST_SHOWN)
    return faults + [f"table {row[0]} has a row that refers to nothing" for row in orphans]


def _first(faults: Iterator[str]) -> Iterator[str]:
    for count, fault in enumerate(faults, 1):
        yield fault if count <= MOST_SHOWN else "and more: the rest is not shown"
        if count > MOST_SHOWN:
            return


def _credentials(connection: Connection) -> Iterator[str]:
    for table in (invites, tokens, keyholders, live_members):
        wrong = select(func.count()).where(func.length(table.c.digest) != _DIGEST)
        if count := connection.execute(wrong.select_from(table)).scalar_one():
            yield f"table {table.name}: {count:,} rows whose digest is none"
    short = select(func.count()).where(func.length(signing_keys.c.secret) != _DIGEST)
    if connection.execute(short.select_from(signing_keys)).scalar_one():
        yield "table signing_keys: the server's key is none"


def _campaign(connection: Connection, stored: Stored) -> Iterator[str]:
    """The faults of one campaign."""
    name = f"campaign {stored.campaign.id}"
    yield from (f"{name}: {fault}" for fault in _tasks(connection, stored))
    seen = _Seen()
    size = _code_size(stored)
    query = select(reports).where(reports.c.campaign == stored.number)
    rows = connection.execute(
        query.order_by(reports.c.worker, reports.c.sequence), execution_options={"yield_per": 64}
    )
    for _, one in groupby(rows, key=lambda row: row.worker):
        for fault in _worker(list(one), stored.campaign.tasks, size, seen):
            yield f"{name}: {fault}"
    yield from (f"{name}: {fault}" for fault in _counts(connection, stored, seen))
    yield from (f"{name}: {fault}" for fault in _rejections(connection, stored))
    yield from (f"{name}: {fault}" for fault in sealed_faults(connection, stored))


def _code_size(stored: Stored) -> int | None:
    """Bytes of a report; None where a submission is one contribution."""
    policy = stored.campaign.terms.policy
    return None if policy.sealed else code_type(mechanism_of(policy).alphabet).itemsize


@dataclass(slots=True)
class _Seen:
    """What a campaign's rows add up to."""

    workers: int = 0
    submissions: int = 0
    reports: int = 0


def _tasks(connection: Connection, stored: Stored) -> Iterator[str]:
    query = select(func.count(), func.min(tasks.c.place), func.max(tasks.c.place))
    found = connection.execute(query.where(tasks.c.campaign == stored.number)).one()
    count, first, last = found
    if count != stored.campaign.tasks:
        yield f"has {count:,} tasks and counts {stored.campaign.tasks:,}"
    elif count and (first, last) != (0, count - 1):
        yield "its tasks are not numbered from 0 on"


def _worker(rows: Sequence[Row[Any]], tasks: int, size: int | None, seen: _Seen) -> Iterator[str]:
    """The faults in one worker's submissions."""
    seen.workers += 1
    seen.submissions += len(rows)
    sound = []
    for row in rows:
        seen.reports += len(row.tasks) // 4
        fault = _misshapen(row, tasks, size)
        if fault:
            yield f"row {row.sequence} of reports: {fault}"
        else:
            sound.append(np.frombuffer(row.tasks, "<u4"))
    places = np.concatenate(sound) if sound else np.empty(0)
    if occurs_twice(places):
        yield f"row {rows[-1].sequence} of reports: its worker reported on a task before"


def _misshapen(row: Row[Any], tasks: int, size: int | None) -> str | None:
    count = len(row.tasks) // 4
    lengths = (len(row.report_id), len(row.worker), len(row.digest))
    if lengths != (_NAME, _NAME, _DIGEST):
        return "an identifier or digest has another length"
    if len(row.tasks) % 4 or count == 0:
        return "it has no whole number of tasks"
    if size is not None and len(row.codes) != count * size:
        return "it does not have one code for each task"
    if int(np.frombuffer(row.tasks, "<u4").max()) >= tasks:
        return "it has a task that the campaign has not"
    return contribution_fault(row.codes) if size is None else None


def _counts(connection: Connection, stored: Stored, seen: _Seen) -> Iterator[str]:
    counts = stored.campaign.counts
    tombstones = select(func.count()).where(erased.c.campaign == stored.number)
    found = {
        "workers": (seen.workers, counts.workers),
        "submissions": (seen.submissions, counts.submissions),
        "reports": (seen.reports, counts.reports),
        "erasures": (connection.execute(tombstones).scalar_one(), counts.erasures),
    }
    for what, (there, counted) in found.items():
        if there != counted:
            yield f"has {there:,} {what} and counts {counted:,}"


def _rejections(connection: Connection, stored: Stored) -> Iterator[str]:
    unknown = rejections.c.reason.not_in([str(reason) for reason in Reason])
    wrong = select(func.count()).where(
        rejections.c.campaign == stored.number, unknown | (rejections.c.count < 1)
    )
    if count := connection.execute(wrong).scalar_one():
        yield f"{count:,} of its counts of refused reports make no sense"
