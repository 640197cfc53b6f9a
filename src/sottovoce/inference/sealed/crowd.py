"""What a crowd is like, learnt from all tasks at once, and each task's label given that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sottovoce.model import FloatArray

__all__ = ["ENOUGH", "Crowd", "accuracy_grid", "label_posterior", "learnt"]

CONCENTRATIONS = (3.0, 8.0, 20.0, 60.0, 250.0)
"""How alike tasks are: a + b of the beta law from which each task's accuracy comes."""

ALIKE = (0.05, 0.1, 0.2, 0.3, 0.35)
"""The chance of each of them beforehand: tasks are rather alike."""

MEANS = 20
"""Mean accuracies that are tried, from chance to nearly 1."""

SHARES = (0.12, 0.3, 0.5, 0.7, 0.88)
"""Shares of the second of two labels that are tried."""

EVEN = (0.1, 0.2, 0.4, 0.2, 0.1)
"""The chance of each of them beforehand: labels are rather equally frequent."""

UNLIKE = 0.5
"""The standard deviation, in log-odds, by which accuracies on two labels differ beforehand."""

ENOUGH = 2_000
"""From so many tasks a crowd is known as well as it need be."""

LEAST = 1e-4
"""Crowds so many times less likely than the likeliest are left out."""

ROUNDS = 60
"""Rounds for the shares of three or more labels."""


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Crowds that may be, row by row: chance, shares of labels, and a law of accuracy per label.

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
    """Accuracies between 0 and 1, close enough for tasks with so many answers; 1 - grid is it too.

    >>> len(accuracy_grid(50)), float(accuracy_grid(50)[0])
    (50, 0.01)
    """
    size = 2 * max(25, int(np.ceil(1.5 * np.sqrt(answers))))
    return (np.arange(size) + 0.5) / size


def learnt(likelihood: FloatArray, grid: FloatArray) -> Crowd:
    """The crowds that may have given such totals, from P(totals | truth, accuracy).

    A task's accuracy comes from a beta law, so that tasks may differ in difficulty. Its mean and
    concentration, and the labels' shares, are not fixed at their likeliest values: all that are
    likely enough count with their chance. So few tasks do not make it sure of itself. With two
    labels, each has its own mean; with more, all have one.
    """
    labels = likelihood.shape[1]
    means = np.linspace(1 / labels, 1, MEANS + 1)[:-1] + 0.5 * (1 - 1 / labels) / MEANS
    laws = _beta_laws(grid, means)
    given = likelihood @ laws  # tasks by labels by laws
    if labels == 2:
        return _two_labels(given, means, laws)
    return _more_labels(given, laws)


def label_posterior(likelihood: FloatArray, crowd: Crowd) -> FloatArray:
    """P(truth = label | totals) of every task, over all crowds that may be."""
    given = likelihood @ crowd.accuracies
    found = np.zeros(given.shape[:2])
    for chance, shares, laws in zip(crowd.chances, crowd.shares, crowd.laws, strict=True):
        weights = shares * given[:, np.arange(len(shares)), laws]
        found += chance * weights / weights.sum(axis=1, keepdims=True)
    return found


def _beta_laws(grid: FloatArray, means: FloatArray) -> FloatArray:
    """The beta law of every concentration and mean over the grid, a column each."""
    spread = np.repeat(CONCENTRATIONS, len(means))
    mean = np.tile(means, len(CONCENTRATIONS))
    logs = np.outer(np.log(grid), spread * mean - 1)
    logs += np.outer(np.log1p(-grid), spread * (1 - mean) - 1)
    laws = np.exp(logs - logs.max(axis=0))
    return np.asarray(laws / laws.sum(axis=0))


def _two_labels(given: FloatArray, means: FloatArray, laws: FloatArray) -> Crowd:
    """Every concentration, share and pair of means, each with its likelihood."""
    odds = np.log(means / (1 - means))
    unlike = -np.square(np.subtract.outer(odds, odds) / UNLIKE) / 2
    first, second = (
        given[:, label].reshape(len(given), len(CONCENTRATIONS), MEANS) for label in (0, 1)
    )
    found = np.array([
        [
            np.log(
                (1 - share) * first[:, one, :, np.newaxis]
                + share * second[:, one, np.newaxis, :]
            ).sum(axis=0) + unlike + np.log(alike * even)
            for share, even in zip(SHARES, EVEN, strict=True)
        ]
        for one, alike in enumerate(ALIKE)
    ])  # fmt: skip
    places = np.flatnonzero(found.ravel() > found.max() + np.log(LEAST))
    one, share, *pair = np.unravel_index(places, found.shape)
    shares = np.array(SHARES)[share]
    return Crowd(
        _normalised(found.ravel()[places]),
        np.stack([1 - shares, shares], axis=1),
        np.stack([one * MEANS + mean for mean in pair], axis=1),
        laws,
    )


def _more_labels(given: FloatArray, laws: FloatArray) -> Crowd:
    """Every law of accuracy, with the shares of the labels that suit it best."""
    tasks, labels, count = given.shape
    shares = np.full((labels, count), 1 / labels)
    for _ in range(ROUNDS):
        weights = shares * given
        expected = (weights / weights.sum(axis=1, keepdims=True)).sum(axis=0)
        shares = (expected + 1) / (tasks + labels)
    found = np.log((shares * given).sum(axis=1)).sum(axis=0) + np.log(shares).sum(axis=0)
    found += np.repeat(np.log(ALIKE), MEANS)
    places = np.flatnonzero(found > found.max() + np.log(LEAST))
    return Crowd(
        _normalised(found[places]), shares[:, places].T,
        np.repeat(places[:, np.newaxis], labels, axis=1), laws,
    )  # fmt: skip


def _normalised(logs: FloatArray) -> FloatArray:
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
