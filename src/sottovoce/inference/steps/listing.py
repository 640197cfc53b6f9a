"""All answers at once, for methods with a parameter for every task or answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.inference.steps.votes import AnswerCounts
from sottovoce.model import Codes, FloatArray, Part, labels_of
from sottovoce.seams import Engine


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows (task, report) of all answers, by task. Opens every report: no sum hides anything."""

    answers: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.answers, 2

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        rows = np.zeros(self.shape)
        mine = slice(int(part.starts[0]), int(part.starts[-1]))
        rows[mine, 0] = part.task + part.first
        rows[mine, 1] = part.report
        return rows

    def kernel(self) -> None:
        return None


def list_answers(engine: Engine) -> tuple[Codes, Codes, Codes]:
    """The task, worker and label of every answer, by task; for tables in memory."""
    answers = int(engine.map(AnswerCounts()).sum())
    task, report = engine.total(Listing(answers)).astype(np.int64).T
    worker, label = np.divmod(report, engine.domain.size)
    return task.astype(np.int32), worker.astype(np.int32), label.astype(np.int32)
