"""Exchanges with members: terms, the dealer's key, turns and replies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused, SealedRefused
from sottovoce.live.server.active_sessions import QueuedReply, sessions_of
from sottovoce.live.server.replica import check_deal, deal_document
from sottovoce.live.server.roster import check_dealer, over_words, worker_number
from sottovoce.live.server.transitions import look, wish
from sottovoce.securesum.em.terms import EMTerms
from sottovoce.securesum.envelope import b64
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.star.messages import LONGEST_TEXT
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.securesum.star.terms import StarTerms
from sottovoce.server.database.campaigns import note_event
from sottovoce.server.database.live_sessions import (
    DEALER,
    AuthenticatedMember,
    LiveState,
    change_session,
    ending_of,
    secret_of,
    state_of,
    the_session,
)
from sottovoce.server.service import Service

SHORT = 0.05
"""Seconds to wait while a session is busy."""

OF_A_MEMBER = 512
"""The most bytes of a reply per member: shares, commitments and their sealing."""

OF_A_MASKED, OF_A_CIPHERTEXT = 8, 4
"""Bytes of a masked value; ciphertext lengths of a value and its proofs."""


def agreed(service: Service, id: str, seat: AuthenticatedMember) -> dict[str, Any] | None:
    """The data that a member needs before the first round; None until it is available.

    The terms; for the dealer also the key to which the server's share must be sealed. A worker
    gets the dealer's public document and its own sealed share, if there are any.
    """
    number = DEALER if seat.member.seat == DEALER else worker_number(seat)
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        secret = secret_of(connection, stored.number)
    if stored.state.is_over:
        raise Refused(Reason.NOT_OPEN, over_words(stored))
    if stored.terms is None:
        return None
    if number == DEALER:
        assert secret is not None  # noqa: S101 - there is a dealer
        public = X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
        return {"terms": stored.terms, "sealing": b64(public), "deal": None}
    if stored.state is LiveState.DEALING:
        return None
    if stored.deal is None:
        return {"terms": stored.terms, "sealing": None, "deal": None}
    dealt = json.loads(stored.deal)
    own = {"public": dealt["public"], "share": dealt["shares"][number - 1]}
    return {"terms": stored.terms, "sealing": None, "deal": own}


def take_deal(
    service: Service, id: str, seat: AuthenticatedMember, public: str, shares: Sequence[str]
) -> bool:
    """Store the session's key if it is valid; return whether it was stored before."""
    check_dealer(seat)
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        secret = secret_of(connection, stored.number)
    content = deal_document(public, shares)
    if stored.deal is None and stored.state is LiveState.DEALING:
        assert secret is not None  # noqa: S101 - there is a dealer
        # Checked here: it takes a while, and the writer must stay free.
        try:
            check_deal(StarTerms.of_json(stored.terms), content, secret)
        except SealedRefused as refused:
            words = f"this is not the session's key: {refused.reason}"
            raise Refused(Reason.MALFORMED, words) from None

    def work(connection: Connection) -> bool:
        now = the_session(connection, id, hold=True)
        if now.deal is not None:
            if now.deal != content:
                raise Refused(Reason.CONFLICT, "the session has another key; nothing was changed")
            return True
        if now.state is not LiveState.DEALING:
            raise Refused(Reason.NOT_OPEN, f"the session is {now.state}; no key is expected")
        change_session(connection, now.number, state=LiveState.RUNNING, deal=content)
        note_event(connection, "live.dealt", service.today(), id)
        return False

    replayed = service.change(work)
    service.attendance.ring(id)
    return replayed


def turn(service: Service, id: str, seat: AuthenticatedMember) -> bytes | None:
    """A worker's current turn; None if there is none or it is not known yet."""
    number = worker_number(seat)
    with service.database.reading() as connection:
        _, state, sequence = state_of(connection, id)
    if state.is_over:
        return _last_turn(service, id, seat)
    if state is not LiveState.RUNNING:
        return None
    active = sessions_of(service).session(id)
    if not active.lock.acquire(timeout=SHORT):
        return None  # waiters are woken at the next phase
    try:
        replica = active.replica
        # Another server may be rounds ahead: a worker that gets an old turn again would leave.
        behind = replica is None or replica.sequence < sequence
        found = None if replica is None or behind else _asked(replica.session, number)
    finally:
        active.lock.release()
    if behind or active.is_due:
        look(service, active)
    return found


def _asked(session: CoordinatorSession, number: int) -> bytes | None:
    """A worker's turn, until it has replied; then it waits for the next one."""
    answered = number in session.alive - session.waiting and session.place is not None
    return None if answered else session.turn(number)


def receive(service: Service, id: str, seat: AuthenticatedMember, content: bytes) -> Future[bool]:
    """Queue a worker's reply; once durable, the future is whether it was accepted before."""
    return wish(
        service, sessions_of(service).session(id), QueuedReply(worker_number(seat), content)
    )


def largest_reply(service: Service, id: str) -> int:
    """The most bytes of a reply: shares for all members, a contribution, or proofs."""
    replica = sessions_of(service).session(id).replica
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


def _last_turn(service: Service, id: str, seat: AuthenticatedMember) -> bytes:
    sessions_of(service).forget(id)
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        mine = ending_of(connection, stored.number, seat.member.seat)
    last = mine or stored.ending
    if last is None:
        raise Refused(Reason.NOT_OPEN, over_words(stored))
    return last
