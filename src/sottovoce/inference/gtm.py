"""Gaussian truth model (GTM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import NUMBERS, check_parameters, number_result, settle
from sottovoce.inference.steps.means import SquaredErrors, WeightedMeans
from sottovoce.inference.steps.votes import AnswersPerWorker
from sottovoce.inference.weights import Weighed, weigh
from sottovoce.model import FloatArray, Kind, Result
from sottovoce.seams import Engine


@dataclass(frozen=True, slots=True)
class GTM:
    """Workers each have an error variance; truths and variances are fitted by EM.

    Answers are standardised within each task. With prior variance 1 for the truth and an
    inverse-gamma(α, β) prior for a worker's variance σₖ² (Zhao & Han 2012, §4):

        truth      μⱼ  = Σₖ zₖⱼ / σₖ²  /  ( 1 + Σₖ 1 / σₖ² )
        variance   σₖ² = ( 2β + Σⱼ (zₖⱼ − μⱼ)² ) / ( 2(α + 1) + nₖ )

    Weights are the precisions 1 / σₖ².
    """

    max_rounds: int = 100
    tolerance: float = 1e-6
    alpha: float = 10.0
    beta: float = 10.0

    name: ClassVar[str] = "gtm"
    takes: ClassVar[frozenset[Kind]] = NUMBERS

    def __post_init__(self) -> None:
        check_parameters(self)
        if not (self.alpha > 0 and self.beta > 0):
            raise UsageError("GTM's inverse-gamma prior needs alpha > 0 and beta > 0")

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Weighed:
        start = np.ones(len(engine.workers))
        answered = engine.total(AnswersPerWorker(len(start)))

        def update(precision: FloatArray) -> FloatArray:
            squares = engine.total(SquaredErrors(precision, prior=1.0, scaling="variance"))
            return (2 * (self.alpha + 1) + answered) / (2 * self.beta + squares)

        return weigh(engine, settle(self, update, start, answered), prior=1.0)

    def tell(self, engine: Engine, learnt: Weighed) -> Result:
        truths = engine.map(WeightedMeans(learnt.settled.weights, prior=1.0))[:, 0]
        errors = learnt.standard_errors(engine)
        return number_result(self, engine, truths, learnt.settled, standard_error=errors)
