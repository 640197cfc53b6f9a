"""Multi-annotator competence estimation (MACE): workers who know, or answer by habit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import LABELS, Settled, check_parameters, label_result
from sottovoce.inference.steps.arithmetic import steady
from sottovoce.inference.steps.confusions import Confusions, ConfusionSums, Posteriors
from sottovoce.model import Codes, FloatArray, Kind, Result
from sottovoce.seams import Engine


class Competence(NamedTuple):
    """The parameters: `knows[worker] = (P(habit), P(knows))`, and each worker's `habit[label]`.

    Variational Bayes uses the exponentials of expected logarithms, which sum to less than 1.
    """

    knows: FloatArray
    habit: FloatArray

    def among(self, workers: Codes, count: int) -> Competence:
        """The parameters of a subset of the workers."""
        return Competence(self.knows[workers], self.habit[workers])

    @property
    def by_habit(self) -> FloatArray:
        """P(the worker answers this label by habit)."""
        return self.knows[:, :1] * self.habit

    @property
    def table(self) -> tuple[FloatArray, FloatArray]:
        """P(answer | truth) of each worker, and the uniform prior of the truths."""
        labels = self.habit.shape[1]
        errors = self.by_habit[:, :, np.newaxis] + self.knows[:, 1, None, None] * np.eye(labels)
        return errors.reshape(-1, labels), np.full(labels, 1 / labels)

    def expected(self, sums: ConfusionSums) -> tuple[FloatArray, FloatArray]:
        """The expected number of answers by (habit, knowledge), and by habit for each label."""
        labels = self.habit.shape[1]
        counts = sums.counts.reshape(-1, labels, labels)
        right = np.einsum("wtt->wt", counts)
        known = right * self.knows[:, 1:] / (self.by_habit + self.knows[:, 1:])
        habit = counts.sum(axis=2) - known
        return np.stack([habit.sum(axis=1), known.sum(axis=1)], axis=1), habit


class Competences(NamedTuple):
    """The end of the iteration: the parameters of the last E step, and of the M step after it."""

    used: Competence
    fitted: Competence
    rounds: int
    converged: bool

    def among(self, workers: Codes, count: int) -> Competences:
        """The same for a subset of the workers."""
        used, fitted = (each.among(workers, count) for each in (self.used, self.fitted))
        return self._replace(used=used, fitted=fitted)


@dataclass(frozen=True, slots=True)
class MACE:
    """Each answer is the truth, or the worker's habit (Hovy et al. 2013).

        P(answer v | truth t) = θₖ [v = t] + (1 − θₖ) ξₖ[v]
        E   P(truthⱼ = t) ∝ Πₖ P(vₖⱼ | t)
            P(known | v = t) = θₖ / ( θₖ + (1 − θₖ) ξₖ[v] )
        M   θₖ and ξₖ from the expected numbers of known and habitual answers

    With `training="variational"` θₖ ~ Beta(`alpha`, `beta`) and ξₖ ~ Dirichlet(`habit_prior`, …),
    and the E step uses exp E ln; with "em" .01 / labels is added to every number. The paper takes
    the best of random starts; here every worker starts with θ = 1/2 and a uniform ξ, so that the
    result depends neither on a seed nor on names. Stops when the log-likelihood, divided by the
    number of answers, changes by less than `tolerance`. A worker's weight is θₖ.
    """

    max_rounds: int = 100
    tolerance: float = 1e-6
    training: Literal["variational", "em"] = "variational"
    alpha: float = 0.5
    beta: float = 0.5
    habit_prior: float = 10.0

    name: ClassVar[str] = "mace"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)
        for name in ("alpha", "beta", "habit_prior"):
            if not 0 < getattr(self, name) < np.inf:
                raise UsageError(f"{name} must be positive and finite, not {getattr(self, name)}")

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Competences:
        workers, labels = len(engine.workers), engine.domain.size
        start = Competence(np.full((workers, 2), 0.5), np.full((workers, labels), 1 / labels))
        return self.expect(engine, start)

    def expect(self, engine: Engine, start: Competence) -> Competences:
        """The iteration from given parameters."""
        fitted, before = start, -np.inf
        for rounds in range(1, self.max_rounds + 1):
            used = fitted
            sums = ConfusionSums(engine.total(Confusions(*used.table)))
            fitted = self.maximize(used, sums)
            value = sums.log_likelihood / max(float(sums.counts.sum()), 1.0)
            if abs(value - before) < self.tolerance:
                return Competences(used, fitted, rounds, converged=True)
            before = value
        return Competences(used, fitted, self.max_rounds, converged=False)

    def maximize(self, used: Competence, sums: ConfusionSums) -> Competence:
        """The M step, from the sums under the parameters used."""
        knows, habit = used.expected(sums)
        if self.training == "em":
            smoothing = 0.01 / habit.shape[1]
            return Competence(_shares(knows + smoothing), _shares(habit + smoothing))
        prior = np.array([self.beta, self.alpha])
        return Competence(_expected(knows + prior), _expected(habit + self.habit_prior))

    def tell(self, engine: Engine, learnt: Competences) -> Result:
        posterior = engine.map(Posteriors(*learnt.used.table))
        knows = _shares(learnt.fitted.knows)[:, 1]
        settled = Settled(knows, learnt.rounds, learnt.converged)
        return label_result(self, engine, posterior, settled)


def _shares(counts: FloatArray) -> FloatArray:
    return steady(counts / counts.sum(axis=1, keepdims=True))


def _expected(counts: FloatArray) -> FloatArray:
    """exp E ln p for p ~ Dirichlet(counts), along the last axis."""
    from scipy.special import psi  # not before it is used

    return steady(np.exp(psi(counts) - psi(counts.sum(axis=1, keepdims=True))))
