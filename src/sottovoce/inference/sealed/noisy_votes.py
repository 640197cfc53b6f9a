"""Labels from noisy counts of votes.

The crowd's parameters are learnt from all tasks at once; each task's label follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.inference.aggregator import choose
from sottovoce.inference.sealed import likelihood as sealed_likelihood
from sottovoce.inference.sealed.likelihood import (
    CountLaw,
    count_moments,
    counts_of,
    log_density,
    one_right,
    used_counts,
)
from sottovoce.model import FloatArray, Provenance, Result
from sottovoce.model.opened_totals import Opened

CONCENTRATIONS = (3.0, 8.0, 20.0, 60.0, 250.0)
"""The concentrations that are tried: a + b of the beta law of each task's accuracy."""

ALIKE = (0.05, 0.1, 0.2, 0.3, 0.35)
"""Their prior probabilities: tasks are probably similar."""

MEANS = 20
"""Mean accuracies that are tried, from chance to nearly 1."""

SHARES = (0.12, 0.3, 0.5, 0.7, 0.88)
"""Shares of the second of two labels that are tried."""

EVEN = (0.1, 0.2, 0.4, 0.2, 0.1)
"""Their prior probabilities: labels are probably about equally frequent."""

UNLIKE = 0.5
"""The prior standard deviation, in log-odds, of the difference of accuracies on two labels."""

ENOUGH = 2_000
"""This many tasks determine a crowd well enough."""

LEAST = 1e-4
"""Crowds less likely than the likeliest by this factor are left out."""

ROUNDS = 60
"""Rounds for the shares of three or more labels."""


@dataclass(frozen=True, slots=True, eq=False)
class CrowdModel:
    """Possible crowds, one per row: probability, shares of labels, and a law of accuracy per label.

    `laws[crowd, label]` is a column of `accuracies`, the beta laws over the grid.
    """

    chances: FloatArray
    shares: FloatArray
    laws: npt.NDArray[np.intp]
    accuracies: FloatArray

    @property
    def label_shares(self) -> FloatArray:
        """The expected shares of the labels."""
        return self.chances @ self.shares


def accuracy_grid(answers: int) -> FloatArray:
    """Accuracies between 0 and 1, fine enough for this many answers; symmetric under 1 - x.

    >>> len(accuracy_grid(50)), float(accuracy_grid(50)[0])
    (50, 0.01)
    """
    size = 2 * max(25, int(np.ceil(1.5 * np.sqrt(answers))))
    return (np.arange(size) + 0.5) / size


def learn_crowd(likelihood: FloatArray, grid: FloatArray) -> CrowdModel:
    """The possible crowds for these totals, from P(totals | truth, accuracy).

    A task's accuracy comes from a beta law, so tasks may differ in difficulty. Its mean and
    concentration, and the labels' shares, are not fixed at their likeliest values: all likely
    enough values count with their probability. So a few tasks do not make it overconfident. With
    two labels, each has its own mean; with more, all share one.
    """
    labels = likelihood.shape[1]
    means = np.linspace(1 / labels, 1, MEANS + 1)[:-1] + 0.5 * (1 - 1 / labels) / MEANS
    laws = _beta_laws(grid, means)
    given = likelihood @ laws  # tasks by labels by laws
    if labels == 2:
        return _two_labels(given, means, laws)
    return _more_labels(given, laws)


def label_posterior(likelihood: FloatArray, crowd: CrowdModel) -> FloatArray:
    """P(truth = label | totals) of every task, over all possible crowds."""
    given = likelihood @ crowd.accuracies
    found = np.zeros(given.shape[:2])
    for chance, shares, laws in zip(crowd.chances, crowd.shares, crowd.laws, strict=True):
        weights = shares * given[:, np.arange(len(shares)), laws]
        found += chance * weights / weights.sum(axis=1, keepdims=True)
    return found


def _beta_laws(grid: FloatArray, means: FloatArray) -> FloatArray:
    """The beta law of every concentration and mean over the grid, one per column."""
    spread = np.repeat(CONCENTRATIONS, len(means))
    mean = np.tile(means, len(CONCENTRATIONS))
    logs = np.outer(np.log(grid), spread * mean - 1)
    logs += np.outer(np.log1p(-grid), spread * (1 - mean) - 1)
    laws = np.exp(logs - logs.max(axis=0))
    return np.asarray(laws / laws.sum(axis=0))


def _two_labels(given: FloatArray, means: FloatArray, laws: FloatArray) -> CrowdModel:
    """Every concentration, share and pair of means, each with its likelihood."""
    odds = np.log(means / (1 - means))
    unlike = -np.square(np.subtract.outer(odds, odds) / UNLIKE) / 2
    first, second = (
        given[:, label].reshape(len(given), len(CONCENTRATIONS), MEANS) for label in (0, 1)
    )
    found = np.array(
        [
            [
                np.log(
                    (1 - share) * first[:, one, :, np.newaxis]
                    + share * second[:, one, np.newaxis, :]
                ).sum(axis=0)
                + unlike
                + np.log(alike * even)
                for share, even in zip(SHARES, EVEN, strict=True)
            ]
            for one, alike in enumerate(ALIKE)
        ]
    )
    places = np.flatnonzero(found.ravel() > found.max() + np.log(LEAST))
    one, share, *pair = np.unravel_index(places, found.shape)
    shares = np.array(SHARES)[share]
    return CrowdModel(
        _normalised(found.ravel()[places]),
        np.stack([1 - shares, shares], axis=1),
        np.stack([one * MEANS + mean for mean in pair], axis=1),
        laws,
    )


