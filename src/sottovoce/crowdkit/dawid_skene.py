"""Dawid-Skene, with known truths and initial errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from sottovoce.crowdkit.frames import Frames, aligned, fitted_frames, no_frames
from sottovoce.crowdkit.gold import known_codes, with_gold_labels
from sottovoce.crowdkit.initial_error import informed_start, read_history
from sottovoce.crowdkit.table import Table
from sottovoce.inference import dawid_skene as em
from sottovoce.inference.rows import shares
from sottovoce.inference.steps.confusions import FLOOR, ConfusionSums, VoteConfusions
from sottovoce.inference.steps.votes import Votes
from sottovoce.model import Codes, FloatArray
from sottovoce.seams import Engine

__all__ = ["DawidSkene"]


@dataclass(eq=False)
class DawidSkene:
    """Truths and workers' confusion matrices by EM (Dawid & Skene 1979).

    At most `n_iter` rounds; stops when `loss_history_` grows by less than `tol`. An
    `initial_error` handed to `fit` is used as `initial_error_strategy` says: "assign" starts from
    it, "addition" adds it to the counts the votes imply; without a strategy it is ignored.

    >>> rows = [("t1", "a", 1), ("t1", "b", 1), ("t2", "a", 0), ("t2", "b", 0), ("t2", "c", 1)]
    >>> frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> DawidSkene(n_iter=20).fit_predict(frame).to_dict()
    {'t1': 1, 't2': 0}
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
    errors_: pd.DataFrame = field(init=False, repr=False)
    """The chance of a worker's label given each truth, for the labels the worker gave."""
    loss_history_: list[float] = field(init=False, repr=False)
    """The bound on the log-likelihood per answer, after each round."""

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
        table = Table.of(data)
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
        self, table: Table, engine: Engine, known: Codes | None, history: pd.DataFrame | None
    ) -> em.Parameters:
        if history is None or self.initial_error_strategy is None:
            return em.DawidSkene(known=known).start(engine)
        earlier = read_history(table, history, self.initial_error_strategy)
        votes = VoteConfusions(len(table.workers), len(table.labels), known)
        return informed_start(ConfusionSums(engine.total(votes)), earlier)

    def _keep(self, frames: Frames) -> None:
        self.labels_, self.probas_, self.priors_, self.errors_ = frames


def _arranged(table: Table, gold: pd.Series[Any] | None, history: pd.DataFrame | None) -> Table:
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
