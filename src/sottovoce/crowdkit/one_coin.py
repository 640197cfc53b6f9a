"""One-coin Dawid-Skene."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from sottovoce.crowdkit.frames import Frames, aligned, fitted_frames, no_frames
from sottovoce.crowdkit.table import Table
from sottovoce.inference.one_coin import Coin, OneCoin
from sottovoce.inference.rows import shares
from sottovoce.inference.steps.coins import CoinSums, VoteCoins
from sottovoce.inference.steps.confusions import FLOOR
from sottovoce.inference.steps.counts import AnswersPerWorker
from sottovoce.inference.steps.votes import Votes
from sottovoce.model import FloatArray
from sottovoce.seams import Engine

__all__ = ["OneCoinDawidSkene"]


@dataclass(eq=False)
class OneCoinDawidSkene:
    """Dawid-Skene with one parameter a worker, its accuracy (Zhang et al. 2016, §2).

    At most `n_iter` rounds; stops when `loss_history_` grows by less than `tol`.
    `initial_error_strategy` is accepted and unused, as in crowd-kit.

    >>> rows = [("t1", "a", 1), ("t1", "b", 1), ("t2", "a", 0), ("t2", "b", 0), ("t2", "c", 1)]
    >>> frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> OneCoinDawidSkene().fit(frame).skills_.round(2).to_dict()
    {'a': 1.0, 'b': 1.0, 'c': 0.0}
    """

    n_iter: int = 100
    tol: float = 1e-5
    initial_error_strategy: Literal["assign", "addition"] | None = None

    labels_: pd.Series[Any] = field(init=False, repr=False)
    """The truth of each task."""
    probas_: pd.DataFrame = field(init=False, repr=False)
    """The posterior of each label, by task."""
    priors_: pd.Series[float] = field(init=False, repr=False)
    """The share of each label among the truths."""
    skills_: pd.Series[float] = field(init=False, repr=False)
    """The accuracy of each worker."""
    errors_: pd.DataFrame = field(init=False, repr=False)
    """The chance of a worker's label given each truth, for the labels the worker gave."""
    loss_history_: list[float] = field(init=False, repr=False)
    """The bound on the log-likelihood per answer, after each round."""

    def fit(self, data: pd.DataFrame) -> OneCoinDawidSkene:
        """Run EM; the results are attributes."""
        if len(data) == 0:
            self._keep(no_frames())
            return self
        table = Table.of(data)
        if self.n_iter < 1:
            table = table.as_counted()  # without rounds the votes are all there is
        table = table.with_labels(aligned(table.voted_labels, table.voted_labels))
        engine = table.engine()
        if self.n_iter > 0:
            model = OneCoin(self.n_iter, self.tol)
            ended = model.expect(engine)
            posterior, coin = model.posterior(engine, ended.used), ended.fitted
            posterior, bounds = np.maximum(posterior, FLOOR), ended.bounds
        else:
            posterior, coin, bounds = *_voted(engine), ()
        self._keep(fitted_frames(table, posterior, coin.prior, _errors(coin)))
        self.skills_ = pd.Series(coin.skill, index=table.workers, name="skill")
        self.loss_history_ = list(bounds)
        return self

    def fit_predict(self, data: pd.DataFrame) -> Any:
        """Fit, and give `labels_`."""
        return self.fit(data).labels_

    def fit_predict_proba(self, data: pd.DataFrame) -> pd.DataFrame:
        """Fit, and give `probas_`."""
        return self.fit(data).probas_

    def _keep(self, frames: Frames) -> None:
        self.labels_, self.probas_, self.priors_, self.errors_ = frames


def _voted(engine: Engine) -> tuple[FloatArray, Coin]:
    """Vote shares, and the accuracies and the prior they imply."""
    workers, labels = len(engine.workers), engine.domain.size
    sums = CoinSums(engine.total(VoteCoins(workers, labels)), labels)
    answered = engine.total(AnswersPerWorker(workers))
    posterior = shares(engine.map(Votes(np.ones(workers), labels)))
    return posterior, Coin(sums.agreement / answered, sums.tasks / sums.tasks.sum())


def _errors(coin: Coin) -> FloatArray:
    """Each worker's confusion matrix, one below the other: rows are answers, columns truths."""
    labels = len(coin.prior)
    wrong = (1 - coin.skill) / max(labels - 1, 1)
    right = np.eye(labels, dtype=np.bool_)
    errors = np.where(right, coin.skill[:, None, None], wrong[:, None, None])
    return np.clip(errors, FLOOR, 1 - FLOOR).reshape(-1, labels)
