"""What members read of a session that has begun, and the key that a dealer gives it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from sottovoce.campaign.live.members import check_dealer, over_words, worker_number
from sottovoce.campaign.live.suites import check_deal, deal_document
from sottovoce.campaign.service import Service
from sottovoce.errors import Reason, Refused, SealedRefused
from sottovoce.securesum.envelope import b64
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.star.terms import StarTerms
from sottovoce.server.database.campaigns import note_event
from sottovoce.server.database.live_sessions import (
    DEALER,
    LiveState,
    Seat,
    change_session,
    secret_of,
    the_session,
)

__all__ = ["Agreed", "agreed", "take_deal"]


@dataclass(frozen=True, slots=True)
class Agreed:
    """The terms; to the dealer also the key to which the server's share is to be sealed.

    A worker is given the dealer's public document and its own sealed share, where there are any.
    """

    terms: Mapping[str, Any]
    sealing: str | None = None
    public: str | None = None
    share: str | None = None


def agreed(service: Service, id: str, seat: Seat) -> Agreed | None:
    """What a member needs before the first round; None until it is there."""
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
        return Agreed(stored.terms, sealing=b64(public))
    if stored.state is LiveState.DEALING:
        return None
    if stored.deal is None:
        return Agreed(stored.terms)
    deal = json.loads(stored.deal)
    return Agreed(stored.terms, public=deal["public"], share=deal["shares"][number - 1])


def take_deal(service: Service, id: str, seat: Seat, public: str, shares: Sequence[str]) -> bool:
    """Give a session its key, if it is one; whether it had this very key before."""
    check_dealer(seat)
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        secret = secret_of(connection, stored.number)
    content = deal_document(public, shares)
    if stored.deal is None and stored.state is LiveState.DEALING:
        assert secret is not None  # noqa: S101 - there is a dealer
        # Here, since it takes a while and the writer is for writing.
        try:
            check_deal(StarTerms.of_json(stored.terms), content, secret)
        except SealedRefused as refused:
            words = f"this is not the session's key: {refused.reason}"
            raise Refused(Reason.MALFORMED, words) from None

    def work(connection: Connection) -> bool:
        now = the_session(connection, id, hold=True)
        if now.deal is not None:
            if now.deal != content:
                raise Refused(Reason.CONFLICT, "the session has another key: nothing was changed")
            return True
        if now.state is not LiveState.DEALING:
            raise Refused(Reason.NOT_OPEN, f"the session is {now.state}: no key is awaited")
        change_session(connection, now.number, state=LiveState.RUNNING, deal=content)
        note_event(connection, "live.dealt", service.today(), id)
        return False

    replayed = service.change(work)
    service.attendance.ring(id)
    return replayed
