"""A private EM rehearsed: its rounds, sealed in one way or another, all parties in this process.

Sums in the open need no library for it; others are loaded where they are used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from time import thread_time
from typing import Literal, Protocol, TypeAlias

import numpy as np

from sottovoce.errors import SealedAborted, UsageError
from sottovoce.model.sum_rounds import (
    Contributor,
    Integers,
    OpenedSum,
    Planner,
    RoundRecord,
    SumSpec,
)
from sottovoce.securesum.em.terms import EMTerms


class Adding(Protocol):
    """A way to add up one round's vectors, one of each worker."""

    def __call__(self, round: int, spec: SumSpec, vectors: Sequence[Integers], /) -> Integers:
        """The totals."""
        ...


class Recorded:
    """A contributor of a rehearsal: what it gave in each round, and the CPU seconds it took."""

    def __init__(self, contributor: Contributor) -> None:
        self._contributor = contributor
        self.given: dict[int, Integers] = {}
        self.seconds = 0.0

    def values(self, opened: Sequence[OpenedSum]) -> Integers:
        """What the contributor adds, kept by round."""
        start = thread_time()
        self.given[len(opened)] = self._contributor.values(opened)
        self.seconds += thread_time() - start
        return self.given[len(opened)]


def plain_sum(round: int, spec: SumSpec, vectors: Sequence[Integers]) -> Integers:
    """The specification: the vectors added up in the open."""
    return np.asarray(np.sum(vectors, axis=0, dtype=np.int64))


def run_rounds(
    planner: Planner, contributors: Sequence[Contributor], add: Adding = plain_sum
) -> tuple[OpenedSum, ...]:
    """What is opened, round after round, until the planner has enough."""
    opened: list[OpenedSum] = []
    while (spec := planner.next(opened)) is not None:
        vectors = [spec.check(each.values(opened)) for each in contributors]
        opened.append(OpenedSum(add(len(opened), spec, vectors), len(contributors)))
    return tuple(opened)


Suite: TypeAlias = Literal["masked", "damgard_jurik", "committee", "plain"]
SUITES: tuple[Suite, ...] = ("masked", "damgard_jurik", "committee", "plain")
"""How sums are sealed; plain: not at all, which is what all others must come to."""

STARS: tuple[Suite, ...] = ("masked", "damgard_jurik")
"""Suites in which workers are online, and some may fall silent."""

Dropouts: TypeAlias = Mapping[tuple[int, str], Collection[int]]
"""Who falls silent from a round and phase on, by number from 1."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One session in memory: how it is sealed, and what a star needs to know beside that."""

    terms: EMTerms
    suite: Suite
    threshold: int | None = None
    bits: int = 2048
    s: int = 1
    dropouts: Dropouts = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.suite not in SUITES:
            raise UsageError(f"a suite is one of {', '.join(SUITES)}, not {self.suite!r}")
        if self.suite not in STARS and (self.dropouts or self.threshold is not None):
            raise UsageError(
                f"the suite {self.suite} has no threshold, and nobody falls silent in it: "
                f"{' and '.join(STARS)} have one"
            )


@dataclass(frozen=True, slots=True)
class SummedRounds:
    """What was opened, who was left out and why, and CPU seconds by party."""

    records: tuple[RoundRecord, ...]
    excluded: Mapping[int, str]
    seconds: Mapping[str, float]


def rehearse(
    rehearsal: Rehearsal, planner: Planner, contributors: Sequence[Recorded]
) -> SummedRounds:
    """All rounds. SealedAborted where too few are left."""
    if rehearsal.suite == "plain":
        return _together(planner, contributors, plain_sum, {})
    if rehearsal.suite == "committee":
        from sottovoce.securesum.committee.simulation import CommitteeSum

        committee = CommitteeSum()
        return _together(planner, contributors, committee, committee.seconds)
    return _star(rehearsal, planner, contributors)


def _star(rehearsal: Rehearsal, planner: Planner, contributors: Sequence[Recorded]) -> SummedRounds:
    """Rounds in which workers are online, and some may fall silent."""
    from sottovoce.securesum.star.simulation import run_star

    done, set_up = run_star(
        rehearsal.suite,
        rehearsal.terms.as_json(),
        planner,
        contributors,
        threshold=rehearsal.threshold,
        bits=rehearsal.bits,
        s=rehearsal.s,
        dropouts=rehearsal.dropouts,
    )
    if done.state != "done":
        raise SealedAborted(done.reason, done.culprits)
    seconds = dict(set_up)
    for party, spent in done.seconds.items():
        seconds[party] = seconds.get(party, 0.0) + spent
    return SummedRounds(done.records, done.excluded, seconds)


def _together(
    planner: Planner, contributors: Sequence[Recorded], add: Adding, sealing: Mapping[str, float]
) -> SummedRounds:
    """Rounds in which everybody is there from the first to the last."""
    start = thread_time()
    opened = run_rounds(planner, contributors, add)
    spent = thread_time() - start
    own = sum(each.seconds for each in contributors)
    seconds = {
        **sealing,
        "workers": own + sealing.get("workers", 0.0),
        "server": spent - own - sum(sealing.values()) + sealing.get("server", 0.0),
    }
    everybody = tuple(range(1, len(contributors) + 1))
    records = tuple(RoundRecord(each.totals, everybody, {}) for each in opened)
    return SummedRounds(records, {}, seconds)
