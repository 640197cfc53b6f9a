"""Abilities of workers and difficulties of tasks (GLAD), by EM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import LABELS, Settled, check_parameters, label_result
from sottovoce.inference.steps.arithmetic import grouped_sums, steady, total
from sottovoce.inference.steps.listing import list_answers
from sottovoce.inference.steps.votes import softmax
from sottovoce.model import Codes, FloatArray, Kind, Result
from sottovoce.seams import Engine

MOST_EASE = 100.0
"""The largest ln β whose exponential is taken."""


class Difficulty(NamedTuple):
    """Abilities αₖ of workers, ln βⱼ of tasks, the posterior they imply, and the bounds so far."""

    ability: FloatArray
    ease: FloatArray
    posterior: FloatArray
    bounds: tuple[float, ...]
    converged: bool


@dataclass(frozen=True, slots=True)
class GLAD:
    """A worker's ability and a task's difficulty decide how likely an answer is right.

        P(answer = truth) = σ(αₖ βⱼ),   any other label: (1 − σ(αₖ βⱼ)) / (s − 1)
        αₖ ~ N(1, 1),   ln βⱼ ~ N(1, 1)
        E   P(truthⱼ = t) ∝ Πₖ P(vₖⱼ | t)
        M   α and ln β by at most `steps` steps of conjugate gradients

    (Whitehill et al. 2009, eq. 1-6, with crowd-kit's priors and stop rule.) Starts from α = 1 and
    ln β = 1; stops when the expected log-likelihood, divided by answers times labels, grows by less
    than `tolerance`. A worker's weight is αₖ.

    The model has a parameter for every task, so sums over reports do not suffice: it needs all
    answers in memory.
    """

    max_rounds: int = 100
    tolerance: float = 1e-5
    steps: int = 25

    name: ClassVar[str] = "glad"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.steps < 1:
            raise UsageError(f"steps must be at least 1, not {self.steps}")

    def fit(self, engine: Engine) -> Result:
        sizes = len(engine.workers), len(engine.tasks), engine.domain.size
        crowd = Answers(*list_answers(engine), *sizes)
        ended = self.expect(crowd, np.full(crowd.labels, 1 / crowd.labels))
        settled = Settled(ended.ability, len(ended.bounds), ended.converged)
        return label_result(self, engine, ended.posterior, settled)

    def expect(
        self, crowd: Answers, prior: FloatArray, means: FloatArray | None = None, gap: float = 1e-2
    ) -> Difficulty:
        """EM; `means` of the normal priors of α and ln β, and the M step's tolerance `gap`."""
        centre = np.ones(crowd.workers + crowd.tasks) if means is None else means
        point, converged, bounds = np.ones_like(centre), False, [-np.inf]
        while len(bounds) <= self.max_rounds and not converged:
            posterior = softmax(crowd.votes(point) + np.log(prior))
            right = posterior[crowd.task, crowd.label]
            point, value = self._maximize(crowd, right, point, centre, gap)
            bounds.append(value / (len(crowd.label) * len(prior)))
            converged = bounds[-1] - bounds[-2] < self.tolerance
        ability, ease = point[: crowd.workers], point[crowd.workers :]
        return Difficulty(ability, ease, posterior, tuple(bounds[1:]), converged)

    def _maximize(
        self, crowd: Answers, right: FloatArray, start: FloatArray, centre: FloatArray, gap: float
    ) -> tuple[FloatArray, float]:
        """The M step from `start`: the point and its expected log-likelihood."""
        from scipy import optimize  # not before it is used

        minimize: Any = optimize.minimize
        limit = {"maxiter": self.steps}
        given = (right, centre)
        found = minimize(crowd.loss, start, given, "CG", jac=True, tol=gap, options=limit)
        point = steady(found.x)
        return point, -crowd.loss(point, right, centre)[0]


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The task, worker and label of every answer; a point is all α, then all ln β."""

    task: Codes
    worker: Codes
    label: Codes
    workers: int
    tasks: int
    labels: int

    def votes(self, point: FloatArray) -> FloatArray:
        """Σ ln P(v | truth = v) / P(v | another truth) of the answers v to each task."""
        _, log_right, log_wrong = self._strength(point)
        cells = self.task.astype(np.int64) * self.labels + self.label
        scores = grouped_sums(cells, log_right - log_wrong, self.tasks * self.labels)
        return scores.reshape(self.tasks, self.labels)

    def loss(
        self, point: FloatArray, right: FloatArray, centre: FloatArray
    ) -> tuple[float, FloatArray]:
        """−E ln P(answers, parameters), and its gradient; `right` is P(the answer is true)."""
        strength, log_right, log_wrong = self._strength(point)
        value = total(right * log_right + (1 - right) * log_wrong)
        value -= total(np.square(point - centre)) / 2 + len(point) * np.log(2 * np.pi) / 2
        pull = right - np.exp(log_right)
        by_worker = grouped_sums(self.worker, pull * self._ease(point), self.workers)
        by_task = grouped_sums(self.task, pull * strength, self.tasks)
        return -float(value), point - centre - np.concatenate([by_worker, by_task])

    def _ease(self, point: FloatArray) -> FloatArray:
        """β of each answer's task, bounded for a step that goes too far."""
        return np.asarray(np.exp(np.minimum(point[self.workers + self.task], MOST_EASE)))

    def _strength(self, point: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """α β of each answer, and ln P(answer) if it is the truth, or not."""
        strength = point[self.worker] * self._ease(point)
        log_right = -np.logaddexp(0, -strength)
        log_wrong = -np.logaddexp(0, strength) - np.log(max(self.labels - 1, 1))
        return strength, log_right, log_wrong
