"""Live sessions with workers in this process: their keys, their answers, and what they reply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import httpx
import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sottovoce.live.server.active_sessions import ProgressRequest, sessions_of
from sottovoce.live.server.draft import SessionDraft
from sottovoce.live.server.exchange import agreed, receive, turn
from sottovoce.live.server.roster import Created, create_session, join, seated
from sottovoce.live.server.transitions import wish
from sottovoce.randomness import SystemRandomness
from sottovoce.securesum.damgard_jurik.dealer import deal_threshold_key, open_share, read_public
from sottovoce.securesum.damgard_jurik.worker import ThresholdWorker
from sottovoce.securesum.em.contributor import contributor_of
from sottovoce.securesum.em.planner import planner_of
from sottovoce.securesum.em.terms import EMTerms
from sottovoce.securesum.envelope import b64, public_text, unb64
from sottovoce.securesum.masked.worker import MaskedWorker
from sottovoce.securesum.star.suite import WorkerSuite
from sottovoce.securesum.star.terms import StarTerms
from sottovoce.securesum.star.worker import WorkerSession
from sottovoce.server.database.live_sessions import LiveState
from sottovoce.server.service import Service

TASKS, LABELS = ("t1", "t2", "t3"), ("no", "yes")
ANSWERS = ((1, 0, 1), (1, 0, 0), (1, 0, 1), (1, 1, 1))
"""The answers of four workers to each task."""

ASKED: Mapping[str, Any] = {
    "title": "Leaves", "tasks": TASKS, "labels": LABELS, "suite": "masked", "mode": "log_odds",
    "workers": 4, "rounds": 1, "patience": 60.0,
}  # fmt: skip


def offer(**others: Any) -> SessionDraft:
    """An offer of a small session, but for the other fields."""
    return SessionDraft.asked(**{**ASKED, **others})


class Line(Protocol):
    """How a member reaches the server."""

    def join(self, signing: str, sealing: str) -> int: ...
    def agreed(self) -> Mapping[str, Any]: ...
    def turn(self) -> bytes | None: ...
    def reply(self, content: bytes) -> bool: ...


L = TypeVar("L", bound=Line)


@dataclass
class Direct:
    """Use cases without HTTP. `service` may be another one at any time."""

    service: Service
    id: str
    credential: str

    def join(self, signing: str, sealing: str) -> int:
        return join(self.service, self.id, self.credential, signing, sealing).number

    def agreed(self) -> Mapping[str, Any]:
        found = agreed(self.service, self.id, seated(self.service, self.id, self.credential))
        assert found is not None
        return found

    def turn(self) -> bytes | None:
        seat = seated(self.service, self.id, self.credential)
        if seat.state is LiveState.RUNNING:
            wish(
                self.service, sessions_of(self.service).session(self.id), ProgressRequest()
            ).result(10)
        return turn(self.service, self.id, seat)

    def reply(self, content: bytes) -> bool:
        seat = seated(self.service, self.id, self.credential)
        return receive(self.service, self.id, seat, content).result(10)


@dataclass
class OverHttp:
    """The same over HTTP. `wait` is how long to wait for a turn."""

    client: httpx.Client
    id: str
    credential: str
    wait: int = 5

    def ask(self, method: str, below: str, **options: Any) -> httpx.Response:
        shown = {"Authorization": f"Bearer {self.credential}", **options.pop("headers", {})}
        return self.client.request(method, f"/live/{self.id}/{below}", headers=shown, **options)

    def join(self, signing: str, sealing: str) -> int:
        reply = self.ask("POST", "join", json={"signing": signing, "sealing": sealing})
        assert reply.status_code in (200, 201), reply.text
        return int(reply.json()["number"])

    def agreed(self) -> Mapping[str, Any]:
        reply = self.ask("GET", "terms", params={"wait": self.wait})
        assert reply.status_code == 200, reply.text
        found: Mapping[str, Any] = reply.json()
        return found

    def turn(self) -> bytes | None:
        reply = self.ask("GET", "turn", params={"wait": self.wait})
        assert reply.status_code in (200, 204), reply.text
        return reply.content or None

    def send(self, content: bytes, kind: str = "application/octet-stream") -> httpx.Response:
        return self.ask("POST", "replies", content=content, headers={"Content-Type": kind})

    def reply(self, content: bytes) -> bool:
        reply = self.send(content)
        assert reply.status_code in (200, 201), reply.text
        return bool(reply.json()["replayed"])


@dataclass
class Worker(Generic[L]):
    """A worker with its answers. It does not reply to the same turn twice."""

    line: L
    answers: Sequence[int]
    signing: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    sealing: X25519PrivateKey = field(default_factory=X25519PrivateKey.generate)
    number: int = 0
    session: WorkerSession | None = None
    turns: list[bytes] = field(default_factory=list)
    replies: list[bytes] = field(default_factory=list)

    @property
    def keys(self) -> dict[str, str]:
        sealing = b64(self.sealing.public_key().public_bytes_raw())
        return {"signing": public_text(self.signing), "sealing": sealing}

    def join(self) -> None:
        self.number = self.line.join(**self.keys)

    def begin(self) -> None:
        found = self.line.agreed()
        terms = StarTerms.of_json(found["terms"])
        purpose = EMTerms.of_json(terms.purpose)
        contributor = contributor_of(
            purpose, np.arange(len(TASKS)), np.array(self.answers), SystemRandomness()
        )
        self.session = WorkerSession(
            terms, self.number, self.signing, planner_of(purpose), contributor,
            self._suite(terms, found["deal"]),
        )  # fmt: skip

    def _suite(self, terms: StarTerms, deal: Mapping[str, str] | None) -> WorkerSuite:
        if deal is None:
            return MaskedWorker(self.sealing)
        public = read_public(terms, deal["public"].encode())
        sealed = unb64(deal["share"])
        assert sealed is not None
        return ThresholdWorker(public, open_share(terms, public, self.number, self.sealing, sealed))

    @property
    def ended(self) -> str | None:
        assert self.session is not None
        return None if self.session.ended is None else self.session.ended.state

    def made(self) -> bytes | None:
        """The reply to what is asked now, which is not sent; None if nothing new is asked."""
        assert self.session is not None
        asked = self.line.turn()
        if asked is None or (self.turns and asked == self.turns[-1]):
            return None
        self.turns.append(asked)
        return self.session.on(asked)

    def step(self) -> bool:
        """Answer what is asked now; whether there was anything new."""
        asked = len(self.turns)
        reply = self.made()
        if reply is not None:
            assert not self.line.reply(reply)
            self.replies.append(reply)
        return len(self.turns) > asked


@dataclass
class Clock:
    """Hands that tests can turn."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def workers_of(service: Service, made: Created) -> list[Worker[Direct]]:
    """The workers who hold the links of a session."""
    return [
        Worker(Direct(service, made.id, link.partition("#")[2]), answers)
        for link, answers in zip(made.links, ANSWERS, strict=True)
    ]


def gathered(service: Service, **others: Any) -> tuple[str, list[Worker[Direct]]]:
    """A session that everybody has joined, and its workers."""
    made = create_session(service, offer(**others), public_url="https://answers.example")
    workers = workers_of(service, made)
    begin(workers)
    return made.id, workers


def begin(workers: Iterable[Worker[Any]]) -> None:
    """Everybody joins, and reads the terms."""
    workers = list(workers)
    for worker in workers:
        worker.join()
    for worker in workers:
        worker.begin()


def go_on(workers: Iterable[Worker[Any]]) -> None:
    """Everybody answers until nobody has anything to say, or the session is over."""
    workers = list(workers)
    while any([worker.step() for worker in workers if worker.ended is None]):
        pass


def dealt(line: Line, signing: Ed25519PrivateKey) -> dict[str, Any]:
    """A key for the session of this line, which is the dealer's, as it is sent."""
    found = line.agreed()
    made = deal_threshold_key(StarTerms.of_json(found["terms"]), signing, found["sealing"])
    shares = [b64(made.shares[number]) for number in sorted(made.shares)]
    return {"public": made.public.decode(), "shares": shares}
