"""Sealed campaigns with keyholders and workers in this process: real keys, shares and messages."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Policy, Task, Terms, assigned, pseudonym
from sottovoce.model.keyholder import Keyholder
from sottovoce.securesum.committee.keyholder import KeyholderKeys, KeyholderSession
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.committee.worker import contribute
from sottovoce.securesum.envelope import canonical
from sottovoce.server.campaigns.drafts import create_draft
from sottovoce.server.campaigns.invites import InviteKind, invite
from sottovoce.server.campaigns.lifecycle import open_campaign
from sottovoce.server.sealed.keyholders import (
    authenticated_keyholder,
    coordinator_of,
    keyholder_links,
    sealed_admission,
)
from sottovoce.server.sealed.mailbox import batch, closed, next_work, receive
from sottovoce.server.service import Service

NAMES = ("City library", "University", "Newspaper")
YES_NO = Domain.categorical(["no", "yes"])
NOISELESS = 40.0
"""At this epsilon one total in 10¹⁷ has noise in it: totals are compared exactly."""


@cache
def keys_of(seat: int) -> KeyholderKeys:
    return KeyholderKeys(X25519PrivateKey.generate(), Ed25519PrivateKey.generate())


def cards(seats: int = 3) -> tuple[Keyholder, ...]:
    return tuple(Keyholder(NAMES[i], *keys_of(i + 1).public) for i in range(seats))


def sealed_policy(
    service: Service,
    *,
    domain: Domain = YES_NO,
    epsilon: float = NOISELESS,
    answers: int = 4,
    hidden: bool = False,
    **others: Any,
) -> Policy:
    target = Target(epsilon, answers=answers, hide_participation=hidden)
    named = {"keyholders": cards(), "coordinator": coordinator_of(service), "minimum": 3, **others}
    return make_policy(domain, "sealed-sum", target, **named)


def opened(
    service: Service, policy: Policy, tasks: Sequence[str] = ("t3", "t1", "t2")
) -> tuple[str, str]:
    """An open sealed campaign and an invite to it."""
    terms = Terms("Leaves", "Is it an oak?", policy)
    id = create_draft(service, terms, [Task(name, f"{name}?") for name in tasks]).id
    open_campaign(service, id, over_budget=True)
    (link,) = invite(service, id, InviteKind.OPEN, public_url="http://x")
    return id, link.partition("#")[2]


@dataclass(frozen=True)
class Sent:
    """A worker's contribution, its id, and the receipt shown with it."""

    report_id: str
    receipt: str
    content: bytes


def sealed_answers(id: str, policy: Policy, names: Sequence[str], codes: Sequence[int]) -> Sent:
    """A worker's contribution: these codes for the first of the tasks it is given, by name."""
    receipt = "svr_" + secrets.token_urlsafe(32)
    worker = pseudonym(id, receipt)
    assert policy.promise is not None
    block = min(len(names), policy.promise.answers)
    places = assigned(id, worker, len(names), block)
    tasks = sorted(names[place] for place in places)[: len(codes)]
    content = contribute(id, policy, worker, tasks, np.array(codes))
    return Sent(secrets.token_hex(16), receipt, content)


def send(service: Service, id: str, invite: str, sent: Sent) -> bool:
    """Whether the reception had it before."""
    admission, reception = service.reception.admission(id), service.reception
    return asyncio.run(
        reception.receive(admission, sent.report_id, invite, sent.receipt, sent.content)
    )


def upload(
    service: Service, id: str, invite: str, codes: Sequence[int], workers: int
) -> list[Sent]:
    """Let several workers send the same answers."""
    admission = sealed_admission(service, id)
    policy = admission.session.policy
    all_sent = [sealed_answers(id, policy, admission.names, codes) for _ in range(workers)]
    for sent in all_sent:
        assert send(service, id, invite, sent) is False
    return all_sent


