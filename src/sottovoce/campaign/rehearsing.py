"""A sample campaign: open at once, and simulated workers report to it in the next seconds.

To look around before anybody is asked. Their reports go the way of all reports: the same desk, the
same checks, the same writer, the same inference. Only the stamp differs, and it never comes off.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from dataclasses import dataclass, field
from datetime import date

from sqlalchemy import Connection

from sottovoce.campaign.access import new_secret
from sottovoce.campaign.drafting import new_id
from sottovoce.campaign.promising import calibrated_policy
from sottovoce.campaign.service import Service
from sottovoce.campaign.simulated_crowd import DOMAIN, SimulatedCrowd
from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Campaign, Credential, State, Terms, digest, pseudonym
from sottovoce.server.database.campaigns import (
    add_campaign,
    change_campaign,
    note_event,
    set_tasks,
    the_campaign,
)
from sottovoce.server.database.hashed_credentials import add_invites

__all__ = ["rehearse"]

WORKERS, TASKS, ANSWERS = 80, 60, 20
EPSILON = 2.0
"""Per answer: of 100 answers about 71 are sent as they are."""

SEED = 20
KIND = "simulated"
"""The kind of the invite: neither of those that are counted, since nobody was invited."""

LENGTH = 6.0
"""Seconds from the first report to the last."""

log = logging.getLogger("sottovoce.campaign")


def rehearse(service: Service) -> Campaign:
    """A new simulated campaign, already open; its workers report while the caller goes on.

    They end early when the campaign is closed or deleted, or when the service ends.
    """
    return service.rehearsals.start(lambda: _prepared(service)).campaign


def _prepared(service: Service) -> _Crowded:
    crowd = SimulatedCrowd(workers=WORKERS, tasks=TASKS, seed=SEED)
    policy = calibrated_policy(DOMAIN, Target(EPSILON, answers=ANSWERS))
    terms = Terms("Sample: leaves in the park", "Which tree has this leaf?", policy)
    id, invite = new_id(), new_secret(Credential.INVITE)

    def work(connection: Connection) -> Campaign:
        return _make(connection, id, terms, crowd, invite, service.today())

    return _Crowded(service, service.change(work), crowd, invite, LENGTH / len(crowd))


def _make(
    connection: Connection, id: str, terms: Terms, crowd: SimulatedCrowd, invite: str, today: date
) -> Campaign:
    """The campaign with its tasks, and the one link that its workers use and nobody is shown."""
    number = add_campaign(connection, id, terms, today, simulated=True).number
    set_tasks(connection, number, crowd.tasks)
    change_campaign(connection, number, state=State.OPEN, opened_on=today)
    add_invites(connection, number, KIND, [digest(invite)], None)
    note_event(connection, "campaign.opened", today, id)
    return the_campaign(connection, id).campaign


@dataclass(frozen=True, slots=True)
class _Crowded:
    """A campaign and its simulated workers, who report one after the other."""

    service: Service
    campaign: Campaign
    crowd: SimulatedCrowd
    invite: str = field(repr=False)
    pause: float

    def run(self, ending: threading.Event) -> None:
        """Let them report until all have, or until nobody takes their reports any more."""
        try:
            with asyncio.Runner() as runner:
                for number in range(len(self.crowd)):
                    sent = self._sent(number)
                    while not ending.wait(self.pause):
                        if runner.run(self._taken(*sent)):
                            break
                    else:
                        return
        except Refused as refused:
            log.info("a rehearsal ended early", extra={"reason": str(refused.reason)})
        except Exception as error:
            # The message may hold what was read: only the kind of error is kept.
            log.warning("a rehearsal failed", extra={"error": type(error).__name__})

    def _sent(self, number: int) -> tuple[str, bytes]:
        """A worker's receipt, which nobody keeps, and what it sends."""
        receipt = new_secret(Credential.RECEIPT)
        worker = pseudonym(self.campaign.id, receipt)
        return receipt, self.crowd.submission(self.campaign, number, worker).text().encode()

    async def _taken(self, receipt: str, content: bytes) -> bool:
        """Whether the reception takes it now; not while it is busy with others."""
        reception, report_id = self.service.reception, secrets.token_hex(16)
        desk = reception.known_desk(self.campaign.id)
        if desk is None:
            desk = await asyncio.to_thread(reception.desk, self.campaign.id)
        try:
            await reception.receive(desk, report_id, self.invite, receipt, content)
        except Refused as refused:
            if refused.reason is not Reason.BUSY:
                raise
            return False
        return True
