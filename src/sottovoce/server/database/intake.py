"""Stores submissions: many at a time, each exactly once.

Everything that the database knows about new submissions is read in one go, and accepted ones are
written in batches. Refused reports are only counted, by campaign and reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import attrgetter
from typing import Any, Self, TypeAlias

import numpy as np
from sqlalchemy import Connection, insert, select, update

from sottovoce.errors import Reason
from sottovoce.model import State
from sottovoce.server.database.hashed_credentials import SINGLE, Invite
from sottovoce.server.database.postgresql import Rows, Statement, in_one_trip
from sottovoce.server.database.schema import campaigns, rejections


@dataclass(frozen=True, slots=True)
class Intake:
    """A checked and packed submission; only the checks against the database are left.

    `tasks` are places in the campaign's list of tasks (4 bytes each), `codes` the reports' codes.
    `most` is how many answers the policy covers; `whole` means that a worker sends once.
    `cut_short` means that the worker's device said that its budget does not cover all tasks.
    """

    campaign: int
    report_id: bytes
    worker: bytes
    invite: bytes
    day: int
    digest: bytes
    tasks: bytes
    codes: bytes
    most: int
    whole: bool
    cut_short: bool = False

    @property
    def count(self) -> int:
        """How many reports."""
        return len(self.tasks) // 4


_Lookup: TypeAlias = tuple[str, int | None, list[Any]]
"""A statement, its campaign, if it has one, and keys of rows."""


@dataclass(frozen=True, slots=True)
class HeldCampaign:
    """A campaign's state, locked until the commit."""

    number: int
    state: str
    quota: int | None
    closes_on: int | None
    workers: int
    erasures: int


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Stored rows: workers and digests by report, lists of tasks by worker, and invites."""

    reports: dict[bytes, tuple[bytes, bytes]] = field(default_factory=dict)
    tasks: dict[bytes, list[bytes]] = field(default_factory=dict)
    invites: dict[bytes, Invite] = field(default_factory=dict)

    @classmethod
    def of(cls, reports: Rows, tasks: Rows, invites: Rows) -> Self:
        """Build it from three lists of rows."""
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
) -> dict[int, tuple[HeldCampaign, KnownRows]]:
    """The existing campaigns, locked until the commit, and the known rows of each.

    Servers that accept reports for one campaign take turns: SQLite has one writer anyway, and
    PostgreSQL waits here for the row lock. Later reads see everything that the other server
    committed (READ COMMITTED takes a new snapshot per statement), so nobody can report twice in
    between, and numbers of reports grow in commit order. Rows are locked in one order, which avoids
    deadlocks.
    """
    numbers = sorted({each.campaign for each in incoming})
    ask, campaigns, *stored = _POSTGRESQL if _is_postgresql(connection) else _SQLITE
    questions: list[_Lookup] = [(campaigns, None, numbers)]
    for number in numbers:
        some = [each for each in incoming if each.campaign == number]
        reports, workers = [each.report_id for each in some], {each.worker for each in some}
        keys = (reports, list(workers), list({each.invite for each in some}))
        questions += zip(stored, repeat(number), keys)
    rows, *known = ask(connection, questions)
    found = {campaign.number: campaign for campaign in (HeldCampaign(*row) for row in rows)}
    return {
        number: (found[number], KnownRows.of(*known[3 * place : 3 * place + 3]))
        for place, number in enumerate(numbers)
        if number in found
    }


def erased_among(connection: Connection, campaign: int, ids: list[bytes]) -> set[bytes]:
    """The reports among these that their workers have deleted."""
    if _is_postgresql(connection):
        (rows,) = _together(connection, [(_ERASED_ANY, campaign, ids)])
    else:
        (rows,) = _read_one_by_one(connection, [(_ERASED, campaign, ids)])
    return {id for (id,) in rows}


def _is_postgresql(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _read_one_by_one(connection: Connection, questions: Iterable[_Lookup]) -> list[Rows]:
    """The rows of some statements; `(…)` is replaced by the keys.

    Calls the driver directly, which halves the cost.
    """
    found: list[Rows] = []
    for statement, campaign, keys in questions:
        marked = statement.replace("…", ", ".join("?" * len(keys)))
        values = (*keys,) if campaign is None else (campaign, *keys)
        found.append(connection.exec_driver_sql(marked, values).all())
    return found


def _together(connection: Connection, questions: Sequence[_Lookup]) -> list[Rows]:
    """The rows of some statements, in one round trip."""
    named = [(text, {"campaign": campaign, "keys": keys}) for text, campaign, keys in questions]
    return in_one_trip(connection, named)


_CAMPAIGNS = """
    SELECT number, state, quota, closes_on, workers, erasures FROM campaigns
    WHERE number IN (…) ORDER BY number"""
_ERASED = "SELECT report_id FROM erased WHERE campaign = ? AND report_id IN (…)"
_SQLITE = (
    _read_one_by_one,
    _CAMPAIGNS,
    "SELECT report_id, worker, digest FROM reports WHERE campaign = ? AND report_id IN (…)",
    "SELECT worker, tasks FROM reports WHERE campaign = ? AND worker IN (…)",
    "SELECT digest, kind, expires_on, worker FROM invites WHERE campaign = ? AND digest IN (…)",
)

# The same text for any number of keys, so that it is prepared once. Before a partition is analysed,
# PostgreSQL estimates that a campaign is 1/200 of it, and would read the whole campaign for a few
# keys. OFFSET 0 makes it look them up one by one.
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


@dataclass(slots=True)
class Accepted:
    """The submissions of one campaign to store, and the changes that go with them.

    `used` are workers and the single invites that they have used.
    """

    campaign: int
    submissions: list[Intake] = field(default_factory=list)
    used: list[tuple[bytes, bytes]] = field(default_factory=list)
    new_workers: int = 0

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """The numbers of new workers, submissions, reports, and devices cut short."""
        reports = sum(intake.count for intake in self.submissions)
        cut_short = sum(intake.cut_short for intake in self.submissions)
        return self.new_workers, len(self.submissions), reports, cut_short


def store(connection: Connection, accepted: Accepted) -> None:
    """Write the rows, the used invites, and the campaign's counters."""
    if _is_postgresql(connection):
        _in_one_trip(connection, accepted)
    else:
        _write_one_by_one(connection, accepted)


