"""One answer for every task: the baseline that a method has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.inference.iterating import Settled
from sottovoce.inference.kinds import ANY
from sottovoce.inference.outcome import label_result, number_result
from sottovoce.inference.steps.counts import AnswerCounts, LabelCounts
from sottovoce.inference.steps.means import TaskMeans, WeightedMeans
from sottovoce.model import Kind, Result
from sottovoce.seams import Engine

__all__ = ["Constant"]


@dataclass(frozen=True, slots=True)
class Constant:
    """The most frequent label, or the mean of all numbers, whatever the task.

    A method that does no better than this has learnt nothing about the tasks. Weights are 0:
    nobody's answer to a task counts for that task.
    """

    name: ClassVar[str] = "constant"
    takes: ClassVar[frozenset[Kind]] = ANY

    def fit(self, engine: Engine) -> Result:
        nobody = Settled(np.zeros(len(engine.workers)), 1, converged=True)
        tasks = len(engine.tasks)
        if not engine.domain.is_numeric:
            counts = engine.total(LabelCounts(engine.domain.size))
            posterior = np.tile(counts / counts.sum(), (tasks, 1))
            return label_result(self, engine, posterior, nobody)
        count, total = engine.total(TaskMeans())
        truths = np.full(tasks, total / count)
        answered = engine.map(AnswerCounts()) > 0
        task_means = engine.map(WeightedMeans(np.ones(len(engine.workers))))[answered, 0]
        error = np.sqrt(np.mean(np.square(task_means - total / count)))
        return number_result(self, engine, truths, nobody, standard_error=np.full(tasks, error))
