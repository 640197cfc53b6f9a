"""Rows of campaigns and their tasks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.engine import Row

from sottovoce.errors import Reason, Refused
from sottovoce.model import Campaign, Counts, Policy, State, Task, Terms
from sottovoce.model.campaign import Assignment
from sottovoce.server.database.postgresql import add_partition, drop_partition, insert_many
from sottovoce.server.database.schema import campaigns, events, opened, tasks


@dataclass(frozen=True, slots=True)
class Stored:
    """A campaign and its number, by which rows refer to it."""

    number: int
    campaign: Campaign


def add_campaign(
    connection: Connection, id: str, terms: Terms, today: date, *, simulated: bool = False
) -> Stored:
    """Add a draft."""
    row = {"id": id, "state": State.DRAFT, "created_on": today.toordinal(), **_terms(terms)}
    connection.execute(insert(campaigns), {**row, "simulated": int(simulated)})
    found = find_campaign(connection, id)
    assert found is not None  # noqa: S101 - it was just added
    return found


def find_campaign(connection: Connection, id: str, *, hold: bool = False) -> Stored | None:
    """The campaign with this identifier; `hold` locks it until the commit."""
    query = select(campaigns).where(campaigns.c.id == id)
    row = connection.execute(query.with_for_update() if hold else query).one_or_none()
    return None if row is None else _stored(row)


def the_campaign(connection: Connection, id: str, *, hold: bool = False) -> Stored:
    """The campaign with this identifier, which must exist."""
    stored = find_campaign(connection, id, hold=hold)
    if stored is None:
        raise Refused(Reason.NOT_FOUND, "the campaign does not exist")
    return stored


def number_of(connection: Connection, id: str) -> int | None:
    """The number by which rows refer to a campaign."""
    query = select(campaigns.c.number).where(campaigns.c.id == id)
    return connection.execute(query).scalar_one_or_none()


def sealed_ids(connection: Connection) -> list[str]:
    """The sealed campaigns that are open or whose totals are not opened, the oldest first."""
    query = (
        select(campaigns.c.id)
        .outerjoin(opened, opened.c.campaign == campaigns.c.number)
        .where(
            campaigns.c.sealed == 1,
            campaigns.c.state != State.DRAFT,
            opened.c.campaign.is_(None),
        )
        .order_by(campaigns.c.number)
    )
    return list(connection.execute(query).scalars())


def all_campaigns(connection: Connection) -> list[Stored]:
    """Every campaign, the newest first."""
    rows = connection.execute(select(campaigns).order_by(campaigns.c.number.desc()))
    return [_stored(row) for row in rows]


def change_campaign(
    connection: Connection,
    number: int,
    *,
    terms: Terms | None = None,
    state: State | None = None,
    opened_on: date | None = None,
    closed_on: date | None = None,
    published: bool | None = None,
) -> None:
    """Change a campaign's terms or state."""
    values: dict[str, Any] = _terms(terms) if terms else {}
    if state is not None:
        values["state"] = state
    if published is not None:
        values["published"] = int(published)
    for column, day in (("opened_on", opened_on), ("closed_on", closed_on)):
        if day is not None:
            values[column] = day.toordinal()
    connection.execute(update(campaigns).where(campaigns.c.number == number).values(**values))
    if state is State.OPEN:
        add_partition(connection, number)


def delete_campaign(connection: Connection, number: int) -> None:
    """Delete a campaign and everything that belongs to it."""
    connection.execute(delete(campaigns).where(campaigns.c.number == number))
    drop_partition(connection, number)  # last: it briefly locks all reports


def set_tasks(connection: Connection, number: int, given: Sequence[Task]) -> None:
    """Replace the tasks of a campaign."""
    connection.execute(delete(tasks).where(tasks.c.campaign == number))
    insert_many(
        connection,
        tasks,
        ("campaign", "place", "name", "text", "image", "known"),
        ((number, place, t.name, t.text, t.image, t.known) for place, t in enumerate(given)),
    )
    counted = update(campaigns).where(campaigns.c.number == number).values(tasks=len(given))
    connection.execute(counted)


def task_names(connection: Connection, number: int) -> list[str]:
    """The names of all tasks, by place."""
    query = select(tasks.c.name).where(tasks.c.campaign == number).order_by(tasks.c.place)
    return list(connection.execute(query).scalars())


def known_truths(connection: Connection, number: int) -> dict[int, Task]:
    """The tasks with a known truth, by place. For the requester and inference only."""
    query = select(tasks).where(tasks.c.campaign == number, tasks.c.known.is_not(None))
    rows = connection.execute(query.order_by(tasks.c.place))
    return {row.place: Task(row.name, row.text, row.image, row.known) for row in rows}


def tasks_at(connection: Connection, number: int, places: Iterable[int]) -> list[Task]:
    """The tasks at these places, in order, as workers see them: without known truths."""
    wanted = sorted(places)
    found: list[Task] = []
    for start in range(0, len(wanted), 1000):
        query = (
            select(tasks.c.name, tasks.c.text, tasks.c.image)
            .where(tasks.c.campaign == number, tasks.c.place.in_(wanted[start : start + 1000]))
            .order_by(tasks.c.place)
        )
        found.extend(Task(row.name, row.text, row.image) for row in connection.execute(query))
    return found


def note_event(connection: Connection, event: str, today: date, campaign: str | None) -> None:
    """Add an entry to the audit log of requesters' actions."""
    row = {"day": today.toordinal(), "event": event, "campaign": campaign}
    connection.execute(insert(events), row)


def _terms(terms: Terms) -> dict[str, Any]:
    closes_on = terms.closes_on
    document = {
        "title": terms.title,
        "question": terms.question,
        "policy": terms.policy.text(),
        "unit": terms.unit,
        "assignment": terms.assignment,
    }
    return {
        "terms": json.dumps(document),
        "sealed": int(terms.policy.sealed),
        "quota": terms.quota,
        "closes_on": None if closes_on is None else closes_on.toordinal(),
    }


def _stored(row: Row[Any]) -> Stored:
    document = json.loads(row.terms)
    terms = Terms(
        document["title"],
        document["question"],
        Policy.parse(document["policy"]),
        document["unit"],
        row.quota,
        _day(row.closes_on),
        Assignment(document.get("assignment", Assignment.HASH)),
    )
    counts = Counts(row.workers, row.submissions, row.reports, row.erasures, row.cut_short)
    days = _day(row.opened_on), _day(row.closed_on)
    marks = bool(row.simulated), bool(row.published)
    campaign = Campaign(row.id, State(row.state), terms, row.tasks, counts, *days, *marks)
    return Stored(row.number, campaign)


def _day(ordinal: int | None) -> date | None:
    return None if ordinal is None else date.fromordinal(ordinal)
