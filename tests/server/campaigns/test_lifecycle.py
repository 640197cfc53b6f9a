"""A campaign opens once, closes once, and can be deleted at any time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from tests.server.drafts import LABELS, TODAY, Calendar, draft, running, terms

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target
from sottovoce.model import State, Task
from sottovoce.server.campaigns.drafts import create_draft
from sottovoce.server.campaigns.guarantees import calibrated_policy
from sottovoce.server.campaigns.invites import InviteKind, invite
from sottovoce.server.campaigns.lifecycle import (
    close_campaign,
    close_due,
    delete_campaign,
    find_campaign,
    list_campaigns,
    open_campaign,
    scheduled_closing,
)
from sottovoce.server.campaigns.webhooks import register
from sottovoce.server.database import Database
from sottovoce.server.database.schema import campaigns, deliveries, events, invites, tasks
from sottovoce.server.service import Service


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@pytest.fixture
def service(database: Database, calendar: Calendar) -> Iterator[Service]:
    with running(database, calendar) as made:
        yield made


def noted(service: Service) -> list[tuple[str, str | None]]:
    with service.database.reading() as connection:
        rows = connection.execute(select(events.c.event, events.c.campaign).order_by("number"))
        return [(row.event, row.campaign) for row in rows]


def announced(service: Service) -> list[dict[str, object]]:
    with service.database.reading() as connection:
        return [
            json.loads(body) for body in connection.execute(select(deliveries.c.body)).scalars()
        ]


def test_an_open_campaign_takes_reports_from_today(service: Service) -> None:
    made = draft(service)
    opened = open_campaign(service, made.id)
    assert (opened.state, opened.opened_on) == (State.OPEN, TODAY)
    assert opened.takes_reports(TODAY)


def test_opening_again_changes_nothing(service: Service, calendar: Calendar) -> None:
    made = draft(service)
    opened = open_campaign(service, made.id)
    calendar.today += timedelta(days=1)
    assert open_campaign(service, made.id) == opened
    assert noted(service) == [("campaign.opened", made.id)]


def test_without_tasks_it_does_not_open(service: Service) -> None:
    made = create_draft(service, terms())
    with pytest.raises(Refused, match="no tasks") as refused:
        open_campaign(service, made.id)
    assert (refused.value.reason, refused.value.field) == (Reason.MALFORMED, "tasks")
    assert find_campaign(service, made.id).state is State.DRAFT


def test_a_campaign_that_every_device_refuses_opens_over_budget_only(service: Service) -> None:
    target = Target(20.0, answers=5, hide_participation=True)
    asked = replace(terms(), policy=calibrated_policy(LABELS, target))
    made = create_draft(service, asked, [Task(f"t{i}", "Which tree?") for i in range(5)])
    with pytest.raises(Refused, match="at most 2 tasks") as refused:
        open_campaign(service, made.id)
    assert (refused.value.reason, refused.value.field) == (Reason.MALFORMED, "privacy")
    assert open_campaign(service, made.id, over_budget=True).state is State.OPEN


@pytest.mark.parametrize("days", [-30, -1, 0])
def test_it_does_not_open_on_or_after_the_day_it_closes(service: Service, days: int) -> None:
    made = draft(service, closes_on=TODAY + timedelta(days=days))
    with pytest.raises(Refused, match="later day") as refused:
        open_campaign(service, made.id)
    assert refused.value.field == "closes_on"


def test_it_opens_on_the_day_before_it_closes(service: Service) -> None:
    made = draft(service, closes_on=TODAY + timedelta(days=1))
    assert open_campaign(service, made.id).state is State.OPEN


def test_closing_says_when_and_again_changes_nothing(service: Service, calendar: Calendar) -> None:
    made = draft(service)
    open_campaign(service, made.id)
    calendar.today += timedelta(days=2)
    closed = close_campaign(service, made.id)
    calendar.today += timedelta(days=1)
    assert (closed.state, closed.closed_on) == (State.CLOSED, TODAY + timedelta(days=2))
    assert close_campaign(service, made.id) == closed


def test_closing_is_announced_once_in_the_same_transaction(service: Service) -> None:
    made = draft(service)
    register(service, made.id, "https://hooks.example/a")
    open_campaign(service, made.id)
    close_campaign(service, made.id)
    close_campaign(service, made.id)
    [told] = announced(service)
    assert told["event"] == "campaign.closed"
    assert (told["closed_on"], told["reports"]) == (TODAY.isoformat(), 0)


def test_a_draft_does_not_close(service: Service) -> None:
    made = draft(service)
    with pytest.raises(Refused, match="draft") as refused:
        close_campaign(service, made.id)
    assert refused.value.reason is Reason.NOT_OPEN


def test_a_closed_campaign_does_not_open_again(service: Service) -> None:
    made = draft(service)
    open_campaign(service, made.id)
    close_campaign(service, made.id)
    with pytest.raises(Refused, match="only drafts can be opened") as refused:
        open_campaign(service, made.id)
    assert refused.value.reason is Reason.NOT_A_DRAFT
    assert find_campaign(service, made.id).state is State.CLOSED


def test_what_is_due_closes_on_its_day(service: Service, calendar: Calendar) -> None:
    day = TODAY + timedelta(days=3)
    due, lasting = draft(service, closes_on=day), draft(service)
    register(service, due.id, "https://hooks.example/a")
    for made in (due, lasting):
        open_campaign(service, made.id)
    assert close_due(service) == []
    calendar.today = day + timedelta(days=5)  # the server was off for a while
    assert close_due(service) == [due.id]
    assert find_campaign(service, due.id).closed_on == day
    assert find_campaign(service, lasting.id).state is State.OPEN
    assert [told["event"] for told in announced(service)] == ["campaign.closed"]
    assert close_due(service) == []


def test_a_running_service_closes_what_is_due(service: Service, calendar: Calendar) -> None:
    made = draft(service, closes_on=TODAY + timedelta(days=1))
    open_campaign(service, made.id)
    calendar.today += timedelta(days=1)
    with scheduled_closing(service):  # looks at once
        pass
    assert find_campaign(service, made.id).state is State.CLOSED


@pytest.mark.parametrize("state", list(State))
def test_a_campaign_can_be_deleted_in_every_state(service: Service, state: State) -> None:
    made = draft(service)
    invite(service, made.id, InviteKind.SINGLE, public_url="http://x", count=3)
    if state is not State.DRAFT:
        open_campaign(service, made.id)
    if state is State.CLOSED:
        close_campaign(service, made.id)
    delete_campaign(service, made.id)
    with service.database.reading() as connection:
        left = [
            connection.scalar(select(func.count()).select_from(table))
            for table in (campaigns, tasks, invites)
        ]
    assert left == [0, 0, 0]
    assert list_campaigns(service) == []
    assert noted(service)[-1] == ("campaign.deleted", made.id)


def test_a_deleted_campaign_has_no_desk(service: Service) -> None:
    made = draft(service)
    open_campaign(service, made.id)
    service.reception.admission(made.id)
    delete_campaign(service, made.id)
    assert service.reception.known_admission(made.id) is None
    with pytest.raises(Refused) as refused:
        service.reception.admission(made.id)
    assert refused.value.reason is Reason.NOT_FOUND


def test_what_is_not_there_is_not_found(service: Service) -> None:
    for ask in (find_campaign, open_campaign, close_campaign, delete_campaign):
        with pytest.raises(Refused) as refused:
            ask(service, "absent")
        assert refused.value.reason is Reason.NOT_FOUND
