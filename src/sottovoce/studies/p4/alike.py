"""The setting of P4's worked examples: workers of one quality, tasks of one truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model import Domain, Reports
from sottovoce.planning.trials import best_constant
from sottovoce.studies.contests import CONSTANT, Contest, trial_of

__all__ = ["AlikeCrowd", "errors"]


@dataclass(frozen=True, slots=True)
class AlikeCrowd:
    """Every worker answers each task alike, and every task has the same truth (P4 §IV-V).

        answer = clip(round(truth + N(0, 1)), 0, 9),  NULL instead with probability `sparsity`

    Answers are the labels 0 … 9, Γ of the examples; a NULL is a row that is not there.
    """

    workers: int
    tasks: int
    truth: int
    sparsity: float

    def __post_init__(self) -> None:
        if not 0 <= self.sparsity < 1:
            raise UsageError(f"sparsity must be at least 0 and below 1, not {self.sparsity:g}")

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        rng = np.random.default_rng(seed)
        worker, task = np.nonzero(rng.random((self.workers, self.tasks)) >= self.sparsity)
        exact = self.truth + rng.standard_normal(len(worker))
        answers = Reports.of(
            worker, task, np.clip(np.rint(exact), 0, 9).astype(np.int32),
            domain=Domain.ordinal(range(10)),
            workers=np.arange(self.workers), tasks=np.arange(self.tasks),
        )  # fmt: skip
        return answers, np.full(self.tasks, float(self.truth))


def errors(contest: Contest, trial: int, seed: int) -> dict[str, float]:
    """The mean error to the truth of every pair in a trial, and of the best constant."""
    found = {pair.name: trial_of(contest, pair, trial, seed).error for pair in contest.pairs}
    _, truths = contest.source.draw(seed)
    return {**found, CONSTANT: best_constant(truths).error}
