"""Weighted medians, with weights that fall with a worker's distance from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.inference.aggregator import NUMBERS, Method, check_parameters, number_result, settle
from sottovoce.inference.crh import crh_weights
from sottovoce.inference.steps.medians import AbsoluteErrors, WeightedMedians
from sottovoce.inference.steps.votes import AnswersPerWorker
from sottovoce.inference.weights import Weighed, weigh
from sottovoce.model import FloatArray, Kind, Result
from sottovoce.seams import Engine

MEDIAN_OVER_MEAN = np.sqrt(np.pi / 2)
"""Standard error of a median over that of a mean, for normal errors and many answers."""


@dataclass(frozen=True, slots=True)
class WeightedMedian:
    """CRH with absolute instead of squared distance (Li et al. 2014, §2.4): robust to outliers.

        truth   v*ⱼ = weighted median of the task's answers
        loss    dₖ  = mean over the worker's answers of |vₖⱼ − v*ⱼ| / standard deviation of task j
        weight  wₖ  = −ln( dₖ / Σ dₖ )

    A median moves in jumps, so weights may cycle: then the iteration ends at the round limit and
    the result says that it did not converge.
    """

    max_rounds: int = 100
    tolerance: float = 1e-6

    name: ClassVar[str] = "weighted-median"
    takes: ClassVar[frozenset[Kind]] = NUMBERS

    def __post_init__(self) -> None:
        check_parameters(self)

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Weighed:
        start = np.ones(len(engine.workers))
        answered = engine.total(AnswersPerWorker(len(start)))

        def update(weights: FloatArray) -> FloatArray:
            return crh_weights(engine.total(AbsoluteErrors(weights)) / np.maximum(answered, 1))

        return weigh(engine, settle(self, update, start, answered))

    def tell(self, engine: Engine, learnt: Weighed) -> Result:
        return median_result(self, engine, learnt)


def median_result(method: Method, engine: Engine, learnt: Weighed) -> Result:
    """The weighted medians; their standard error is the mean's times √(π/2)."""
    truths = engine.map(WeightedMedians(learnt.settled.weights))[:, 0]
    errors = MEDIAN_OVER_MEAN * learnt.standard_errors(engine)
    return number_result(method, engine, truths, learnt.settled, standard_error=errors)
