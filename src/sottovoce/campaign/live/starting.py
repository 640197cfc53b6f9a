"""A session begins with those who have joined: its terms are fixed, for good."""

from __future__ import annotations

from sqlalchemy import Connection

from sottovoce.campaign.live.agreeing import agreed_terms
from sottovoce.campaign.live.offering import LiveOffer
from sottovoce.campaign.sealed.signing import coordinator_of
from sottovoce.campaign.service import Service
from sottovoce.errors import Reason, Refused
from sottovoce.model.canonical_json import canonical
from sottovoce.securesum.star.terms import FEWEST_MEMBERS, Member, Suite
from sottovoce.server.database.campaigns import note_event
from sottovoce.server.database.live_sessions import (
    LiveState,
    StoredMember,
    change_session,
    members_of,
    the_session,
)

__all__ = ["start"]


def start(service: Service, id: str) -> None:
    """Begin with those who have joined. One that has begun goes on as it is."""
    while not _started(service, id):
        pass  # somebody has joined meanwhile


def _started(service: Service, id: str) -> bool:
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        joined = members_of(connection, stored.number)
    if stored.state is not LiveState.GATHERING:
        _check_began(stored.state)
        return True
    if len(joined) < FEWEST_MEMBERS:
        raise Refused(
            Reason.NOT_OPEN,
            f"{len(joined)} workers have joined, and a session needs {FEWEST_MEMBERS}: of two, "
            "each would know the other's part of a sum",
        )
    offer = LiveOffer.of_json(stored.offer)
    # Here, since noise may take seconds to calibrate and the writer is for writing.
    terms = agreed_terms(offer, id, coordinator_of(service), [_member(each) for each in joined])
    state = LiveState.DEALING if offer.suite is Suite.DAMGARD_JURIK else LiveState.RUNNING

    def work(connection: Connection) -> bool:
        now = the_session(connection, id, hold=True)
        if now.state is not LiveState.GATHERING:
            return True
        if len(members_of(connection, now.number)) != len(joined):
            return False
        change_session(connection, now.number, state=state, terms=canonical(terms.as_json()))
        note_event(connection, "live.started", service.today(), id)
        return True

    began = service.change(work)
    if began:
        service.attendance.ring(id)
    return began


def _member(joined: StoredMember) -> Member:
    assert joined.number and joined.signing and joined.sealing  # noqa: S101, PT018 - it has joined
    return Member(joined.number, joined.signing, joined.sealing)


def _check_began(state: LiveState) -> None:
    if state.is_over:
        raise Refused(Reason.NOT_OPEN, f"the session is {state}: make another")
