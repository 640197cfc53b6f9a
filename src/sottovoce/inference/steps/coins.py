"""One-coin EM: the E step and the sums of its M step, fused into one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from sottovoce.inference.compiling import compiled
from sottovoce.inference.steps.confusions import FLOOR, entropy
from sottovoce.inference.steps.segments import grouped_sums
from sottovoce.inference.steps.votes import Votes, softmax, vote_shares
from sottovoce.model import FloatArray, LabelPart, Part, labels_of
from sottovoce.seams import Kernel

__all__ = ["CoinSums", "Coins", "VoteCoins"]


@dataclass(frozen=True, slots=True)
class CoinSums:
    """What one pass adds up, as views of one array of length workers + 2 · labels + 1."""

    array: FloatArray
    labels: int

    @property
    def agreement(self) -> FloatArray:
        """Σ posterior of the label a worker gave, for each worker."""
        return self.array[: -2 * self.labels - 1]

    @property
    def tasks(self) -> FloatArray:
        """Σ posterior of each label over tasks."""
        return self.array[-2 * self.labels - 1 : -self.labels - 1]

    @property
    def answers(self) -> FloatArray:
        """Σ posterior of each label over answers."""
        return self.array[-self.labels - 1 : -1]

    @property
    def entropy(self) -> float:
        """−Σ posterior ln posterior."""
        return float(self.array[-1])


@dataclass(frozen=True, slots=True)
class Coins:
    """E step of the one-coin model, then the sums of its M step (Zhang et al. 2016, §2).

        ln posterior(truth) = ln prior(truth) + Σ log_odds[worker] · [answer = truth] + const

    summed into `CoinSums`. Opens each worker's expected agreement with the truth.
    """

    log_odds: FloatArray
    log_prior: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.log_odds) + 2 * len(self.log_prior) + 1,)

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        votes = Votes(self.log_odds, part.labels)(part)
        return _sums(part, softmax(votes + self.log_prior), self.shape)

    def kernel(self) -> Kernel:
        run = _coins_kernel(len(self.log_prior))

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            run(part.starts, part.coded, self.log_odds, self.log_prior, out)

        return add


@dataclass(frozen=True, slots=True)
class VoteCoins:
    """The start of one-coin EM: the same sums with vote shares for posteriors."""

    workers: int
    labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.workers + 2 * self.labels + 1,)

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        return _sums(part, vote_shares(part), self.shape)

    def kernel(self) -> None:
        return None


def _sums(part: LabelPart, posterior: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    sums = CoinSums(np.zeros(shape), part.labels)
    worker, label = np.divmod(part.report, part.labels)
    agreement = posterior[part.task, label]
    sums.agreement[:] = grouped_sums(worker, agreement, len(sums.agreement))
    sums.tasks[:] = posterior.sum(axis=0)
    sums.answers[:] = np.diff(part.starts) @ posterior
    sums.array[-1] = entropy(posterior)
    return sums.array


@cache
def _coins_kernel(labels: int) -> Callable[..., None]:
    @compiled
    def run(starts, coded, log_odds, log_prior, out):  # type: ignore[no-untyped-def]
        posterior = np.empty(labels, np.float64)
        tasks = out[len(log_odds) : len(log_odds) + labels]
        answers = out[len(log_odds) + labels : len(log_odds) + 2 * labels]
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            for label in range(labels):
                posterior[label] = log_prior[label]
            for i in range(first, last):
                worker = coded[i] // labels
                posterior[coded[i] - worker * labels] += log_odds[worker]
            top = posterior[0]
            for label in range(1, labels):
                top = max(top, posterior[label])
            mass = 0.0
            for label in range(labels):
                posterior[label] = np.exp(posterior[label] - top)
                mass += posterior[label]
            for label in range(labels):
                posterior[label] /= mass
                tasks[label] += posterior[label]
                answers[label] += posterior[label] * (last - first)
                floored = max(posterior[label], FLOOR)
                out[-1] -= floored * np.log(floored)
            for i in range(first, last):
                worker = coded[i] // labels
                out[worker] += posterior[coded[i] - worker * labels]

    return run
