"""Sessions under masks in which every party can be inspected, and made to cheat."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self, cast

import numpy as np

from sottovoce.errors import SealedRefused
from sottovoce.model.sum_rounds import Integers, OpenedSum, RoundRecord, SumSpec
from sottovoce.securesum.envelope import Ed25519PrivateKey, b64, public_text
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.masked.messages import ROW, PieceKind
from sottovoce.securesum.masked.server import MaskedServer
from sottovoce.securesum.masked.shares import COMMITMENT
from sottovoce.securesum.masked.worker import MaskedWorker
from sottovoce.securesum.star.messages import (
    SERVER,
    Place,
    SignedFrame,
    digest_of,
    read_frame,
    written,
)
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.securesum.star.suite import Content, Phase, RoundStart, WorkerRound, WorkerSuite
from sottovoce.securesum.star.terms import Member, StarTerms, Suite
from sottovoce.securesum.star.worker import WorkerSession

__all__ = ["COORDINATOR", "Altering", "Fixed", "Same", "Star", "commitment_at", "keys",
           "refusal", "row_at", "sealing", "suites", "terms_of"]  # fmt: skip

COORDINATOR = Ed25519PrivateKey.generate()


@cache
def keys(count: int) -> tuple[Ed25519PrivateKey, ...]:
    """Signing keys of `count` workers."""
    return tuple(Ed25519PrivateKey.generate() for _ in range(count))


@cache
def sealing(count: int) -> tuple[X25519PrivateKey, ...]:
    """Sealing keys of `count` workers."""
    return tuple(X25519PrivateKey.generate() for _ in range(count))


def suites(count: int) -> list[MaskedWorker]:
    """The suites of `count` honest workers."""
    return [MaskedWorker(key) for key in sealing(count)]


def terms_of(workers: int, threshold: int, minimum: int | None = None, **changes: Any) -> StarTerms:
    """Terms of several workers."""
    members = tuple(
        Member(number, public_text(key), b64(own.public_key().public_bytes_raw()))
        for number, (key, own) in enumerate(zip(keys(workers), sealing(workers), strict=True), 1)
    )
    fields: dict[str, Any] = {
        "name": "a session", "suite": Suite.MASKED, "purpose": {"sums": 1}, "threshold": threshold,
        "minimum": minimum or threshold, "coordinator": public_text(COORDINATOR),
        "members": members,
    }  # fmt: skip
    return StarTerms(**{**fields, **changes})


def row_at(recipient: int) -> slice:
    """The position of a worker's row in a deal."""
    at = COMMITMENT + ROW * (recipient - 1)
    return slice(at, at + ROW)


def commitment_at(recipient: int, kind: PieceKind) -> slice:
    """The position of the commitment of a worker's piece in a deal."""
    at = COMMITMENT + ROW * (recipient - 1) + COMMITMENT * kind
    return slice(at, at + COMMITMENT)


@dataclass(frozen=True)
class Same:
    """A planner: the same sum, `rounds` times."""

    spec: SumSpec
    rounds: int

    def next(self, opened: Sequence[OpenedSum]) -> SumSpec | None:
        return self.spec if len(opened) < self.rounds else None


@dataclass(frozen=True)
class Fixed:
    """A contributor: these values, the next row in each round."""

    rows: Integers

    def values(self, opened: Sequence[OpenedSum]) -> Integers:
        row: Integers = self.rows[len(opened)]
        return row


@dataclass(frozen=True)
class Altering:
    """A worker that sends something else in one phase: `change` gets its round and its reply."""

    phase: Phase
    change: Callable[[Any, Content], Content]
    first: Phase = Phase.SHARE

    def round(self, start: RoundStart, number: int, values: Callable[[], Integers]) -> WorkerRound:
        honest = MaskedWorker(sealing(start.terms.size)[number - 1])
        return _Altered(self, honest.round(start, number, values))

    def prepare(self) -> None:
        pass


@dataclass
class _Altered:
    suite: Altering
    honest: Any

    @property
    def confirmed(self) -> frozenset[int]:
        confirmed: frozenset[int] = self.honest.confirmed
        return confirmed

    def on(self, turn: SignedFrame) -> Content | None:
        honest, round = self.honest.on(turn), self.honest
        if turn.place.phase != self.suite.phase:
            return cast(Content, honest)
        changed = self.suite.change(round, honest)
        # It repeats its reply.
        round._said = digest_of(round._start.terms, turn.place, round._number, *changed)
        return changed


