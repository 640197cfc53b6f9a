"""Sessions of six workers with a key of 1,024 bits that is dealt once, and cheating workers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sottovoce.errors import SealedRefused
from sottovoce.model import Keyholder
from sottovoce.model.sum_rounds import Integers, OpenedSum, RoundRecord, SumSpec
from sottovoce.securesum.damgard_jurik.dealer import (
    DealtKey,
    deal_threshold_key,
    open_share,
    read_public,
)
from sottovoce.securesum.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.damgard_jurik.server import ThresholdServer
from sottovoce.securesum.damgard_jurik.worker import ThresholdWorker
from sottovoce.securesum.envelope import Ed25519PrivateKey, b64, public_text
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.star.messages import SERVER, Place, SignedFrame, written
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.securesum.star.suite import Content, Phase, RoundStart, WorkerRound, WorkerSuite
from sottovoce.securesum.star.terms import KeyTerms, Member, StarTerms, Suite
from sottovoce.securesum.star.worker import WorkerSession

__all__ = [
    "COORDINATOR", "DEALER", "SEALING", "SERVER_SEALING", "SIGNING", "SPEC", "TERMS", "Altering",
    "Star", "dealt", "frame", "public_and_shares", "terms_of", "total", "values_of",
]  # fmt: skip

WORKERS, THRESHOLD, MINIMUM = 6, 4, 4
SPEC = SumSpec(values=60, greatest=1_000_000)
"""Two ciphertexts for each worker."""

SIGNING = [Ed25519PrivateKey.generate() for _ in range(WORKERS)]
SEALING = [X25519PrivateKey.generate() for _ in range(WORKERS)]
COORDINATOR, DEALER = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
SERVER_SEALING = X25519PrivateKey.generate()


def public_of(key: X25519PrivateKey) -> str:
    """The public half, as terms write it."""
    return b64(key.public_key().public_bytes_raw())


def terms_of(**changes: Any) -> StarTerms:
    """Terms of six workers, four of whom must agree."""
    dealer = Keyholder("Dealer", public_of(X25519PrivateKey.generate()), public_text(DEALER))
    fields: dict[str, Any] = {
        "name": "a session", "suite": Suite.DAMGARD_JURIK, "purpose": {}, "threshold": THRESHOLD,
        "minimum": MINIMUM, "coordinator": public_text(COORDINATOR),
        "members": tuple(
            Member(number, public_text(signing), public_of(sealing))
            for number, (signing, sealing) in enumerate(zip(SIGNING, SEALING, strict=True), 1)
        ),
        "key": KeyTerms(1024, dealer),
    }  # fmt: skip
    return StarTerms(**{**fields, **changes})


TERMS = terms_of()


@cache
def dealt() -> DealtKey:
    """The one deal of these tests."""
    return deal_threshold_key(TERMS, DEALER, public_of(SERVER_SEALING))


@cache
def public_and_shares() -> tuple[PublicKey, tuple[KeyShare, ...]]:
    """All shares of the deal, the server's last."""
    public = read_public(TERMS, dealt().public)
    keys = [*SEALING, SERVER_SEALING]
    return public, tuple(
        open_share(TERMS, public, number, key, dealt().shares[number])
        for number, key in enumerate(keys, 1)
    )


def values_of(number: int, round_: int) -> Integers:
    """The values that a worker adds in a round."""
    drawn = np.random.default_rng([number, round_]).integers(0, SPEC.greatest + 1, SPEC.values)
    values: Integers = drawn.astype(np.int64)
    return values


def total(members: Collection[int], round_: int) -> list[int]:
    """The sum of these workers' values."""
    summed: list[int] = np.sum([values_of(each, round_) for each in members], axis=0).tolist()
    return summed


@dataclass(frozen=True)
class Rounds:
    """The same sum in every round."""

    count: int

    def next(self, opened: Sequence[OpenedSum]) -> SumSpec | None:
        return SPEC if len(opened) < self.count else None


@dataclass(frozen=True)
class Answers:
    """A worker whose values are known."""

    number: int

    def values(self, opened: Sequence[OpenedSum]) -> Integers:
        return values_of(self.number, len(opened))


