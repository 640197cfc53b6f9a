"""Labels through their channel: one accuracy or a confusion matrix per worker, by evidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import LABELS, Settled, check_parameters, label_result
from sottovoce.inference.noise_aware.variational_em import (
    CoinFit,
    CoinStates,
    ConfusionFit,
    coin_states,
    fit_coins,
    fit_confusions,
    sets_of,
)
from sottovoce.inference.steps.label_sets import Sets
from sottovoce.model import Codes, Domain, FloatArray, Kind, Result, SetChannel
from sottovoce.seams import Engine

EVEN, FEWEST = 1.0, 200.0
"""Pseudo-tasks per label that keep class shares near even: a multiple of tasks, and a minimum."""
SKEWED = 0.1
"""With confusions they count as this many times the tasks, around the fitted shares: with even
ones, a common label would be explained as a confusion of all workers."""
PERSONAL, COMMON = 2.0, 32.0
"""The number of answers per truth that the crowd's confusion counts as, over labels."""
NEEDED = 2.0
"""From this gain in evidence per worker on, workers' own confusions are preferred."""
MOST_LABELS, MOST_SYMBOLS = 10, 1024
"""Above these sizes, a worker's reports cannot determine a confusion matrix."""
RIGHT = 0.7
"""The crowd's accuracy above chance, before any report."""


class CoinModel(NamedTuple):
    """The one-coin model: the fit, and its input."""

    fit: CoinFit
    states: CoinStates
    sets: Sets


class LearntLabels(NamedTuple):
    """Both fitted models, and the weight of the second."""

    coins: CoinModel
    personal: ConfusionFit | None
    share: float

    def among(self, workers: Codes, count: int) -> LearntLabels:
        """The same for a subset of the workers."""
        coins, personal = self.coins, self.personal
        states = coins.fit.states[workers]
        if personal is not None:
            personal = personal._replace(confusions=personal.confusions[workers])
        return self._replace(
            coins=coins._replace(fit=coins.fit._replace(states=states)), personal=personal
        )


