"""Dawid-Skene and its one-coin form, with known truths and initial errors.

Known truths become codes; EM starts from what is known about workers beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sottovoce.crowdkit.dataframes import CodedFrame, Frames, aligned, fitted_frames, no_frames
from sottovoce.errors import DataError
from sottovoce.inference import dawid_skene as em
from sottovoce.inference.dawid_skene import Parameters
from sottovoce.inference.one_coin import Coin, OneCoin
from sottovoce.inference.steps.arithmetic import shares, steady
from sottovoce.inference.steps.coins import CoinSums, VoteCoins
from sottovoce.inference.steps.confusions import FLOOR, ConfusionSums, VoteConfusions
from sottovoce.inference.steps.votes import AnswersPerWorker, Votes
from sottovoce.model import Codes, FloatArray
from sottovoce.seams import Engine


def with_gold_labels(table: CodedFrame, gold: pd.Series[Any]) -> CodedFrame:
    """The table with room for truths that no worker gave: such labels come last."""
    named = pd.Index(gold.dropna().unique())
    new = named[table.labels.get_indexer(named) < 0]
    return table.with_labels(table.labels.append(new)) if len(new) else table


def known_codes(table: CodedFrame, gold: pd.Series[Any]) -> Codes:
    """The label of each task whose truth is known, else −1.

    Where a task is named more than once, the label that `gold` mentions last for the first time
    counts, as in crowd-kit, which goes through the labels one by one.
    """
    gold = gold.dropna()
    mention, named = pd.factorize(gold)
    place = table.labels.get_indexer(pd.Index(named))[mention]
    task = table.tasks.get_indexer(gold.index)
    order = np.argsort(mention, kind="stable")
    order = order[task[order] >= 0]
    known = np.full(len(table.tasks), -1, np.int32)
    known[task[order]] = place[order]
    return known


class History(NamedTuple):
    """Earlier counts (or chances) of a worker's label, by truth; one row for each such pair.

    A label that nobody gave now is −1: it still counts in its worker's total.
    """

    worker: npt.NDArray[np.intp]
    label: npt.NDArray[np.intp]
    values: FloatArray
    strategy: str


def read_history(table: CodedFrame, initial_error: pd.DataFrame, strategy: str) -> History:
    """Check a frame of initial errors and code its rows; rows of unknown workers are left out."""
    if strategy not in ("assign", "addition"):
        raise ValueError(f'initial_error_strategy is "assign" or "addition", not {strategy!r}')
    if list(initial_error.index.names) != ["worker", "label"]:
        raise ValueError(
            "initial_error must be indexed by worker and label, "
            f"not by {list(initial_error.index.names)}"
        )
    if not (initial_error.index.is_unique and initial_error.columns.is_unique):
        raise DataError("initial_error names a worker's label or a truth more than once")
    worker = table.workers.get_indexer(initial_error.index.get_level_values("worker"))
    label = table.labels.get_indexer(initial_error.index.get_level_values("label"))
    values = initial_error.reindex(columns=table.labels).to_numpy(np.float64, na_value=np.nan)
    if strategy == "assign":
        _check_assigned(table, initial_error, worker, label, values)
    mine = worker >= 0
    return History(worker[mine], label[mine], np.nan_to_num(values[mine], nan=0.0), strategy)


def informed_start(sums: ConfusionSums, history: History) -> Parameters:
    """The first M step with the history in place of the votes' counts, or added to them."""
    labels = sums.counts.shape[1]
    counts = np.zeros_like(sums.counts) if history.strategy == "assign" else sums.counts.copy()
    present = sums.counts.sum(axis=1) > 0.5
    inside = history.label >= 0
    rows = history.worker[inside] * labels + history.label[inside]
    counts[rows] += history.values[inside]
    present[rows] = True
    floored = np.where(present[:, None], np.maximum(counts, FLOOR), 0.0)
    floored = floored.reshape(-1, labels, labels)
    totals = floored.sum(axis=1)
    np.add.at(totals, history.worker[~inside], np.maximum(history.values[~inside], FLOOR))
    errors = np.divide(floored, totals[:, None], out=np.zeros_like(floored), where=floored > 0)
    prior = sums.tasks / sums.tasks.sum()
    return Parameters(steady(errors.reshape(-1, labels)), steady(prior))


def _check_assigned(
    table: CodedFrame,
    initial_error: pd.DataFrame,
    worker: npt.NDArray[np.intp],
    label: npt.NDArray[np.intp],
    values: FloatArray,
) -> None:
    """Errors that replace the votes' must be there for every answer, and add up."""
    count = len(table.labels)
    there = np.zeros(len(table.workers) * count, np.bool_)
    both = (worker >= 0) & (label >= 0)
    there[worker[both] * count + label[both]] = True
    lacking = ~there[table.worker.astype(np.int64) * count + table.label]
    if lacking.any():
        raise ValueError(
            f"initial_error lacks labels that {len(np.unique(table.worker[lacking])):,} workers "
            'gave: add their rows, or choose initial_error_strategy="addition"'
        )
    if np.isnan(values).any():
        raise DataError("initial_error must have a number for every truth, without gaps")
    everything = initial_error.to_numpy(np.float64, na_value=np.nan)
    sums = initial_error.groupby(level="worker", sort=False).sum().to_numpy(np.float64)
    if (everything <= 1.0).all() and not np.allclose(sums, 1.0):
        raise ValueError(
            "initial_error looks like chances (nothing above 1), but those of a worker's labels "
            "given a truth do not add up to 1"
        )


