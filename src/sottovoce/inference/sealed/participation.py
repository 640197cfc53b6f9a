"""How many workers answered a task, where only a noisy count of them is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sottovoce.model import FloatArray
from sottovoce.model.opened_totals import NoiseLaw, Opened

__all__ = ["Counts", "count_moments", "counts_of", "noisy_counts", "used_counts"]

PRIOR_TASKS = 10.0
"""So many tasks a binomial spread of the counts weighs beside the one that was seen."""

STRAY = 0.01
"""The share of tasks that may have any count at all: no count is ruled out by the others'."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """The law of a task's count over all tasks: chances[i] is that of the count values[i]."""

    values: npt.NDArray[np.int64]
    chances: FloatArray

    @property
    def mean(self) -> float:
        """The mean count."""
        return float(self.chances @ self.values)

    @property
    def variance(self) -> float:
        """The variance of a count."""
        return float(self.chances @ np.square(self.values - self.mean))

    def given(self, noisy: npt.NDArray[np.int64], law: NoiseLaw) -> FloatArray:
        """The posterior of each task's count, a row each, given the noisy one."""
        weights = self.chances * law.chances(noisy[:, np.newaxis] - self.values)
        totals = weights.sum(axis=1, keepdims=True)
        return np.where(totals > 0, weights / np.where(totals > 0, totals, 1), self.chances)


def noisy_counts(opened: Opened) -> tuple[npt.NDArray[np.int64], float]:
    """Each task's noisy count, and the variance of its noise.

    A slot of its own with two labels and with sums; the total of all labels or bins else.
    """
    if opened.layout == "sum" or opened.size == 2:
        return opened.totals[:, 1], float(opened.variances[1])
    return opened.totals.sum(axis=1), float(opened.variances.sum())


def counts_of(opened: Opened) -> Counts:
    """The law of the counts, learnt from all noisy ones: Gaussian, cut to 0 … workers.

    Its mean is that of the noisy counts. Its variance is theirs without the noise's, drawn towards
    that of workers who answer independently, as if ten more tasks had shown it.
    """
    noisy, noise = noisy_counts(opened)
    workers, tasks = opened.workers, len(noisy)
    mean = float(np.clip(noisy.mean(), 0.5, workers))
    alone = mean * (1 - min(mean / workers, 1)) + noise / tasks
    seen = max(0.0, float(noisy.var()) * tasks / max(tasks - 1, 1) - noise)
    variance = ((tasks - 1) * seen + PRIOR_TASKS * alone) / (tasks - 1 + PRIOR_TASKS)
    values = np.arange(workers + 1)
    chances = np.exp(-np.square(values - mean) / (2 * max(variance, 0.05)))
    chances = (1 - STRAY) * chances / chances.sum() + STRAY / len(values)
    near = np.abs(values - mean) <= _reach(variance + noise)
    return Counts(values[near], chances[near] / chances[near].sum())


def count_moments(opened: Opened, law: Counts | None = None) -> tuple[FloatArray, FloatArray]:
    """The mean and the variance of each task's count, before its own totals are looked at.

    `law` is that of hidden counts, learnt from these tasks if it is not given.
    """
    tasks = len(opened.tasks)
    if opened.answered is not None:
        return opened.answered.astype(np.float64), np.zeros(tasks)
    law = counts_of(opened) if law is None else law
    return np.full(tasks, law.mean), np.full(tasks, law.variance)


def used_counts(opened: Opened) -> npt.NDArray[np.int64]:
    """How many answers each task has: known, or the noisy count cut to what can be."""
    if opened.answered is not None:
        return opened.answered
    return np.clip(noisy_counts(opened)[0], 0, opened.workers)


def _reach(variance: float) -> float:
    """How far from the mean a count may lie so that leaving out the rest changes nothing."""
    return 3.0 + 6.0 * float(np.sqrt(variance))
