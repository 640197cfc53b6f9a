"""A server that can send anything to anyone, with the keys of some keyholders."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.securesum.committees import keys_of
from tests.securesum.sealed_policies import COORDINATOR

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.securesum.committee import server
from sottovoce.securesum.committee.keyholder import KeyholderSession, Reply
from sottovoce.securesum.committee.messages import MessageKind, written
from sottovoce.securesum.committee.state_chain import BEGINNING, Certified, Fact
from sottovoce.securesum.committee.terms import Session

__all__ = ["Party", "Server", "cloned"]


@dataclass
class Party:
    """A keyholder with its recorded facts and its messages, in order."""

    session: Session
    seat: int
    facts: list[Fact] = field(default_factory=list)
    said: list[bytes] = field(default_factory=list)
    keyholder: KeyholderSession = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Lose everything but the recorded facts."""
        self.keyholder = KeyholderSession(
            self.session, keys_of(self.session)[self.seat - 1], self.facts
        )

    def keep(self, step: Reply) -> bytes:
        """Record, then send."""
        self.facts.extend(step.facts)
        self.said.append(step.message)
        return step.message


@dataclass
class Server:
    """Parties at all seats, the deals they made, and contributions by digest."""

    session: Session
    uploads: dict[str, bytes]
    parties: list[Party] = field(init=False)
    deals: dict[str, bytes] = field(init=False)

    def __post_init__(self) -> None:
        seats = range(1, self.session.sealed.seats + 1)
        self.parties = [Party(self.session, seat) for seat in seats]
        self.deals = {}
        for party in self.parties:
            deal = party.keep(party.keyholder.deal(SeededRandomness(party.seat)))
            self.deals[server.read_message(self.session, deal).digest] = deal

    def propose(self, number: int, previous: str, digests: Iterable[str]) -> bytes:
        return server.propose(self.session, COORDINATOR, number, previous, list(digests))

    def items(self, seat: int, digests: Sequence[str]) -> list[bytes]:
        known = {**self.deals, **self.uploads}
        return [server.item_for(known[digest], seat) for digest in digests]

    def checks(self, number: int, previous: str, digests: Sequence[str]) -> list[bytes]:
        """All keyholders' checks of one batch."""
        ordered = list(digests) if number == 0 else sorted(digests)
        propose = self.propose(number, previous, ordered)
        return [
            party.keep(party.keyholder.check(propose, self.items(party.seat, ordered)))
            for party in self.parties
        ]

    def batch(self, number: int, previous: str, digests: Sequence[str]) -> list[bytes]:
        """All keyholders check and confirm one batch; returns the confirms."""
        checks = self.checks(number, previous, digests)
        return [party.keep(party.keyholder.confirm(number, checks)) for party in self.parties]

    def begin(self) -> Certified:
        """The state after the deals."""
        return self.certified(self.batch(0, BEGINNING, list(self.deals)))

    def certified(self, confirms: Sequence[bytes]) -> Certified:
        return server.certified(self.session, confirms)

    def close(self, state: Certified) -> bytes:
        return server.close(self.session, COORDINATOR, state)

    def forged(self, phase: MessageKind, seat: int, **fields: object) -> bytes:
        """Any message, in the name of a keyholder whose key the server has."""
        return written(self.session, phase, seat, fields, keys_of(self.session)[seat - 1].signing)


def cloned(keyholder: KeyholderSession) -> KeyholderSession:
    """An independent copy: for searches that try everything from one point on."""
    twin = copy.copy(keyholder)
    twin._facts = copy.copy(keyholder._facts)
    twin._facts.confirmed = list(keyholder._facts.confirmed)
    twin._reader = copy.copy(keyholder._reader)
    twin._reader._workers = set(keyholder._reader._workers)
    twin._reader._digests = set(keyholder._reader._digests)
    twin._reader._total = keyholder._reader._total.copy()
    return twin