@dataclass(frozen=True, slots=True)
class AwareLabels:
    """Truths from randomised labels, with the randomiser in the likelihood.

        P(report | truth, worker) = Σ over answers of P(report | answer) P(answer | truth, worker)

    Two models of P(answer | truth, worker) are fitted by variational EM. **One coin**: a worker is
    right with one probability, which has a grid of values (`one_coin`). **Confusion**: a worker has
    a confusion matrix, shrunk towards the crowd's (`confusion`). The second counts as far as
    reports show that workers differ in how they confuse labels: its share of the posterior is

        1 / (1 + exp(-2 (gain - 2))),   gain = (bound of personal confusions - the better bound of
                                                one coin and of confusions the crowd shares) / m

    A bias of the whole crowd towards a label is not such evidence: it cannot be distinguished from
    a label being common, and a vote is then safer than a confusion matrix. For the same reason
    class shares are kept near even. With more than ten labels, many kinds of sets, or a private
    probability that each worker keeps (two-layer), only the one-coin model is used.

    `confidence` is the posterior of the chosen label; if reports carry no information it is the
    prior's. A worker's weight is its expected accuracy. `participation`, if it is private, is the
    public share of cells that are answered; 0 estimates it for each worker from its reports.
    """

    channel: SetChannel = field(repr=False)
    domain: Domain = field(repr=False)
    max_rounds: int = 100
    tolerance: float = 1e-5
    model: Literal["auto", "one-coin", "confusion"] = "auto"
    participation: float = 0.0

    name: ClassVar[str] = "aware-labels"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)
        if not isinstance(self.channel, SetChannel):
            raise UsageError(
                "aware-labels reads sets of labels, and these reports are of another kind"
            )
        if self.channel.labels != self.domain.size:
            raise UsageError("the channel and the domain have different numbers of labels")
        if not 0 <= self.participation <= 1:
            raise UsageError(f"participation must be from 0 to 1, not {self.participation:g}")
        if self.model == "confusion" and not self._fits_confusions():
            raise UsageError(
                f"confusions need at most {MOST_LABELS} labels, {MOST_SYMBOLS:,} kinds of reports "
                "and no private draw: use the one-coin model"
            )

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> LearntLabels:
        if len(engine.domain.labels) != self.channel.symbols:
            raise UsageError("the table does not hold the channel's symbols")
        coins = self._coins(engine)
        if self.model == "one-coin" or not self._fits_confusions():
            return LearntLabels(coins, None, 0.0)
        personal, share = self._confusions(engine, coins)
        return LearntLabels(coins, personal, 1.0 if self.model == "confusion" else share)

    def _fits_confusions(self) -> bool:
        channel = self.channel
        small = channel.labels <= MOST_LABELS and channel.symbols <= MOST_SYMBOLS
        return small and len(channel.prior) == 1

    def _coins(self, engine: Engine) -> CoinModel:
        sets = sets_of(self.channel)
        states = coin_states(self.channel, sets, self.participation)
        concentration = np.full(self.channel.labels, self._held(engine))
        fit = fit_coins(
            engine,
            states,
            sets,
            concentration,
            max_rounds=self.max_rounds,
            tolerance=self.tolerance,
        )
        return CoinModel(fit, states, sets)

    def _confusions(self, engine: Engine, coins: CoinModel) -> tuple[ConfusionFit, float]:
        """Workers' own confusions, and their share of the posterior."""
        shares = self._skewed(engine, coins)
        personal, common = (
            fit_confusions(
                engine,
                self.channel.matrix(),
                shares,
                self._first(coins),
                strength * self.channel.labels,
                max_rounds=self.max_rounds,
                tolerance=self.tolerance,
            )
            for strength in (PERSONAL, COMMON)
        )
        gain = (personal.bound - max(common.bound, coins.fit.bound)) / len(engine.workers)
        return personal, float(1 / (1 + np.exp(-2 * (gain - NEEDED))))

    def _skewed(self, engine: Engine, coins: CoinModel) -> FloatArray:
        """Class shares that follow the one-coin truths more freely."""
        tasks = coins.fit.classes - self._held(engine)
        loose = tasks + SKEWED * engine.task_count
        return np.asarray(loose / loose.sum())

    def _held(self, engine: Engine) -> float:
        """The number of pseudo-tasks of each label that are added to the observed ones."""
        return max(EVEN * engine.task_count, FEWEST)

    def _first(self, coins: CoinModel) -> FloatArray:
        """The crowd's confusion before any report: mostly diagonal; for ordinal labels, near it."""
        labels = self.channel.labels
        apart = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels)))
        spread = np.exp(-apart) if self.domain.kind is Kind.ORDINAL else np.ones_like(apart, float)
        spread = spread / spread.sum(axis=1, keepdims=True)
        first: FloatArray = RIGHT * np.eye(labels) + (1 - RIGHT) * spread
        if not self.channel.hides_participation:
            return first
        rate = self._rate(coins)
        return np.hstack([rate * first, np.full((labels, 1), 1 - rate)])

    def _rate(self, coins: CoinModel) -> float:
        """The crowd's participation according to the one-coin model."""
        weights = coins.fit.states.mean(axis=0)
        return float(np.clip(weights @ coins.states.participation, 0.01, 0.99))

    def tell(self, engine: Engine, learnt: LearntLabels) -> Result:
        coins, personal, share = learnt
        posterior = coins.fit.posterior(engine, coins.states, coins.sets)
        accuracy = coins.fit.states @ coins.states.accuracy
        shares, rounds = coins.fit.shares(), coins.fit.rounds
        converged, confusions = coins.fit.converged, None
        if personal is not None:
            own = personal.posterior(engine, self.channel.matrix(), shares)
            posterior = share * own + (1 - share) * posterior
            confusions = share * self._answered(personal.means())
            confusions = confusions + (1 - share) * _coin_confusions(accuracy, len(shares))
            accuracy = np.einsum("t,wtt->w", shares, confusions)
            rounds, converged = rounds + personal.rounds, converged and personal.converged
        result = label_result(
            self,
            engine,
            posterior,
            Settled(accuracy, rounds, converged),
            confusions=confusions,
            prior=shares,
            domain=self.domain,
        )
        chosen = {**result.provenance.parameters, "confusion_share": round(share, 4)}
        return replace(result, provenance=replace(result.provenance, parameters=chosen))

    def _answered(self, confusions: FloatArray) -> FloatArray:
        """Confusions among given answers, without NULL."""
        given = confusions[:, :, : self.channel.labels]
        return np.asarray(given / given.sum(axis=2, keepdims=True))


def _coin_confusions(accuracy: FloatArray, labels: int) -> FloatArray:
    wrong = (1 - accuracy) / max(labels - 1, 1)
    spread = np.broadcast_to(wrong[:, None, None], (len(accuracy), labels, labels)).copy()
    spread[:, np.arange(labels), np.arange(labels)] = accuracy[:, None]
    return spread
