"""Turns go out to members, and their replies come in."""

from __future__ import annotations

from concurrent.futures import Future

from sottovoce.campaign.live.advancing import look, wish
from sottovoce.campaign.live.desks import Delivery, desks_of
from sottovoce.campaign.live.members import over_words, worker_number
from sottovoce.campaign.service import Service
from sottovoce.errors import Reason, Refused
from sottovoce.securesum.em.terms import EMTerms
from sottovoce.securesum.star.messages import LONGEST_TEXT
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.securesum.star.terms import StarTerms
from sottovoce.server.database.live_sessions import (
    LiveState,
    Seat,
    ending_of,
    state_of,
    the_session,
)

__all__ = ["largest_reply", "receive", "turn"]

SHORT = 0.05
"""Seconds to wait while something is done in a session, which may take long."""

OF_A_MEMBER = 512
"""Bytes that a reply has at most for each member: shares, commitments and what seals them."""

OF_A_MASKED, OF_A_CIPHERTEXT = 8, 4
"""Bytes of a value under masks; lengths of a ciphertext that a value and its proofs take."""


def turn(service: Service, id: str, seat: Seat) -> bytes | None:
    """What is asked of a worker now; None if nothing is, or if it is not known yet."""
    number = worker_number(seat)
    with service.database.reading() as connection:
        _, state, sequence = state_of(connection, id)
    if state.is_over:
        return _last_turn(service, id, seat)
    if state is not LiveState.RUNNING:
        return None
    desk = desks_of(service).desk(id)
    if not desk.lock.acquire(timeout=SHORT):
        return None  # whoever waits is woken when the next phase is on
    try:
        replica = desk.replica
        # Another server may be rounds ahead: a worker that is asked again what is long over leaves.
        behind = replica is None or replica.sequence < sequence
        found = None if replica is None or behind else _asked(replica.session, number)
    finally:
        desk.lock.release()
    if behind or desk.is_due:
        look(service, desk)
    return found


def _asked(session: CoordinatorSession, number: int) -> bytes | None:
    """A worker's turn, until it has answered: then it waits for the next one."""
    answered = number in session.alive - session.waiting and session.place is not None
    return None if answered else session.turn(number)


def receive(service: Service, id: str, seat: Seat, content: bytes) -> Future[bool]:
    """Take a worker's reply: settles, once that is durable, as whether it was taken before."""
    return wish(service, desks_of(service).desk(id), Delivery(worker_number(seat), content))


def largest_reply(service: Service, id: str) -> int:
    """The most bytes of a reply: shares for everybody, a contribution, or proofs."""
    replica = desks_of(service).desk(id).replica
    if replica is not None:
        return _largest(replica.terms, replica.planner.terms)
    with service.database.reading() as connection:
        stored = the_session(connection, id)
    if stored.terms is None:
        return LONGEST_TEXT
    terms = StarTerms.of_json(stored.terms)
    return _largest(terms, EMTerms.of_json(terms.purpose))


def _largest(terms: StarTerms, purpose: EMTerms) -> int:
    values = len(purpose.tasks) * len(purpose.labels) + 1
    each = OF_A_MASKED
    if terms.key is not None:
        each = OF_A_CIPHERTEXT * (terms.key.s + 1) * terms.key.bits // 8
    return LONGEST_TEXT + OF_A_MEMBER * terms.size + each * values


def _last_turn(service: Service, id: str, seat: Seat) -> bytes:
    desks_of(service).forget(id)
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        mine = ending_of(connection, stored.number, seat.member.seat)
    last = mine or stored.ending
    if last is None:
        raise Refused(Reason.NOT_OPEN, over_words(stored))
    return last
