"""One-coin EM: the E step and the sums of its M step, fused into one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

import numpy as np

from sottovoce.inference.steps.arithmetic import column_sum, compiled, grouped_sums
from sottovoce.inference.steps.confusions import RUN
from sottovoce.inference.steps.votes import Votes, normalized, vote_shares
from sottovoce.model import Codes, FloatArray, LabelPart, Part, labels_of
from sottovoce.seams import Kernel


@dataclass(frozen=True, slots=True)
class CoinSums:
    """The sums of one pass, as views of one array of length workers + 2 · labels + 1."""

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
    def log_mass(self) -> float:
        """Σ ln of the posteriors' normalising constants."""
        return float(self.array[-1])


@dataclass(frozen=True, slots=True)
class Coins:
    """E step of the one-coin model, then the sums of its M step (Zhang et al. 2016, §2).

        posterior(truth) = prior(truth) Π odds[worker] over the answers that are truth / mass

    summed into `CoinSums`. Opens each worker's expected agreement with the truth.
    """

    odds: FloatArray
    prior: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.odds) + 2 * len(self.prior) + 1,)

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        votes = Votes(np.log(self.odds), part.labels)(part)
        posterior, log_mass = normalized(votes + np.log(self.prior))
        sums = _sums(part, posterior, self.shape)
        sums[-1] = log_mass.sum()
        return sums

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, odds=self.odds[workers])

    def kernel(self) -> Kernel:
        run = _coins_kernel(len(self.prior))

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            run(part.starts, part.coded, self.odds, self.prior, out)

        return add


@dataclass(frozen=True, slots=True)
class VoteCoins:
    """The start of one-coin EM: the same sums with vote shares for posteriors. Opens the same."""

    workers: int
    labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.workers + 2 * self.labels + 1,)

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        return _sums(part, vote_shares(part), self.shape)

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, workers=len(workers))

    def kernel(self) -> None:
        return None


def _sums(part: LabelPart, posterior: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    sums = CoinSums(np.zeros(shape), part.labels)
    worker, label = np.divmod(part.report, part.labels)
    agreement = posterior[part.task, label]
    sums.agreement[:] = grouped_sums(worker, agreement, len(sums.agreement))
    sums.tasks[:] = column_sum(posterior)
    sums.answers[:] = column_sum(np.diff(part.starts)[:, np.newaxis] * posterior)
    return sums.array


@cache
def _coins_kernel(labels: int) -> Callable[..., None]:
    """As in `confusions`: products in runs that stay within the range of a float64."""

    @compiled
    def run(starts, coded, odds, prior, out):  # type: ignore[no-untyped-def]
        posterior = np.empty(labels, np.float64)
        scores = np.empty(labels, np.float64)
        tasks = out[len(odds) : len(odds) + labels]
        answers = out[len(odds) + labels : len(odds) + 2 * labels]
        product = 1.0
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            for label in range(labels):
                posterior[label] = prior[label]
            for i in range(first, min(first + RUN, last)):
                worker = coded[i] // labels
                posterior[coded[i] - worker * labels] *= odds[worker]
            if last - first > RUN:
                for label in range(labels):
                    scores[label] = np.log(posterior[label])
                for begin in range(first + RUN, last, RUN):
                    for label in range(labels):
                        posterior[label] = 1.0
                    for i in range(begin, min(begin + RUN, last)):
                        worker = coded[i] // labels
                        posterior[coded[i] - worker * labels] *= odds[worker]
                    for label in range(labels):
                        scores[label] += np.log(posterior[label])
                top = scores[0]
                for label in range(1, labels):
                    top = max(top, scores[label])
                for label in range(labels):
                    posterior[label] = np.exp(scores[label] - top)
                out[-1] += top
            mass = 0.0
            for label in range(labels):
                mass += posterior[label]
            if not 1e-150 < mass < 1e150 or not 1e-150 < product < 1e150:
                out[-1] += np.log(mass) + np.log(product)
                product = 1.0
            else:
                product *= mass
            scale = 1.0 / mass
            for label in range(labels):
                posterior[label] *= scale
                tasks[label] += posterior[label]
                answers[label] += posterior[label] * (last - first)
            for i in range(first, last):
                worker = coded[i] // labels
                out[worker] += posterior[coded[i] - worker * labels]
        out[-1] += np.log(product)

    return run
