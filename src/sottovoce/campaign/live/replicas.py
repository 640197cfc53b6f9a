"""A session in the memory of one server: made of what is stored, and only of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from sottovoce.campaign.live.suites import server_suite
from sottovoce.securesum.em.planner import PrivatePlanner, planner_of
from sottovoce.securesum.em.terms import EMTerms
from sottovoce.securesum.envelope import Ed25519PrivateKey
from sottovoce.securesum.star.server import CoordinatorSession, RoundRecord
from sottovoce.securesum.star.terms import StarTerms
from sottovoce.server.database.live_sessions import (
    Event,
    EventKind,
    events_of,
    members_of,
    rounds_of,
    secret_of,
    state_of,
    the_session,
)

__all__ = ["Replica", "View", "catch_up", "restored"]


@dataclass(frozen=True, slots=True)
class View:
    """How a session stands: the phase that is on and who is waited for, and who is left."""

    round: int
    phase: str
    waiting: tuple[int, ...]
    alive: tuple[int, ...]
    excluded: Mapping[int, str]


@dataclass(slots=True)
class Replica:
    """A session that runs, after the first `sequence` things that happened in it.

    `replied` has the hash of each member's last reply, which may come once more at any time.
    """

    number: int
    terms: StarTerms
    planner: PrivatePlanner
    session: CoordinatorSession
    patience: float
    sequence: int
    replied: dict[int, bytes]

    def view(self) -> View:
        """How it stands now."""
        session = self.session
        return View(
            session.round,
            str(session.phase),
            tuple(sorted(session.waiting)),
            tuple(sorted(session.alive)),
            dict(session.excluded),
        )


def restored(connection: Connection, id: str, key: Ed25519PrivateKey) -> Replica:
    """The session as it stands in the database: the same bytes wherever and whenever it is made."""
    stored = the_session(connection, id)
    _, _, sequence = state_of(connection, id)
    terms = StarTerms.of_json(stored.terms)
    planner = planner_of(EMTerms.of_json(terms.purpose))
    suite = server_suite(terms, stored.deal, secret_of(connection, stored.number))
    history = [
        RoundRecord(each.totals, each.contributors, each.excluded)
        for each in rounds_of(connection, stored.number)
    ]
    session = CoordinatorSession(terms, key, planner, suite, history=history)
    replied = {
        member.number: member.replied
        for member in members_of(connection, stored.number)
        if member.number is not None and member.replied is not None
    }
    for _, event in events_of(connection, stored.number):
        _apply(session, event)
    patience = float(stored.offer["patience"])
    return Replica(stored.number, terms, planner, session, patience, sequence, replied)


def catch_up(connection: Connection, replica: Replica, sequence: int) -> bool:
    """Do what other servers have done since; whether that is known, event by event.

    A round that has ended meanwhile is known by what it opened only: then the session is restored.
    """
    found = events_of(connection, replica.number, after=replica.sequence)
    if [at for at, _ in found] != list(range(replica.sequence + 1, sequence + 1)):
        return False
    for _, event in found:
        _apply(replica.session, event)
    for member in members_of(connection, replica.number):
        if member.number is not None and member.replied is not None:
            replica.replied[member.number] = member.replied
    replica.sequence = sequence
    return True


def _apply(session: CoordinatorSession, event: Event) -> None:
    if event.kind is EventKind.CLOSE:
        session.close()
    elif event.member is not None and event.content is not None:
        session.take(event.content, event.member)
