"""Votes weighted by skills: Wawa, zero-based skill, gold majority vote, and M-MSR.

`fit` finds the workers' skills, `predict` votes with them, on the same answers or on others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd

from sottovoce.crowdkit.dataframes import CodedFrame, ranks
from sottovoce.crowdkit.dawid_skene import known_codes, with_gold_labels
from sottovoce.crowdkit.majority_vote import MajorityVote, agreements
from sottovoce.errors import DataError
from sottovoce.inference import m_msr
from sottovoce.inference.aggregator import choose
from sottovoce.inference.m_msr import Pairs, skill_weights
from sottovoce.inference.steps.votes import Votes
from sottovoce.model import FloatArray


@dataclass(eq=False)
class _SkilledVote:
    """The second half of each method: a majority vote weighted by `skills_`."""

    labels_: pd.Series[Any] = field(init=False, repr=False)
    """The truth of each task."""
    skills_: pd.Series[float] = field(init=False, repr=False)
    """The skill of each worker."""

    def predict(self, data: pd.DataFrame) -> Any:
        """Vote with the fitted skills, and give `labels_`."""
        self._vote(data)
        return self.labels_

    def _vote(self, data: pd.DataFrame) -> pd.DataFrame:
        if not hasattr(self, "skills_"):
            raise ValueError(f"fit {type(self).__name__} first: it has no skills yet")
        vote = MajorityVote().fit(data, self.skills_)
        self.labels_ = vote.labels_
        return vote.probas_


@dataclass(eq=False)
class _SkilledShares(_SkilledVote):
    """The same for methods that call the shares of the vote probabilities."""

    probas_: pd.DataFrame = field(init=False, repr=False)
    """The share of the skills that each label has, by task."""

    def predict_proba(self, data: pd.DataFrame) -> pd.DataFrame:
        """Vote with the fitted skills, and give `probas_`."""
        self._vote(data)
        return self.probas_

    def _vote(self, data: pd.DataFrame) -> pd.DataFrame:
        self.probas_ = super()._vote(data)
        return self.probas_


@dataclass(eq=False)
class Wawa(_SkilledShares):
    """A vote weighted by each worker's agreement with the majority vote.

    >>> rows = [("t1", "a", 1), ("t1", "b", 1), ("t1", "c", 0), ("t2", "c", 0), ("t2", "a", 1)]
    >>> frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> Wawa().fit_predict(frame).to_dict()
    {'t1': 1, 't2': 1}
    """

    def fit(self, data: pd.DataFrame) -> Self:
        """Find the skills."""
        self.skills_ = MajorityVote().fit(data).skills_
        return self

    def fit_predict(self, data: pd.DataFrame) -> Any:
        """Fit, and give `labels_`."""
        return self.fit(data).predict(data)

    def fit_predict_proba(self, data: pd.DataFrame) -> pd.DataFrame:
        """Fit, and give `probas_`."""
        return self.fit(data).predict_proba(data)


@dataclass(eq=False)
class ZeroBasedSkill(Wawa):
    """Skills move towards the agreement with the weighted vote, `n_iter` times.

    The step is `lr_init` of the way, times `lr_reduce_factor` in every `lr_steps_to_reduce`-th
    round; all skills start at 1 / labels + `eps`.
    """

    n_iter: int = 100
    lr_init: float = 1.0
    lr_steps_to_reduce: int = 20
    lr_reduce_factor: float = 0.5
    eps: float = 1e-5

    def fit(self, data: pd.DataFrame) -> Self:
        """Find the skills."""
        table = CodedFrame.of(data).sorted()
        skills = np.full(len(table.workers), 1 / max(len(table.labels), 1) + self.eps)
        rate, engine = self.lr_init, table.engine() if len(table) else None
        for round_ in range(1, self.n_iter + 1 if engine else 0):
            if round_ % self.lr_steps_to_reduce == 0:
                rate *= self.lr_reduce_factor
            truths = choose(engine.map(Votes(skills, len(table.labels))))  # type: ignore[union-attr]
            skills = skills + rate * (agreements(table, truths) - skills)
        order = np.argsort(ranks(table.workers)) if self.n_iter > 0 else slice(None)
        self.skills_ = pd.Series(skills, index=table.workers, name="skill").iloc[order]
        return self


@dataclass(eq=False)
class GoldMajorityVote(_SkilledShares):
    """A vote weighted by each worker's accuracy on tasks whose truth is known.

    Every worker must have answered one of them.
    """

    def fit(self, data: pd.DataFrame, true_labels: pd.Series[Any]) -> Self:
        """Find the skills."""
        gold = true_labels.dropna()
        table = CodedFrame.of(data[data["task"].isin(gold.index)])
        table = with_gold_labels(table, gold)
        skills = agreements(table, known_codes(table, gold)) if len(table) else np.empty(0)
        found = pd.Series(skills, index=table.workers, name="skill", dtype=float)
        self.skills_ = found.iloc[np.argsort(ranks(table.workers))]
        return self

    def fit_predict(self, data: pd.DataFrame, true_labels: pd.Series[Any]) -> Any:
        """Fit, and give `labels_`."""
        return self.fit(data, true_labels).predict(data)

    def fit_predict_proba(self, data: pd.DataFrame, true_labels: pd.Series[Any]) -> pd.DataFrame:
        """Fit, and give `probas_`."""
        return self.fit(data, true_labels).predict_proba(data)


@dataclass(eq=False)
class MMSR(_SkilledVote):
    """A vote weighted by skills from robust rank-one matrix completion (Ma & Olshevsky 2020).

    At most `n_iter` rounds; stops when `loss_history_` falls below `tol`. Both factors start from
    the same uniform numbers of `random_state`.
    """

    n_iter: int = 10_000
    tol: float = 1e-10
    random_state: int | None = 0

    scores_: pd.DataFrame = field(init=False, repr=False)
    """The share of the skills that each label has, by task; it may be negative."""
    loss_history_: list[float] = field(init=False, repr=False)
    """By how much the completed matrix moved in each round (Frobenius norm)."""

    def fit(self, data: pd.DataFrame) -> Self:
        """Find the skills."""
        table = CodedFrame.of(data)
        if not len(table):
            raise DataError("there are no answers: MMSR needs at least one")
        workers, labels = len(table.workers), len(table.labels)
        pairs = Pairs.among(table.task, table.worker, table.label, workers, labels)
        start = np.random.RandomState(self.random_state).uniform(size=workers)
        margin, trim = 1 / np.sqrt(len(table.tasks)), int(pairs.partners.min()) // 2 - 1
        ended = m_msr.MMSR(self.n_iter, self.tol).complete(pairs, start, start, trim, float(margin))
        skill = _signed(pairs, ended.skill, labels)
        weights = skill_weights(skill, labels, float(margin))
        self.skills_ = pd.Series(weights, index=table.workers, name="skill")
        self.loss_history_ = list(ended.moved)
        return self

    def predict_score(self, data: pd.DataFrame) -> pd.DataFrame:
        """Vote with the fitted skills, and give `scores_`."""
        self._vote(data)
        return self.scores_

    def fit_predict(self, data: pd.DataFrame) -> Any:
        """Fit, and give `labels_`."""
        return self.fit(data).predict(data)

    def fit_predict_score(self, data: pd.DataFrame) -> pd.DataFrame:
        """Fit, and give `scores_`."""
        return self.fit(data).predict_score(data)

    def _vote(self, data: pd.DataFrame) -> pd.DataFrame:
        self.scores_ = super()._vote(data)
        return self.scores_


def _signed(pairs: Pairs, skill: FloatArray, labels: int) -> FloatArray:
    """Signs from the slowest mode of a walk that changes sides along negative agreements.

    A positive agreement counts as two negative ones in a row, through a node of its own; pairs
    without common tasks, and a worker with itself, count as negative, as in crowd-kit. A mode that
    changes sides at each step has the eigenvalue −1. The nodes of the positive agreements are
    eliminated: λ d x = N x + (degree + P) x / (2 λ), a problem of twice the number of workers.
    """
    count = len(skill)
    agreement = np.full((count, count), -1 / max(labels - 1, 1))
    agreement[pairs.worker, pairs.other] = pairs.agreement
    valid = np.flatnonzero(agreement.sum(axis=1) != 0)
    negative, positive = (sign * agreement[np.ix_(valid, valid)] > 0 for sign in (-1, 1))
    degree = (negative + 1.0 * positive).sum(axis=1, keepdims=True)
    through = (positive + np.diag(positive.sum(axis=1))) / (2 * degree)
    size = len(valid)
    walk = np.block([[negative / degree, through], [np.eye(size), np.zeros((size, size))]])
    values, vectors = np.linalg.eig(walk)
    side = np.sign(vectors[:size, np.argmin(np.abs(values + 1))].real)
    signed = np.zeros(count)
    signed[valid] = np.sign(side.sum()) * side * skill[valid]
    return signed
