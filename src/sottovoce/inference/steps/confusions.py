"""Dawid-Skene's E step and M step, fused into one pass over the reports.

A table of all workers can be restricted to a subset (`narrowed`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.inference.steps.arithmetic import column_sum, compiled, grouped_sums, segment_sums
from sottovoce.inference.steps.votes import normalized, vote_shares
from sottovoce.model import Codes, FloatArray, LabelPart, Part, labels_of
from sottovoce.seams import Kernel


def narrowed(table: npt.NDArray[Any], workers: Codes, count: int) -> npt.NDArray[Any]:
    """The rows of a subset of `count` workers, in a table with equally many rows for each worker.

    >>> import numpy as np
    >>> narrowed(np.arange(6), np.array([2, 0], np.int32), 3)
    array([4, 5, 0, 1])
    """
    each = len(table) // count
    rows = table.reshape(count, each, *table.shape[1:])[workers]
    return rows.reshape(len(workers) * each, *table.shape[1:])


FLOOR = 1e-10
"""The smallest prior probability, and the smallest expected count."""
RUN = 16
"""This many probabilities can be multiplied within the range of a float64.

The smallest is about FLOOR divided by a worker's answers: 1e-18 for 10^8 of them.
"""

_CACHE_LINE = 64

Errors: TypeAlias = FloatArray | npt.NDArray[np.float32]
"""P(answer | truth, worker) at [worker · labels + answer, truth]."""


@dataclass(frozen=True, slots=True)
class ConfusionSums:
    """The sums of one pass, as views of one array of shape (workers · labels + 2, labels).

    `counts[worker · labels + answer, truth]` = Σ posterior(truth) over the worker's answers,
    `tasks[truth]` = Σ posterior(truth) over tasks, `log_likelihood` = Σ ln P(answers to the task).
    """

    array: FloatArray

    @property
    def counts(self) -> FloatArray:
        """The expected number of answers of each worker, by answer and truth."""
        return self.array[:-2]

    @property
    def tasks(self) -> FloatArray:
        """The expected number of tasks of each truth."""
        return np.asarray(self.array[-2])

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of all answers under the parameters of the pass."""
        return float(self.array[-1, 0])


@dataclass(frozen=True, slots=True)
class Confusions:
    """E step, then the sums of the M step (Dawid & Skene 1979, eq. 2.3-2.5).

        posterior(truth) = prior(truth) Π P(answer | truth, worker) / P(answers to the task)

    summed into `ConfusionSums`. `known[task]` is a gold label, or −1: the likelihood of a gold task
    is that of its answers and its truth together. Opens each worker's expected confusion counts.
    """

    errors: Errors
    prior: FloatArray
    known: Codes | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        rows, labels = self.errors.shape
        return rows + 2, labels

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        posterior, log_likelihood = _expected(part, self.errors, self.prior, self.known)
        sums = _sums(part, posterior, self.shape)
        sums[-1, 0] = log_likelihood.sum()
        return sums

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, errors=narrowed(self.errors, workers, count))

    def kernel(self) -> Kernel:
        run = _pass_kernel(len(self.prior))

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            known = _known_in(self.known, part)
            rows, rest = np.empty((0, out.shape[1])), np.zeros((2, out.shape[1]))
            if self.errors.dtype == np.float32:  # less to read; counts stay in float64
                counts = out[:-2, np.newaxis]
                errors = self.errors[:, np.newaxis]
                run(part.starts, part.coded, errors, counts, 0, self.prior, known, rows, rest)
            else:
                table = _side_by_side(self.errors)
                run(part.starts, part.coded, table, table, 1, self.prior, known, rows, rest)
                out[:-2] += table[:, 1]
            out[-2:] += rest

        return add


@dataclass(frozen=True, slots=True)
class Posteriors:
    """The posterior over labels of each task, given workers' confusions and the prior."""

    errors: Errors
    prior: FloatArray
    known: Codes | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.prior),)

    def __call__(self, part: Part) -> FloatArray:
        return _expected(labels_of(part), self.errors, self.prior, self.known)[0]

    def kernel(self) -> Kernel:
        run = _pass_kernel(len(self.prior))
        errors, counts = self.errors[:, np.newaxis], np.empty((0, 1, len(self.prior)))

        def fill(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            known = _known_in(self.known, part)
            rest = np.zeros((2, len(self.prior)))
            run(part.starts, part.coded, errors, counts, 0, self.prior, known, out, rest)

        return fill


@dataclass(frozen=True, slots=True)
class VoteConfusions:
    """The start of EM: the M step's sums with vote shares for posteriors. Opens the same counts."""

    workers: int
    labels: int
    known: Codes | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.workers * self.labels + 2, self.labels

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        shares = vote_shares(part)
        known = _known_in(self.known, part)
        rows = np.flatnonzero(known >= 0)
        shares[rows] = 0.0
        shares[rows, known[rows]] = 1.0
        return _sums(part, shares, self.shape)

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, workers=len(workers))

    def kernel(self) -> Kernel:
        run = _start_kernel(self.labels)

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            run(part.starts, part.coded, _known_in(self.known, part), out)

        return add


