"""The integrity check of a database, including sealed campaigns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from sqlalchemy import Connection, and_, func, select, text
from sqlalchemy.engine import Row

from sottovoce.errors import Reason, SottovoceError
from sottovoce.mechanisms.codes import code_type
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import occurs_twice
from sottovoce.server.database.campaigns import Stored, all_campaigns
from sottovoce.server.database.connection import Database, readable_errors
from sottovoce.server.database.live_sessions import live_faults
from sottovoce.server.database.postgresql import hold_partitions, without_partition
from sottovoce.server.database.schema import (
    batched,
    campaigns,
    erased,
    invites,
    keyholders,
    live_members,
    messages,
    opened,
    rejections,
    reports,
    signing_keys,
    tasks,
    tokens,
)
from sottovoce.server.database.sealed_campaigns import DIGEST

_WIDTH = 8
"""Bytes of a total."""

MOST_SHOWN = 20
"""The most faults of one campaign that are listed; a damaged one may have millions."""

_DIGEST, _NAME = 32, 16


def contribution_fault(codes: bytes) -> str | None:
    """The fault of a stored contribution: its digest must be that of the signed text."""
    try:
        text: str = json.loads(codes[DIGEST:])["text"]
        digest = hashlib.sha256(text.encode("ascii")).digest()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "it is not a contribution"
    return None if codes[:DIGEST] == digest else "its digest differs from the signed text's"


def sealed_faults(connection: Connection, stored: Stored) -> Iterator[str]:
    """The faults of one campaign's keyholders, batches and totals."""
    sealed = stored.campaign.terms.policy.sealed
    column = select(campaigns.c.sealed).where(campaigns.c.number == stored.number)
    if bool(connection.execute(column).scalar_one()) is not sealed:
        yield f"it is {'not ' if sealed else ''}marked as sealed, but its policy says otherwise"
    if not sealed:
        yield from _strays(connection, stored)
        return
    yield from _batches(connection, stored)
    yield from _totals(connection, stored)


def _strays(connection: Connection, stored: Stored) -> Iterator[str]:
    for table in (keyholders, messages, batched, opened):
        found = select(func.count()).where(table.c.campaign == stored.number)
        if connection.execute(found).scalar_one():
            yield f"it is not sealed but has rows of {table.name}"


def _batches(connection: Connection, stored: Stored) -> Iterator[str]:
    """Check that every contribution of a batch exists and every batch was proposed."""
    mine = batched.c.campaign == stored.number
    same = and_(
        reports.c.campaign == batched.c.campaign,
        reports.c.report_id == batched.c.report_id,
        func.substr(reports.c.codes, 1, DIGEST) == batched.c.digest,
    )
    lost = select(func.count()).select_from(batched).outerjoin(reports, same)
    if count := connection.execute(lost.where(mine, reports.c.sequence.is_(None))).scalar_one():
        yield f"{count:,} contributions of its batches are missing"
    proposed = select(messages.c.number).where(
        messages.c.campaign == stored.number, messages.c.phase == "propose"
    )
    numbers = set(connection.execute(proposed).scalars())
    if numbers != set(range(len(numbers))):
        yield "its batches are not numbered from 0"
    used = set(connection.execute(select(batched.c.number).where(mine).distinct()).scalars())
    if used != numbers - {0}:
        yield "its batches differ from the proposed ones"


def _totals(connection: Connection, stored: Stored) -> Iterator[str]:
    columns = (func.length(opened.c.totals), func.length(opened.c.answered))
    row = connection.execute(
        select(*columns).where(opened.c.campaign == stored.number)
    ).one_or_none()
    if row is None:
        return
    totals, answered = row
    tasks = _WIDTH * stored.campaign.tasks
    if totals == 0 or totals % tasks or answered not in (None, tasks):
        yield "its totals do not match its tasks"


def check(database: Database) -> list[str]:
    """All faults, one sentence each. Quotes no report and no credential.

    Reads everything once, in constant memory; a server may keep writing.
    """
    with readable_errors(database), database.reading() as connection:
        hold_partitions(connection)
        faults = integrity(connection, whole=True)
        if faults:  # the rows mean nothing now
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
    """The faults that SQLite itself finds; PostgreSQL checks its pages when reading.

    Without `whole` it is quicker and does not compare indexes with their tables.
    """
    if connection.dialect.name != "sqlite":
        return []
    pragma = "integrity_check" if whole else "quick_check"
    said = connection.execute(text(f"PRAGMA {pragma}({MOST_SHOWN})")).scalars().all()
    faults = [f"SQLite: {line}" for line in said if line != "ok"]
    orphans = connection.execute(text("PRAGMA foreign_key_check")).fetchmany(MOST_SHOWN)
    return faults + [f"table {row[0]} has a row with a broken reference" for row in orphans]


def _first(faults: Iterator[str]) -> Iterator[str]:
    for count, fault in enumerate(faults, 1):
        yield fault if count <= MOST_SHOWN else "more faults are not shown"
        if count > MOST_SHOWN:
            return


def _credentials(connection: Connection) -> Iterator[str]:
    for table in (invites, tokens, keyholders, live_members):
        wrong = select(func.count()).where(func.length(table.c.digest) != _DIGEST)
        if count := connection.execute(wrong.select_from(table)).scalar_one():
            yield f"table {table.name}: {count:,} rows with an invalid digest"
    short = select(func.count()).where(func.length(signing_keys.c.secret) != _DIGEST)
    if connection.execute(short.select_from(signing_keys)).scalar_one():
        yield "table signing_keys: the server's key is invalid"


def _campaign(connection: Connection, stored: Stored) -> Iterator[str]:
    """The faults of one campaign."""
    name = f"campaign {stored.campaign.id}"
    yield from (f"{name}: {fault}" for fault in _tasks(connection, stored))
    seen = _RowCounts()
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
    """Bytes of a report; None if a submission is one contribution."""
    policy = stored.campaign.terms.policy
    return None if policy.sealed else code_type(mechanism_of(policy).alphabet).itemsize


@dataclass(slots=True)
class _RowCounts:
    """The counts of a campaign's rows."""

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
        yield "its tasks are not numbered from 0"


def _worker(
    rows: Sequence[Row[Any]], tasks: int, size: int | None, seen: _RowCounts
) -> Iterator[str]:
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
        yield f"row {rows[-1].sequence} of reports: its worker reported on a task twice"


def _misshapen(row: Row[Any], tasks: int, size: int | None) -> str | None:
    count = len(row.tasks) // 4
    lengths = (len(row.report_id), len(row.worker), len(row.digest))
    if lengths != (_NAME, _NAME, _DIGEST):
        return "an identifier or digest has the wrong length"
    if len(row.tasks) % 4 or count == 0:
        return "it does not have a whole number of tasks"
    if size is not None and len(row.codes) != count * size:
        return "it does not have one code for each task"
    if int(np.frombuffer(row.tasks, "<u4").max()) >= tasks:
        return "it has a task that is not in the campaign"
    return contribution_fault(row.codes) if size is None else None


def _counts(connection: Connection, stored: Stored, seen: _RowCounts) -> Iterator[str]:
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
        yield f"{count:,} of its counts of refused reports are invalid"
