"""simulate_private_em: run the worker-private EM on one machine, with all parties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from sottovoce.api.input_output import read
from sottovoce.api.keywords import ReadingOptions, spelled_out
from sottovoce.api.simulate_sealed import run_facts
from sottovoce.errors import UsageError
from sottovoce.model import FloatArray, Guarantee, Reports, Result, Unit, label_text
from sottovoce.model.display import Display, Displayed
from sottovoce.model.sum_rounds import Integers, RoundRecord
from sottovoce.randomness import SystemRandomness
from sottovoce.securesum.em.contributor import EMContributor, PrivateContributor, contributor_of
from sottovoce.securesum.em.noise_calibration import calibrated, default_honest, guarantee
from sottovoce.securesum.em.planner import EMPlanner, exact_terms, planner_of
from sottovoce.securesum.em.simulation import (
    Dropouts,
    Recorded,
    Rehearsal,
    Suite,
    SummedRounds,
    rehearse,
)
from sottovoce.securesum.em.terms import EMTerms, Mode
from sottovoce.securesum.em.transcript import Transcript

FEWEST = 3
"""With two workers, each would learn the other's value from the sum (P2, lemma 2)."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivateRun(Displayed):
    """Truths, guarantees, and the records of a simulated private EM.

    `transcript` is the server's view. `identical_to_plain` says whether the totals of every round
    equal the sum of the contributions, integer by integer; None if unknown, for example if workers
    were separate processes and drew noise. `skills[worker]` is P(answer | truth) at
    [truth, answer]: private to the worker in a real session. `excluded` has the reason for each
    excluded worker. `cpu_seconds` are by party (all workers together). Modes that open exact sums
    have no guarantee.
    """

    result: Result
    terms: EMTerms
    suite: str
    records: tuple[RoundRecord, ...] = field(repr=False)
    transcript: Transcript = field(repr=False)
    identical_to_plain: bool | None
    cpu_seconds: Mapping[str, float]
    skills: Mapping[str, FloatArray] = field(repr=False)
    excluded: Mapping[str, str] = field(default_factory=dict)
    guarantee: Guarantee | None = None
    guarantee_worker: Guarantee | None = None

    def _display(self) -> Display:
        held = "none: exact sums are opened"
        if self.guarantee is not None:
            held = f"{self.guarantee}; {self.guarantee_worker}"
        facts = (
            *run_facts(self.cpu_seconds, identical=self.identical_to_plain),
            ("rounds", f"{self.rounds:,}, with {self.workers:,} workers in the last"),
            ("excluded", f"{len(self.excluded):,} workers"),
            ("guarantee", held),
        )
        return replace(self.result._display(), title=f"Private EM ({self.suite})", facts=facts)

    @property
    def rounds(self) -> int:
        """Rounds of the EM after its first counts, as for the plain EM; with noise, all rounds."""
        return self.result.rounds if self.terms.noise is None else len(self.records)

    @property
    def workers(self) -> int:
        """The number of workers in the last sum."""
        return len(self.records[-1].contributors)


@spelled_out(ReadingOptions)
def simulate_private_em(
    source: Any,
    *,
    suite: Suite = "masked",
    mode: str = "noised",
    epsilon: float = 1.0,
    delta: float = 0.0,
    weighted_rounds: int = 0,
    scale: int | None = None,
    clip: int | None = None,
    rounds: int | None = None,
    tolerance: int | None = None,
    threshold: int | None = None,
    bits: int = 2048,
    s: int = 1,
    dropouts: Dropouts | None = None,
    assignments: bool = False,
    **reading: Unpack[ReadingOptions],
) -> PrivateRun:
    """Run a private EM with all parties in this process, through the bytes that would be sent.

    `source` is a table of answers (see `read`); repeats="keep" keeps several answers of a worker
    to a task, for exact sums only. `suite` is how sums are sealed, one of `SUITES`. `mode` is what
    is opened:

    - "noised": votes with noise for `epsilon` and `delta` per answer, then `weighted_rounds` of
      weighted votes, which all share the budget (`planning.weighting` says when they help)
    - "as_published", "log_odds": numbers are multiplied by `scale` and rounded, probabilities stay
      within [1/clip, 1 - 1/clip], and the EM stops after `rounds`, or when Q changes by less than
      1/tolerance of itself. There is no guarantee.

    `threshold` workers must agree on a set. `bits` and `s` belong to the key of damgard_jurik.
    `dropouts` says which workers drop out and when. With `assignments` the server knows which
    tasks each worker had, as a server that assigns tasks does.

    >>> answers = {"worker": list("aabbcc"), "task": list("121212"), "answer": list("yyynyn")}
    >>> run = simulate_private_em(answers, suite="plain", mode="as_published")
    >>> run.result.values.tolist(), run.identical_to_plain
    (['y', 'n'], True)
    """
    answers = read(source, **reading)
    exact = {"scale": scale, "clip": clip, "rounds": rounds, "tolerance": tolerance}
    terms = private_terms(
        answers, mode, epsilon=epsilon, delta=delta, weighted_rounds=weighted_rounds, **exact
    )
    rehearsal = Rehearsal(terms, suite, threshold, bits, s, dropouts or {})
    # The plain suite measures no time, so all workers share one planner.
    in_the_open = suite == "plain" and terms.noise is None
    workers = contributors_of(answers, terms, EMPlanner(terms) if in_the_open else None)
    recorded = [Recorded(each) for each in workers]
    done = rehearse(rehearsal, planner_of(terms), recorded)
    same = is_plain(done.records, [each.given for each in recorded])
    return private_run(
        answers, terms, suite, done, workers, identical=same, assignments=assignments
    )


