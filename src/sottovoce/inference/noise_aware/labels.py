"""Labels, clean or through their channel: the default for labels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import (
    LABELS,
    Settled,
    check_known,
    check_parameters,
    label_result,
)
from sottovoce.inference.evaluation import positions
from sottovoce.inference.noise_aware.hierarchical import (
    Hierarchy,
    Priors,
    Start,
    channel_law,
    fit_hierarchy,
)
from sottovoce.inference.noise_aware.variational_em import (
    CoinFit,
    CoinStates,
    coin_states,
    fit_coins,
    sets_of,
)
from sottovoce.inference.signal import named_labels, signal
from sottovoce.inference.steps.label_sets import Sets
from sottovoce.model import Codes, Domain, FloatArray, Kind, Result, SetChannel, Signal
from sottovoce.seams import Engine

EVEN, FEWEST = 1.0, 200.0
"""Pseudo-tasks per label that keep class shares near even: a multiple of tasks, and a minimum."""
MOST_LABELS, MOST_SYMBOLS = 10, 1024
"""Above these sizes, a worker's noisy reports cannot determine a confusion matrix."""
MOST_CLEAN_LABELS, MOST_CELLS = 64, 50_000_000
"""The same for clean answers, and for the table of all workers."""
RIGHT = 0.7
"""The crowd's accuracy above chance, before any report."""
STRENGTHS = (1.0, 2.0, 4.0, 8.0, 16.0, 25.0)
"""Possible signals, as multiples of that of workers who are right 0.1 above chance."""
NO_SIGNAL = 4.0
"""The odds, before any report, that a table that could show a signal has none."""
TELLING = 3.0
"""A table can show a signal if workers who are right 0.1 above chance would reach z = 1/3.

Workers who are right 0.25 above chance then reach z = 2."""


class CoinModel(NamedTuple):
    """The one-coin model: the fit, and its input."""

    fit: CoinFit
    states: CoinStates
    sets: Sets


class LearntLabels(NamedTuple):
    """The fitted model, and how far the reports agree more than chance."""

    model: Hierarchy | CoinModel
    signal: Signal

    def among(self, workers: Codes, count: int) -> LearntLabels:
        """The same for a subset of the workers."""
        model = self.model
        if isinstance(model, Hierarchy):
            return self._replace(model=replace(model, confusions=model.confusions[workers]))
        fit = model.fit._replace(states=model.fit.states[workers])
        return self._replace(model=model._replace(fit=fit))


