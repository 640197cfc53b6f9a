"""MACE, GLAD and KOS, from crowd-kit's starting points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from sottovoce.crowdkit.dataframes import (
    CodedFrame,
    label_series,
    posterior_frame,
    ranks,
    sorted_names,
)
from sottovoce.errors import DataError
from sottovoce.inference import glad, kos, mace
from sottovoce.inference.aggregator import choose
from sottovoce.inference.steps.arithmetic import grouped_sums
from sottovoce.inference.steps.confusions import Posteriors
from sottovoce.model import FloatArray

_LARGEST_MESSAGE = np.log2(1e300)
"""crowd-kit's KOS stops before messages exceed 1e300."""


def _answers(data: pd.DataFrame, name: str) -> CodedFrame:
    table = CodedFrame.of(data)
    if not len(table):
        raise DataError(f"there are no answers: {name} needs at least one")
    return table


@dataclass(eq=False)
class _LatentModel:
    """Truths with probabilities, fitted and predicted on the same answers."""

    labels_: pd.Series[Any] = field(init=False, repr=False)
    """The truth of each task."""
    probas_: pd.DataFrame = field(init=False, repr=False)
    """The posterior of each label, by task."""

    def fit(self, data: pd.DataFrame) -> Self:
        """Run the iteration; the results are attributes."""
        raise NotImplementedError

    def fit_predict(self, data: pd.DataFrame) -> Any:
        """Fit, and give `labels_`."""
        return self.fit(data).labels_

    def fit_predict_proba(self, data: pd.DataFrame) -> pd.DataFrame:
        """Fit, and give `probas_`."""
        return self.fit(data).probas_


@dataclass(eq=False)
class MACE(_LatentModel):
    """Each answer is the truth, or the worker's habit (Hovy et al. 2013).

    Runs `n_iter` rounds with the M step of `method`, "vb" or "em". crowd-kit draws each of its
    `n_restarts` starts from the same `random_state`, so all are one and the same; one is run.
    `smoothing` and `verbose` are accepted and unused.
    """

    n_restarts: int = 10
    n_iter: int = 50
    method: str = "vb"
    smoothing: float = 0.1
    default_noise: float = 0.5
    alpha: float = 0.5
    beta: float = 0.5
    random_state: int = 0
    verbose: int = 0

    spamming_: npt.NDArray[np.float64] = field(init=False, repr=False)
    """Rows (P(habit), P(knows)), for each worker in order of appearance."""
    thetas_: npt.NDArray[np.float64] = field(init=False, repr=False)
    """The habit of each worker: P(label), with labels in order of appearance."""
    theta_priors_: npt.NDArray[np.float64] = field(init=False, repr=False)
    """Prior numbers of habitual and known answers of each worker; with "vb" only."""
    strategy_priors_: npt.NDArray[np.float64] = field(init=False, repr=False)
    """Prior numbers of habitual answers of each worker and label; with "vb" only."""
    smoothing_: float = field(init=False, repr=False)
    """The number added to every count with "em": .01 / labels."""

    def fit(self, data: pd.DataFrame) -> Self:
        """Run the iteration; the results are attributes."""
        table = _answers(data, "MACE")
        workers, labels = len(table.workers), len(table.labels)
        variational = self.method == "vb"
        model = mace.MACE(
            max(self.n_iter, 1),
            tolerance=-1.0,
            training="variational" if variational else "em",
            alpha=self.beta,
            beta=self.alpha,
        )
        engine, fitted = table.engine(), self._start(workers, labels)
        if self.n_iter > 0:
            fitted = model.expect(engine, fitted).fitted
        posterior = engine.map(Posteriors(*fitted.table))
        self.spamming_, self.thetas_ = fitted
        self.smoothing_ = 0.01 / labels
        if variational:
            self.theta_priors_ = np.tile([self.alpha, self.beta], (workers, 1))
            self.strategy_priors_ = np.full((workers, labels), model.habit_prior)
        self.probas_ = posterior_frame(posterior, table.tasks, table.labels).rename_axis(
            columns=None
        )
        self.labels_ = label_series(choose(posterior), table.tasks, table.labels)
        return self

    def _start(self, workers: int, labels: int) -> mace.Competence:
        """Both tables from the same seed, as in crowd-kit."""

        def drawn(columns: int) -> FloatArray:
            random = np.random.RandomState(self.random_state)
            rows = 1 + (1 + self.default_noise) * random.uniform(size=(workers, columns))
            return np.asarray(rows / rows.sum(axis=1, keepdims=True))

        return mace.Competence(drawn(2), drawn(labels))


