"""Submissions that may be stored go into the database, a batch at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter

from sqlalchemy import Connection

from sottovoce.stores.database.incoming import Intake
from sottovoce.stores.database.pipelining import Statement, in_one_trip

__all__ = ["Accepted", "store"]


@dataclass(slots=True)
class Accepted:
    """The submissions of one campaign that are to be stored, and what changes with them.

    `used` are workers and the invites that are theirs alone from now on.
    """

    campaign: int
    submissions: list[Intake] = field(default_factory=list)
    used: list[tuple[bytes, bytes]] = field(default_factory=list)
    new_workers: int = 0

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many new workers, submissions and reports they are."""
        reports = sum(intake.count for intake in self.submissions)
        return self.new_workers, len(self.submissions), reports


def store(connection: Connection, accepted: Accepted) -> None:
    """Write rows, who has used which invite, and the campaign's counters."""
    if connection.dialect.name == "postgresql":
        _in_one_trip(connection, accepted)
    else:
        _one_by_one(connection, accepted)


_COLUMNS = ("report_id", "worker", "day", "digest", "tasks", "codes")
_values = attrgetter(*_COLUMNS)


def _one_by_one(connection: Connection, accepted: Accepted) -> None:
    """Straight to the driver: half the cost of statements that are built."""
    rows = [(accepted.campaign, *_values(intake)) for intake in accepted.submissions]
    connection.exec_driver_sql(_INSERT, rows)
    if accepted.used:
        connection.exec_driver_sql(_USE, accepted.used)
    connection.exec_driver_sql(_COUNT, (*accepted.counts, accepted.campaign))


def _in_one_trip(connection: Connection, accepted: Accepted) -> None:
    """Other servers wait for the campaign, so PostgreSQL is asked once.

    A COPY of the rows costs as much, and takes two more round trips.
    """
    rows = zip(*map(_values, accepted.submissions), strict=True)
    columns = {name: list(column) for name, column in zip(_COLUMNS, rows, strict=True)}
    statements: list[Statement] = [(_INSERT_ALL, {"campaign": accepted.campaign, **columns})]
    if accepted.used:
        who, which = zip(*accepted.used, strict=True)
        statements.append((_USE_ALL, {"workers": list(who), "digests": list(which)}))
    workers, submissions, reports = accepted.counts
    added = {"workers": workers, "submissions": submissions, "reports": reports}
    statements.append((_COUNT_ALL, {**added, "campaign": accepted.campaign}))
    in_one_trip(connection, statements)


_INSERT = f"""
    INSERT INTO reports (campaign, {", ".join(_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?)"""
_USE = "UPDATE invites SET worker = ? WHERE digest = ?"
_COUNT = """
    UPDATE campaigns
    SET workers = workers + ?, submissions = submissions + ?, reports = reports + ?
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
_COUNT_ALL = """
    UPDATE campaigns
    SET workers = workers + %(workers)s, submissions = submissions + %(submissions)s,
        reports = reports + %(reports)s
    WHERE number = %(campaign)s"""
