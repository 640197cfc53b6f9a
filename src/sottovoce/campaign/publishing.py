"""Truths for those who answered: the requester shows them, once and for good."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection

from sottovoce.campaign.offering import checked_credential, found_campaign
from sottovoce.campaign.results import found_result, truth_columns
from sottovoce.campaign.service import Service
from sottovoce.campaign.shelf import Shelved
from sottovoce.errors import Reason, Refused
from sottovoce.model import Campaign, Credential, State, digest, pseudonym
from sottovoce.server.database.campaigns import Stored, change_campaign, note_event, the_campaign
from sottovoce.server.database.hashed_credentials import find_invite
from sottovoce.server.database.results import find_result
from sottovoce.server.database.stored_reports import has_reported
from sottovoce.tables.writers import json_rows

__all__ = ["publish", "published_truths"]


def publish(service: Service, id: str) -> Campaign:
    """Show the truths of a closed campaign to its workers. What is published stays so."""

    def work(connection: Connection) -> Campaign:
        stored = the_campaign(connection, id, hold=True)
        if not stored.campaign.published:
            _check_publishes(connection, stored)
            change_campaign(connection, stored.number, published=True)
            note_event(connection, "campaign.published", service.today(), id)
        return the_campaign(connection, id).campaign

    return service.change(work)


def published_truths(service: Service, id: str, credential: str) -> str:
    """Task and truth as a JSON list, for whoever holds an invite or has reported."""
    with service.database.reading() as connection:
        stored, found = found_result(connection, id)
        _check_entitled(connection, stored, credential)
        if found is None or not stored.campaign.published:
            raise Refused(Reason.NOT_FOUND, "the requester has not published the truths")
        shelved: Shelved = service.shelf.result(connection, stored, found)
    rows = np.arange(len(shelved.columns.place))
    columns = truth_columns(shelved, stored.campaign.terms.policy, rows)
    return json_rows({"task": columns["task"], "truth": columns["truth"]})


def _check_publishes(connection: Connection, stored: Stored) -> None:
    if stored.campaign.state is not State.CLOSED:
        raise Refused(Reason.NOT_OPEN, "truths are published once the campaign is closed")
    found = find_result(connection, stored.number)
    if found is None or found.summary.method is None:
        raise Refused(Reason.NOT_FOUND, "nothing is inferred yet: there is nothing to publish")


def _check_entitled(connection: Connection, stored: Stored, credential: str) -> None:
    found_campaign(connection, stored.campaign.id)
    if credential.startswith(Credential.RECEIPT):
        receipt = checked_credential(credential, Credential.RECEIPT)
        worker = bytes.fromhex(pseudonym(stored.campaign.id, receipt))
        entitled = has_reported(connection, stored.number, worker)
    else:
        shown = digest(checked_credential(credential, Credential.INVITE))
        entitled = find_invite(connection, stored.number, shown) is not None
    if not entitled:
        raise Refused(
            Reason.BAD_CREDENTIAL,
            "this is no invite to the campaign, nor the receipt of a worker who took part",
        )
