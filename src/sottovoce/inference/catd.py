"""Confidence-aware truth discovery (CATD)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import ANY, check_parameters, settle
from sottovoce.inference.steps.votes import AnswersPerWorker
from sottovoce.inference.weights import (
    Weighed,
    losses,
    relative_losses,
    shared,
    weigh,
    weighted_result,
)
from sottovoce.model import FloatArray, Kind, Result
from sottovoce.seams import Engine


@dataclass(frozen=True, slots=True)
class CATD:
    """Weights that trust a worker with few answers less (Li et al. 2014b, alg. 1).

        truth   v*ⱼ = weighted vote or mean
        weight  wₖ  = χ²(α/2; nₖ) / Σⱼ (vₖⱼ − v*ⱼ)²

    The numerator is the α/2 quantile of the chi-squared distribution with as many degrees of
    freedom as the worker has answers: the upper end of the interval for its variance decides. For
    labels the squares are 0 or 1. A sum of squares counts as at least a millionth of the workers'
    mean, so that no weight is infinite. Weights are scaled to sum to one.
    """

    max_rounds: int = 100
    tolerance: float = 1e-6
    alpha: float = 0.05

    name: ClassVar[str] = "catd"
    takes: ClassVar[frozenset[Kind]] = ANY

    def __post_init__(self) -> None:
        check_parameters(self)
        if not 0 < self.alpha < 1:
            raise UsageError(f"CATD's alpha must lie between 0 and 1, not {self.alpha}")

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Weighed:
        from scipy.special import chdtri

        start = np.full(len(engine.workers), 1 / len(engine.workers))
        answered = engine.total(AnswersPerWorker(len(start)))
        quantile = chdtri(np.maximum(answered, 1), 1 - self.alpha / 2)
        quantile = np.maximum(quantile, np.finfo(float).tiny)

        def update(weights: FloatArray) -> FloatArray:
            squares = relative_losses(losses(engine, weights, "none"), answered)
            return shared(quantile / squares, answered)

        return weigh(engine, settle(self, update, start, answered))

    def tell(self, engine: Engine, learnt: Weighed) -> Result:
        return weighted_result(self, engine, learnt)
