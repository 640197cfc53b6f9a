"""Drafts: campaigns that are not open yet, with terms, a policy and tasks."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection

from sottovoce.api.known_truths import aligned, known_gold
from sottovoce.errors import DataError, Reason, Refused, UsageError
from sottovoce.model import Campaign, Policy, State, Task, Terms
from sottovoce.model.campaign import check_tasks
from sottovoce.server.campaigns.guarantees import computable, guarantees_of
from sottovoce.server.database.campaigns import (
    Stored,
    add_campaign,
    change_campaign,
    known_truths,
    set_tasks,
    tasks_at,
    the_campaign,
)
from sottovoce.server.service import Service


def create_draft(service: Service, terms: Terms, tasks: Sequence[Task] | None = None) -> Campaign:
    """Create a campaign, which accepts no reports yet. Its tasks may be added later."""
    _check(terms, tasks)
    check_known(terms.policy, tasks or ())
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
    check_known(terms.policy, tasks or ())

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
    """Up to `limit` tasks of a campaign from a place on, and their total number.

    For the requester: with known truths.
    """
    with service.database.reading() as connection:
        stored = the_campaign(connection, id)
        places = range(stored.campaign.tasks)[offset : offset + limit]
        return requesters_tasks(connection, stored.number, places), stored.campaign.tasks


def requesters_tasks(connection: Connection, number: int, places: range) -> list[Task]:
    """The tasks at these places, with known truths."""
    known = known_truths(connection, number)
    tasks = tasks_at(connection, number, places)
    return [known.get(place, task) for place, task in zip(places, tasks, strict=True)]


def check_known(policy: Policy, tasks: Iterable[Task]) -> None:
    """Refuse known truths that are no answers, or of a sealed campaign."""
    known = [task for task in tasks if task.known is not None]
    if not known:
        return
    if policy.sealed:
        raise Refused(
            Reason.MALFORMED,
            "a sealed campaign cannot learn from known truths, because single answers are never "
            "opened; remove them",
            field="tasks",
        )
    try:
        gold = known_gold(known, policy.domain)
        aligned(gold, gold.tasks, policy.domain)
    except DataError as error:
        raise Refused(Reason.MALFORMED, str(error), field="tasks") from None


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
