"""Checks of incoming contributions against the constant terms of a campaign, from memory."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from sottovoce.errors import Reason, Refused, SealedRefused
from sottovoce.model import Campaign, digest, pseudonym
from sottovoce.securesum.committee.contribution import Admission
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.committee.validity import MASKS
from sottovoce.securesum.field import WIDTH
from sottovoce.securesum.hpke import OVERHEAD
from sottovoce.server.database import Intake

ROOM = 2_000
"""Bytes of a contribution without its tasks and shares."""

OF_A_SHARE = 80
"""Bytes around a share: its hash, quotes and commas."""


@dataclass(frozen=True, slots=True)
class SealedAdmission:
    """The checks of contributions to a sealed campaign. They do not change once it is open."""

    number: int
    campaign: Campaign
    policy_hash: str
    session: Session
    rules: Admission = field(repr=False)
    largest: int

    @classmethod
    def of(cls, number: int, campaign: Campaign, names: tuple[str, ...]) -> SealedAdmission:
        """The checks of a campaign with these tasks."""
        policy = campaign.terms.policy
        session = Session(campaign.id, policy, names)
        largest = _largest(session, campaign.block)
        return cls(number, campaign, policy.hash, session, Admission(session), largest)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tasks, by place."""
        return self.session.names

    def intake(
        self, report_id: str, invite: str, receipt: str, content: bytes, today: date
    ) -> Intake:
        """The contribution in these bytes, checked against everything that does not change.

        Only the keyholders together can check its shares.
        """
        if len(content) > self.largest:
            raise Refused(Reason.OVERSIZE, f"a contribution here has up to {self.largest:,} bytes")
        try:
            contribution = self.rules.whole(content)
        except SealedRefused as error:
            raise self._refused(content, error.reason) from None
        if contribution.worker != pseudonym(self.campaign.id, receipt):
            raise Refused(
                Reason.BAD_CREDENTIAL, "the receipt is not the reporting worker's", field="worker"
            )
        return Intake(
            self.number,
            bytes.fromhex(report_id),
            bytes.fromhex(contribution.worker),
            digest(invite),
            today.toordinal(),
            hashlib.sha256(content).digest(),
            contribution.places.astype("<u4").tobytes(),
            # The digest of the signed text comes first: see `server.database.sealed_campaigns`.
            bytes.fromhex(contribution.digest) + content,
            self.campaign.terms.answers,
            True,
        )

    def tasks_of(self, packed: bytes) -> tuple[str, ...]:
        """The names of a stored contribution's tasks."""
        return tuple(self.names[place] for place in np.frombuffer(packed, "<u4").tolist())

    def _refused(self, content: bytes, why: str) -> Refused:
        """The refusal, with the same reasons as for reports. `why` quotes nothing that was sent."""
        body = _body(content)
        if body is None:
            return Refused(Reason.MALFORMED, f"this is not a contribution: {why}")
        if body.get("policy") != self.policy_hash:
            return Refused(
                Reason.FOREIGN_POLICY,
                "these answers were sealed under a different policy than the campaign's",
                field="policy",
            )
        return Refused(Reason.NOT_ADMITTED, f"the contribution is refused: {why}")


def _body(content: bytes) -> dict[str, Any] | None:
    """The fields of a contribution, even an invalid one; None if it has none."""
    try:
        wire = json.loads(content)
        body = json.loads(wire["text"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _largest(session: Session, block: int) -> int:
    """The most bytes of a contribution: its longest tasks, and a share for each keyholder.

    Names are in a text within a text, so escapes are escaped again.
    """
    longest = sorted((len(json.dumps(json.dumps(name))) for name in session.names), reverse=True)
    plain = WIDTH * (block * session.ballot.bits + MASKS) + OVERHEAD
    share = -(-plain * 4 // 3) + OF_A_SHARE
    return ROOM + sum(longest[:block]) + session.sealed.seats * share
