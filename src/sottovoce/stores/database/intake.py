"""Submissions into the database, many at a time, each exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from sottovoce.errors import Reason
from sottovoce.model import State
from sottovoce.stores.database.incoming import Intake
from sottovoce.stores.database.intake_reading import (
    HeldCampaign,
    Known,
    erased_among,
    held_campaigns,
)
from sottovoce.stores.database.intake_writing import Accepted, store

__all__ = ["Intake", "Outcome", "take"]

SINGLE = "single"
"""The kind of an invite that one worker may use; the other kind is `open`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Stored now, stored before, or refused."""

    refused: Reason | None = None
    replayed: bool = False


STORED, REPLAYED = Outcome(), Outcome(replayed=True)


def take(connection: Connection, intakes: Sequence[Intake]) -> list[Outcome]:
    """Store what may be stored, in the order given, and say what became of each.

    Nothing is durable until the transaction is committed.
    """
    held = held_campaigns(connection, intakes)
    outcomes: list[Outcome] = [Outcome(Reason.NOT_FOUND)] * len(intakes)
    for number, (campaign, known) in held.items():
        places = [i for i, intake in enumerate(intakes) if intake.campaign == number]
        batch = _Batch(connection, campaign, known, [intakes[i] for i in places])
        for place, outcome in zip(places, batch.outcomes(), strict=True):
            outcomes[place] = outcome
    return outcomes


class _Batch:
    """The submissions of one campaign, against what is stored and against each other."""

    def __init__(
        self, connection: Connection, campaign: HeldCampaign, known: Known, intakes: list[Intake]
    ) -> None:
        self.connection, self.campaign, self.intakes = connection, campaign, intakes
        self.known, self.earlier, self.invites = known.reports, known.tasks, known.invites
        self.erased: set[bytes] = set()
        if campaign.erasures:
            ids = [intake.report_id for intake in intakes]
            self.erased = erased_among(connection, campaign.number, ids)
        self.accepted = Accepted(campaign.number)

    def outcomes(self) -> list[Outcome]:
        outcomes = [self._outcome(intake) for intake in self.intakes]
        if self.accepted.submissions:
            store(self.connection, self.accepted)
        return outcomes

    def _outcome(self, intake: Intake) -> Outcome:
        if intake.report_id in self.known:
            same = self.known[intake.report_id] == (intake.worker, intake.digest)
            return REPLAYED if same else Outcome(Reason.CONFLICT)
        refused = self._refused(intake)
        if refused is not None:
            return Outcome(refused)
        self.known[intake.report_id] = (intake.worker, intake.digest)
        self.accepted.submissions.append(intake)
        if intake.worker not in self.earlier:
            self.accepted.new_workers += 1
        self.earlier.setdefault(intake.worker, []).append(intake.tasks)
        invite = self.invites[intake.invite]
        if invite.kind == SINGLE and invite.worker is None:
            invite.worker = intake.worker
            self.accepted.used.append((intake.worker, intake.invite))
        return STORED

    def _refused(self, intake: Intake) -> Reason | None:
        campaign, earlier = self.campaign, self.earlier.get(intake.worker, ())
        if intake.report_id in self.erased:
            return Reason.ERASED
        closes = campaign.closes_on
        if campaign.state != State.OPEN or (closes is not None and intake.day >= closes):
            return Reason.NOT_OPEN
        invite = self.invites.get(intake.invite)
        if invite is None:
            return Reason.BAD_CREDENTIAL
        if invite.expires_on is not None and intake.day >= invite.expires_on:
            return Reason.INVITE_EXPIRED
        if invite.kind == SINGLE and invite.worker not in (None, intake.worker):
            return Reason.INVITE_USED
        if earlier:
            return _repeated(intake, earlier)
        workers = campaign.workers + self.accepted.new_workers
        if campaign.quota is not None and workers >= campaign.quota:
            return Reason.QUOTA_REACHED
        return None


def _repeated(intake: Intake, earlier: Sequence[bytes]) -> Reason | None:
    """Whether a worker who reported before may report this too."""
    if intake.whole:
        return Reason.ALREADY_REPORTED
    before = np.frombuffer(b"".join(earlier), "<u4")
    if len(before) + intake.count > intake.most:
        return Reason.ALREADY_REPORTED
    if np.isin(np.frombuffer(intake.tasks, "<u4"), before).any():
        return Reason.ALREADY_REPORTED
    return None
