"""Who shows which credential of a session."""

from __future__ import annotations

from sottovoce.campaign.offering import checked_credential
from sottovoce.campaign.service import Service
from sottovoce.errors import Reason, Refused
from sottovoce.model import Credential, digest
from sottovoce.server.database.live_sessions import (
    DEALER,
    Seat,
    StoredSession,
    find_member,
    state_of,
)

__all__ = ["check_dealer", "check_worker", "over_words", "seated", "worker_number"]

FOREIGN = "this credential is not for this session"


def seated(service: Service, id: str, credential: str) -> Seat:
    """Whose credential it is. Of another session it is nobody's."""
    shown = digest(checked_credential(credential, Credential.LIVE))
    with service.database.reading() as connection:
        found = find_member(connection, id, shown)
        if found is None:
            state_of(connection, id)  # there must be such a session
            raise Refused(Reason.BAD_CREDENTIAL, FOREIGN)
    return found


def check_worker(seat: Seat) -> None:
    """Refuse the dealer where a worker is meant."""
    if seat.member.seat == DEALER:
        raise Refused(
            Reason.BAD_CREDENTIAL, "this is the dealer's credential: only workers do this"
        )


def check_dealer(seat: Seat) -> None:
    """Refuse a worker where the dealer is meant."""
    if seat.member.seat != DEALER:
        raise Refused(Reason.BAD_CREDENTIAL, "this is a worker's credential: only the dealer deals")


def worker_number(seat: Seat) -> int:
    """The number of a worker who has joined."""
    check_worker(seat)
    if seat.member.number is None:
        raise Refused(Reason.NOT_OPEN, "nobody has joined by this link: join first")
    return seat.member.number


def over_words(stored: StoredSession) -> str:
    """That a session is over, and why."""
    reason = (stored.outcome or {}).get("reason")
    return f"the session is {stored.state}" + (f": {reason}" if reason else "")
