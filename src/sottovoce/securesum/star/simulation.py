"""A whole session in one process, through bytes: for tests, simulations and measurements.

`Parties` has the keys of all, their terms, and the dealt key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import thread_time
from typing import Any, NamedTuple

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.model import Keyholder
from sottovoce.model.sum_rounds import Contributor, OpenedSum, Planner, RoundRecord
from sottovoce.securesum.damgard_jurik.dealer import deal_threshold_key, open_share, read_public
from sottovoce.securesum.damgard_jurik.server import ThresholdServer
from sottovoce.securesum.damgard_jurik.worker import ThresholdWorker
from sottovoce.securesum.envelope import Ed25519PrivateKey, b64, public_text
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.masked.server import MaskedServer
from sottovoce.securesum.masked.worker import MaskedWorker
from sottovoce.securesum.star.server import CoordinatorSession, State
from sottovoce.securesum.star.suite import Phase, ServerSuite, WorkerSuite
from sottovoce.securesum.star.terms import KeyTerms, Member, StarTerms, Suite, default_threshold
from sottovoce.securesum.star.worker import WorkerSession


@dataclass(frozen=True, slots=True)
class StarRun:
    """The result of a session, and its CPU seconds: by party ("workers", "server"), and by phase.

    `refused` has the turns that workers refused, or the replies that the server refused; `excluded`
    the excluded workers, and why.
    """

    records: tuple[RoundRecord, ...]
    state: State
    reason: str
    culprits: tuple[str, ...]
    excluded: Mapping[int, str]
    refused: Mapping[int, str]
    seconds: Mapping[str, float]
    phases: Mapping[str, Mapping[str, float]]

    @property
    def opened(self) -> tuple[OpenedSum, ...]:
        """The opened sums."""
        return tuple(record.opened for record in self.records)


@dataclass(slots=True)
class _Clock:
    seconds: dict[str, float] = field(default_factory=lambda: {"workers": 0.0, "server": 0.0})
    phases: dict[str, dict[str, float]] = field(default_factory=dict)

    @contextmanager
    def time(self, party: str, phase: Phase) -> Iterator[None]:
        start = thread_time()
        try:
            yield
        finally:
            spent = thread_time() - start
            self.seconds[party] += spent
            in_phase = self.phases.setdefault(str(phase), {"workers": 0.0, "server": 0.0})
            in_phase[party] += spent


def run_in_memory(
    terms: StarTerms,
    planner: Planner,
    contributors: Sequence[Contributor],
    signing: Sequence[Ed25519PrivateKey],
    coordinator: Ed25519PrivateKey,
    workers: Sequence[WorkerSuite],
    server: ServerSuite,
    faults: Mapping[tuple[int, Phase], Collection[int]] | None = None,
) -> StarRun:
    """Every phase of every round, until all is done or nothing more can be opened.

    Contributors, signing keys and worker suites are in the order of the members. `faults` makes
    workers drop out from a phase (round, phase) on. A phase in which no other reply can come is
    closed: every call terminates.
    """
    if not len(contributors) == len(signing) == len(workers) == terms.size:
        raise UsageError(f"{terms.size} workers need as many contributors, keys and suites")
    clock, refused = _Clock(), dict[int, str]()
    with clock.time("server", server.first):
        session = CoordinatorSession(terms, coordinator, planner, server)
    members = {
        number: WorkerSession(terms, number, key, planner, contributor, suite)
        for number, (key, contributor, suite) in enumerate(
            zip(signing, contributors, workers, strict=True), 1
        )
    }
    silent: set[int] = set()
    while session.state == "running":
        silent |= set((faults or {}).get((session.round, session.phase), ()))
        _phase(session, members, silent, clock, refused)
    for number in sorted(members.keys() - silent - refused.keys()):
        _asked(session, members[number], number, clock, refused)
    return StarRun(
        session.records,
        session.state,
        session.reason,
        session.culprits,
        session.excluded,
        refused,
        clock.seconds,
        clock.phases,
    )


def _phase(
    session: CoordinatorSession,
    members: Mapping[int, WorkerSession],
    silent: set[int],
    clock: _Clock,
    refused: dict[int, str],
) -> None:
    """One phase: every worker who is asked and present answers; then it is closed."""
    phase, waiting = session.phase, session.waiting
    replies = {
        number: _asked(session, members[number], number, clock, refused)
        for number in sorted(waiting - silent - refused.keys())
    }
    taken = [
        _taken(session, reply, number, clock, refused)
        for number, reply in replies.items()
        if reply is not None
    ]
    if sum(taken) < len(waiting):
        with clock.time("server", phase):
            session.close()


def _asked(
    session: CoordinatorSession,
    worker: WorkerSession,
    number: int,
    clock: _Clock,
    refused: dict[int, str],
) -> bytes | None:
    phase = session.phase
    with clock.time("server", phase):
        turn = session.turn(number)
    if turn is None:
        return None
    try:
        with clock.time("workers", phase):
            reply = worker.on(turn)
            worker.prepare()
    except SealedRefused as error:
        refused[number] = str(error)
        return None
    return reply


def _taken(
    session: CoordinatorSession, reply: bytes, number: int, clock: _Clock, refused: dict[int, str]
) -> bool:
    """Whether the server took the reply. A worker whose reply is refused sends nothing more."""
    try:
        with clock.time("server", session.phase):
            return session.take(reply, number)
    except SealedRefused as error:
        refused[number] = str(error)
        return False


NAME = "rehearsal"


@dataclass(frozen=True, slots=True)
class Parties:
    """Fresh keys for a server, some workers, and a dealer, from the system's randomness."""

    signing: Sequence[Ed25519PrivateKey] = field(repr=False)
    sealing: Sequence[X25519PrivateKey] = field(repr=False)
    server: Ed25519PrivateKey = field(repr=False)
    server_sealing: X25519PrivateKey = field(repr=False)
    dealer: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def new(cls, workers: int) -> Parties:
        """Newly drawn keys."""
        return cls(
            [Ed25519PrivateKey.generate() for _ in range(workers)],
            [X25519PrivateKey.generate() for _ in range(workers)],
            Ed25519PrivateKey.generate(),
            X25519PrivateKey.generate(),
            Ed25519PrivateKey.generate(),
        )

    def terms(
        self, suite: Suite, purpose: Mapping[str, Any], threshold: int | None, bits: int, s: int
    ) -> StarTerms:
        """Their terms. A set of fewer than `threshold` workers is never opened."""
        agreed = default_threshold(len(self.signing)) if threshold is None else threshold
        return StarTerms(
            NAME,
            suite,
            purpose,
            agreed,
            agreed,
            public_text(self.server),
            tuple(
                Member(number, public_text(signing), _public(sealing))
                for number, (signing, sealing) in enumerate(
                    zip(self.signing, self.sealing, strict=True), 1
                )
            ),
            self._key(bits, s) if suite is Suite.DAMGARD_JURIK else None,
        )

    def _key(self, bits: int, s: int) -> KeyTerms:
        card = Keyholder("dealer", _public(X25519PrivateKey.generate()), public_text(self.dealer))
        return KeyTerms(bits, card, s)


