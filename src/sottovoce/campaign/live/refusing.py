"""Why a reply is not taken, in the words of the interface."""

from __future__ import annotations

from sottovoce.campaign.live.desks import Delivery
from sottovoce.campaign.live.replicas import Replica
from sottovoce.errors import Reason, Refused, SealedRefused
from sottovoce.securesum.star.messages import read_frame

__all__ = ["not_taken"]


def not_taken(replica: Replica, item: Delivery, refused: SealedRefused) -> Refused:
    """The refusal of what `take` refused. It quotes nothing of the reply."""
    session, words = replica.session, f"this reply is not taken: {refused.reason}"
    if session.place is None or item.member in session.excluded:
        return Refused(Reason.NOT_OPEN, words)
    try:
        place = read_frame(replica.terms, item.content, sender=item.member).place
    except SealedRefused:
        return Refused(Reason.MALFORMED, words)
    if place != session.place:
        return Refused(Reason.NOT_OPEN, words)
    asked = item.member in session.waiting
    return Refused(Reason.MALFORMED if asked else Reason.CONFLICT, words)
