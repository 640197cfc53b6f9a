"""Bayesian classifier combination with subtypes of tasks (EBCC), by variational Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import (
    LABELS,
    Limits,
    Method,
    Settled,
    check_parameters,
    label_result,
)
from sottovoce.inference.steps.arithmetic import steady
from sottovoce.inference.steps.confusions import Confusions, ConfusionSums, Posteriors, narrowed
from sottovoce.inference.steps.subtypes import VoteSubtypes
from sottovoce.model import Codes, FloatArray, Kind, Result
from sottovoce.seams import Engine

SUBTYPE_PRIOR = 0.1
"""The weight of a truth's Dirichlet prior over its subtypes, in tasks, shared by all of them."""

MOST_SUBTYPES = 10
"""Up to this number of labels each is a subtype of every truth."""


class Beliefs(NamedTuple):
    """Dirichlet posteriors: answers[worker · labels + answer, truth · M + subtype], truths[truth]
    and subtypes[truth, subtype].
    """  # noqa: D205 - one sentence

    answers: FloatArray
    truths: FloatArray
    subtypes: FloatArray

    @classmethod
    def after(cls, sums: ConfusionSums, right: float, wrong: float, subtypes: int) -> Beliefs:
        """The prior and the expected counts of a pass."""
        columns = len(sums.tasks)
        labels = columns // subtypes
        own = np.arange(columns) // subtypes == np.arange(labels)[:, np.newaxis]
        prior = np.tile(np.where(own, right, wrong), (len(sums.counts) // labels, 1))
        tasks = sums.tasks.reshape(labels, subtypes)
        return cls(
            steady(prior + sums.counts),
            steady(1.0 + tasks.sum(axis=1)),
            steady(SUBTYPE_PRIOR / subtypes + tasks),
        )

    def among(self, workers: Codes, count: int) -> Beliefs:
        """The beliefs about a subset of the workers."""
        return self._replace(answers=narrowed(self.answers, workers, count))

    @property
    def by_worker(self) -> FloatArray:
        """`answers` with the axes worker, truth · M + subtype, answer."""
        labels = len(self.truths)
        return self.answers.reshape(-1, labels, self.answers.shape[1]).transpose(0, 2, 1)

    @property
    def table(self) -> tuple[FloatArray, FloatArray]:
        """exp E ln P(answer | truth, subtype, worker) and exp E ln P(truth, subtype)."""
        errors = np.exp(_expected_logs(self.by_worker)).transpose(0, 2, 1)
        log_prior = _expected_logs(self.truths)[:, np.newaxis] + _expected_logs(self.subtypes)
        return errors.reshape(self.answers.shape), np.exp(log_prior).reshape(-1)

    @property
    def confusions(self) -> FloatArray:
        """The mean P(answer | truth) of each worker, over the subtypes of the truth."""
        mean = self.by_worker / self.by_worker.sum(axis=2, keepdims=True)
        weight = self.subtypes / self.subtypes.sum(axis=1, keepdims=True)
        mean = mean.reshape(len(mean), *weight.shape, len(weight))
        return np.asarray(np.einsum("wtma,tm->wta", mean, weight))

    def divergence(self, prior: Beliefs) -> float:
        """KL(self ‖ prior), the cost of the beliefs in the bound."""
        pairs = ((self.by_worker, prior.by_worker), (self.truths, prior.truths))
        return sum(_divergence(*pair) for pair in (*pairs, (self.subtypes, prior.subtypes)))


class Combined(NamedTuple):
    """The end of the iteration."""

    beliefs: Beliefs
    rounds: int
    converged: bool

    def among(self, workers: Codes, count: int) -> Combined:
        """The same for a subset of the workers."""
        return self._replace(beliefs=self.beliefs.among(workers, count))


@dataclass(frozen=True, slots=True)
class EBCC:
    """Confusion matrices for subtypes of tasks, so that workers can err alike (Li et al. 2019a).

    Every truth t has M hidden subtypes m. A worker answers v with probability errorsₖ[v, t, m]; the
    truth and subtype of task j have probability τ[t] π[t, m]. Workers err independently given the
    subtype, hence together on the tasks of a difficult one.

        τ ~ Dirichlet(1, …),   π[t] ~ Dirichlet(.1 / M, …)
        errorsₖ[·, t, m] ~ Dirichlet(`prior_right` for v = t, `prior_wrong` for any other v)
        E   P(t, m | task j) ∝ exp( E ln τ[t] + E ln π[t, m] + Σₖ E ln errorsₖ[vₖⱼ, t, m] )
        M   adds these probabilities to the priors

    The probability of a truth is the sum over its subtypes. The paper has ten subtypes and starts
    from vote shares spread over them at random. Here there is one subtype for each label (two if
    there are more than ten labels), and a task starts in it with that label's share of the votes:
    the result depends neither on a seed nor on names. Stops when the variational bound, divided by
    the number of answers, grows by less than `tolerance`. A worker's weight is its expected
    accuracy.
    """

    max_rounds: int = 500
    tolerance: float = 1e-6
    prior_right: float = 4.0
    prior_wrong: float = 1.0

    name: ClassVar[str] = "ebcc"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)
        check_dirichlet(self.prior_right, self.prior_wrong)

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Combined:
        labels = engine.domain.size
        return combine(engine, self, labels if labels <= MOST_SUBTYPES else 2)

    def tell(self, engine: Engine, learnt: Combined) -> Result:
        return combined_result(self, engine, learnt)


class Combining(Limits, Protocol):
    """The parameters of a Bayesian classifier combination."""

    @property
    def prior_right(self) -> float:
        """The prior number of right answers, for each worker and truth."""
        ...

    @property
    def prior_wrong(self) -> float:
        """The same for each wrong answer."""
        ...


def check_dirichlet(right: float, wrong: float) -> None:
    """Refuse counts of a prior that are not positive."""
    for name, value in (("prior_right", right), ("prior_wrong", wrong)):
        if not 0 < value < np.inf:
            raise UsageError(f"{name} must be positive and finite, not {value}")


def combine(engine: Engine, method: Combining, subtypes: int) -> Combined:
    """Variational Bayes from vote shares, until the bound converges or the rounds are used up."""
    start = VoteSubtypes(len(engine.workers), engine.domain.size, subtypes)
    sums = ConfusionSums(engine.total(start))
    shape = method.prior_right, method.prior_wrong, subtypes
    answers = max(float(sums.counts.sum()), 1.0)
    prior = Beliefs.after(ConfusionSums(np.zeros_like(sums.array)), *shape)
    before = -np.inf
    for rounds in range(1, method.max_rounds + 1):
        beliefs = Beliefs.after(sums, *shape)
        sums = ConfusionSums(engine.total(Confusions(*beliefs.table)))
        bound = (sums.log_likelihood - beliefs.divergence(prior)) / answers
        if bound - before < method.tolerance:
            return Combined(beliefs, rounds, converged=True)
        before = bound
    return Combined(beliefs, method.max_rounds, converged=False)


def combined_result(method: Method, engine: Engine, learnt: Combined) -> Result:
    """The posterior of the truths, whatever their subtype."""
    beliefs = learnt.beliefs
    prior = beliefs.truths / beliefs.truths.sum()
    posterior = engine.map(Posteriors(*beliefs.table)).reshape(-1, *beliefs.subtypes.shape)
    accuracy = np.einsum("t,wtt->w", prior, beliefs.confusions)
    return label_result(
        method,
        engine,
        posterior.sum(axis=2),
        Settled(accuracy, learnt.rounds, learnt.converged),
        confusions=beliefs.confusions,
        prior=prior,
    )


def _expected_logs(counts: FloatArray) -> FloatArray:
    """E ln p for p ~ Dirichlet(counts), along the last axis."""
    from scipy.special import psi  # not before it is used

    return np.asarray(psi(counts) - psi(counts.sum(axis=-1, keepdims=True)))


def _divergence(counts: FloatArray, prior: FloatArray) -> float:
    """Σ KL(Dirichlet(counts) ‖ Dirichlet(prior)), along the last axis."""
    from scipy.special import gammaln as gamma  # not before it is used

    sizes = gamma(counts.sum(axis=-1)) - gamma(prior.sum(axis=-1))
    each = (counts - prior) * _expected_logs(counts) - gamma(counts) + gamma(prior)
    return float(sizes.sum() + each.sum())
