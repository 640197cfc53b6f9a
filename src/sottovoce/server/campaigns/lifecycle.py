"""Opens, closes and deletes campaigns. Once open, a campaign's terms cannot change."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from functools import partial

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from sottovoce.errors import Reason, Refused, SottovoceError
from sottovoce.mechanisms.policies import release_of, sealed_of
from sottovoce.model import Campaign, State
from sottovoce.server.background_jobs import background_thread
from sottovoce.server.campaigns.drafts import check_known
from sottovoce.server.campaigns.guarantees import devices_of
from sottovoce.server.campaigns.webhooks import announce
from sottovoce.server.database import campaigns as rows
from sottovoce.server.database.campaigns import Stored, change_campaign, note_event, the_campaign
from sottovoce.server.sealed.keyholders import coordinator_of
from sottovoce.server.sealed.transitions import advance
from sottovoce.server.service import Service

LOOK = 60.0
"""Seconds between two checks for campaigns whose last day has passed."""


def find_campaign(service: Service, id: str) -> Campaign:
    """The campaign with this identifier."""
    with service.database.reading() as connection:
        return the_campaign(connection, id).campaign


def list_campaigns(service: Service) -> list[Campaign]:
    """Every campaign, the newest first."""
    with service.database.reading() as connection:
        return [stored.campaign for stored in rows.all_campaigns(connection)]


def open_campaign(service: Service, id: str, *, over_budget: bool = False) -> Campaign:
    """Open a campaign. An open campaign stays open; a closed one stays closed.

    One that devices refuse at their default budget opens `over_budget` only.
    """
    # Checked here: it may take seconds, and the writer must stay free.
    found = find_campaign(service, id)
    _check_release(service, found)
    if found.state is State.DRAFT and found.tasks and not over_budget:
        devices = devices_of(found.terms.policy, found.block)
        if not devices.answered:
            words = f"{devices.warning} If they have raised their budgets, open it with "
            raise Refused(Reason.MALFORMED, f"{words}over_budget=True.", field="privacy")

    def work(connection: Connection) -> Campaign:
        stored, today = the_campaign(connection, id, hold=True), service.today()
        if stored.campaign.state is State.OPEN:
            return stored.campaign
        _check_opens(stored.campaign, today)
        known = rows.known_truths(connection, stored.number).values()
        check_known(stored.campaign.terms.policy, known)
        change_campaign(connection, stored.number, state=State.OPEN, opened_on=today)
        note_event(connection, "campaign.opened", today, id)
        return the_campaign(connection, id).campaign

    return service.change(work)


def close_campaign(service: Service, id: str) -> Campaign:
    """Close a campaign. A closed campaign stays closed."""

    def work(connection: Connection) -> Campaign:
        stored = the_campaign(connection, id, hold=True)
        if stored.campaign.state is State.CLOSED:
            return stored.campaign
        if stored.campaign.state is State.DRAFT:
            raise Refused(
                Reason.NOT_OPEN, "the campaign is a draft and cannot be closed; delete it instead"
            )
        return _close(connection, stored, service.today())

    campaign = service.change(work)
    if campaign.terms.policy.sealed:
        advance(service, id)  # waiting contributions are due now
    return campaign


def close_due(service: Service) -> list[str]:
    """Close the open campaigns whose `closes_on` has come; return them."""
    today = service.today()
    due = [
        campaign.id
        for campaign in list_campaigns(service)
        if campaign.state is State.OPEN and not campaign.takes_reports(today)
    ]
    for id in due:
        service.change(partial(_close_if_open, id=id, today=today))
    return due


@contextmanager
def scheduled_closing(service: Service) -> Iterator[None]:
    """Close campaigns on their day while the block runs."""

    def watch(done: threading.Event) -> None:
        while True:
            # If storage does not respond, reports are still refused: try again later.
            with suppress(SottovoceError, SQLAlchemyError):
                close_due(service)
            if done.wait(LOOK):
                return

    with background_thread(watch, "closing"):
        yield


def delete_campaign(service: Service, id: str) -> None:
    """Delete a campaign and everything in it, in any state; the deletion is recorded."""

    def work(connection: Connection) -> None:
        stored = the_campaign(connection, id, hold=True)
        rows.delete_campaign(connection, stored.number)
        note_event(connection, "campaign.deleted", service.today(), id)

    service.change(work)
    service.reception.forget(id)
    service.result_cache.forget(id)
    service.need_cache.forget(id)
    service.attendance.forget(id)


def _check_release(service: Service, campaign: Campaign) -> None:
    """Check that a sealed campaign has keyholders and this server's key."""
    policy = campaign.terms.policy
    release_of(policy)
    if not policy.sealed:
        return
    sealed = sealed_of(policy)
    if not sealed.keyholders:
        raise Refused(
            Reason.MALFORMED,
            f"the policy names no keyholders; add the cards of {sealed.seats} first",
            field="privacy.sealed.keyholders",
        )
    if sealed.coordinator != coordinator_of(service):
        raise Refused(
            Reason.MALFORMED,
            "the policy pins another server's key, so keyholders would refuse this server; "
            "create the draft here",
            field="policy",
        )


def _check_opens(campaign: Campaign, today: date) -> None:
    if campaign.state is State.CLOSED:
        raise Refused(
            Reason.NOT_A_DRAFT,
            "the campaign is closed and cannot be opened again; only drafts can be opened",
        )
    if campaign.tasks == 0:
        raise Refused(Reason.MALFORMED, "the campaign has no tasks; add some first", field="tasks")
    closes_on = campaign.terms.closes_on
    if closes_on is not None and closes_on <= today:
        raise Refused(
            Reason.MALFORMED,
            f"the campaign would close on {closes_on}, which is not after today; choose a later "
            "day",
            field="closes_on",
        )


def _close_if_open(connection: Connection, id: str, today: date) -> None:
    """Close a campaign, unless it has been closed or deleted in the meantime."""
    stored = rows.find_campaign(connection, id, hold=True)
    if stored is not None and stored.campaign.state is State.OPEN:
        _close(connection, stored, today)


def _close(connection: Connection, stored: Stored, today: date) -> Campaign:
    closes_on = stored.campaign.terms.closes_on
    last = today if closes_on is None else min(today, closes_on)
    change_campaign(connection, stored.number, state=State.CLOSED, closed_on=last)
    note_event(connection, "campaign.closed", today, stored.campaign.id)
    closed = the_campaign(connection, stored.campaign.id)
    counts = closed.campaign.counts
    details = {
        "closed_on": last.isoformat(),
        "workers": counts.workers,
        "submissions": counts.submissions,
        "reports": counts.reports,
    }
    announce(connection, closed, "campaign.closed", details)
    return closed.campaign