@dataclass(eq=False)
class GLAD(_LatentModel):
    """Abilities of workers and difficulties of tasks (Whitehill et al. 2009).

    At most `n_iter` rounds; stops when `loss_history_` grows by less than `tol`. The M step makes
    at most `m_step_max_iter` steps of conjugate gradients, to `m_step_tol`. Priors are series by
    label, worker and task; `silent` is accepted and unused.
    """

    n_iter: int = 100
    tol: float = 1e-5
    silent: bool = True
    labels_priors: pd.Series[Any] | None = None
    alphas_priors_mean: pd.Series[Any] | None = None
    betas_priors_mean: pd.Series[Any] | None = None
    m_step_max_iter: int = 25
    m_step_tol: float = 1e-2

    alphas_: pd.Series[float] = field(init=False, repr=False)
    """The ability of each worker."""
    betas_: pd.Series[float] = field(init=False, repr=False)
    """ln of the inverse difficulty of each task."""
    loss_history_: list[float] = field(init=False, repr=False)
    """The expected log-likelihood after each round, divided by answers times labels."""

    def fit(self, data: pd.DataFrame) -> Self:
        """Run the iteration; the results are attributes."""
        table = _answers(data, "GLAD")
        named = table.labels if self.labels_priors is None else self.labels_priors.index
        if not table.labels.isin(named).all():
            raise DataError("labels_priors must name every label of the answers")
        table = table.with_labels(sorted_names(pd.Index(named)))
        workers, tasks, labels = len(table.workers), len(table.tasks), len(table.labels)
        prior = _prior(self.labels_priors, table.labels, 1 / labels)
        means = (
            _prior(self.alphas_priors_mean, table.workers, 1.0),
            _prior(self.betas_priors_mean, table.tasks, 1.0),
        )
        crowd = glad.Answers(table.task, table.worker, table.label, workers, tasks, labels)
        model = glad.GLAD(self.n_iter, self.tol, self.m_step_max_iter)
        ended = model.expect(crowd, prior, np.concatenate(means), self.m_step_tol)
        self.alphas_ = pd.Series(ended.ability, index=table.workers, name="alpha")
        self.betas_ = pd.Series(ended.ease, index=table.tasks, name="beta")
        self.loss_history_ = list(ended.bounds)
        order = np.argsort(ranks(table.tasks))
        posterior, names = ended.posterior[order], table.tasks[order]
        self.probas_ = posterior_frame(posterior, names, table.labels).rename_axis(
            columns="variable"
        )
        self.labels_ = label_series(choose(posterior), names, table.labels)
        return self


def _prior(given: pd.Series[Any] | None, names: pd.Index[Any], default: float) -> FloatArray:
    if given is None:
        return np.full(len(names), default)
    values = given.reindex(names).to_numpy(np.float64, na_value=np.nan)
    if np.isnan(values).any():
        raise DataError(f"a prior lacks {int(np.isnan(values).sum())} {names.name or 'label'}(s)")
    return values


@dataclass(eq=False)
class KOS:
    """Messages between workers and tasks, for two labels (Karger, Oh & Shah 2014).

    `n_iter` rounds from normal messages of `random_state`, one for each row. A task whose messages
    cancel out gets the first label; crowd-kit fails there.
    """

    n_iter: int = 100
    random_state: int = 0

    labels_: pd.Series[Any] = field(init=False, repr=False)
    """The truth of each task."""

    def fit(self, data: pd.DataFrame) -> Self:
        """Run the iteration; the results are attributes."""
        table = CodedFrame.of(data).sorted()
        if not len(table):
            self.labels_ = pd.Series([], dtype=object, name="agg_label")
            return self
        if len(table.labels) != 2:
            raise ValueError(f"KOS takes two labels, and the answers have {len(table.labels)}")
        random = np.random.RandomState(self.random_state)
        sent = random.normal(loc=1, scale=1, size=len(table))
        sign = np.where(table.label == 0, 1.0, -1.0)
        if self.n_iter > 0:
            model = kos.KOS(self.n_iter, tolerance=-1.0)
            sent = model.exchange(table.task, table.worker, sign, sent, _LARGEST_MESSAGE).messages
        scores = grouped_sums(table.task, sign * sent, len(table.tasks))
        self.labels_ = label_series((scores < 0).astype(np.int32), table.tasks, table.labels)
        return self

    def fit_predict(self, data: pd.DataFrame) -> Any:
        """Fit, and give `labels_`."""
        return self.fit(data).labels_