@dataclass(frozen=True)
class Altering:
    """A worker who sends something else in some phases."""

    suite: ThresholdWorker
    changes: Mapping[Phase, Callable[[Content], Content]]
    first: Phase = Phase.COMMIT

    def round(self, start: RoundStart, number: int, values: Callable[[], Integers]) -> WorkerRound:
        return _Altered(self.suite.round(start, number, values), self.changes)

    def prepare(self) -> None:
        self.suite.prepare()


@dataclass(frozen=True)
class _Altered:
    round: WorkerRound
    changes: Mapping[Phase, Callable[[Content], Content]]

    @property
    def confirmed(self) -> frozenset[int]:
        return self.round.confirmed

    def on(self, turn: SignedFrame) -> Content | None:
        said = self.round.on(turn)
        change = self.changes.get(Phase(turn.place.phase))
        return said if said is None or change is None else change(said)


class Star:
    """A server and its workers. `events` is what a server would have stored."""

    def __init__(
        self, rounds: int = 1, suites: Mapping[int, WorkerSuite] | None = None,
        terms: StarTerms = TERMS,
    ) -> None:  # fmt: skip
        public, shares = public_and_shares()
        self.terms, self.rounds = terms, rounds
        self.server = self.restored()
        self.workers = {
            number: WorkerSession(
                terms, number, SIGNING[number - 1], Rounds(rounds), Answers(number),
                (suites or {}).get(number) or ThresholdWorker(public, shares[number - 1]),
            )
            for number in range(1, WORKERS + 1)
        }  # fmt: skip
        self.events: list[tuple[bytes, int] | None] = []
        self.refused: dict[int, SealedRefused] = {}

    def restored(self, history: Sequence[RoundRecord] = ()) -> CoordinatorSession:
        """A server with this history."""
        public, shares = public_and_shares()
        suite = ThresholdServer(public, shares[-1])
        return CoordinatorSession(
            self.terms, COORDINATOR, Rounds(self.rounds), suite, history=history
        )

    def replies(self, silent: Collection[int] = ()) -> dict[int, bytes]:
        """The replies to the turns of the current phase; a worker who refuses sends none."""
        said = {}
        for number in sorted(self.server.waiting - set(silent) - self.refused.keys()):
            turn = self.server.turn(number)
            assert turn is not None
            try:
                reply = self.workers[number].on(turn)
            except SealedRefused as error:
                self.refused[number] = error
                continue
            assert reply is not None
            said[number] = reply
        return said

    def take(self, reply: bytes, number: int) -> bool:
        """Give a reply to the server, and record it if it was taken."""
        taken = self.server.take(reply, number)
        self.events.append((reply, number))
        return taken

    def close(self) -> None:
        """Close the current phase."""
        self.server.close()
        self.events.append(None)

    def phase(self, silent: Collection[int] = ()) -> None:
        """One whole phase; the server closes it if a reply is missing."""
        place, said = (self.server.round, self.server.phase), self.replies(silent)
        for number, reply in said.items():
            try:
                self.take(reply, number)
            except SealedRefused as error:
                self.refused[number] = error
        if (self.server.round, self.server.phase) == place and self.server.waiting - said.keys():
            self.close()
        elif self.server.waiting & self.refused.keys() and self.server.waiting <= said.keys():
            self.close()

    def play(self, until: Phase | None = None, round_: int = 0) -> Star:
        """Phases until a given one begins, or until the end."""
        while self.server.state == "running":
            if (self.server.round, self.server.phase) == (round_, until):
                break
            self.phase()
        return self

    def asked(
        self,
        phase: Phase,
        fields: Mapping[str, Any],
        payload: bytes,
        step: int = 0,
        round_: int = 0,
    ) -> bytes:
        """A turn that a dishonest server signs."""
        return written(self.terms, Place(round_, phase, step), SERVER, COORDINATOR, fields, payload)


def frame(
    phase: Phase, number: int, fields: Mapping[str, Any], payload: bytes = b"", round_: int = 0
) -> bytes:
    """A message signed by a dishonest worker."""
    return written(TERMS, Place(round_, phase), number, SIGNING[number - 1], fields, payload)
