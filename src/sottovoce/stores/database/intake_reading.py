"""What a database knows about submissions that have just come, read at one go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Self, TypeAlias

from sqlalchemy import Connection

from sottovoce.stores.database.incoming import Intake
from sottovoce.stores.database.pipelining import Rows, in_one_trip

__all__ = ["HeldCampaign", "Invite", "Known", "erased_among", "held_campaigns", "hold"]

Question: TypeAlias = tuple[str, int | None, list[Any]]
"""A statement, the campaign it is about, if it is one, and keys of rows."""


@dataclass(slots=True)
class Invite:
    """An invite; `worker` is who has used it, if one worker may."""

    kind: str
    expires_on: int | None
    worker: bytes | None


@dataclass(frozen=True, slots=True)
class HeldCampaign:
    """A campaign as it is, and as it stays until the commit."""

    number: int
    state: str
    quota: int | None
    closes_on: int | None
    workers: int
    erasures: int


@dataclass(frozen=True, slots=True)
class Known:
    """What is stored: workers and digests by report, lists of tasks by worker, and invites."""

    reports: dict[bytes, tuple[bytes, bytes]] = field(default_factory=dict)
    tasks: dict[bytes, list[bytes]] = field(default_factory=dict)
    invites: dict[bytes, Invite] = field(default_factory=dict)

    @classmethod
    def of(cls, reports: Rows, tasks: Rows, invites: Rows) -> Self:
        """What three lists of rows say."""
        made = cls({id: (worker, digest) for id, worker, digest in reports})
        for worker, of_worker in tasks:
            made.tasks.setdefault(worker, []).append(of_worker)
        made.invites.update((digest, Invite(*rest)) for digest, *rest in invites)
        return made


def hold(connection: Connection, campaigns: Collection[int]) -> None:
    """Wait on PostgreSQL until no other server stores reports of these campaigns."""
    if _is_postgresql(connection):
        _together(connection, [(_HOLDING, None, sorted(campaigns))])


def held_campaigns(
    connection: Connection, incoming: Sequence[Intake]
) -> dict[int, tuple[HeldCampaign, Known]]:
    """The campaigns that are there, held until the commit, and what is known of each.

    Servers that take reports for one campaign take turns: SQLite has one writer anyway, PostgreSQL
    waits here for whoever holds the row. What is read afterwards sees all that the other committed
    (READ COMMITTED looks anew at each statement), so nobody reports twice in between; and numbers
    of reports grow in the order of commits. All rows are held in one order: no deadlock.
    """
    numbers = sorted({each.campaign for each in incoming})
    ask, campaigns, *stored = _POSTGRESQL if _is_postgresql(connection) else _SQLITE
    questions: list[Question] = [(campaigns, None, numbers)]
    for number in numbers:
        some = [each for each in incoming if each.campaign == number]
        reports, workers = [each.report_id for each in some], {each.worker for each in some}
        keys = (reports, list(workers), list({each.invite for each in some}))
        questions += zip(stored, repeat(number), keys)
    rows, *known = ask(connection, questions)
    found = {campaign.number: campaign for campaign in (HeldCampaign(*row) for row in rows)}
    return {
        number: (found[number], Known.of(*known[3 * place : 3 * place + 3]))
        for place, number in enumerate(numbers)
        if number in found
    }


def erased_among(connection: Connection, campaign: int, ids: list[bytes]) -> set[bytes]:
    """Those of these reports that their workers have taken back."""
    if _is_postgresql(connection):
        (rows,) = _together(connection, [(_ERASED_ANY, campaign, ids)])
    else:
        (rows,) = _one_by_one(connection, [(_ERASED, campaign, ids)])
    return {id for (id,) in rows}


def _is_postgresql(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _one_by_one(connection: Connection, questions: Iterable[Question]) -> list[Rows]:
    """The rows of some statements; `(…)` stands for the keys.

    Straight to the driver: half the cost of statements that are built.
    """
    found: list[Rows] = []
    for statement, campaign, keys in questions:
        marked = statement.replace("…", ", ".join("?" * len(keys)))
        values = (*keys,) if campaign is None else (campaign, *keys)
        found.append(connection.exec_driver_sql(marked, values).all())
    return found


def _together(connection: Connection, questions: Sequence[Question]) -> list[Rows]:
    """The rows of some statements, in one round trip."""
    named = [(text, {"campaign": campaign, "keys": keys}) for text, campaign, keys in questions]
    return in_one_trip(connection, named)


_CAMPAIGNS = """
    SELECT number, state, quota, closes_on, workers, erasures FROM campaigns
    WHERE number IN (…) ORDER BY number"""
_ERASED = "SELECT report_id FROM erased WHERE campaign = ? AND report_id IN (…)"
_SQLITE = (
    _one_by_one,
    _CAMPAIGNS,
    "SELECT report_id, worker, digest FROM reports WHERE campaign = ? AND report_id IN (…)",
    "SELECT worker, tasks FROM reports WHERE campaign = ? AND worker IN (…)",
    "SELECT digest, kind, expires_on, worker FROM invites WHERE campaign = ? AND digest IN (…)",
)

# One text whatever the number of keys, so that it is prepared once. Before a partition is analysed
# PostgreSQL takes its campaign for a 200th of it, and would read all of the campaign for some keys:
# OFFSET 0 has it look up one after another.
_LOOKED_UP = """
    SELECT found.* FROM unnest(%(keys)b::bytea[]) AS asked(key)
    CROSS JOIN LATERAL (
        SELECT {columns} FROM {table}
        WHERE campaign = %(campaign)s AND {key} = asked.key OFFSET 0
    ) AS found"""
_ERASED_ANY = _LOOKED_UP.format(columns="report_id", table="erased", key="report_id")
_HOLDING = _CAMPAIGNS.replace("IN (…)", "= ANY(%(keys)b)") + " FOR UPDATE"
_POSTGRESQL = (
    _together,
    _HOLDING,
    _LOOKED_UP.format(columns="report_id, worker, digest", table="reports", key="report_id"),
    _LOOKED_UP.format(columns="worker, tasks", table="reports", key="worker"),
    _LOOKED_UP.format(columns="digest, kind, expires_on, worker", table="invites", key="digest"),
)
