"""What two layers of noise truly keep, beside the epsilon that P1 names (Thms. 6.3 and 6.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sottovoce.model import Domain, Reports, Unit
from sottovoce.studies.p1.layers import most_answers, two_layer
from sottovoce.studies.study import Row

__all__ = ["Answered"]


@dataclass(frozen=True, slots=True)
class Answered:
    """How many answers the median worker gave (rounded down), and the one who gave most.

    A worker's flip probability is shared by all its answers, so that what k of them betray
    together grows with k.

    >>> round(Answered(104, 1834).true_epsilon(1.0), 2)
    4.64
    """

    median: int
    most: int

    @classmethod
    def of(cls, answers: Reports) -> Self:
        """Counted in a table of answers."""
        return cls(int(np.median(np.bincount(answers.worker))), most_answers(answers))

    def true_epsilon(self, epsilon: float) -> float:
        """The pure epsilon per answer that the median worker has, at a nominal one."""
        return two_layer(_BINARY, epsilon).guarantee(self.median, Unit.ANSWER).epsilon

    def more_than(self, epsilon: float) -> bool:
        """Whether the median worker betrays more than the nominal epsilon says, by over 1 %."""
        return self.true_epsilon(epsilon) > 1.01 * epsilon

    def rows(self, table: str, epsilons: Sequence[float]) -> Iterator[Row]:
        """Both workers at every nominal epsilon: pure epsilons, and delta at the nominal one."""
        workers = {self.most: "most", self.median: "median"}
        for epsilon in epsilons:
            noise = two_layer(_BINARY, epsilon)
            for answers, worker in workers.items():
                yield {
                    "part": f"{table}: what two layers truly keep",
                    "epsilon": epsilon,
                    "worker": worker,
                    "answers": answers,
                    "per answer": noise.guarantee(answers, Unit.ANSWER).epsilon,
                    "per worker": noise.guarantee(answers, Unit.WORKER).epsilon,
                    "delta at epsilon": noise.delta(epsilon, answers, Unit.ANSWER),
                }


_BINARY = Domain.categorical((0, 1))
