"""Campaigns before they open: terms with a policy, and tasks. Nobody can report on them yet."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from sottovoce.campaign.guaranteeing import kept_by
from sottovoce.campaign.service import Service
from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.mechanisms.targets import Target, make_policy
from sottovoce.model import Campaign, Domain, Policy, State, Task, Terms
from sottovoce.model.campaign import check_tasks
from sottovoce.stores.database.campaigns import (
    Stored,
    add_campaign,
    change_campaign,
    set_tasks,
    tasks_at,
    the_campaign,
)

__all__ = [
    "calibrated_policy",
    "change_draft",
    "change_tasks",
    "create_draft",
    "default_mechanism",
    "given_policy",
    "list_tasks",
]


def calibrated_policy(
    domain: Domain,
    target: Target,
    *,
    mechanism: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Policy:
    """The policy of a mechanism calibrated to a target. May take seconds."""
    name = mechanism or default_mechanism(domain, target)
    with _computable():
        return make_policy(domain, name, target, **(parameters or {}))


def default_mechanism(domain: Domain, target: Target) -> str:
    """The mechanism for whoever names none.

    >>> default_mechanism(Domain.numeric(0, 10), Target(1.0, hide_participation=True))
    'laplace'
    """
    if domain.is_numeric:
        return "laplace" if target.hide_participation else "piecewise"
    return "null-randomized-response" if target.hide_participation else "randomized-response"


def given_policy(document: Any) -> Policy:
    """The policy in a document, whose mechanism keeps what it promises. May take seconds."""
    policy = Policy.of_json(document)
    with _computable():
        mechanism_of(policy)
    return policy


def create_draft(service: Service, terms: Terms, tasks: Sequence[Task] | None = None) -> Campaign:
    """A new campaign, which takes no reports yet. Its tasks may come later."""
    _check(terms, tasks)
    id = _new_id()

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
    with _computable():
        kept_by(terms)


@contextmanager
def _computable() -> Iterator[None]:
    """Numbers beyond what can be computed with are the requester's mistake."""
    try:
        yield
    except ArithmeticError:
        raise UsageError(
            "epsilon, delta, the answers or the range are too large or too small to compute with"
        ) from None


def _draft(connection: Connection, id: str) -> Stored:
    stored = the_campaign(connection, id, hold=True)
    if stored.campaign.state is not State.DRAFT:
        raise Refused(
            Reason.NOT_A_DRAFT,
            f"the campaign is {stored.campaign.state}: what workers were promised and asked "
            "does not change; make another campaign",
        )
    return stored


def _new_id() -> str:
    """Ten letters and digits, of which none looks like another: 50 random bits."""
    return base64.b32encode(secrets.token_bytes(7)).decode("ascii")[:10].lower()
