"""Dawid-Skene: a confusion matrix for every worker, by EM."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from sottovoce.inference.aggregator import (
    LABELS,
    Settled,
    check_known,
    check_parameters,
    label_result,
)
from sottovoce.inference.steps.arithmetic import COMPILED_FROM, row_sum, split, steady
from sottovoce.inference.steps.confusions import (
    FLOOR,
    Confusions,
    ConfusionSums,
    Errors,
    Posteriors,
    VoteConfusions,
    narrowed,
)
from sottovoce.model import Codes, FloatArray, Kind, Result
from sottovoce.seams import Engine

Bound: TypeAlias = Literal["answers", "tasks"]
"""The unit by which the bound counts the prior."""


class Parameters(NamedTuple):
    """The parameters of EM: `errors[worker · labels + answer, truth]` and `prior[truth]`."""

    errors: FloatArray
    prior: FloatArray

    def among(self, workers: Codes, count: int) -> Parameters:
        """The parameters of a subset of the workers."""
        return self._replace(errors=narrowed(self.errors, workers, count))


class Expectation(NamedTuple):
    """The end of EM: the parameters of the last E step and of the M step after it."""

    used: Parameters
    fitted: Parameters
    bounds: tuple[float, ...]
    converged: bool

    def among(self, workers: Codes, count: int) -> Expectation:
        """The same for a subset of the workers."""
        used, fitted = (each.among(workers, count) for each in (self.used, self.fitted))
        return self._replace(used=used, fitted=fitted)


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """Truths and workers' confusion matrices by expectation-maximisation (Dawid & Skene 1979).

        E   P(truthⱼ = t) ∝ prior[t] Πₖ errorsₖ[vₖⱼ, t]
        M   errorsₖ[v, t] = Σ P(truthⱼ = t) over j with vₖⱼ = v, divided by its sum over v
            prior[t]      = mean over tasks of P(truthⱼ = t)

    Starts from vote shares. Stops when a bound on the log-likelihood, divided by the number of
    answers, grows by less than `tolerance`. By default the bound counts ln prior once per answer,
    as in crowd-kit, so that both stop at the same round. `bound="tasks"` counts it once per task,
    which is the proper evidence lower bound and never falls, so EM runs longer. The posteriors of a
    round are the same. `known[task]` is the truth of a gold task, or −1.

    `precision="float32"` reads the errors in half the memory and still adds up in float64; its
    posteriors agree to about 1e-6. A worker's weight is its expected accuracy, Σ_t prior[t]
    errorsₖ[t, t].
    """

    max_rounds: int = 100
    tolerance: float = 1e-5
    precision: Literal["float64", "float32"] = "float64"
    bound: Bound = "answers"
    known: Codes | None = field(default=None, repr=False)

    name: ClassVar[str] = "dawid-skene"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Expectation:
        check_known(self.known, engine, engine.domain.size)
        return self.expect(engine, self.start(engine))

    def tell(self, engine: Engine, learnt: Expectation) -> Result:
        labels = engine.domain.size
        posterior = self.posterior(engine, learnt.used)
        confusions = learnt.fitted.errors.reshape(-1, labels, labels).transpose(0, 2, 1)
        idle = ~confusions.any(axis=(1, 2), keepdims=True)
        confusions = np.where(
            idle, 1 / labels, confusions
        )  # no answers: every label is equally likely
        accuracy = np.einsum("t,wtt->w", learnt.fitted.prior, confusions)
        return label_result(
            self,
            engine,
            posterior,
            Settled(accuracy, len(learnt.bounds), learnt.converged),
            confusions=confusions,
            prior=learnt.fitted.prior,
        )

    def start(self, engine: Engine) -> Parameters:
        """The parameters that follow from vote shares."""
        step = VoteConfusions(len(engine.workers), engine.domain.size, self.known)
        return maximize(ConfusionSums(engine.total(step)))

    def expect(self, engine: Engine, start: Parameters) -> Expectation:
        """EM from given parameters, until the bound converges or the rounds are used up."""
        fitted, log_fitted, bounds, before = start, logs(start), [], -np.inf
        for _ in range(self.max_rounds):
            used, log_used = fitted, log_fitted
            sums = ConfusionSums(engine.total(Confusions(*self._table(used), self.known)))
            fitted = maximize(sums)
            log_fitted = logs(fitted)
            value = evidence(sums, log_used, log_fitted, self.bound)
            bounds.append(value / max(sums.counts.sum(), 1.0))
            if bounds[-1] - before < self.tolerance:
                return Expectation(used, fitted, tuple(bounds), converged=True)
            before = bounds[-1]
        return Expectation(used, fitted, tuple(bounds), converged=False)

    def posterior(self, engine: Engine, parameters: Parameters) -> FloatArray:
        """The posterior of every task under given parameters."""
        return engine.map(Posteriors(*self._table(parameters), self.known))

    def _table(self, parameters: Parameters) -> tuple[Errors, FloatArray]:
        errors = parameters.errors.astype(self.precision, copy=False)
        return errors, np.maximum(parameters.prior, FLOOR)


def maximize(sums: ConfusionSums) -> Parameters:
    """The M step: P(answer | truth) of each worker, and the prior.

    Counts below 1e-10 are raised to it among the labels the worker used; a label it never used has
    probability 0 (as in crowd-kit).
    """
    labels = sums.counts.shape[1]
    used = sums.counts.sum(axis=1, keepdims=True) > 0.5
    counts = np.maximum(sums.counts, FLOOR) * used
    totals = _answer_totals(counts.reshape(-1, labels, labels))
    errors = counts.reshape(-1, labels, labels) / np.where(totals > 0, totals, 1.0)
    prior = sums.tasks / max(float(row_sum(sums.tasks[np.newaxis])[0]), 1.0)
    return Parameters(steady(errors.reshape(-1, labels)), steady(prior))


def _answer_totals(counts: FloatArray) -> FloatArray:
    """Σ over answers; on the scale of NumPy steps, independent of the order of labels."""
    if counts.size >= COMPILED_FROM:
        return np.asarray(counts.sum(axis=1, keepdims=True))
    high, low = split(counts, counts.max(axis=1, keepdims=True), counts.shape[1])
    return np.asarray(high.sum(axis=1, keepdims=True) + low.sum(axis=1, keepdims=True))


def evidence(
    sums: ConfusionSums, used: Parameters, fitted: Parameters, bound: Bound = "tasks"
) -> float:
    """E ln P(answers, truths | fitted) + entropy of the posteriors, the bound after the M step.

    Takes the logarithms of both parameters (`logs`). Under the parameters that gave the posteriors,
    E ln P + entropy is the log-likelihood itself. So the entropy is the log-likelihood minus E ln
    P(answers, truths | used), and needs no pass.
    """
    entropy = sums.log_likelihood - _expected(sums, used, sums.tasks)
    by = sums.tasks if bound == "tasks" else sums.counts.sum(axis=0)
    return _expected(sums, fitted, by) + entropy


def logs(parameters: Parameters) -> Parameters:
    """Logarithms; 0 for an answer of probability 0, whose count is also 0."""
    errors = np.where(parameters.errors > 0, parameters.errors, 1.0)
    return Parameters(np.log(errors), np.log(np.maximum(parameters.prior, FLOOR)))


def _expected(sums: ConfusionSums, logarithms: Parameters, by: FloatArray) -> float:
    """E ln P(answers, truths), with ln prior counted per task or per answer (`by`)."""
    return float(np.sum(sums.counts * logarithms.errors)) + float(by @ logarithms.prior)