@dataclass(eq=False)
class _ConfusionModel:
    """The arguments and results of EM with an error rate for each worker."""

    n_iter: int = 100
    tol: float = 1e-5
    initial_error_strategy: Literal["assign", "addition"] | None = None

    labels_: pd.Series[Any] = field(init=False, repr=False)
    """The truth of each task."""
    probas_: pd.DataFrame = field(init=False, repr=False)
    """The posterior of each label, by task."""
    priors_: pd.Series[float] = field(init=False, repr=False)
    """The share of each label among the truths."""
    errors_: pd.DataFrame = field(init=False, repr=False)
    """The chance of a worker's label given each truth, for the labels the worker gave."""
    loss_history_: list[float] = field(init=False, repr=False)
    """The bound on the log-likelihood per answer, after each round."""

    def _keep(self, frames: Frames) -> None:
        self.labels_, self.probas_, self.priors_, self.errors_ = frames


@dataclass(eq=False)
class DawidSkene(_ConfusionModel):
    """Truths and workers' confusion matrices by EM (Dawid & Skene 1979).

    At most `n_iter` rounds; stops when `loss_history_` grows by less than `tol`. An
    `initial_error` handed to `fit` is used as `initial_error_strategy` says: "assign" starts from
    it, "addition" adds it to the counts the votes imply; without a strategy it is ignored.

    >>> rows = [("t1", "a", 1), ("t1", "b", 1), ("t2", "a", 0), ("t2", "b", 0), ("t2", "c", 1)]
    >>> frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> DawidSkene(n_iter=20).fit_predict(frame).to_dict()
    {'t1': 1, 't2': 0}
    """

    def fit(
        self,
        data: pd.DataFrame,
        true_labels: pd.Series[Any] | None = None,
        initial_error: pd.DataFrame | None = None,
    ) -> DawidSkene:
        """Run EM; the results are attributes."""
        if len(data) == 0:
            self._keep(no_frames())
            return self
        history = None if self.initial_error_strategy is None else initial_error
        table = CodedFrame.of(data)
        if self.n_iter < 1:
            table = table.as_counted()  # without rounds the votes are all there is
        table = _arranged(table, true_labels, history)
        known = None if true_labels is None else known_codes(table, true_labels)
        engine = table.engine()
        start = self._start(table, engine, known, history)
        if self.n_iter > 0:
            model = em.DawidSkene(self.n_iter, self.tol, known=known)
            ended = model.expect(engine, start)
            posterior = np.maximum(model.posterior(engine, ended.used), FLOOR)
            self._keep(fitted_frames(table, posterior, ended.fitted.prior, ended.fitted.errors))
            self.loss_history_ = list(ended.bounds)
        else:
            self._keep(fitted_frames(table, _voted(engine, known), start.prior, start.errors))
            self.loss_history_ = []
        return self

    def fit_predict(
        self,
        data: pd.DataFrame,
        true_labels: pd.Series[Any] | None = None,
        initial_error: pd.DataFrame | None = None,
    ) -> Any:
        """Fit, and give `labels_`."""
        return self.fit(data, true_labels, initial_error).labels_

    def fit_predict_proba(
        self,
        data: pd.DataFrame,
        true_labels: pd.Series[Any] | None = None,
        initial_error: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """Fit, and give `probas_`."""
        return self.fit(data, true_labels, initial_error).probas_

    def _start(
        self, table: CodedFrame, engine: Engine, known: Codes | None, history: pd.DataFrame | None
    ) -> em.Parameters:
        if history is None or self.initial_error_strategy is None:
            return em.DawidSkene(known=known).start(engine)
        earlier = read_history(table, history, self.initial_error_strategy)
        votes = VoteConfusions(len(table.workers), len(table.labels), known)
        return informed_start(ConfusionSums(engine.total(votes)), earlier)


def _arranged(
    table: CodedFrame, gold: pd.Series[Any] | None, history: pd.DataFrame | None
) -> CodedFrame:
    """The table with the labels that crowd-kit's frames end up with, in their order."""
    table = table.with_labels(table.voted_labels)
    if gold is not None:
        table = with_gold_labels(table, gold)
    columns = table.labels if history is None else history.columns
    return table.with_labels(aligned(table.labels, columns))


def _voted(engine: Engine, known: Codes | None) -> FloatArray:
    """Vote shares, or the truth where it is known."""
    posterior = shares(engine.map(Votes(np.ones(len(engine.workers)), engine.domain.size)))
    if known is not None:
        rows = np.flatnonzero(known >= 0)
        posterior[rows] = 0.0
        posterior[rows, known[rows]] = 1.0
    return posterior


@dataclass(eq=False)
class OneCoinDawidSkene(_ConfusionModel):
    """Dawid-Skene with one parameter a worker, its accuracy (Zhang et al. 2016, §2).

    At most `n_iter` rounds; stops when `loss_history_` grows by less than `tol`.
    `initial_error_strategy` is accepted and unused, as in crowd-kit.

    >>> rows = [("t1", "a", 1), ("t1", "b", 1), ("t2", "a", 0), ("t2", "b", 0), ("t2", "c", 1)]
    >>> frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> OneCoinDawidSkene().fit(frame).skills_.round(2).to_dict()
    {'a': 1.0, 'b': 1.0, 'c': 0.0}
    """

    skills_: pd.Series[float] = field(init=False, repr=False)
    """The accuracy of each worker."""

    def fit(self, data: pd.DataFrame) -> OneCoinDawidSkene:
        """Run EM; the results are attributes."""
        if len(data) == 0:
            self._keep(no_frames())
            return self
        table = CodedFrame.of(data)
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
            posterior, coin, bounds = *_voted_coins(engine), ()
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


def _voted_coins(engine: Engine) -> tuple[FloatArray, Coin]:
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
