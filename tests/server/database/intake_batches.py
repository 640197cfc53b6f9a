"""Campaigns in rows, and submissions as the writer gets them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import numpy as np
from sqlalchemy import Connection, func, insert, select

from sottovoce import Target, make_policy
from sottovoce.model import Counts, Domain, State, Task, Terms
from sottovoce.server.database import Database, Intake, Writer
from sottovoce.server.database.campaigns import (
    add_campaign,
    change_campaign,
    find_campaign,
    set_tasks,
)
from sottovoce.server.database.intake import IntakeOutcome
from sottovoce.server.database.schema import invites, reports

TODAY = date(2026, 3, 1)
OPEN_INVITE, SINGLE_INVITE = b"o" * 32, b"s" * 32
POLICY = make_policy(
    Domain.categorical(["no", "yes"]), "randomized-response", Target(1.0, answers=3)
)


def add(
    connection: Connection,
    id: str = "leaf",
    *,
    quota: int | None = None,
    closes_on: date | None = None,
    expires_on: date | None = None,
) -> int:
    """An open campaign with an open and a single-use invite."""
    terms = Terms("Leaf", "Oak?", POLICY, None, quota, closes_on)
    number = add_campaign(connection, id, terms, TODAY).number
    set_tasks(connection, number, [Task(f"t{i}", "This?") for i in range(9)])
    change_campaign(connection, number, state=State.OPEN)
    expires = None if expires_on is None else expires_on.toordinal()
    for kind, digest in (("open", OPEN_INVITE), ("single", SINGLE_INVITE)):
        row = {"digest": id.encode() + digest, "campaign": number, "kind": kind}
        connection.execute(insert(invites), {**row, "expires_on": expires})
    return number


def opened(database: Database) -> Intake:
    """A submission to a new open campaign, each time it is asked for."""
    with database.writing() as connection:
        return submission(add(connection))


def submission(
    number: int,
    tasks: Sequence[int] = (0, 1),
    *,
    worker: bytes | None = None,
    invite: bytes = b"leaf" + OPEN_INVITE,
    whole: bool = False,
) -> Intake:
    """A new submission, of a new worker unless one is given."""
    return Intake(
        number, secrets.token_bytes(16), worker or secrets.token_bytes(16), invite,
        TODAY.toordinal(), secrets.token_bytes(32), np.array(tasks, "<u4").tobytes(),
        np.zeros(len(tasks), "<i4").tobytes(), 3, whole,
    )  # fmt: skip


def another(intake: Intake) -> Intake:
    """A submission like this one, of another worker."""
    return replace(
        intake,
        report_id=secrets.token_bytes(16),
        worker=secrets.token_bytes(16),
        digest=secrets.token_bytes(32),
    )


def taken(writer: Writer, intakes: Sequence[Intake]) -> list[IntakeOutcome | BaseException]:
    """The outcomes of submissions that are handed over together."""

    async def wait() -> list[IntakeOutcome | BaseException]:
        futures = [writer.take(intake) for intake in intakes]
        return await asyncio.gather(*futures, return_exceptions=True)

    return asyncio.run(wait())


def counted(connection: Connection, id: str = "leaf") -> Counts:
    """The counts in the campaign's row."""
    stored = find_campaign(connection, id)
    assert stored is not None
    return stored.campaign.counts


def recounted(connection: Connection, number: int) -> Counts:
    """The counts of the stored rows."""
    rows = connection.execute(
        select(
            func.count(reports.c.worker.distinct()),
            func.count(),
            func.coalesce(func.sum(func.length(reports.c.tasks)), 0),
        ).where(reports.c.campaign == number)
    ).one()
    return Counts(rows[0], rows[1], int(rows[2]) // 4)
