"""A real dataset cut down to the tasks whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.model import Reports
from sottovoce.studies.sources import Source

__all__ = ["GoldAnswers"]


@dataclass(frozen=True, slots=True)
class GoldAnswers:
    """The answers to tasks with gold, and the workers who gave one of them."""

    whole: Source

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        answers, truths = self.whole.draw(seed)
        known = np.flatnonzero(truths >= 0)
        rows = np.isin(answers.task, known)
        workers, worker = np.unique(answers.worker[rows], return_inverse=True)
        cut = Reports.of(
            worker, np.searchsorted(known, answers.task[rows]), answers.value[rows],
            domain=answers.domain, workers=answers.workers[workers], tasks=answers.tasks[known],
        )  # fmt: skip
        return cut, truths[known]