_COLUMNS = ("report_id", "worker", "day", "digest", "tasks", "codes")
_values = attrgetter(*_COLUMNS)


def _write_one_by_one(connection: Connection, accepted: Accepted) -> None:
    """Calls the driver directly, which halves the cost."""
    rows = [(accepted.campaign, *_values(intake)) for intake in accepted.submissions]
    connection.exec_driver_sql(_INSERT, rows)
    if accepted.used:
        connection.exec_driver_sql(_USE, accepted.used)
    connection.exec_driver_sql(_COUNT, (*accepted.counts, accepted.campaign))


def _in_one_trip(connection: Connection, accepted: Accepted) -> None:
    """Write in one round trip to PostgreSQL, because other servers wait for the campaign.

    A COPY of the rows costs as much and needs two more round trips.
    """
    rows = zip(*map(_values, accepted.submissions), strict=True)
    columns = {name: list(column) for name, column in zip(_COLUMNS, rows, strict=True)}
    statements: list[Statement] = [(_INSERT_ALL, {"campaign": accepted.campaign, **columns})]
    if accepted.used:
        who, which = zip(*accepted.used, strict=True)
        statements.append((_USE_ALL, {"workers": list(who), "digests": list(which)}))
    added = dict(zip(_COUNTED, accepted.counts, strict=True))
    statements.append((_COUNT_ALL, {**added, "campaign": accepted.campaign}))
    in_one_trip(connection, statements)


_INSERT = f"""
    INSERT INTO reports (campaign, {", ".join(_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?)"""
_USE = "UPDATE invites SET worker = ? WHERE digest = ?"
_COUNTED = ("workers", "submissions", "reports", "cut_short")
_COUNT = f"""
    UPDATE campaigns SET {", ".join(f"{name} = {name} + ?" for name in _COUNTED)}
    WHERE number = ?"""

_INSERT_ALL = f"""
    INSERT INTO reports (campaign, {", ".join(_COLUMNS)})
    SELECT %(campaign)s, * FROM unnest(
        %(report_id)b::bytea[], %(worker)b::bytea[], %(day)b::integer[], %(digest)b::bytea[],
        %(tasks)b::bytea[], %(codes)b::bytea[])"""
_USE_ALL = """
    UPDATE invites SET worker = used.worker
    FROM unnest(%(workers)b::bytea[], %(digests)b::bytea[]) AS used(worker, digest)
    WHERE invites.digest = used.digest"""
_COUNT_ALL = f"""
    UPDATE campaigns SET {", ".join(f"{name} = {name} + %({name})s" for name in _COUNTED)}
    WHERE number = %(campaign)s"""


@dataclass(frozen=True, slots=True)
class IntakeOutcome:
    """Stored now, stored before, or refused."""

    refused: Reason | None = None
    replayed: bool = False


STORED, REPLAYED = IntakeOutcome(), IntakeOutcome(replayed=True)


def take(connection: Connection, intakes: Sequence[Intake]) -> list[IntakeOutcome]:
    """Store accepted submissions in the given order and return the outcome of each.

    Nothing is durable until the transaction is committed.
    """
    held = held_campaigns(connection, intakes)
    outcomes: list[IntakeOutcome] = [IntakeOutcome(Reason.NOT_FOUND)] * len(intakes)
    for number, (campaign, known) in held.items():
        places = [i for i, intake in enumerate(intakes) if intake.campaign == number]
        batch = _CampaignBatch(connection, campaign, known, [intakes[i] for i in places])
        for place, outcome in zip(places, batch.outcomes(), strict=True):
            outcomes[place] = outcome
    return outcomes


