"""A server without HTTP, made of the coordinator's functions, and keyholders that are killed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.securesum.committees import session_of, votes
from tests.securesum.sealed_policies import COORDINATOR

from sottovoce.errors import Unreachable
from sottovoce.keyholder.client import BatchMessages, ClosingMessages, KeyholderWork
from sottovoce.model.canonical_json import canonical_bytes
from sottovoce.securesum.committee import server
from sottovoce.securesum.committee.messages import MessageKind, WorkKind
from sottovoce.securesum.committee.state_chain import BEGINNING
from sottovoce.securesum.committee.terms import Session


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Proposed:
    """One batch as the server has it; messages by seat."""

    propose: bytes
    contents: list[bytes]
    checks: dict[int, bytes] = field(default_factory=dict)
    confirms: dict[int, bytes] = field(default_factory=dict)


class Relay:
    """All that a server keeps of a session. It proposes two batches, and closes."""

    def __init__(self, session: Session, workers: int = 10) -> None:
        self.session, self.seats = session, session.sealed.seats
        uploads = votes(session, workers)
        half = sorted(uploads)[: workers // 2]
        self._waiting = [
            {digest: uploads[digest] for digest in uploads if (digest in half) is first}
            for first in (True, False)
        ]
        self.deals: dict[int, bytes] = {}
        self.batches: list[Proposed] = []
        self.opens: dict[int, bytes] = {}
        self.sent: list[bytes] = []

    def take(self, content: bytes) -> None:
        """A keyholder's message: the first of each kind stays, and another for it is an error."""
        self.sent.append(content)
        message = server.read_message(self.session, content)
        places: dict[MessageKind, Callable[[], dict[int, bytes]]] = {
            MessageKind.DEAL: lambda: self.deals,
            MessageKind.CHECK: lambda: self.batches[message.number or 0].checks,
            MessageKind.CONFIRM: lambda: self.batches[message.number or 0].confirms,
            MessageKind.OPEN: lambda: self.opens,
        }
        place = places[message.phase]()
        assert place.setdefault(message.sender, content) == content
        self._advance()

    def work(self, seat: int) -> KeyholderWork:
        if seat not in self.deals:
            return KeyholderWork(WorkKind.DEAL, 0)
        number = len(self.batches) - 1
        if number >= 0:
            last = self.batches[-1]
            if seat not in last.checks:
                return KeyholderWork(WorkKind.CHECK, number)
            if len(last.checks) == self.seats and seat not in last.confirms:
                return KeyholderWork(WorkKind.CONFIRM, number)
            if self.is_closed and seat not in self.opens:
                return KeyholderWork(WorkKind.OPEN, number)
        done = len(self.opens) > self.session.sealed.degree
        return KeyholderWork(WorkKind.DONE if done else WorkKind.WAIT, 0)

    @property
    def is_closed(self) -> bool:
        return not self._waiting and len(self.batches[-1].confirms) == self.seats

    def batch(self, number: int, seat: int) -> dict[str, Any]:
        """The document that the route gives."""
        found = self.batches[number]
        items = [server.item_for(each, seat) for each in found.contents]
        return {
            "propose": json.loads(found.propose),
            "items": [json.loads(each) for each in items],
            "checks": [json.loads(each) for each in found.checks.values()],
            "confirms": [json.loads(each) for each in found.confirms.values()],
        }

    def closing(self) -> dict[str, Any]:
        confirms = list(self.batches[-1].confirms.values())
        state = server.certified(self.session, confirms)
        close = server.close(self.session, COORDINATOR, state)
        return {"close": json.loads(close), "confirms": [json.loads(each) for each in confirms]}

    def _advance(self) -> None:
        if not self.batches:
            if len(self.deals) == self.seats:
                ordered = [self.deals[seat] for seat in range(1, self.seats + 1)]
                named = [server.read_message(self.session, each).digest for each in ordered]
                self._propose(0, BEGINNING, named, ordered)
            return
        last = self.batches[-1]
        if self._waiting and len(last.confirms) == self.seats:
            state = server.certified(self.session, list(last.confirms.values()))
            batch = self._waiting.pop(0)
            self._propose(
                state.number + 1,
                state.state,
                sorted(batch),
                [batch[each] for each in sorted(batch)],
            )

    def _propose(
        self, number: int, previous: str, digests: list[str], contents: list[bytes]
    ) -> None:
        propose = server.propose(self.session, COORDINATOR, number, previous, digests)
        self.batches.append(Proposed(propose, contents))


@dataclass
class Desk:
    """The relay as a seat sees it: it may change replies, or be silent a number of times.

    `before` and `after` see each message before it arrives and when it has.
    """

    relay: Relay
    seat: int
    change: Callable[[str, Any], Any] = lambda _, document: document
    before: Callable[[bytes], None] = lambda _: None
    after: Callable[[bytes], None] = lambda _: None
    silent: int = 0

    def work(self, wait: int) -> KeyholderWork:
        if self.silent:
            self.silent -= 1
            raise Unreachable("https://answers.example", reason="no connection")
        return self.relay.work(self.seat)

    def batch(self, number: int) -> BatchMessages:
        document = self.change("batch", self.relay.batch(number, self.seat))
        return BatchMessages(
            canonical_bytes(document["propose"]),
            tuple(map(canonical_bytes, document["items"])),
            tuple(map(canonical_bytes, document["checks"])),
            document,
        )

    def closing(self) -> ClosingMessages:
        document = self.change("close", self.relay.closing())
        return ClosingMessages(
            canonical_bytes(document["close"]),
            tuple(map(canonical_bytes, document["confirms"])),
            document,
        )

    def send(self, message: bytes) -> None:
        self.before(message)
        self.relay.take(message)
        self.after(message)


def small_session(**terms: Any) -> Session:
    """Three tasks, two labels, three seats; opens from four contributions on."""
    return session_of(tasks=3, minimum=4, **terms)
