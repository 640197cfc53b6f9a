"""The replica of a live session in a server's memory, built from stored events only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sottovoce.errors import SealedRefused
from sottovoce.model.canonical_json import canonical
from sottovoce.securesum.em.planner import PrivatePlanner, planner_of
from sottovoce.securesum.em.terms import EMTerms
from sottovoce.securesum.envelope import Ed25519PrivateKey, unb64
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.masked.server import MaskedServer
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.securesum.star.suite import ServerSuite
from sottovoce.securesum.star.terms import StarTerms, Suite
from sottovoce.server.database.live_sessions import (
    EventKind,
    SessionEvent,
    events_of,
    members_of,
    rounds_of,
    secret_of,
    state_of,
    the_session,
)

THE_DEALER = "the dealer"


def server_suite(terms: StarTerms, deal: bytes | None, secret: bytes | None) -> ServerSuite:
    """The suite of the terms; with a dealt key it opens the server's share."""
    if terms.suite is Suite.MASKED:
        return MaskedServer()
    assert deal is not None and secret is not None  # noqa: S101, PT018 - a session runs once dealt
    return _threshold_server(terms, deal, secret)


def deal_document(public: str, shares: Sequence[str]) -> bytes:
    """A deal in the stored format: the dealer's document, and each holder's sealed share."""
    return canonical({"public": public, "shares": list(shares)}).encode("ascii")


def check_deal(terms: StarTerms, deal: bytes, secret: bytes) -> None:
    """Refuse a key that the session cannot use, or with a wrong share for the server.

    Workers check their own shares.
    """
    shares = json.loads(deal)["shares"]
    if len(shares) != terms.size + 1 or any(unb64(each) is None for each in shares):
        raise SealedRefused(
            THE_DEALER,
            f"there must be one share for each of {terms.size} workers and one for the server",
        )
    _threshold_server(terms, deal, secret)


def check_suite(suite: Suite) -> None:
    """Refuse a suite whose library is not installed on this server."""
    if suite is Suite.DAMGARD_JURIK:
        # Imported here and below: its arithmetic needs a library that other sessions do not.
        from sottovoce.securesum.damgard_jurik.server import ThresholdServer  # noqa: F401


def _threshold_server(terms: StarTerms, deal: bytes, secret: bytes) -> ServerSuite:
    from sottovoce.securesum.damgard_jurik.dealer import open_share, read_public
    from sottovoce.securesum.damgard_jurik.server import ThresholdServer

    document, holder = json.loads(deal), terms.size + 1
    public = read_public(terms, document["public"].encode("utf-8"))
    sealing = X25519PrivateKey.from_private_bytes(secret)
    sealed = unb64(document["shares"][-1]) or b""
    return ThresholdServer(public, open_share(terms, public, holder, sealing, sealed))


@dataclass(frozen=True, slots=True)
class PhaseStatus:
    """The state of a session: its phase, missing replies, and remaining members."""

    round: int
    phase: str
    waiting: tuple[int, ...]
    alive: tuple[int, ...]
    excluded: Mapping[int, str]


@dataclass(slots=True)
class Replica:
    """A running session after its first `sequence` events.

    `replied` has the hash of each member's last reply, which may be repeated at any time.
    """

    number: int
    terms: StarTerms
    planner: PrivatePlanner
    session: CoordinatorSession
    patience: float
    sequence: int
    replied: dict[int, bytes]

    def view(self) -> PhaseStatus:
        """The current state."""
        session = self.session
        return PhaseStatus(
            session.round,
            str(session.phase),
            tuple(sorted(session.waiting)),
            tuple(sorted(session.alive)),
            dict(session.excluded),
        )


def restored(connection: Connection, id: str, key: Ed25519PrivateKey) -> Replica:
    """Rebuild the session from the database; deterministic, byte for byte."""
    stored = the_session(connection, id)
    _, _, sequence = state_of(connection, id)
    terms = StarTerms.of_json(stored.terms)
    planner = planner_of(EMTerms.of_json(terms.purpose))
    suite = server_suite(terms, stored.deal, secret_of(connection, stored.number))
    history = rounds_of(connection, stored.number)
    session = CoordinatorSession(terms, key, planner, suite, history=history)
    replied = _replied(connection, stored.number)
    for _, event in events_of(connection, stored.number):
        _apply(session, event)
    patience = float(stored.offer["patience"])
    return Replica(stored.number, terms, planner, session, patience, sequence, replied)


def catch_up(connection: Connection, replica: Replica, sequence: int) -> bool:
    """Apply the events of other servers; return whether all are known.

    Of a round that has ended, only the totals are stored: the session is then rebuilt.
    """
    found = events_of(connection, replica.number, after=replica.sequence)
    if [at for at, _ in found] != list(range(replica.sequence + 1, sequence + 1)):
        return False
    for _, event in found:
        _apply(replica.session, event)
    replica.replied |= _replied(connection, replica.number)
    replica.sequence = sequence
    return True


def _replied(connection: Connection, number: int) -> dict[int, bytes]:
    return {
        member.number: member.replied
        for member in members_of(connection, number)
        if member.number is not None and member.replied is not None
    }


def _apply(session: CoordinatorSession, event: SessionEvent) -> None:
    if event.kind is EventKind.CLOSE:
        session.close()
    elif event.member is not None and event.content is not None:
        session.take(event.content, event.member)
