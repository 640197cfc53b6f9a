"""The offer and the tasks that a worker sees before deciding to take part."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused
from sottovoce.model import Campaign, Credential, State, Task, assigned, digest, pseudonym
from sottovoce.model.campaign import Assignment
from sottovoce.server.campaigns.needs import needed
from sottovoce.server.campaigns.submissions import WORDS_OF
from sottovoce.server.credentials import checked_credential
from sottovoce.server.database.campaigns import Stored, tasks_at, the_campaign
from sottovoce.server.database.hashed_credentials import SINGLE, Invite, find_invite
from sottovoce.server.database.stored_reports import own_rows
from sottovoce.server.service import Service


@dataclass(frozen=True, slots=True)
class TaskBlock:
    """The tasks that a worker gets, and its pseudonym in the campaign."""

    worker: str
    tasks: tuple[Task, ...]


def offered(service: Service, id: str, invite: str) -> Campaign:
    """The campaign, for the holder of an invite. After its last day it is closed."""
    shown = digest(checked_credential(invite, Credential.INVITE))
    with service.database.reading() as connection:
        stored = found_campaign(connection, id)
        _valid_invite(service, connection, stored, shown)
    if stored.campaign.takes_reports(service.today()):
        return stored.campaign
    return replace(stored.campaign, state=State.CLOSED)


def block_for(service: Service, id: str, invite: str, receipt: str) -> TaskBlock:
    """The tasks of the worker with this receipt, while it may report on them."""
    shown = digest(checked_credential(invite, Credential.INVITE))
    worker = pseudonym(id, checked_credential(receipt, Credential.RECEIPT))
    with service.database.reading() as connection:
        stored = found_campaign(connection, id)
        used = _valid_invite(service, connection, stored, shown)
        if used.kind == SINGLE and used.worker not in (None, bytes.fromhex(worker)):
            raise Refused(Reason.INVITE_USED, WORDS_OF[Reason.INVITE_USED])
        campaign = stored.campaign
        if not campaign.takes_reports(service.today()):
            raise Refused(Reason.NOT_OPEN, WORDS_OF[Reason.NOT_OPEN])
        if campaign.terms.assignment is Assignment.NEED:
            return TaskBlock(worker, _needed(service, connection, stored, worker))
        places = assigned(id, worker, campaign.tasks, campaign.block)
        return TaskBlock(worker, tuple(tasks_at(connection, stored.number, places)))


def _needed(
    service: Service, connection: Connection, stored: Stored, worker: str
) -> tuple[Task, ...]:
    """The most needed tasks with their needs, next to those that the worker has reported on."""
    needs = service.need_cache.needs(connection, stored, service.result_cache)
    rows = own_rows(connection, stored.number, bytes.fromhex(worker))
    own = np.frombuffer(b"".join(row.tasks for row in rows), "<u4").tolist()
    campaign = stored.campaign
    places = sorted(needed(campaign.id, worker, needs, campaign.block, own))
    tasks = zip(tasks_at(connection, stored.number, places), needs[places].tolist(), strict=True)
    return tuple(replace(task, need=need) for task, need in tasks)


def found_campaign(connection: Connection, id: str, *, hold: bool = False) -> Stored:
    """The campaign, if it is or was open; a draft is not shown."""
    stored = the_campaign(connection, id, hold=hold)
    if stored.campaign.state is State.DRAFT:
        raise Refused(Reason.NOT_OPEN, WORDS_OF[Reason.NOT_OPEN])
    return stored


def _valid_invite(service: Service, connection: Connection, stored: Stored, shown: bytes) -> Invite:
    invite = find_invite(connection, stored.number, shown)
    if invite is None:
        raise Refused(Reason.BAD_CREDENTIAL, WORDS_OF[Reason.BAD_CREDENTIAL])
    if invite.expires_on is not None and service.today().toordinal() >= invite.expires_on:
        raise Refused(Reason.INVITE_EXPIRED, WORDS_OF[Reason.INVITE_EXPIRED])
    return invite
