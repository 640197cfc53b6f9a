"""simulate_sealed: run a sealed campaign on one machine, with every party and message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from time import thread_time
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from sottovoce.api.infer_opened import infer_opened, opened_under
from sottovoce.api.input_output import read
from sottovoce.api.keywords import ReadingOptions, spelled_out
from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target, policy_of
from sottovoce.mechanisms.sealed_sum import Layout, SealedSum
from sottovoce.model import NULL, Guarantee, Keyholder, Policy, Reports, Result, Unit, Words
from sottovoce.model.display import Display, Displayed
from sottovoce.model.opened_totals import Opened
from sottovoce.randomness import SystemRandomness
from sottovoce.seams import Randomness
from sottovoce.securesum.ballot import Ballot, number_codes
from sottovoce.securesum.committee.keyholder import KeyholderKeys
from sottovoce.securesum.committee.simulation import CommitteeRun, run_in_memory
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.committee.worker import contribute
from sottovoce.securesum.envelope import Ed25519PrivateKey, public_text
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.plain import PlainSum

SUITES = ("committee", "plain")
"""How sums are made: by keyholders, or in the open, with which keyholders must agree."""

CAMPAIGN = "rehearsal"

Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SealedRun(Displayed):
    """Truths, guarantees, and CPU seconds by party (all workers together).

    `identical_to_plain` says whether the sums equal those of the plain suite with the same noise,
    integer by integer. `dropped` counts contributions that failed a check: 0 if all are honest.
    """

    result: Result
    opened: Opened
    policy: Policy
    guarantee: Guarantee
    guarantee_worker: Guarantee
    suite: str
    identical_to_plain: bool
    workers: int
    dropped: int
    cpu_seconds: Mapping[str, float]
    rounds: int = 1

    def _display(self) -> Display:
        facts = (
            *run_facts(self.cpu_seconds, identical=self.identical_to_plain),
            ("dropped", f"{self.dropped:,} of {self.workers + self.dropped:,} contributions"),
            ("guarantee", f"{self.guarantee}; {self.guarantee_worker}"),
        )
        return replace(self.result._display(), title=f"Sealed run ({self.suite})", facts=facts)


@spelled_out(ReadingOptions)
def simulate_sealed(
    source: Any,
    *,
    epsilon: float = 1.0,
    suite: Literal["committee", "plain"] = "committee",
    hide_participation: bool = False,
    layout: Layout | str | None = None,
    size: int | None = None,
    keyholders: int = 3,
    colluding: int = 1,
    method: str = "auto",
    **reading: Unpack[ReadingOptions],
) -> SealedRun:
    """Run a whole sealed campaign in this process, through the bytes that would be sent.

    `source` is a table of answers (see `read`). Every worker seals its answers. The `keyholders`,
    of whom up to `colluding` may collude, add noise for `epsilon` per answer, check, certify and
    open. Truths are inferred from the sums. All keys and noise come from the operating system's
    generator, so no two runs are the same.
    """
    if suite not in SUITES:
        raise UsageError(f"suite= must be one of {', '.join(SUITES)}, not {suite!r}")
    answers = read(source, **reading)
    if len(answers.workers) < 2:
        raise UsageError("a sum over one worker hides nothing: give answers of two workers or more")
    keys = [
        KeyholderKeys(X25519PrivateKey.generate(), Ed25519PrivateKey.generate())
        for _ in range(keyholders)
    ]
    coordinator = Ed25519PrivateKey.generate()
    cards = tuple(Keyholder(f"keyholder {seat}", *each.public) for seat, each in enumerate(keys, 1))
    policy = sealed_policy(
        answers,
        epsilon,
        hide_participation=hide_participation,
        layout=layout,
        size=size,
        keyholders=cards,
        colluding=colluding,
        coordinator=public_text(coordinator),
    )
    session = Session(CAMPAIGN, policy, tuple(map(str, answers.tasks)))
    codes, tape = _codes(answers, session.ballot), _Tape(SystemRandomness())
    if suite == "plain":
        noise, seconds, dropped = _noise(session, tape), dict[str, float](), 0
        totals = _plain(session, answers, codes, noise)
    else:
        run = _committee(session, answers, codes, keys, coordinator, tape)
        totals, noise, seconds = run.totals, _noise(session, tape.again()), dict(run.seconds)
        dropped = len(answers.workers) - len(run.workers)
    return sealed_run(
        answers, policy, totals, noise, suite=suite, dropped=dropped, seconds=seconds, method=method
    )


def run_facts(
    cpu_seconds: Mapping[str, float], *, identical: bool | None
) -> tuple[tuple[str, str], ...]:
    """Facts that all simulated runs have in common."""
    seconds = ", ".join(f"{party} {spent:.2g}" for party, spent in cpu_seconds.items())
    same = {True: "yes", False: "NO", None: "unknown"}[identical]
    return ("CPU seconds", seconds or "not measured"), ("identical to plain sums", same)


def sealed_run(
    answers: Reports,
    policy: Policy,
    totals: Integers,
    noise: Integers,
    *,
    suite: str,
    dropped: int,
    seconds: Mapping[str, float],
    method: str = "auto",
    result: Result | None = None,
) -> SealedRun:
    """The outcome of a campaign whose answers and noise are known, as in simulations only."""
    session = Session(CAMPAIGN, policy, tuple(map(str, answers.tasks)))
    sealed, codes = session.sealed, _codes(answers, session.ballot)
    most = len(answers.tasks) if sealed.hidden else int(np.bincount(answers.worker).max())
    answered = np.bincount(answers.task, minlength=len(answers.tasks)).astype(np.int64)
    opened = opened_under(policy, answers.tasks, totals, answered, len(answers.workers))
    return SealedRun(
        infer_opened(opened, method) if result is None else result,
        opened,
        policy,
        sealed.guarantee(most, Unit.ANSWER),
        sealed.guarantee(most, Unit.WORKER),
        suite,
        bool(np.array_equal(totals, _plain(session, answers, codes, noise))),
        len(answers.workers) - dropped,
        dropped,
        seconds,
    )


def sealed_policy(
    answers: Reports,
    epsilon: float,
    *,
    hide_participation: bool = False,
    layout: Layout | str | None = None,
    size: int | None = None,
    keyholders: tuple[Keyholder, ...] = (),
    colluding: int = 1,
    coordinator: str = "",
) -> Policy:
    """A sealed policy for the workers, tasks and domain of a table."""
    domain, tasks = answers.domain, len(answers.tasks)
    sealed = SealedSum.calibrated(
        domain,
        epsilon,
        answers=tasks,
        hidden=hide_participation,
        layout=layout,
        size=size,
        seats=len(keyholders) or 3,
        degree=colluding,
        minimum=2,
        keyholders=keyholders,
        coordinator=coordinator,
    )
    return policy_of(sealed, domain, Target(epsilon, answers=tasks).promise)


def _committee(
    session: Session,
    answers: Reports,
    codes: npt.NDArray[np.int64],
    keys: list[KeyholderKeys],
    coordinator: Ed25519PrivateKey,
    randomness: Randomness,
) -> CommitteeRun:
    start = thread_time()
    contributions = [
        contribute(CAMPAIGN, session.policy, worker, tasks, given)
        for worker, tasks, given in _by_worker(session, answers, codes)
    ]
    spent = thread_time() - start
    run = run_in_memory(session, contributions, keys, coordinator, randomness)
    seconds = {"workers": spent, **run.seconds}
    return CommitteeRun(run.totals, run.verdicts, run.workers, run.refused, seconds)


def _by_worker(
    session: Session, answers: Reports, codes: npt.NDArray[np.int64]
) -> Iterator[tuple[str, list[str], npt.NDArray[np.int64]]]:
    """Each worker's tasks, in the order of their names, with its codes; hidden: all tasks."""
    names = session.names
    ordered = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.intp)
    rank[ordered] = np.arange(len(names))
    rows = np.lexsort((rank[answers.task], answers.worker))
    starts = np.searchsorted(answers.worker[rows], np.arange(len(answers.workers) + 1))
    for place, worker in enumerate(map(str, answers.workers)):
        own = rows[starts[place] : starts[place + 1]]
        if session.ballot.hidden:
            given = np.full(len(names), NULL, np.int64)
            given[rank[answers.task[own]]] = codes[own]
            yield worker, [names[i] for i in ordered], given
        elif len(own):
            yield worker, [names[i] for i in answers.task[own]], codes[own]


