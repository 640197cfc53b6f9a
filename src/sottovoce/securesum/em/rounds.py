"""The rounds of a private EM with everybody there, in one process."""

from __future__ import annotations

from collections.abc import Sequence
from time import thread_time
from typing import Protocol

import numpy as np

from sottovoce.model.sum_rounds import Contributor, Integers, OpenedSum, Planner, SumSpec

__all__ = ["Adding", "Recorded", "plain_sum", "run_rounds"]


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