@dataclass
class InProcess:
    """The use cases, without HTTP."""

    service: Service
    id: str
    credential: str

    def _seat(self) -> Any:
        return authenticated_keyholder(self.service, self.id, self.credential)

    def session(self) -> Session:
        session: Session = sealed_admission(self.service, self.id).session
        return session

    def work(self) -> tuple[str, int | None]:
        found = next_work(self.service, self._seat())
        return str(found.kind), found.number

    def batch(self, number: int) -> tuple[bytes, Sequence[bytes], Sequence[bytes]]:
        found = batch(self.service, self._seat(), number)
        return found.propose, found.items, found.checks

    def closed(self) -> tuple[bytes, Sequence[bytes]]:
        found = closed(self.service, self._seat())
        return found.close, found.confirms

    def send(self, message: bytes) -> bool:
        return receive(self.service, self._seat(), message)


@dataclass
class OverHttp:
    """The routes, as a keyholder's program asks them."""

    client: httpx.Client
    id: str
    credential: str

    def ask(self, method: str, path: str = "", **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.credential}"}
        place = f"/campaigns/{self.id}/sealed{path}"
        return self.client.request(method, place, headers=headers, **options)

    def _read(self, path: str = "") -> Any:
        reply = self.ask("GET", path)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def session(self) -> Session:
        found = self._read()
        assert found["campaign"] == self.id
        return Session(self.id, Policy.of_json(found["policy"]), tuple(found["tasks"]))

    def work(self) -> tuple[str, int | None]:
        found = self._read("/next")
        return found["work"], found["number"]

    def batch(self, number: int) -> tuple[bytes, Sequence[bytes], Sequence[bytes]]:
        found = self._read(f"/batches/{number}")
        items, checks = map(_written, found["items"]), map(_written, found["checks"])
        return _written(found["propose"]), list(items), list(checks)

    def closed(self) -> tuple[bytes, Sequence[bytes]]:
        found = self._read("/close")
        return _written(found["close"]), [_written(each) for each in found["confirms"]]

    def send(self, message: bytes) -> bool:
        headers = {"Content-Type": "application/json"}
        reply = self.client.post(
            f"/campaigns/{self.id}/sealed/messages",
            content=message,
            headers={**headers, "Authorization": f"Bearer {self.credential}"},
        )
        assert reply.status_code in (200, 201), reply.text
        assert reply.json() == {"replayed": reply.status_code == 200}
        return reply.status_code == 200


def _written(document: Any) -> bytes:
    """A message that came as JSON, to the byte as it was signed."""
    return canonical(document).encode("ascii")


@dataclass
class Holder:
    """One keyholder, who does what its server says is next: `InProcess`, or one over HTTP."""

    server: Any
    seat: int
    _session: KeyholderSession | None = None

    def turn(self) -> str:
        """Do one thing; what it was."""
        kind: str
        kind, number = self.server.work()
        if kind in ("wait", "done", "dead"):
            return kind
        assert self.server.send(self.message(kind, number)) is False
        return kind

    def message(self, kind: str, number: int | None) -> bytes:
        """The message that it would send."""
        if self._session is None:
            self._session = KeyholderSession(self.server.session(), keys_of(self.seat))
        if kind == "deal":
            return self._session.deal(SeededRandomness(self.seat)).message
        if kind == "open":
            return self._session.open(*self.server.closed()).message
        assert number is not None
        propose, items, checks = self.server.batch(number)
        if kind == "check":
            return self._session.check(propose, items).message
        return self._session.confirm(number, checks).message


def seats_of(service: Service, id: str) -> list[Holder]:
    """The keyholders of a campaign, with new links."""
    links = keyholder_links(service, id, public_url="http://x")
    return [
        Holder(InProcess(service, id, each.link.partition("#")[2]), each.seat) for each in links
    ]


def go_on(holders: Sequence[Holder]) -> None:
    """Let all of them do what there is to do, until there is nothing."""
    while any([holder.turn() not in ("wait", "done", "dead") for holder in holders]):
        pass


def until(holders: Sequence[Holder], reached: Callable[[], bool]) -> None:
    """Let one after another do one thing, no further than this."""
    while not reached():
        for holder in holders:
            if not reached():
                holder.turn()