class Suites(NamedTuple):
    """The suites of each party, and the CPU seconds of the setup, by party."""

    workers: Sequence[WorkerSuite]
    server: ServerSuite
    seconds: dict[str, float]


def run_star(
    suite: str,
    purpose: Mapping[str, Any],
    planner: Planner,
    contributors: Sequence[Contributor],
    *,
    threshold: int | None = None,
    bits: int = 2048,
    s: int = 1,
    dropouts: Mapping[tuple[int, str], Collection[int]] | None = None,
) -> tuple[StarRun, Mapping[str, float]]:
    """All rounds of a star, and the CPU seconds of its setup, by party.

    `purpose` describes the sum, as in the terms. `bits` and `s` are of the key, if the suite has
    one. `dropouts` are the workers who drop out from a round and phase on, by number from 1.
    """
    parties = Parties.new(len(contributors))
    terms = parties.terms(Suite(suite), purpose, threshold, bits, s)
    faults = _faults(dropouts or {}, terms.size)
    suites = _masked(parties) if terms.suite is Suite.MASKED else _dealt(terms, parties)
    done = run_in_memory(
        terms,
        planner,
        contributors,
        parties.signing,
        parties.server,
        suites.workers,
        suites.server,
        faults,
    )
    return done, suites.seconds


def _faults(
    dropouts: Mapping[tuple[int, str], Collection[int]], workers: int
) -> dict[tuple[int, Phase], Collection[int]]:
    numbers = {number for gone in dropouts.values() for number in gone}
    if not numbers <= {*range(1, workers + 1)}:
        raise UsageError(f"dropouts must have numbers from 1 to {workers}")
    if not {phase for _, phase in dropouts} <= {*map(str, Phase)}:
        raise UsageError(f"a phase must be one of {', '.join(Phase)}")
    return {(round, Phase(phase)): gone for (round, phase), gone in dropouts.items()}


def _masked(parties: Parties) -> Suites:
    """Nothing is set up: all parties have the keys of the terms."""
    return Suites([MaskedWorker(key) for key in parties.sealing], MaskedServer(), {})


def _dealt(terms: StarTerms, parties: Parties) -> Suites:
    """The dealer makes and deals a threshold key; every holder opens and checks its share."""
    start = thread_time()
    made = deal_threshold_key(terms, parties.dealer, _public(parties.server_sealing))
    dealing = thread_time()
    workers: list[WorkerSuite] = []
    for number, key in enumerate(parties.sealing, 1):
        public = read_public(terms, made.public)
        share = open_share(terms, public, number, key, made.shares[number])
        workers.append(ThresholdWorker(public, share))
    opening = thread_time()
    public, holder = read_public(terms, made.public), terms.size + 1
    share = open_share(terms, public, holder, parties.server_sealing, made.shares[holder])
    server = ThresholdServer(public, share)
    seconds = {
        "dealer": dealing - start,
        "workers": opening - dealing,
        "server": thread_time() - opening,
    }
    return Suites(workers, server, seconds)


def _public(key: X25519PrivateKey) -> str:
    return b64(key.public_key().public_bytes_raw())
