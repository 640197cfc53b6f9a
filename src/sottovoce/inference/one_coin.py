"""One-coin Dawid-Skene: one accuracy for every worker, by EM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sottovoce.inference.aggregator import LABELS, Settled, check_parameters, label_result
from sottovoce.inference.dawid_skene import Bound
from sottovoce.inference.steps.arithmetic import steady
from sottovoce.inference.steps.coins import Coins, CoinSums, VoteCoins
from sottovoce.inference.steps.confusions import FLOOR
from sottovoce.inference.steps.votes import AnswersPerWorker, Votes, softmax
from sottovoce.model import Codes, FloatArray, Kind, Result
from sottovoce.seams import Engine


class Coin(NamedTuple):
    """The parameters of EM: each worker's accuracy and the prior."""

    skill: FloatArray
    prior: FloatArray

    def among(self, workers: Codes) -> Coin:
        """The parameters of a subset of the workers."""
        return self._replace(skill=self.skill[workers])

    @property
    def log_right(self) -> FloatArray:
        """ln P(the truth is answered)."""
        return np.asarray(np.log(np.clip(self.skill, FLOOR, 1 - FLOOR)))

    @property
    def log_wrong(self) -> FloatArray:
        """ln P(one particular other label is answered)."""
        other = (1 - self.skill) / max(len(self.prior) - 1, 1)
        return np.asarray(np.log(np.clip(other, FLOOR, 1 - FLOOR)))

    @property
    def floored_prior(self) -> FloatArray:
        """P(truth), nowhere zero."""
        return np.maximum(self.prior, FLOOR)

    @property
    def odds(self) -> FloatArray:
        """P(the truth is answered) / P(one particular other label is answered)."""
        return np.asarray(np.exp(self.log_right - self.log_wrong))


class CoinExpectation(NamedTuple):
    """The end of EM: the parameters of the last E step and of the M step after it."""

    used: Coin
    fitted: Coin
    bounds: tuple[float, ...]
    converged: bool

    def among(self, workers: Codes, count: int) -> CoinExpectation:
        """The same for a subset of the workers."""
        used, fitted = (each.among(workers) for each in (self.used, self.fitted))
        return self._replace(used=used, fitted=fitted)


@dataclass(frozen=True, slots=True)
class OneCoin:
    """Dawid-Skene with one parameter per worker (Zhang et al. 2016, §2).

        P(answer | truth) = skillₖ if answer = truth, else (1 − skillₖ) / (s − 1)
        E   P(truthⱼ = t) ∝ prior[t] Πₖ P(vₖⱼ | t)
        M   skillₖ = mean over the worker's answers of P(truthⱼ = vₖⱼ)

    Starts from vote shares and stops like `DawidSkene`. A worker's weight is its skill.
    """

    max_rounds: int = 100
    tolerance: float = 1e-5
    bound: Bound = "answers"

    name: ClassVar[str] = "one-coin"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> CoinExpectation:
        return self.expect(engine)

    def tell(self, engine: Engine, learnt: CoinExpectation) -> Result:
        return label_result(
            self,
            engine,
            self.posterior(engine, learnt.used),
            Settled(learnt.fitted.skill, len(learnt.bounds), learnt.converged),
            prior=learnt.fitted.prior,
        )

    def expect(self, engine: Engine) -> CoinExpectation:
        """EM from vote shares, until the bound converges or the rounds are used up."""
        workers, labels = len(engine.workers), engine.domain.size
        answered = engine.total(AnswersPerWorker(workers))
        start = CoinSums(engine.total(VoteCoins(workers, labels)), labels)
        fitted, bounds, before = _maximize(start, answered), [], -np.inf
        for _ in range(self.max_rounds):
            used = fitted
            sums = CoinSums(engine.total(Coins(used.odds, used.floored_prior)), labels)
            fitted = _maximize(sums, answered)
            value = _evidence(sums, used, fitted, answered, self.bound)
            bounds.append(value / answered.sum())
            if bounds[-1] - before < self.tolerance:
                return CoinExpectation(used, fitted, tuple(bounds), converged=True)
            before = bounds[-1]
        return CoinExpectation(used, fitted, tuple(bounds), converged=False)

    def posterior(self, engine: Engine, coin: Coin) -> FloatArray:
        """The posterior of every task under given parameters."""
        votes = engine.map(Votes(coin.log_right - coin.log_wrong, engine.domain.size))
        return softmax(votes + np.log(coin.floored_prior))


def _maximize(sums: CoinSums, answered: FloatArray) -> Coin:
    # A sum of posteriors can exceed the number of answers by a rounding error.
    skill = np.minimum(steady(sums.agreement / np.maximum(answered, 1)), 1.0)
    skill[answered == 0] = min(sums.agreement.sum() / answered.sum(), 1.0)
    return Coin(skill, steady(sums.tasks / max(sums.tasks.sum(), 1.0)))


def _evidence(
    sums: CoinSums, used: Coin, fitted: Coin, answered: FloatArray, bound: Bound
) -> float:
    """E ln P(answers, truths | fitted) + entropy of the posteriors (see `dawid_skene.evidence`)."""
    log_odds = used.log_right - used.log_wrong
    entropy = sums.log_mass - float(
        sums.agreement @ log_odds + sums.tasks @ np.log(used.floored_prior)
    )
    by = sums.tasks if bound == "tasks" else sums.answers
    right, wrong = sums.agreement, answered - sums.agreement
    fit = right @ fitted.log_right + wrong @ fitted.log_wrong
    return float(fit + by @ np.log(fitted.floored_prior)) + entropy