@dataclass
class Star:
    """A session: five workers, of whom any four open, unless stated otherwise."""

    workers: int = 5
    threshold: int = 4
    minimum: int | None = None
    spec: SumSpec = SumSpec(3, 1000)  # noqa: RUF009 - frozen
    rounds: int = 1
    seed: int = 1
    suites: Mapping[int, WorkerSuite] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.terms = terms_of(self.workers, self.threshold, self.minimum)
        shape = (self.workers, max(self.rounds, 1), self.spec.values)
        rng = np.random.default_rng(self.seed)
        self.values = rng.integers(0, self.spec.greatest, shape, endpoint=True)
        self.planner = Same(self.spec, self.rounds)
        self.server = self.served()
        self.members = {
            number: WorkerSession(
                self.terms, number, key, self.planner, Fixed(self.values[number - 1]),
                self.suites.get(number, MaskedWorker(own)),
            )
            for number, (key, own) in enumerate(
                zip(keys(self.workers), sealing(self.workers), strict=True), 1
            )
        }  # fmt: skip
        self.events: list[tuple[bytes, int] | None] = []

    def served(self, history: Sequence[RoundRecord] = ()) -> CoordinatorSession:
        """A server at the beginning of the round after these."""
        return CoordinatorSession(
            self.terms, COORDINATOR, self.planner, MaskedServer(), history=history
        )

    def total(self, members: Collection[int], round: int = 0) -> list[int]:
        """The sum of these workers' values."""
        total: list[int] = self.values[np.array(sorted(members)) - 1, round].sum(axis=0).tolist()
        return total

    def turn(self, number: int) -> bytes:
        """An honest server's turn for a worker."""
        content = self.server.turn(number)
        assert content is not None
        return content

    def take(self, reply: bytes, number: int) -> None:
        """An honest server takes a reply."""
        assert self.server.take(reply, number)
        self.events.append((reply, number))

    def close(self) -> None:
        """Close the current phase."""
        self.server.close()
        self.events.append(None)

    def play(self, silent: Collection[int] = ()) -> Self:
        """One phase, in which all but some answer."""
        waiting = self.server.waiting
        turns = {number: self.turn(number) for number in sorted(waiting - set(silent))}
        for number, turn in turns.items():
            reply = self.members[number].on(turn)
            assert reply is not None
            self.take(reply, number)
        if len(turns) < len(waiting):
            self.close()
        return self

    def until(self, phase: Phase, round: int = 0) -> Self:
        """Play honestly until a phase begins; nobody has been asked in it yet."""
        while (self.server.round, self.server.phase) != (round, phase):
            assert self.server.state == "running"
            self.play()
        return self

    def finish(self) -> Self:
        """Play honestly to the end, and tell all workers."""
        while self.server.state == "running":
            self.play()
        for number in sorted(self.server.alive):
            assert self.members[number].on(self.turn(number)) is None
        return self

    def says(
        self, phase: str, fields: Mapping[str, Any], payload: bytes = b"", round: int = 0,
        step: int = 0,
    ) -> bytes:  # fmt: skip
        """A frame with any content that the server signs."""
        return written(self.terms, Place(round, phase, step), SERVER, COORDINATOR, fields, payload)

    def worker_says(
        self, number: int, phase: str, fields: Mapping[str, Any], payload: bytes = b"",
        round: int = 0,
    ) -> bytes:  # fmt: skip
        """A frame with any content that a worker signs."""
        key = keys(self.workers)[number - 1]
        return written(self.terms, Place(round, phase), number, key, fields, payload)

    def read(self, content: bytes) -> SignedFrame:
        """The content of a frame."""
        return read_frame(self.terms, content)

    def copy(self, number: int) -> WorkerSession:
        """A copy of a worker, which can be asked without changing the original."""
        return deepcopy(self.members[number])


def refusal(worker: WorkerSession, turn: bytes) -> SealedRefused:
    """A worker's refusal of a turn; it must refuse."""
    try:
        reply = worker.on(turn)
    except SealedRefused as error:
        return error
    raise AssertionError(f"it answered {reply!r}")
