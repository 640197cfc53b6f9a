"""Whether what a database holds of a sealed campaign is what the service wrote."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from sqlalchemy import Connection, and_, func, select

from sottovoce.stores.database.batches import DIGEST
from sottovoce.stores.database.campaigns import Stored
from sottovoce.stores.database.tables import (
    batched,
    campaigns,
    keyholders,
    messages,
    opened,
    reports,
)

__all__ = ["contribution_fault", "sealed_faults"]

_WIDTH = 8
"""Bytes of a total."""


def contribution_fault(codes: bytes) -> str | None:
    """What is wrong with a stored contribution: its digest must be that of the text it signs."""
    try:
        text: str = json.loads(codes[DIGEST:])["text"]
        digest = hashlib.sha256(text.encode("ascii")).digest()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "it holds no contribution"
    return None if codes[:DIGEST] == digest else "its digest is not that of what was signed"


def sealed_faults(connection: Connection, stored: Stored) -> Iterator[str]:
    """The faults of one campaign's keyholders, batches and totals."""
    sealed = stored.campaign.terms.policy.sealed
    column = select(campaigns.c.sealed).where(campaigns.c.number == stored.number)
    if bool(connection.execute(column).scalar_one()) is not sealed:
        yield f"it is {'not ' if sealed else ''}marked as sealed, and its policy says otherwise"
    if not sealed:
        yield from _strays(connection, stored)
        return
    yield from _batches(connection, stored)
    yield from _totals(connection, stored)


def _strays(connection: Connection, stored: Stored) -> Iterator[str]:
    for table in (keyholders, messages, batched, opened):
        found = select(func.count()).where(table.c.campaign == stored.number)
        if connection.execute(found).scalar_one():
            yield f"it is not sealed and has rows of {table.name}"


def _batches(connection: Connection, stored: Stored) -> Iterator[str]:
    """Every contribution of a batch is there, and every batch was proposed."""
    mine = batched.c.campaign == stored.number
    same = and_(
        reports.c.campaign == batched.c.campaign,
        reports.c.report_id == batched.c.report_id,
        func.substr(reports.c.codes, 1, DIGEST) == batched.c.digest,
    )
    lost = select(func.count()).select_from(batched).outerjoin(reports, same)
    if count := connection.execute(lost.where(mine, reports.c.sequence.is_(None))).scalar_one():
        yield f"{count:,} contributions of its batches are not there"
    proposed = select(messages.c.number).where(
        messages.c.campaign == stored.number, messages.c.phase == "propose"
    )
    numbers = set(connection.execute(proposed).scalars())
    if numbers != set(range(len(numbers))):
        yield "its batches are not numbered from 0 on"
    used = set(connection.execute(select(batched.c.number).where(mine).distinct()).scalars())
    if used != numbers - {0}:
        yield "its batches are not those that were proposed"


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
        yield "its totals are not some for each task"
