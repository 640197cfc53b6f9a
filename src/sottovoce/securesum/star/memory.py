"""A whole session in one process, through bytes: for tests, simulations and measurements."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import thread_time

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.model.sum_rounds import Contributor, OpenedSum, Planner
from sottovoce.securesum.envelope import Ed25519PrivateKey
from sottovoce.securesum.star.coordinating import CoordinatorSession, RoundRecord, State
from sottovoce.securesum.star.phases import Phase
from sottovoce.securesum.star.rounds import ServerSuite, WorkerSuite
from sottovoce.securesum.star.terms import StarTerms
from sottovoce.securesum.star.working import WorkerSession

__all__ = ["StarRun", "run_in_memory"]


@dataclass(frozen=True, slots=True)
class StarRun:
    """What a session came to, and its CPU seconds: by party ("workers", "server"), and by phase.

    `refused` says what workers would not answer, or the server not take from them; `excluded`
    who was left out, and why.
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
        """What everybody has learnt."""
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
    workers fall silent from a phase (round, phase) on. A phase in which nobody else has anything
    to say is closed: every call comes to an end.
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
        session.records, session.state, session.reason, session.culprits, session.excluded,
        refused, clock.seconds, clock.phases,
    )  # fmt: skip


def _phase(
    session: CoordinatorSession,
    members: Mapping[int, WorkerSession],
    silent: set[int],
    clock: _Clock,
    refused: dict[int, str],
) -> None:
    """One phase: everybody who is asked and not silent answers; then its time is up."""
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
    session: CoordinatorSession,
    reply: bytes,
    number: int,
    clock: _Clock,
    refused: dict[int, str],
) -> bool:
    """Whether the server took the reply. A worker whose reply is refused says nothing more."""
    try:
        with clock.time("server", session.phase):
            return session.take(reply, number)
    except SealedRefused as error:
        refused[number] = str(error)
        return False