def _known_in(known: Codes | None, part: LabelPart) -> Codes:
    """The part's gold labels; empty if no task has one."""
    if known is None:
        return np.empty(0, np.int32)
    return known[part.first : part.first + part.tasks]


def _expected(
    part: LabelPart, errors: Errors, prior: FloatArray, known: Codes | None
) -> tuple[FloatArray, FloatArray]:
    """Each task's posterior and log-likelihood, in log space."""
    with np.errstate(divide="ignore"):  # ln 0 if a worker never gives an answer: never read
        logs = np.log(errors.astype(np.float64, copy=False))
    scores = np.log(prior) + segment_sums(logs[part.report], part.starts)
    gold = _known_in(known, part)
    rows = np.flatnonzero(gold >= 0)
    kept = scores[rows, gold[rows]]
    scores[rows] = -np.inf
    scores[rows, gold[rows]] = kept
    return normalized(scores)


def _sums(part: LabelPart, posterior: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    sums = np.zeros(shape)
    per_report = posterior[part.task]
    for truth in range(shape[1]):
        sums[:-2, truth] = grouped_sums(part.report, per_report[:, truth], shape[0] - 2)
    sums[-2] = column_sum(posterior)
    return sums


def _side_by_side(errors: Errors) -> Errors:
    """A table of shape (rows, 2, labels): the errors, and zeros for the counts.

    The numbers that a report reads and adds to then share a line of the processor's cache (all of
    it for four labels), which halves the misses once the table exceeds the cache.
    """
    rows, labels = errors.shape
    size, line = rows * 2 * labels, _CACHE_LINE // errors.itemsize
    buffer = np.zeros(size + line, errors.dtype)
    offset = -(buffer.ctypes.data // errors.itemsize) % line
    table = buffer[offset : offset + size].reshape(rows, 2, labels)
    table[:, 0] = errors
    return table


@cache
def _pass_kernel(labels: int) -> Callable[..., None]:
    """The E step of each task, then its row (if there are rows) or the sums of the M step.

    errors[row, 0] is read, counts[row, side] added to. `labels` is a constant for the compiler,
    which unrolls the inner loops. Probabilities are multiplied in runs short enough not to
    underflow, and only longer tasks need logarithms: most of a pass is multiplying and adding.
    """

    @compiled
    def run(starts, coded, errors, counts, side, prior, known, rows, rest):  # type: ignore[no-untyped-def]
        posterior = np.empty(labels, np.float64)
        scores = np.empty(labels, np.float64)
        likelihood = 1.0  # of the tasks since the last logarithm
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            for label in range(labels):
                posterior[label] = prior[label]
            for i in range(first, min(first + RUN, last)):
                row = coded[i]
                for label in range(labels):
                    posterior[label] *= errors[row, 0, label]
            if last - first > RUN:
                for label in range(labels):
                    scores[label] = np.log(posterior[label])
                for begin in range(first + RUN, last, RUN):
                    for label in range(labels):
                        posterior[label] = 1.0
                    for i in range(begin, min(begin + RUN, last)):
                        row = coded[i]
                        for label in range(labels):
                            posterior[label] *= errors[row, 0, label]
                    for label in range(labels):
                        scores[label] += np.log(posterior[label])
                top = scores[0]
                for label in range(1, labels):
                    top = max(top, scores[label])
                if len(known) > 0 and known[task] >= 0:
                    top = scores[known[task]]
                for label in range(labels):
                    posterior[label] = np.exp(min(scores[label] - top, 700.0))
                rest[1, 0] += top
            if len(known) > 0 and known[task] >= 0:
                kept = posterior[known[task]]
                for label in range(labels):
                    posterior[label] = 0.0
                posterior[known[task]] = kept
            mass = 0.0
            for label in range(labels):
                mass += posterior[label]
            if mass < 1e-150 or likelihood < 1e-150:
                rest[1, 0] += np.log(mass) + np.log(likelihood)
                likelihood = 1.0
            else:
                likelihood *= mass
            scale = 1.0 / mass
            for label in range(labels):
                posterior[label] *= scale
            if len(rows) > 0:
                for label in range(labels):
                    rows[task, label] = posterior[label]
                continue
            for label in range(labels):
                rest[0, label] += posterior[label]
            for i in range(first, last):
                row = coded[i]
                for label in range(labels):
                    counts[row, side, label] += posterior[label]
        rest[1, 0] += np.log(likelihood)

    return run


@cache
def _start_kernel(labels: int) -> Callable[..., None]:
    @compiled
    def run(starts, coded, known, out):  # type: ignore[no-untyped-def]
        shares = np.empty(labels, np.float64)
        sums, tasks = out[:-2], out[-2]
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            shares[:] = 0.0
            for i in range(first, last):
                shares[coded[i] % labels] += 1.0
            for label in range(labels):
                shares[label] = shares[label] / (last - first) if last > first else 1.0 / labels
            if len(known) > 0 and known[task] >= 0:
                shares[:] = 0.0
                shares[known[task]] = 1.0
            for label in range(labels):
                tasks[label] += shares[label]
            for i in range(first, last):
                row = coded[i]
                for label in range(labels):
                    sums[row, label] += shares[label]

    return run
