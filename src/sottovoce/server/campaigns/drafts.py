"""Campaigns before they open: terms with a policy, and tasks. Nobody can report on them yet."""

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
    """A new campaign, which takes no reports yet. Its tasks may come later."""
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
    """Other terms for a draft; its tasks stay unless others are given."""
    _check(terms, tasks)

    def work(connection: Connection) -> Campaign:
        stored = _draft(connection, id)
        change_campaign(connection, stored.number, terms=terms)
        if tasks is not None:
            set_tasks(connection, stored.number, tasks)
        return the_campaign(connection, id).campaign

    return service.change(work)


def change_tasks(service: Service, id: str, tasks: Sequence[Task]) -> None:
    """These tasks instead of those a draft had."""
    check_tasks(tasks)
    service.change(lambda connection: set_tasks(connection, _draft(connection, id).number, tasks))


def list_tasks(service: Service, id: str, offset: int, limit: int) -> tuple[list[Task], int]:
    """Up to `limit` tasks of a campaign from a place on, and how many there are in all."""
    with service.database.reading() as connection:
        stored = the_campaign(connection, id)
        places = range(stored.campaign.tasks)[offset : offset + limit]
        return tasks_at(connection, stored.number, places), stored.campaign.tasks


def _check(terms: Terms, tasks: Sequence[Task] | None) -> None:
    """Refuse what could not be opened, and what nobody could show the guarantee of."""
    if tasks is not None:
        check_tasks(tasks)
    with computable():
        guarantees_of(terms.policy)


def _draft(connection: Connection, id: str) -> Stored:
    stored = the_campaign(connection, id, hold=True)
    if stored.campaign.state is not State.DRAFT:
        raise Refused(
            Reason.NOT_A_DRAFT,
            f"the campaign is {stored.campaign.state}: what workers were promised and asked "
            "does not change; make another campaign",
        )
    return stored


def new_id() -> str:
    """Ten letters and digits, of which none looks like another: 50 random bits."""
    return base64.b32encode(secrets.token_bytes(7)).decode("ascii")[:10].lower()


@contextmanager
def malformed_field(name: str) -> Iterator[None]:
    """Refuse what makes no sense, and say in which field of the request it is."""
    try:
        yield
    except UsageError as error:
        raise Refused(Reason.MALFORMED, str(error), field=name) from None
