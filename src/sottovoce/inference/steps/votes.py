"""Weighted votes: who agrees with the winner, and how sure the vote is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from sottovoce.inference.compiling import compiled
from sottovoce.inference.rounding import TIE
from sottovoce.inference.steps.segments import grouped_sums
from sottovoce.model import FloatArray, LabelPart, Part, labels_of
from sottovoce.seams import Kernel

__all__ = ["Agreements", "Votes", "softmax", "vote_shares", "winners"]


@dataclass(frozen=True, slots=True)
class Votes:
    """Σ weight of the workers who gave each label to a task: one row of scores per task."""

    weights: FloatArray
    labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.labels,)

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        worker, label = np.divmod(part.report, self.labels)
        cells = part.task.astype(np.int64) * self.labels + label.astype(np.int64)
        sums = grouped_sums(cells, self.weights[worker], part.tasks * self.labels)
        return sums.reshape(part.tasks, self.labels)

    def kernel(self) -> Kernel:
        run = _votes_kernel(self.labels)

        def fill(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            run(part.starts, part.coded, self.weights, out)

        return fill


@dataclass(frozen=True, slots=True)
class Agreements:
    """For each worker, how many of its answers are the winner of the weighted vote.

    Labels that tie for the win share it, so the sum does not depend on how ties are broken.
    Opens each worker's agreement with the crowd.
    """

    weights: FloatArray
    labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.weights),)

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        worker, label = np.divmod(part.report, self.labels)
        shares = winners(Votes(self.weights, self.labels)(part))
        return grouped_sums(worker, shares[part.task, label], len(self.weights))

    def kernel(self) -> Kernel:
        run = _agreements_kernel(self.labels)

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            run(part.starts, part.coded, self.weights, out)

        return add


def softmax(scores: FloatArray) -> FloatArray:
    """exp(scores), each row scaled to sum to one, without overflow."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def winners(scores: FloatArray) -> FloatArray:
    """1 for the label with the highest score of each row; labels that tie share the 1."""
    top = scores.max(axis=1, keepdims=True)
    tied = scores >= top - TIE * np.abs(top)
    return np.asarray(tied / tied.sum(axis=1, keepdims=True))


def vote_shares(part: LabelPart) -> FloatArray:
    """The share of each task's answers that name each label; even where there is no answer."""
    cells = part.task.astype(np.int64) * part.labels
    cells += (part.report % part.labels).astype(np.int64)
    votes = np.bincount(cells, minlength=part.tasks * part.labels)
    shares = votes.reshape(part.tasks, part.labels).astype(np.float64)
    totals = shares.sum(axis=1, keepdims=True)
    even = np.full_like(shares, 1.0 / part.labels)
    return np.asarray(np.divide(shares, totals, out=even, where=totals > 0))


@cache
def _votes_kernel(labels: int) -> Callable[..., None]:
    @compiled
    def run(starts, coded, weights, out):  # type: ignore[no-untyped-def]
        for task in range(len(starts) - 1):
            for label in range(labels):
                out[task, label] = 0.0
            for i in range(starts[task], starts[task + 1]):
                worker = coded[i] // labels
                out[task, coded[i] - worker * labels] += weights[worker]

    return run


@cache
def _agreements_kernel(labels: int) -> Callable[..., None]:
    @compiled
    def run(starts, coded, weights, out):  # type: ignore[no-untyped-def]
        scores = np.empty(labels, np.float64)
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            for label in range(labels):
                scores[label] = 0.0
            for i in range(first, last):
                worker = coded[i] // labels
                scores[coded[i] - worker * labels] += weights[worker]
            top = scores[0]
            for label in range(1, labels):
                top = max(top, scores[label])
            bar = top - TIE * abs(top)
            tied = 0
            for label in range(labels):
                if scores[label] >= bar:
                    tied += 1
            for i in range(first, last):
                worker = coded[i] // labels
                if scores[coded[i] - worker * labels] >= bar:
                    out[worker] += 1.0 / tied

    return run
