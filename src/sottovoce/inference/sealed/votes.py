"""Labels from noisy counts of votes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from sottovoce.inference.outcome import choose
from sottovoce.inference.sealed import binary, several
from sottovoce.inference.sealed.crowd import ENOUGH, accuracy_grid, label_posterior, learnt
from sottovoce.inference.sealed.normal import log_density, one_right
from sottovoce.inference.sealed.participation import (
    Counts,
    count_moments,
    counts_of,
    used_counts,
)
from sottovoce.model import FloatArray, Provenance, Result
from sottovoce.model.opened_totals import Opened

__all__ = ["SealedMajorityVote", "SealedVotes"]

MOST_PUBLIC, MOST_HIDDEN = 128, 64
"""Answers to a task up to which more than two labels, or hidden counts, are counted out."""

ROWS = 4096
"""Tasks that are handled at once."""

TINY = 1e-280
"""Added to likelihoods, so that totals which no crowd explains say nothing."""


@dataclass(frozen=True, slots=True)
class SealedVotes:
    """The probability of each label, given the totals and the law of their noise.

    An answer to a task is right with the task's own chance, which comes from a beta law; a wrong
    one is any other label alike. So counts are beta-binomial, and a total is a count with noise:

        P(totals | truth) = Σ counts  P(counts | truth, crowd) P(noise = totals - counts)

    Exactly so with two labels; with more while tasks have up to 128 answers, and where counts are
    hidden up to 64. Beyond that counts and noise are Gaussian with their exact covariance. The
    crowd (`crowd.learnt`) is learnt from all tasks. Where participation is hidden, the number of
    answers is unknown, and the noisy count is evidence of it. Nothing tells workers apart, so there
    are no weights of theirs.
    """

    name: ClassVar[str] = "sealed-votes"
    layout: ClassVar[str] = "votes"

    def fit(self, opened: Opened) -> Result:
        """Truths with their probabilities."""
        likelihood = _Likelihood.of(opened)
        every = max(1, len(opened.tasks) // ENOUGH)
        crowd = learnt(likelihood(_part(opened, slice(None, None, every))), likelihood.grid)
        posterior = np.concatenate(
            [
                label_posterior(likelihood(_part(opened, slice(start, start + ROWS))), crowd)
                for start in range(0, len(opened.tasks), ROWS)
            ]
        )
        return _result(self.name, opened, posterior, prior=crowd.label_shares)


@dataclass(frozen=True, slots=True)
class SealedMajorityVote:
    """The label with the largest total, and its share of the votes as far as noise leaves one.

    Totals below 0 count as 0. A task without any vote left has all labels alike. Shares are no
    probabilities: `SealedVotes` gives those.
    """

    name: ClassVar[str] = "sealed-majority-vote"
    layout: ClassVar[str] = "votes"

    def fit(self, opened: Opened) -> Result:
        """Truths with shares of the votes."""
        votes = np.maximum(_votes(opened), 0.0)
        totals = votes.sum(axis=1, keepdims=True)
        shares = np.where(totals > 0, votes / np.maximum(totals, 1e-300), 1 / opened.size)
        return _result(self.name, opened, shares)


def _votes(opened: Opened) -> FloatArray:
    """A noisy count for every label."""
    if opened.size > 2:
        return opened.totals.astype(np.float64)
    if opened.answered is None:
        lead, count = opened.totals.T
        return np.stack([count - lead, count + lead], axis=1) / 2
    second = opened.totals[:, 0]
    return np.stack([opened.answered - second, second], axis=1).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Likelihood:
    """P(totals | truth, accuracy) of some tasks: tasks by labels by the grid, up to a factor each.

    What all tasks have in common is worked out once: the grid, and how many answers there may be
    where that is hidden.
    """

    grid: FloatArray
    counts: Counts | None
    exact: bool

    @classmethod
    def of(cls, opened: Opened) -> Self:
        """For the tasks of one campaign."""
        if opened.answered is not None:
            most = int(opened.answered.max())
            return cls(accuracy_grid(most), None, opened.size == 2 or most <= MOST_PUBLIC)
        counts = counts_of(opened)
        most = int(counts.values.max())
        return cls(accuracy_grid(most), counts, most <= MOST_HIDDEN)

    def __call__(self, opened: Opened) -> FloatArray:
        found = self._exact(opened) if self.exact else self._gaussian(opened)
        return np.asarray(found / np.maximum(found.max(axis=(1, 2), keepdims=True), TINY) + TINY)

    def _exact(self, opened: Opened) -> FloatArray:
        if opened.size == 2:
            return _both(
                binary.public_likelihood(opened, opened.answered, self.grid)
                if opened.answered is not None
                else binary.hidden_likelihood(opened, self._counts, self.grid)
            )
        if opened.answered is not None:
            return several.public_likelihood(opened, opened.answered, self.grid)
        return several.hidden_likelihood(opened, self._counts, self.grid)

    def _gaussian(self, opened: Opened) -> FloatArray:
        votes, noise = _votes(opened), opened.variances
        if opened.size == 2:
            # Lead and count have noise alike, so half their sum and half their difference are
            # uncorrelated, with half the variance.
            noise = np.full(2, noise.mean() / 2)
        moments = count_moments(opened, self.counts)
        logs = log_density(votes, one_right(opened.size, self.grid), *moments, noise)
        logs = logs.reshape(len(votes), opened.size, len(self.grid))
        return np.asarray(np.exp(logs - logs.max(axis=(1, 2), keepdims=True)))

    @property
    def _counts(self) -> Counts:
        assert self.counts is not None  # noqa: S101 - they are hidden
        return self.counts


def _part(opened: Opened, rows: slice) -> Opened:
    """Some of the tasks."""
    answered = None if opened.answered is None else opened.answered[rows]
    return replace(opened, tasks=opened.tasks[rows], totals=opened.totals[rows], answered=answered)


def _both(second: FloatArray) -> FloatArray:
    """P(totals | truth, accuracy) for both labels: the grid is its own mirror image."""
    return np.stack([second[:, ::-1], second], axis=1)


def _result(
    name: str, opened: Opened, posterior: FloatArray, *, prior: FloatArray | None = None
) -> Result:
    truths = choose(posterior)
    return Result(
        opened.tasks, np.array([], dtype=str), opened.domain, truths, np.array([]),
        used_counts(opened), 1, True, Provenance(name, simulated=opened.simulated),
        confidence=posterior[np.arange(len(truths)), truths], posterior=posterior, prior=prior,
    )  # fmt: skip