def _more_labels(given: FloatArray, laws: FloatArray) -> CrowdModel:
    """Every law of accuracy, with the best-fitting shares of the labels."""
    tasks, labels, count = given.shape
    shares = np.full((labels, count), 1 / labels)
    for _ in range(ROUNDS):
        weights = shares * given
        expected = (weights / weights.sum(axis=1, keepdims=True)).sum(axis=0)
        shares = (expected + 1) / (tasks + labels)
    found = np.log((shares * given).sum(axis=1)).sum(axis=0) + np.log(shares).sum(axis=0)
    found += np.repeat(np.log(ALIKE), MEANS)
    places = np.flatnonzero(found > found.max() + np.log(LEAST))
    return CrowdModel(
        _normalised(found[places]),
        shares[:, places].T,
        np.repeat(places[:, np.newaxis], labels, axis=1),
        laws,
    )


def _normalised(logs: FloatArray) -> FloatArray:
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


MOST_PUBLIC, MOST_HIDDEN = 128, 64
"""Up to this many answers per task, three or more labels, or hidden counts, are exact."""

ROWS = 4096
"""Tasks that are processed at once."""

TINY = 1e-280
"""Added to likelihoods, so that totals that no crowd explains carry no information."""


@dataclass(frozen=True, slots=True)
class SealedVotes:
    """The probability of each label, given the totals and the law of their noise.

    An answer to a task is right with the task's own probability, which comes from a beta law; a
    wrong one is uniform over the other labels. So counts are beta-binomial, and a total is a count
    with noise:

        P(totals | truth) = Σ counts  P(counts | truth, crowd) P(noise = totals - counts)

    This is exact with two labels; with more, for up to 128 answers per task, and for hidden counts
    up to 64. Beyond that counts and noise are Gaussian with their exact covariance. The crowd
    (`learn_crowd`) is learnt from all tasks. If participation is hidden, the number of answers is
    unknown, and the noisy count is evidence about it. Workers cannot be distinguished, so they have
    no weights.
    """

    name: ClassVar[str] = "sealed-votes"
    layout: ClassVar[str] = "votes"

    def fit(self, opened: Opened) -> Result:
        """Truths with their probabilities."""
        likelihood = _Likelihood.of(opened)
        every = max(1, len(opened.tasks) // ENOUGH)
        crowd = learn_crowd(likelihood(_part(opened, slice(None, None, every))), likelihood.grid)
        posterior = np.concatenate(
            [
                label_posterior(likelihood(_part(opened, slice(start, start + ROWS))), crowd)
                for start in range(0, len(opened.tasks), ROWS)
            ]
        )
        return _result(self.name, opened, posterior, prior=crowd.label_shares)


@dataclass(frozen=True, slots=True)
class SealedMajorityVote:
    """The label with the largest total, and its share of the votes.

    Totals below 0 count as 0. A task with no positive total has equal shares. Shares are not
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

    Everything that tasks have in common is computed once: the grid, and the possible numbers of
    answers if those are hidden.
    """

    grid: FloatArray
    counts: CountLaw | None
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
                sealed_likelihood.binary_public_likelihood(opened, opened.answered, self.grid)
                if opened.answered is not None
                else sealed_likelihood.binary_hidden_likelihood(opened, self._counts, self.grid)
            )
        if opened.answered is not None:
            return sealed_likelihood.several_public_likelihood(opened, opened.answered, self.grid)
        return sealed_likelihood.several_hidden_likelihood(opened, self._counts, self.grid)

    def _gaussian(self, opened: Opened) -> FloatArray:
        votes, noise = _votes(opened), opened.variances
        if opened.size == 2:
            # Lead and count have equal noise, so half their sum and half their difference are
            # uncorrelated, with half the variance.
            noise = np.full(2, noise.mean() / 2)
        moments = count_moments(opened, self.counts)
        logs = log_density(votes, one_right(opened.size, self.grid), *moments, noise)
        logs = logs.reshape(len(votes), opened.size, len(self.grid))
        return np.asarray(np.exp(logs - logs.max(axis=(1, 2), keepdims=True)))

    @property
    def _counts(self) -> CountLaw:
        assert self.counts is not None  # noqa: S101 - they are hidden
        return self.counts


def _part(opened: Opened, rows: slice) -> Opened:
    """A subset of the tasks."""
    answered = None if opened.answered is None else opened.answered[rows]
    return replace(opened, tasks=opened.tasks[rows], totals=opened.totals[rows], answered=answered)


def _both(second: FloatArray) -> FloatArray:
    """P(totals | truth, accuracy) for both labels: the grid is symmetric."""
    return np.stack([second[:, ::-1], second], axis=1)


def _result(
    name: str, opened: Opened, posterior: FloatArray, *, prior: FloatArray | None = None
) -> Result:
    truths = choose(posterior)
    return Result(
        opened.tasks,
        np.array([], dtype=str),
        opened.domain,
        truths,
        np.array([]),
        used_counts(opened),
        1,
        True,
        Provenance(name, simulated=opened.simulated),
        confidence=posterior[np.arange(len(truths)), truths],
        posterior=posterior,
        prior=prior,
    )
