"""Weights inverse to a worker's deviation (P4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.inference.aggregator import NUMBERS, check_parameters, settle
from sottovoce.inference.steps.means import SquaredErrors
from sottovoce.inference.steps.votes import AnswersPerWorker
from sottovoce.inference.weights import Weighed, relative_losses, shared, weigh, weighted_result
from sottovoce.model import FloatArray, Kind, Result
from sottovoce.seams import Engine


@dataclass(frozen=True, slots=True)
class InverseDeviation:
    """Weighted means, with each worker's quality inverse to its standard deviation (P4 alg. 1).

        truth    μⱼ = Σₖ qₖ vₖⱼ / Σₖ qₖ                                       (eq. 1)
        quality  qₖ ∝ 1 / σₖ,   σₖ² = mean over its answers of (vₖⱼ − μⱼ)²     (eq. 2)

    from qₖ = 1/m, scaled to sum to one. σₖ² counts as at least a millionth of the workers' mean, so
    that no quality is infinite.
    """

    max_rounds: int = 100
    tolerance: float = 1e-6

    name: ClassVar[str] = "inverse-deviation"
    takes: ClassVar[frozenset[Kind]] = NUMBERS

    def __post_init__(self) -> None:
        check_parameters(self)

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Weighed:
        start = np.full(len(engine.workers), 1 / len(engine.workers))
        answered = engine.total(AnswersPerWorker(len(start)))

        def update(quality: FloatArray) -> FloatArray:
            variance = engine.total(SquaredErrors(quality)) / np.maximum(answered, 1)
            return shared(1 / np.sqrt(relative_losses(variance, answered)), answered)

        return weigh(engine, settle(self, update, start, answered))

    def tell(self, engine: Engine, learnt: Weighed) -> Result:
        return weighted_result(self, engine, learnt)
