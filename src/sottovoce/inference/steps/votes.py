"""Votes and counts: weighted votes, agreement with the winner, confidence of the vote.

Also the number of reports per task, per worker and per label.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Self

import numpy as np

from sottovoce.inference.steps.arithmetic import (
    TIE,
    compiled,
    grouped_sums,
    row_max,
    row_sum,
    shares,
)
from sottovoce.model import Codes, FloatArray, LabelPart, Part, labels_of
from sottovoce.seams import Kernel


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """The number of reports of each task."""

    shape: ClassVar[tuple[int, ...]] = ()

    def __call__(self, part: Part) -> FloatArray:
        return np.diff(part.starts).astype(np.float64)

    def kernel(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class AnswersPerWorker:
    """The number of reports of each worker. Opens who took part how much."""

    workers: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.workers,)

    def __call__(self, part: Part) -> FloatArray:
        worker = part.report // part.labels if isinstance(part, LabelPart) else part.reporters
        return np.bincount(worker, minlength=self.workers).astype(np.float64)

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, workers=len(workers))

    def kernel(self) -> Kernel:
        run = _worker_kernel()

        def add(part: Part, out: FloatArray) -> None:
            if isinstance(part, LabelPart):
                run(part.report, part.labels, out)
            else:
                run(part.reporters, 1, out)

        return add


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """The number of reports of each label. Opens the shares of labels."""

    labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.labels,)

    def __call__(self, part: Part) -> FloatArray:
        label = labels_of(part).report % self.labels
        return np.bincount(label, minlength=self.labels).astype(np.float64)

    def kernel(self) -> None:
        return None


@cache
def _worker_kernel() -> Callable[..., None]:
    @compiled
    def run(reports, labels, out):  # type: ignore[no-untyped-def]
        for i in range(len(reports)):
            out[reports[i] // labels] += 1.0

    return run


@dataclass(frozen=True, slots=True)
class Votes:
    """Σ weight of the workers who gave each label to a task: one row of scores per task.

    With `share`, for weights that are not negative, each row is divided by its sum; a row of zeros
    becomes uniform.
    """

    weights: FloatArray
    labels: int
    share: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.labels,)

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        worker, label = np.divmod(part.report, self.labels)
        cells = part.task.astype(np.int64) * self.labels + label.astype(np.int64)
        sums = grouped_sums(cells, self.weights[worker], part.tasks * self.labels)
        scores = sums.reshape(part.tasks, self.labels)
        return shares(scores) if self.share else scores

    def kernel(self) -> Kernel:
        run = _votes_kernel(self.labels)

        def fill(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            run(part.starts, part.coded, self.weights, self.share, out)

        return fill


@dataclass(frozen=True, slots=True)
class Agreements:
    """Rows (agreement, answers) for each worker: the number of its answers that won the vote.

    Tied labels share the win, so the sum does not depend on how ties are broken; with `first`, the
    first of them wins. Opens each worker's agreement with the crowd and how much it took part.
    """

    weights: FloatArray
    labels: int
    first: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.weights), 2

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        worker, label = np.divmod(part.report, self.labels)
        won = winners(Votes(self.weights, self.labels)(part), first=self.first)
        agreement = grouped_sums(worker, won[part.task, label], len(self.weights))
        answers = np.bincount(worker, minlength=len(self.weights)).astype(np.float64)
        return np.stack([agreement, answers], axis=1)

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, weights=self.weights[workers])

    def kernel(self) -> Kernel:
        run = _agreements_kernel(self.labels)

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            run(part.starts, part.coded, self.weights, self.first, out)

        return add


def softmax(scores: FloatArray) -> FloatArray:
    """exp(scores), each row scaled to sum to one, without overflow."""
    return normalized(scores)[0]


def normalized(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The softmax of each row, and ln Σ exp(scores) of each row."""
    top = row_max(scores)
    powers = np.exp(scores - top[:, np.newaxis])
    mass = row_sum(powers)
    return powers / mass[:, np.newaxis], top + np.log(mass)


def winners(scores: FloatArray, *, first: bool = False) -> FloatArray:
    """1 for the label with the highest score of each row; tied labels share the 1.

    With `first`, the first of tied labels has the 1.
    """
    top = row_max(scores)
    tied = scores >= (top - TIE * np.abs(top))[:, np.newaxis]
    if first:
        return np.asarray(np.eye(scores.shape[1])[tied.argmax(axis=1)])
    return np.asarray(tied / tied.sum(axis=1, keepdims=True))


def vote_shares(part: LabelPart) -> FloatArray:
    """The share of each task's answers that name each label; uniform if there is no answer."""
    cells = part.task.astype(np.int64) * part.labels
    cells += (part.report % part.labels).astype(np.int64)
    votes = np.bincount(cells, minlength=part.tasks * part.labels)
    return shares(votes.reshape(part.tasks, part.labels).astype(np.float64))


@cache
def _votes_kernel(labels: int) -> Callable[..., None]:
    @compiled
    def run(starts, coded, weights, share, out):  # type: ignore[no-untyped-def]
        for task in range(len(starts) - 1):
            for label in range(labels):
                out[task, label] = 0.0
            for i in range(starts[task], starts[task + 1]):
                worker = coded[i] // labels
                out[task, coded[i] - worker * labels] += weights[worker]
            if share:
                total = 0.0
                for label in range(labels):
                    total += out[task, label]
                for label in range(labels):
                    out[task, label] = out[task, label] / total if total > 0 else 1.0 / labels

    return run


@cache
def _agreements_kernel(labels: int) -> Callable[..., None]:
    @compiled
    def run(starts, coded, weights, alone, out):  # type: ignore[no-untyped-def]
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
            tied = 0.0
            for label in range(labels):
                wins = scores[label] >= bar and not (alone and tied > 0.0)
                scores[label] = 1.0 if wins else 0.0
                tied += scores[label]
            share = 1.0 / tied
            for label in range(labels):
                scores[label] *= share
            for i in range(first, last):
                worker = coded[i] // labels
                out[worker, 0] += scores[coded[i] - worker * labels]
                out[worker, 1] += 1.0

    return run