class _CampaignBatch:
    """The submissions of one campaign, checked against stored rows and each other."""

    def __init__(
        self,
        connection: Connection,
        campaign: HeldCampaign,
        known: KnownRows,
        intakes: list[Intake],
    ) -> None:
        self.connection, self.campaign, self.intakes = connection, campaign, intakes
        self.known, self.earlier, self.invites = known.reports, known.tasks, known.invites
        self.erased: set[bytes] = set()
        if campaign.erasures:
            ids = [intake.report_id for intake in intakes]
            self.erased = erased_among(connection, campaign.number, ids)
        self.accepted = Accepted(campaign.number)

    def outcomes(self) -> list[IntakeOutcome]:
        outcomes = [self._outcome(intake) for intake in self.intakes]
        if self.accepted.submissions:
            store(self.connection, self.accepted)
        return outcomes

    def _outcome(self, intake: Intake) -> IntakeOutcome:
        if intake.report_id in self.known:
            same = self.known[intake.report_id] == (intake.worker, intake.digest)
            return REPLAYED if same else IntakeOutcome(Reason.CONFLICT)
        refused = self._refused(intake)
        if refused is not None:
            return IntakeOutcome(refused)
        self.known[intake.report_id] = (intake.worker, intake.digest)
        self.accepted.submissions.append(intake)
        if intake.worker not in self.earlier:
            self.accepted.new_workers += 1
        self.earlier.setdefault(intake.worker, []).append(intake.tasks)
        invite = self.invites[intake.invite]
        if invite.kind == SINGLE and invite.worker is None:
            invite.worker = intake.worker
            self.accepted.used.append((intake.worker, intake.invite))
        return STORED

    def _refused(self, intake: Intake) -> Reason | None:
        campaign, earlier = self.campaign, self.earlier.get(intake.worker, ())
        if intake.report_id in self.erased:
            return Reason.ERASED
        closes = campaign.closes_on
        if campaign.state != State.OPEN or (closes is not None and intake.day >= closes):
            return Reason.NOT_OPEN
        invite = self.invites.get(intake.invite)
        if invite is None:
            return Reason.BAD_CREDENTIAL
        if invite.expires_on is not None and intake.day >= invite.expires_on:
            return Reason.INVITE_EXPIRED
        if invite.kind == SINGLE and invite.worker not in (None, intake.worker):
            return Reason.INVITE_USED
        if earlier:
            return _repeated(intake, earlier)
        workers = campaign.workers + self.accepted.new_workers
        if campaign.quota is not None and workers >= campaign.quota:
            return Reason.QUOTA_REACHED
        return None


def _repeated(intake: Intake, earlier: Sequence[bytes]) -> Reason | None:
    """The reason why a worker who has already reported may not report this too, if any."""
    if intake.whole:
        return Reason.ALREADY_REPORTED
    before = np.frombuffer(b"".join(earlier), "<u4")
    if len(before) + intake.count > intake.most:
        return Reason.ALREADY_REPORTED
    if np.isin(np.frombuffer(intake.tasks, "<u4"), before).any():
        return Reason.ALREADY_REPORTED
    return None


def add_rejections(connection: Connection, counts: Mapping[tuple[int, Reason], int]) -> None:
    """Add to the stored counts; counts of deleted campaigns are dropped."""
    numbers = sorted({campaign for campaign, _ in counts})
    # Locked, so that servers take turns and no campaign is deleted in the meantime.
    held = select(campaigns.c.number).where(campaigns.c.number.in_(numbers))
    there = set(connection.execute(held.order_by(campaigns.c.number).with_for_update()).scalars())
    for (campaign, reason), count in counts.items():
        if campaign in there:
            _add(connection, campaign, reason, count)


def find_rejections(connection: Connection, campaign: int) -> dict[Reason, int]:
    """The count of each reason, the most frequent first, then by name."""
    query = (
        select(rejections.c.reason, rejections.c.count)
        .where(rejections.c.campaign == campaign)
        .order_by(rejections.c.count.desc(), rejections.c.reason)
    )
    return {Reason(row.reason): row[1] for row in connection.execute(query)}


def _add(connection: Connection, campaign: int, reason: Reason, count: int) -> None:
    one = (rejections.c.campaign == campaign) & (rejections.c.reason == str(reason))
    more = update(rejections).where(one).values(count=rejections.c.count + count)
    if connection.execute(more).rowcount == 0:
        row = {"campaign": campaign, "reason": str(reason), "count": count}
        connection.execute(insert(rejections), row)
