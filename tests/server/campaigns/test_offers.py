"""Access to a campaign, and the tasks given to a worker."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from datetime import date, timedelta

import pytest
from sqlalchemy import delete, insert, update

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, State, Task, Terms, assigned, digest, pseudonym
from sottovoce.server.campaigns.offers import block_for, offered
from sottovoce.server.database import Database
from sottovoce.server.database.campaigns import (
    add_campaign,
    change_campaign,
    find_campaign,
    set_tasks,
)
from sottovoce.server.database.schema import invites
from sottovoce.server.service import Service

TODAY = date(2026, 11, 16)
POLICY = make_policy(
    Domain.categorical(["no", "yes"]), "randomized-response", Target(1.0, answers=4)
)
INVITE, SINGLE, OTHER = ("svi_" + letter * 43 for letter in "ABC")
RECEIPT = "svr_" + "R" * 43


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with database.writing() as connection:
        for id, invite in (("leaf0", INVITE), ("other", OTHER)):
            stored = add_campaign(connection, id, Terms("Leaf", "Oak?", POLICY), TODAY)
            set_tasks(connection, stored.number, [Task(f"t{i:02}", "is it?") for i in range(10)])
            change_campaign(connection, stored.number, state=State.OPEN)
            row = {"digest": digest(invite), "campaign": stored.number, "kind": "open"}
            connection.execute(insert(invites), row)
            if id == "leaf0":
                single = {"digest": digest(SINGLE), "campaign": stored.number, "kind": "single"}
                connection.execute(insert(invites), single)
    made = Service.on(database, today=lambda: TODAY)
    yield made
    made.close()


def change(service: Service, **values: object) -> None:
    with service.database.writing() as connection:
        stored = find_campaign(connection, "leaf0")
        assert stored is not None
        change_campaign(connection, stored.number, **values)  # type: ignore[arg-type]


def refusal(call: Callable[..., object], *arguments: object) -> Reason:
    with pytest.raises(Refused) as caught:
        call(*arguments)
    return caught.value.reason


def tasks_for(service: Service, id: str, invite: str) -> object:
    return block_for(service, id, invite, RECEIPT)


def test_holders_of_an_invite_see_the_campaign(service: Service) -> None:
    campaign = offered(service, "leaf0", INVITE)
    assert (campaign.id, campaign.state, campaign.block) == ("leaf0", State.OPEN, 4)


def test_a_worker_is_given_the_tasks_that_the_hash_names(service: Service) -> None:
    block = block_for(service, "leaf0", INVITE, RECEIPT)
    worker = pseudonym("leaf0", RECEIPT)
    expected = assigned("leaf0", worker, 10, 4)
    assert block.worker == worker
    assert [task.name for task in block.tasks] == [f"t{place:02}" for place in expected]


@pytest.mark.parametrize("call", [offered, tasks_for])
def test_an_invite_opens_one_campaign_only(service: Service, call: Callable[..., object]) -> None:
    assert refusal(call, service, "leaf0", OTHER) is Reason.BAD_CREDENTIAL
    assert refusal(call, service, "leaf0", "svi_" + "X" * 43) is Reason.BAD_CREDENTIAL
    assert refusal(call, service, "leaf0", "svk_" + "A" * 43) is Reason.BAD_CREDENTIAL
    assert refusal(call, service, "nothere", INVITE) is Reason.NOT_FOUND


def test_a_revoked_invite_opens_nothing(service: Service) -> None:
    with service.database.writing() as connection:
        connection.execute(delete(invites).where(invites.c.digest == digest(INVITE)))
    assert refusal(offered, service, "leaf0", INVITE) is Reason.BAD_CREDENTIAL


@pytest.mark.parametrize(("days", "refused"), [(0, True), (1, False)])
def test_an_invite_ends_with_its_day(service: Service, days: int, refused: bool) -> None:
    day = (TODAY + timedelta(days=days)).toordinal()
    with service.database.writing() as connection:
        connection.execute(update(invites).values(expires_on=day))
    if refused:
        assert refusal(offered, service, "leaf0", INVITE) is Reason.INVITE_EXPIRED
        assert refusal(block_for, service, "leaf0", INVITE, RECEIPT) is Reason.INVITE_EXPIRED
    else:
        assert offered(service, "leaf0", INVITE).id == "leaf0"


def test_a_used_invite_gives_tasks_to_the_worker_that_used_it_only(service: Service) -> None:
    user = bytes.fromhex(pseudonym("leaf0", RECEIPT))
    with service.database.writing() as connection:
        used = update(invites).where(invites.c.digest == digest(SINGLE)).values(worker=user)
        connection.execute(used)
    assert offered(service, "leaf0", SINGLE).id == "leaf0"
    assert len(block_for(service, "leaf0", SINGLE, RECEIPT).tasks) == 4
    stranger = "svr_" + secrets.token_urlsafe(32)
    assert refusal(block_for, service, "leaf0", SINGLE, stranger) is Reason.INVITE_USED


def test_a_receipt_must_be_one(service: Service) -> None:
    assert refusal(block_for, service, "leaf0", INVITE, "svr_short") is Reason.BAD_CREDENTIAL
    assert refusal(block_for, service, "leaf0", INVITE, INVITE) is Reason.BAD_CREDENTIAL


def test_a_draft_is_offered_to_nobody(service: Service) -> None:
    change(service, state=State.DRAFT)
    assert refusal(offered, service, "leaf0", INVITE) is Reason.NOT_OPEN


def test_a_closed_campaign_is_still_described_and_gives_no_tasks(service: Service) -> None:
    change(service, state=State.CLOSED)
    assert offered(service, "leaf0", INVITE).state is State.CLOSED
    assert refusal(block_for, service, "leaf0", INVITE, RECEIPT) is Reason.NOT_OPEN


def test_after_its_last_day_a_campaign_is_closed_though_nobody_closed_it(service: Service) -> None:
    change(service, terms=Terms("Leaf", "Oak?", POLICY, closes_on=TODAY))
    assert offered(service, "leaf0", INVITE).state is State.CLOSED
    assert refusal(block_for, service, "leaf0", INVITE, RECEIPT) is Reason.NOT_OPEN
