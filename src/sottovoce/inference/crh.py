"""Conflict resolution on heterogeneous data (CRH)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sottovoce.inference.aggregator import ANY, check_parameters, settle
from sottovoce.inference.steps.votes import AnswersPerWorker
from sottovoce.inference.weights import Weighed, losses, weigh, weighted_result
from sottovoce.model import FloatArray, Kind, Result
from sottovoce.seams import Engine

_LEAST_SHARE = 1e-10


@dataclass(frozen=True, slots=True)
class CRH:
    """Truths are weighted votes or means; a worker's weight falls with its distance from them.

    Alternates from equal weights until none moves by more than `tolerance` of the largest (Li et
    al. 2014, alg. 1):

        truth   v*ⱼ = argmax_x Σₖ wₖ [vₖⱼ = x]   or   Σₖ wₖ vₖⱼ / Σₖ wₖ
        loss    dₖ  = mean over the worker's answers of [vₖⱼ ≠ v*ⱼ]   or   (vₖⱼ − v*ⱼ)² / scaleⱼ
        weight  wₖ  = −ln( dₖ / Σ dₖ )

    The scale of a number's loss is the variance of the task's answers or, with
    `scaling="deviation"` as in the original, their standard deviation.
    """

    max_rounds: int = 100
    tolerance: float = 1e-6
    scaling: Literal["variance", "deviation"] = "variance"

    name: ClassVar[str] = "crh"
    takes: ClassVar[frozenset[Kind]] = ANY

    def __post_init__(self) -> None:
        check_parameters(self)

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Weighed:
        start = np.ones(len(engine.workers))
        answered = engine.total(AnswersPerWorker(len(start)))

        def update(weights: FloatArray) -> FloatArray:
            return crh_weights(losses(engine, weights, self.scaling) / np.maximum(answered, 1))

        return weigh(engine, settle(self, update, start, answered))

    def tell(self, engine: Engine, learnt: Weighed) -> Result:
        return weighted_result(self, engine, learnt)


def crh_weights(loss: FloatArray) -> FloatArray:
    """−ln of each worker's share of the loss, kept above zero; all equal if the total loss is 0."""
    total = loss.sum()
    share = loss / total if total > 0 else np.full_like(loss, 1 / len(loss))
    return np.asarray(-np.log(np.clip(share, _LEAST_SHARE, 1 - _LEAST_SHARE)))
