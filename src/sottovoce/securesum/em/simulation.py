"""A rehearsal of a private EM: its rounds, sealed by any suite, all parties in this process.

Plain sums need no library; the suites' libraries are imported when used.
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
    """A way to add up one round's vectors, one from each worker."""

    def __call__(self, round: int, spec: SumSpec, vectors: Sequence[Integers], /) -> Integers:
        """The totals."""
        ...


class Recorded:
    """A contributor of a rehearsal: its vectors by round, and its CPU seconds."""

    def __init__(self, contributor: Contributor) -> None:
        self._contributor = contributor
        self.given: dict[int, Integers] = {}
        self.seconds = 0.0

    def values(self, opened: Sequence[OpenedSum]) -> Integers:
        """The contributor's vector, kept by round."""
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
    """The opened sums, round after round, until the planner has enough."""
    opened: list[OpenedSum] = []
    while (spec := planner.next(opened)) is not None:
        vectors = [spec.check(each.values(opened)) for each in contributors]
        opened.append(OpenedSum(add(len(opened), spec, vectors), len(contributors)))
    return tuple(opened)


Suite: TypeAlias = Literal["masked", "damgard_jurik", "committee", "plain"]
SUITES: tuple[Suite, ...] = ("masked", "damgard_jurik", "committee", "plain")
"""The suites; plain is no sealing, and all others must give the same sums."""

STARS: tuple[Suite, ...] = ("masked", "damgard_jurik")
"""Suites in which workers are online, and some may drop out."""

Dropouts: TypeAlias = Mapping[tuple[int, str], Collection[int]]
"""The workers who drop out from a round and phase on, by number from 1."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One session in memory: the suite, and the parameters of a star."""

    terms: EMTerms
    suite: Suite
    threshold: int | None = None
    bits: int = 2048
    s: int = 1
    dropouts: Dropouts = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.suite not in SUITES:
            raise UsageError(f"a suite must be one of {', '.join(SUITES)}, not {self.suite!r}")
        if self.suite not in STARS and (self.dropouts or self.threshold is not None):
            raise UsageError(
                f"the suite {self.suite} has no threshold and no dropouts: {' and '.join(STARS)} "
                "have them"
            )


@dataclass(frozen=True, slots=True)
class SummedRounds:
    """The opened sums, the excluded workers and why, and CPU seconds by party."""

    records: tuple[RoundRecord, ...]
    excluded: Mapping[int, str]
    seconds: Mapping[str, float]


def rehearse(
    rehearsal: Rehearsal, planner: Planner, contributors: Sequence[Recorded]
) -> SummedRounds:
    """All rounds. Raises SealedAborted if too few workers are left."""
    if rehearsal.suite == "plain":
        return _together(planner, contributors, plain_sum, {})
    if rehearsal.suite == "committee":
        from sottovoce.securesum.committee.simulation import CommitteeSum

        committee = CommitteeSum()
        return _together(planner, contributors, committee, committee.seconds)
    return _star(rehearsal, planner, contributors)


def _star(rehearsal: Rehearsal, planner: Planner, contributors: Sequence[Recorded]) -> SummedRounds:
    """Rounds in which workers are online, and some may drop out."""
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
    """Rounds in which all workers stay from the first to the last."""
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
