"""Drafts: campaigns that are not open yet, with terms, a policy and tasks."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.model import Campaign, State, Task, Terms
from sottovoce.model.campaign import check_tasks
from sottovoce.server.campaigns.guarantees import computable, guarantees_of
from sottovoce.server.database.campaigns import (
    Stored,
    add_campaign,
    change_campaign,
    set_tasks,
    tasks_at,
    the_campaign,
)
from sottovoce.server.service import Service


def create_draft(service: Service, terms: Terms, tasks: Sequence[Task] | None = None) -> Campaign:
    """Create a campaign, which accepts no reports yet. Its tasks may be added later."""
    _check(terms, tasks)
    id = new_id()

    def work(connection: Connection) -> Campaign:
        stored = add_campaign(connection, id, terms, service.today())
        if tasks is not None:
            set_tasks(connection, stored.number, tasks)
        return the_campaign(connection, id).campaign

    return service.change(work)


def change_draft(
    service: Service, id: str, terms: Terms, tasks: Sequence[Task] | None = None
) -> Campaign:
    """Change the terms of a draft; its tasks stay unless new ones are given."""
    _check(terms, tasks)

    def work(connection: Connection) -> Campaign:
        stored = _draft(connection, id)
        change_campaign(connection, stored.number, terms=terms)
        if tasks is not None:
            set_tasks(connection, stored.number, tasks)
        return the_campaign(connection, id).campaign

    return service.change(work)


def change_tasks(service: Service, id: str, tasks: Sequence[Task]) -> None:
    """Replace the tasks of a draft."""
    check_tasks(tasks)
    service.change(lambda connection: set_tasks(connection, _draft(connection, id).number, tasks))


def list_tasks(service: Service, id: str, offset: int, limit: int) -> tuple[list[Task], int]:
    """Up to `limit` tasks of a campaign from a place on, and their total number."""
    with service.database.reading() as connection:
        stored = the_campaign(connection, id)
        places = range(stored.campaign.tasks)[offset : offset + limit]
        return tasks_at(connection, stored.number, places), stored.campaign.tasks


def _check(terms: Terms, tasks: Sequence[Task] | None) -> None:
    """Refuse terms that could not be opened or whose guarantee cannot be computed."""
    if tasks is not None:
        check_tasks(tasks)
    with computable():
        guarantees_of(terms.policy)


def _draft(connection: Connection, id: str) -> Stored:
    stored = the_campaign(connection, id, hold=True)
    if stored.campaign.state is not State.DRAFT:
        raise Refused(
            Reason.NOT_A_DRAFT,
            f"the campaign is {stored.campaign.state}, so its terms can no longer change; make "
            "another campaign",
        )
    return stored


def new_id() -> str:
    """Ten unambiguous letters and digits: 50 random bits."""
    return base64.b32encode(secrets.token_bytes(7)).decode("ascii")[:10].lower()


@contextmanager
def malformed_field(name: str) -> Iterator[None]:
    """Turn an invalid value into an error that names the request's field."""
    try:
        yield
    except UsageError as error:
        raise Refused(Reason.MALFORMED, str(error), field=name) from None
