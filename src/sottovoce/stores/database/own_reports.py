"""What the database knows of one worker: the invite it came with, and its own reports."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, exists, insert, select, update

from sottovoce.stores.database.tables import campaigns, erased, invites, reports

__all__ = [
    "Invite",
    "OwnRow",
    "erase_report",
    "find_invite",
    "has_reported",
    "is_erased",
    "own_rows",
    "owner_of",
]


@dataclass(frozen=True, slots=True)
class Invite:
    """An invite of a campaign; `worker` is the one that used it, if it is for one."""

    kind: str
    expires_on: int | None
    worker: bytes | None


@dataclass(frozen=True, slots=True)
class OwnRow:
    """One submission, as it is packed."""

    report_id: bytes
    day: int
    tasks: bytes
    codes: bytes


def find_invite(connection: Connection, campaign: int, digest: bytes) -> Invite | None:
    """The campaign's invite with this digest."""
    query = select(invites.c.kind, invites.c.expires_on, invites.c.worker).where(
        invites.c.campaign == campaign, invites.c.digest == digest
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else Invite(row.kind, row.expires_on, row.worker)


def own_rows(connection: Connection, campaign: int, worker: bytes) -> list[OwnRow]:
    """A worker's submissions, by identifier: the order of arrival is kept to the server."""
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
    """Whether a submission was taken back."""
    query = select(erased).where(erased.c.campaign == campaign, erased.c.report_id == report_id)
    return connection.execute(select(query.exists())).scalar_one()


def owner_of(connection: Connection, campaign: int, report_id: bytes) -> bytes | None:
    """Whose submission this is; None where there is none."""
    query = select(reports.c.worker).where(
        reports.c.campaign == campaign, reports.c.report_id == report_id
    )
    return connection.execute(query).scalar_one_or_none()


def erase_report(connection: Connection, campaign: int, report_id: bytes) -> None:
    """Take a submission out, leave its tombstone, and count. The campaign must be held."""
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