def private_run(
    answers: Reports,
    terms: EMTerms,
    suite: str,
    done: SummedRounds,
    workers: Sequence[PrivateContributor],
    *,
    identical: bool | None,
    assignments: bool = False,
) -> PrivateRun:
    """The outcome of rounds whose answers are known, as in simulations only.

    Worker `number` of the records is at position number - 1 of the table; `workers` are in the
    same order (`contributors_of`).
    """
    opened = tuple(record.opened for record in done.records)
    held = _guarantees(answers, terms)
    names = [str(name) for name in answers.workers]
    return PrivateRun(
        replace(planner_of(terms).result(opened, answers.domain), tasks=answers.tasks),
        terms,
        suite,
        done.records,
        Transcript(terms, len(names), opened, _assigned(answers, terms) if assignments else None),
        identical,
        done.seconds,
        {name: worker.skill(opened) for name, worker in zip(names, workers, strict=True)},
        {names[number - 1]: why for number, why in done.excluded.items()},
        held.get(Unit.ANSWER),
        held.get(Unit.WORKER),
    )


def private_terms(
    answers: Reports,
    mode: str,
    *,
    epsilon: float = 1.0,
    delta: float = 0.0,
    weighted_rounds: int = 0,
    **exact: int | None,
) -> EMTerms:
    """The terms for the workers of a table: tasks, labels, and what is opened.

    `exact` has parameters for sums without noise: scale, clip, rounds, tolerance; None is the
    default.
    """
    if mode not in tuple(Mode):
        raise UsageError(f"mode= must be one of {', '.join(Mode)}, not {mode!r}")
    check_table(answers)
    tasks = tuple(map(str, answers.tasks))
    labels = tuple(label_text(label) for label in answers.domain.labels)
    given = {name: value for name, value in exact.items() if value is not None}
    if mode != Mode.NOISED:
        return exact_terms(tasks, labels, Mode(mode), repeats=_most_repeats(answers), **given)
    if given:
        raise UsageError(f"{next(iter(given))}= is for exact sums, not for mode noised: drop it")
    honest = default_honest(len(answers.workers))
    return calibrated(tasks, labels, epsilon, delta, honest=honest, weighted_rounds=weighted_rounds)


def check_table(answers: Reports) -> None:
    """Refuse a table that a private EM cannot use."""
    if answers.simulated:
        raise UsageError("these are randomised reports: a private EM takes raw answers")
    if answers.domain.is_numeric:
        raise UsageError("a private EM takes labels, and these answers are numbers")
    if answers.domain.size < 2:
        raise UsageError("a private EM needs two labels or more: name all labels in domain=")
    if len(answers.workers) < FEWEST:
        raise UsageError(
            f"a private EM needs {FEWEST} workers or more, not {len(answers.workers)}: with two, "
            "each would learn the other's answers from the sum"
        )


def _guarantees(answers: Reports, terms: EMTerms) -> dict[Unit, Guarantee]:
    """Guarantees for a worker with the most answers of all; empty without noise."""
    most = int(np.bincount(answers.worker).max())
    return {} if terms.noise is None else {unit: guarantee(terms, most, unit) for unit in Unit}


def _most_repeats(answers: Reports) -> int:
    pairs = answers.worker.astype(np.int64) * len(answers.tasks) + answers.task
    return int(np.unique(pairs, return_counts=True)[1].max())


def contributors_of(
    answers: Reports, terms: EMTerms, planner: EMPlanner | None = None
) -> list[PrivateContributor]:
    """A contributor for each worker of the table; those of exact sums may share a planner."""
    order = np.argsort(answers.worker, kind="stable")
    starts = np.searchsorted(answers.worker[order], np.arange(1, len(answers.workers)))
    label = answers.value.astype(np.int64)
    rows = np.split(order, starts)
    if planner is not None:
        return [EMContributor(terms, answers.task[own], label[own], planner) for own in rows]
    return [
        contributor_of(terms, answers.task[own], label[own], SystemRandomness()) for own in rows
    ]


def _assigned(answers: Reports, terms: EMTerms) -> dict[str, tuple[str, ...]]:
    """The tasks of each worker, in the order of the terms, as often as it answered each."""
    return {
        str(name): tuple(
            terms.tasks[task] for task in np.sort(answers.task[answers.worker == place])
        )
        for place, name in enumerate(answers.workers)
    }


def is_plain(records: Sequence[RoundRecord], given: Sequence[Mapping[int, Integers]]) -> bool:
    """Whether the totals of each round equal the sum of its contributions."""
    return all(
        np.array_equal(
            record.totals, np.sum([given[each - 1][number] for each in record.contributors], axis=0)
        )
        for number, record in enumerate(records)
    )
