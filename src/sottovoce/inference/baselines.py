"""Baselines that a method should beat: one answer for every task, the plain mean and the median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sottovoce.inference.aggregator import ANY, NUMBERS, Settled, label_result, number_result
from sottovoce.inference.steps.means import SpreadBetween, TaskMeans
from sottovoce.inference.steps.votes import LabelCounts
from sottovoce.inference.weighted_median import median_result
from sottovoce.inference.weights import Weighed, weigh, weighted_result
from sottovoce.model import Codes, FloatArray, Kind, Result
from sottovoce.seams import Engine


class Common(NamedTuple):
    """The value for every task: the shares of labels, or a mean and the spread of tasks' means."""

    nobody: Settled
    row: FloatArray
    error: float

    def among(self, workers: Codes, count: int) -> Common:
        """The same for a subset of the workers."""
        return self._replace(nobody=self.nobody.among(workers, count))


@dataclass(frozen=True, slots=True)
class Constant:
    """The most frequent label, or the mean of all numbers, for every task.

    A method that does no better than this has learnt nothing about the tasks. Weights are 0,
    because no answer to a task counts for that task.
    """

    name: ClassVar[str] = "constant"
    takes: ClassVar[frozenset[Kind]] = ANY

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Common:
        nobody = Settled(np.zeros(len(engine.workers)), 1, converged=True)
        if not engine.domain.is_numeric:
            counts = engine.total(LabelCounts(engine.domain.size))
            return Common(nobody, counts / counts.sum(), 0.0)
        count, total = engine.total(TaskMeans())
        squares, answered = engine.total(SpreadBetween(total / count))
        return Common(nobody, np.array([total / count]), float(np.sqrt(squares / answered)))

    def tell(self, engine: Engine, learnt: Common) -> Result:
        rows = np.tile(learnt.row, (len(engine.tasks), 1))
        if not engine.domain.is_numeric:
            return label_result(self, engine, rows, learnt.nobody)
        errors = np.full(len(rows), learnt.error)
        return number_result(self, engine, rows[:, 0], learnt.nobody, standard_error=errors)


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a task's numbers; every worker has weight 1."""

    name: ClassVar[str] = "mean"
    takes: ClassVar[frozenset[Kind]] = NUMBERS

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Weighed:
        return weigh(engine, Settled(np.ones(len(engine.workers)), 1, converged=True))

    def tell(self, engine: Engine, learnt: Weighed) -> Result:
        return weighted_result(self, engine, learnt)


@dataclass(frozen=True, slots=True)
class Median:
    """The median of a task's numbers; the midpoint of the middle two if their number is even."""

    name: ClassVar[str] = "median"
    takes: ClassVar[frozenset[Kind]] = NUMBERS

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Weighed:
        return weigh(engine, Settled(np.ones(len(engine.workers)), 1, converged=True))

    def tell(self, engine: Engine, learnt: Weighed) -> Result:
        return median_result(self, engine, learnt)
