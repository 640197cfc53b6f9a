"""Truth discovery with log-odds weights (P1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sottovoce.inference.aggregator import (
    LABELS,
    Settled,
    check_floor,
    check_parameters,
    label_result,
    settle,
)
from sottovoce.inference.steps.votes import Agreements, AnswersPerWorker, Votes, softmax
from sottovoce.model import FloatArray, Kind, Result
from sottovoce.seams import Engine


@dataclass(frozen=True, slots=True)
class TD:
    """Alternating weighted votes and log-odds weights, starting from the majority (P1 eq. 1-2).

        truth_j = argmax_x Σₖ wₖ [vₖⱼ = x]                                     (eq. 1)
        pₖ = share of worker k's answers that are the truth                    (eq. 2)
        wₖ = ln( pₖ (s − 1) / (1 − pₖ) )

    pₖ stays within [floor, 1 − floor] (.02 unless set). The weight may be negative: a worker who is
    wrong more often than chance votes against its own answer. P1's own g(p) = ln(p / (1 − p)) is
    the same for s = 2, but for s > 2 it inverts the votes of useful workers with 1/s < p < 1/2;
    `weight="as_published"` keeps it. `divide_by="tasks"` divides matches by all tasks, as P1 prints
    it, instead of the tasks the worker answered.

    In the rounds tied labels share the agreement; with `round_ties="first"` the first of them wins,
    as a plain argmax does. Confidence is the posterior of these weights under the one-coin model
    with a uniform prior: softmax of the weighted votes.
    """

    max_rounds: int = 100
    tolerance: float = 1e-6
    weight: Literal["sound", "as_published"] = "sound"
    divide_by: Literal["answered", "tasks"] = "answered"
    round_ties: Literal["shared", "first"] = "shared"
    floor: float = 0.02

    name: ClassVar[str] = "td"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)
        check_floor(self.floor)

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Settled:
        labels = engine.domain.size
        odds_of = labels if self.weight == "sound" else 2

        answered = engine.total(AnswersPerWorker(len(engine.workers)))
        by = np.maximum(answered, 1) if self.divide_by == "answered" else engine.task_count

        first = self.round_ties == "first"

        def update(weights: FloatArray) -> FloatArray:
            agreement = engine.total(Agreements(weights, labels, first))[:, 0]
            return log_odds(agreement / by, odds_of, self.floor)

        start = np.ones(len(engine.workers))
        return settle(self, update, start, answered)

    def tell(self, engine: Engine, learnt: Settled) -> Result:
        posterior = softmax(engine.map(Votes(learnt.weights, engine.domain.size)))
        return label_result(self, engine, posterior, learnt)


def log_odds(accuracy: FloatArray, labels: int, floor: float) -> FloatArray:
    """ln(p (s − 1) / (1 − p)), the optimal weight of a worker of accuracy p among s labels."""
    bounded = np.clip(accuracy, floor, 1 - floor)
    return np.asarray(np.log(bounded * max(labels - 1, 1) / (1 - bounded)))