def _plain(
    session: Session, answers: Reports, codes: npt.NDArray[np.int64], noise: Integers
) -> Integers:
    """The specification: the sum of all answers and all noise."""
    return PlainSum(session.ballot, len(session.names)).total(answers.task, codes, noise)


def _noise(session: Session, randomness: Randomness) -> Integers:
    """The noise of all keyholders, added up."""
    dealt = [
        np.stack([law.sample(len(session.names), randomness) for law in session.sealed.deals], 1)
        for _ in range(session.sealed.seats)
    ]
    return np.asarray(np.sum(dealt, axis=0), np.int64)


def _codes(answers: Reports, ballot: Ballot) -> npt.NDArray[np.int64]:
    if ballot.layout is Layout.VOTES:
        return answers.value.astype(np.int64)
    return number_codes(answers.value.astype(np.float64), answers.domain, ballot)


@dataclass(slots=True)
class _Tape:
    """Randomness that is recorded, so that the same words can be replayed in order."""

    source: Randomness
    played: list[Words] = field(default_factory=list)

    @property
    def simulated(self) -> bool:
        return self.source.simulated

    def words(self, count: int) -> Words:
        self.played.append(self.source.words(count))
        return self.played[-1]

    def again(self) -> Randomness:
        """The recorded words, from the start."""
        return _Replay(self.simulated, iter(self.played))


@dataclass(slots=True)
class _Replay:
    simulated: bool
    _played: Iterator[Words]

    def words(self, count: int) -> Words:
        words = next(self._played)
        if len(words) != count:
            raise UsageError("the replayed draws differ from the recorded ones")
        return words
