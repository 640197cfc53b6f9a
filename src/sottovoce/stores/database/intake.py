"""Submissions into the database, many at a time, each exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, CursorResult

from sottovoce.errors import Reason
from sottovoce.model import State

__all__ = ["Intake", "Outcome", "take"]

SINGLE = "single"
"""The kind of an invite that one worker may use; the other kind is `open`."""


@dataclass(frozen=True, slots=True)
class Intake:
    """A submission that was checked, packed: what is left to ask is what only the database knows.

    `tasks` are places in the campaign's list of tasks (4 bytes each), `codes` the reports' codes.
    `most` is how many answers the policy promises for; `whole` says that a worker sends once.
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

    @property
    def count(self) -> int:
        """How many reports."""
        return len(self.tasks) // 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """Stored now, stored before, or refused."""

    refused: Reason | None = None
    replayed: bool = False


STORED, REPLAYED = Outcome(), Outcome(replayed=True)


def take(connection: Connection, intakes: Sequence[Intake]) -> list[Outcome]:
    """Store what may be stored, in the order given, and say what became of each.

    Nothing is durable until the transaction is committed.
    """
    numbers = sorted({intake.campaign for intake in intakes})
    found = {row.number: row for row in _held_campaigns(connection, numbers)}
    outcomes: list[Outcome] = [Outcome(Reason.NOT_FOUND)] * len(intakes)
    for number in numbers:
        if number not in found:
            continue
        places = [i for i, intake in enumerate(intakes) if intake.campaign == number]
        batch = _Batch(connection, found[number], [intakes[i] for i in places])
        for place, outcome in zip(places, batch.outcomes(), strict=True):
            outcomes[place] = outcome
    return outcomes


class _Batch:
    """The submissions of one campaign, against what is stored and against each other."""

    def __init__(self, connection: Connection, campaign: Any, intakes: list[Intake]) -> None:
        self.connection, self.campaign, self.intakes = connection, campaign, intakes
        self.known: dict[bytes, tuple[bytes, bytes]] = {}
        self.earlier: dict[bytes, list[bytes]] = {}
        self._read_stored()
        self.invites = self._read_invites()
        self.erased = self._read_erased() if campaign.erasures else set()
        self.new_workers = 0
        self.used: list[tuple[bytes, bytes]] = []

    def _read_stored(self) -> None:
        """What is stored under these identifiers, and what of these workers."""
        number = self.campaign.number
        ids = [intake.report_id for intake in self.intakes]
        workers = list({intake.worker for intake in self.intakes})
        statement = f"""
            SELECT report_id, worker, digest, NULL FROM reports
            WHERE campaign = ? AND report_id IN ({_marks(ids)})
            UNION ALL SELECT NULL, worker, NULL, tasks FROM reports
            WHERE campaign = ? AND worker IN ({_marks(workers)})"""
        rows: Any = _run(self.connection, statement, (number, *ids, number, *workers))
        for report_id, worker, digest, tasks in rows:
            if tasks is None:
                self.known[report_id] = (worker, digest)
            else:
                self.earlier.setdefault(worker, []).append(tasks)

    def _read_invites(self) -> dict[bytes, _Invite]:
        digests = list({intake.invite for intake in self.intakes})
        statement = f"""
            SELECT digest, kind, expires_on, worker FROM invites
            WHERE campaign = ? AND digest IN ({_marks(digests)})"""
        rows = _run(self.connection, statement, (self.campaign.number, *digests))
        return {row.digest: _Invite(row.kind, row.expires_on, row.worker) for row in rows}

    def _read_erased(self) -> set[bytes]:
        ids = [intake.report_id for intake in self.intakes]
        statement = f"""
            SELECT report_id FROM erased WHERE campaign = ? AND report_id IN ({_marks(ids)})"""
        return set(_run(self.connection, statement, (self.campaign.number, *ids)).scalars())

    def outcomes(self) -> list[Outcome]:
        outcomes = [self._outcome(intake) for intake in self.intakes]
        stored = [
            intake
            for intake, outcome in zip(self.intakes, outcomes, strict=True)
            if outcome is STORED
        ]
        if stored:
            self._write(stored)
        return outcomes

    def _outcome(self, intake: Intake) -> Outcome:
        if intake.report_id in self.known:
            same = self.known[intake.report_id] == (intake.worker, intake.digest)
            return REPLAYED if same else Outcome(Reason.CONFLICT)
        refused = self._refused(intake)
        if refused is not None:
            return Outcome(refused)
        self.known[intake.report_id] = (intake.worker, intake.digest)
        if intake.worker not in self.earlier:
            self.new_workers += 1
        self.earlier.setdefault(intake.worker, []).append(intake.tasks)
        invite = self.invites[intake.invite]
        if invite.kind == SINGLE and invite.worker is None:
            invite.worker = intake.worker
            self.used.append((intake.worker, intake.invite))
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
        if campaign.quota is not None and campaign.workers + self.new_workers >= campaign.quota:
            return Reason.QUOTA_REACHED
        return None

    def _write(self, stored: list[Intake]) -> None:
        _run(self.connection, _INSERT, [_row(intake) for intake in stored])
        if self.used:
            _run(self.connection, "UPDATE invites SET worker = ? WHERE digest = ?", self.used)
        reports = sum(intake.count for intake in stored)
        _run(self.connection, _COUNT, (self.new_workers, len(stored), reports, stored[0].campaign))


@dataclass(slots=True)
class _Invite:
    kind: str
    expires_on: int | None
    worker: bytes | None


def _repeated(intake: Intake, earlier: Sequence[bytes]) -> Reason | None:
    """Whether a worker who reported before may report this too."""
    if intake.whole:
        return Reason.ALREADY_REPORTED
    before = np.frombuffer(b"".join(earlier), "<u4")
    if len(before) + intake.count > intake.most:
        return Reason.ALREADY_REPORTED
    if np.isin(np.frombuffer(intake.tasks, "<u4"), before).any():
        return Reason.ALREADY_REPORTED
    return None


_INSERT = """
    INSERT INTO reports (campaign, report_id, worker, day, digest, tasks, codes)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_COUNT = """
    UPDATE campaigns
    SET workers = workers + ?, submissions = submissions + ?, reports = reports + ?
    WHERE number = ?"""


def _row(intake: Intake) -> tuple[int | bytes, ...]:
    return (
        intake.campaign, intake.report_id, intake.worker, intake.day, intake.digest,
        intake.tasks, intake.codes,
    )  # fmt: skip


def _held_campaigns(connection: Connection, numbers: list[int]) -> CursorResult[Any]:
    """The campaigns as they are now, and as they stay until the commit.

    Servers that take reports for one campaign take turns: SQLite has one writer anyway, PostgreSQL
    waits here for whoever holds the row. What is read afterwards sees all that the other committed
    (READ COMMITTED looks anew at each statement), so nobody reports twice in between; and numbers
    of reports grow in the order of commits. All rows are held in one order: no deadlock.
    """
    statement = f"""
        SELECT number, state, quota, closes_on, workers, erasures FROM campaigns
        WHERE number IN ({_marks(numbers)}) ORDER BY number"""
    hold = "" if connection.dialect.name == "sqlite" else " FOR UPDATE"
    return _run(connection, statement + hold, tuple(numbers))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _run(connection: Connection, statement: str, values: Any) -> CursorResult[Any]:
    """A statement with a ? for each value, straight to the driver: half the cost of a built one."""
    if connection.dialect.name != "sqlite":
        statement = statement.replace("?", "%s")
    return connection.exec_driver_sql(statement, values)