@dataclass(frozen=True, slots=True)
class AwareLabels:
    """Truths from labels, clean or randomised; the randomiser is part of the likelihood.

        P(report | truth, worker) = Σ over answers of P(report | answer) P(answer | truth, worker)

    A clean answer is its own report. P(answer | truth, worker) is a **confusion matrix** for every
    worker, shrunk towards the crowd's, which is learnt; and a task may be **torn** between two
    labels, so that agreement on it does not count as certainty (`hierarchical`). With more than ten
    labels under noise, many kinds of sets, or a private probability that each worker keeps
    (two-layer), a worker is right with **one probability**, which has a grid of values
    (`variational_em`).

    Reports that agree no more than chance are no evidence: the posterior is

        w · posterior of the model + (1 − w) · shares of labels

    where w is the probability that the reports carry a signal, and the result says so (`signal`).

    `confidence` is the posterior of the chosen label. A worker's weight is its expected accuracy.
    `known[task]` is the truth of a task, or −1. `participation`, if it is private, is the public
    share of cells that are answered; 0 estimates it for each worker from its reports. `start` is an
    earlier result, whose parameters are the first ones of the confusion matrices.
    """

    channel: SetChannel | None = field(default=None, repr=False)
    domain: Domain | None = field(default=None, repr=False)
    max_rounds: int = 100
    tolerance: float = 1e-5
    model: Literal["auto", "one-coin", "confusion"] = "auto"
    participation: float = 0.0
    known: Codes | None = field(default=None, repr=False)
    start: Result | None = field(default=None, repr=False)

    name: ClassVar[str] = "aware-labels"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)
        if not 0 <= self.participation <= 1:
            raise UsageError(f"participation must be from 0 to 1, not {self.participation:g}")
        if self.channel is None:
            return
        if not isinstance(self.channel, SetChannel):
            raise UsageError(
                "aware-labels reads sets of labels, and these reports are of another kind"
            )
        if self.domain is None or self.channel.labels != self.domain.size:
            raise UsageError("the channel and the domain have different numbers of labels")
        if self.model == "confusion" and not self._fits_confusions(1, self.channel.labels):
            raise UsageError(
                f"confusions need at most {MOST_LABELS} labels, {MOST_SYMBOLS:,} kinds of reports "
                "and no private draw: use the one-coin model"
            )

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> LearntLabels:
        if self.channel and len(engine.domain.labels) != self.channel.symbols:
            raise UsageError("the table does not hold the channel's symbols")
        check_known(self.known, engine, self._domain(engine).size)
        found = signal(engine, self.channel)
        labels = self._domain(engine).size
        if self.model != "one-coin" and self._fits_confusions(len(engine.workers), labels):
            return LearntLabels(self._hierarchy(engine), found)
        if self.known is not None:
            raise UsageError("the one-coin model does not learn from known truths: use dawid-skene")
        return LearntLabels(self._coins(engine), found)

    def _domain(self, engine: Engine) -> Domain:
        return self.domain or engine.domain

    def _fits_confusions(self, workers: int, labels: int) -> bool:
        channel = self.channel
        if channel is None:
            return labels <= MOST_CLEAN_LABELS and workers * labels**2 <= MOST_CELLS
        small = labels <= MOST_LABELS and channel.symbols <= MOST_SYMBOLS
        small = small and workers * channel.symbols * labels <= MOST_CELLS
        return small and len(channel.prior) == 1

    def _coins(self, engine: Engine) -> CoinModel:
        channel = self.channel or _identity(engine.domain.size)
        sets = sets_of(channel)
        states = coin_states(channel, sets, self.participation)
        held = max(EVEN * engine.task_count, FEWEST)
        fit = fit_coins(
            engine,
            states,
            sets,
            np.full(channel.labels, held),
            max_rounds=self.max_rounds,
            tolerance=self.tolerance,
        )
        return CoinModel(fit, states, sets)

    def _hierarchy(self, engine: Engine) -> Hierarchy:
        domain = self._domain(engine)
        law = channel_law(
            self._matrix(domain), named_labels(domain.size, self.channel), domain.size
        )
        first = self._first(engine, domain)
        return fit_hierarchy(
            engine,
            law,
            first,
            known=self.known,
            begin=self._begin(engine, first),
            max_rounds=self.max_rounds,
            tolerance=self.tolerance,
        )

    def _begin(self, engine: Engine, first: FloatArray) -> Start | None:
        """Parameters of the earlier result; a new worker has the crowd's. NULL keeps its first."""
        last = self.start
        if last is None or last.confusions is None or last.crowd is None or last.prior is None:
            return None
        rows, found = positions(last.workers, engine.workers)
        known = np.where(found[:, np.newaxis, np.newaxis], last.confusions[rows], last.crowd)
        known, null = np.concatenate([known, [last.crowd]]), first[:, len(first) :]
        each = np.broadcast_to(null, (len(known), *null.shape))
        whole = np.concatenate([known * (1 - null.sum(axis=1, keepdims=True)), each], axis=2)
        return Start(whole[:-1], whole[-1], last.prior, Priors(*last.hyperparameters))

    def _matrix(self, domain: Domain) -> FloatArray:
        matrix = np.eye(domain.size) if self.channel is None else self.channel.matrix()
        return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))

    def _first(self, engine: Engine, domain: Domain) -> FloatArray:
        """The crowd's confusion before any report: mostly diagonal; for ordinal labels, near it."""
        labels = domain.size
        apart = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels)))
        spread = np.exp(-apart) if domain.kind is Kind.ORDINAL else np.ones_like(apart, float)
        spread = spread / spread.sum(axis=1, keepdims=True)
        first: FloatArray = RIGHT * np.eye(labels) + (1 - RIGHT) * spread
        if self.channel is None or not self.channel.hides_participation:
            return first
        rate = self.participation or self._rate(self._coins(engine))
        return np.hstack([rate * first, np.full((labels, 1), 1 - rate)])

    def _rate(self, coins: CoinModel) -> float:
        """The crowd's participation according to the one-coin model."""
        weights = coins.fit.states.mean(axis=0)
        return float(np.clip(weights @ coins.states.participation, 0.01, 0.99))

    def tell(self, engine: Engine, learnt: LearntLabels) -> Result:
        model, found = learnt
        domain = self._domain(engine)
        if isinstance(model, Hierarchy):
            posterior = model.posterior(engine, self._matrix(domain), self.known)
            confusions = _answered(model.confusions, domain.size)
            crowd = _answered(model.crowd, domain.size)
            shares, first = model.shares, model.first
            priors: tuple[float, ...] = tuple(model.priors)
            accuracy = np.einsum("t,wtt->w", shares, confusions)
            settled = Settled(accuracy, model.rounds, model.converged)
        else:
            posterior = model.fit.posterior(engine, model.states, model.sets)
            confusions, crowd, priors = None, None, ()
            shares = first = model.fit.shares()
            accuracy = model.fit.states @ model.states.accuracy
            settled = Settled(accuracy, model.fit.rounds, model.fit.converged)
        weight = signal_weight(found)
        mixed = weight * posterior + (1 - weight) * first
        if self.known is not None:
            mixed = np.where((self.known >= 0)[:, np.newaxis], posterior, mixed)
        warning = found.warning()
        return label_result(
            self,
            engine,
            mixed,
            settled,
            confusions=confusions,
            crowd=crowd,
            prior=shares,
            hyperparameters=priors,
            domain=domain,
            warnings=(warning,) if warning else (),
        )


def signal_weight(found: Signal) -> float:
    """The probability that reports carry a signal, given how far they agree more than chance.

    A table in which nothing could show, because tasks have one answer each, keeps a weight of 1.

    >>> round(signal_weight(Signal(z=0.0, tasks=300, pairs=900, detectable=1.2)), 2)
    0.02
    >>> signal_weight(Signal(z=0.0, tasks=0, pairs=0, detectable=0.0))
    1.0
    """
    expected = np.array(STRENGTHS) * found.detectable
    ratios = np.exp(np.clip(found.z * expected - expected**2 / 2, -700.0, 300.0))
    odds = float(ratios.mean()) / NO_SIGNAL
    telling = min(1.0, TELLING * found.detectable)
    return 1 - telling / (1 + odds)


def _answered(confusions: FloatArray, labels: int) -> FloatArray:
    """Confusions among given answers, without NULL."""
    given = confusions[..., :labels]
    return np.asarray(given / given.sum(axis=-1, keepdims=True))


def _identity(labels: int) -> SetChannel:
    """The channel of clean answers: each is its own report."""
    members = np.arange(labels, dtype=np.int32)
    one = np.ones(1)
    return SetChannel(labels, np.arange(labels + 1), members, one, 0 * one, one, np.zeros(0, bool))
