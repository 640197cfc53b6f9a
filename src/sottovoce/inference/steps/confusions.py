"""Dawid-Skene's E step and M step, fused into one pass over the reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.inference.compiling import compiled
from sottovoce.inference.steps.segments import grouped_sums, segment_sums
from sottovoce.inference.steps.votes import softmax, vote_shares
from sottovoce.model import Codes, FloatArray, LabelPart, Part, labels_of
from sottovoce.seams import Kernel

__all__ = ["FLOOR", "ConfusionSums", "Confusions", "Posteriors", "VoteConfusions", "entropy"]

FLOOR = 1e-10
"""The smallest probability that enters a logarithm."""


@dataclass(frozen=True, slots=True)
class ConfusionSums:
    """What one pass adds up, as views of one array of shape (workers · labels + 2, labels).

    `counts[worker · labels + answer, truth]` = Σ posterior(truth) over the worker's answers,
    `tasks[truth]` = Σ posterior(truth) over tasks, `entropy` = −Σ posterior ln posterior.
    """

    array: FloatArray

    @property
    def counts(self) -> FloatArray:
        """Expected answers of each worker, by answer and truth."""
        return self.array[:-2]

    @property
    def tasks(self) -> FloatArray:
        """Expected tasks of each truth."""
        return np.asarray(self.array[-2])

    @property
    def entropy(self) -> float:
        """The entropy of all posteriors together."""
        return float(self.array[-1, 0])


@dataclass(frozen=True, slots=True)
class Confusions:
    """E step, then the sums of the M step (Dawid & Skene 1979, eq. 2.3-2.5).

        ln posterior(truth) = ln prior(truth) + Σ ln P(answer | truth, worker) + const

    summed into `ConfusionSums`. `known[task]` is a gold label, or −1. Opens each worker's expected
    confusion counts.
    """

    log_errors: npt.NDArray[np.float64] | npt.NDArray[np.float32]
    log_prior: FloatArray
    known: Codes | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        rows, labels = self.log_errors.shape
        return rows + 2, labels

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        posterior = _posterior(part, self.log_errors, self.log_prior, self.known)
        return _sums(part, posterior, self.shape)

    def kernel(self) -> Kernel:
        run = _pass_kernel(len(self.log_prior))
        fast = self.log_errors.dtype == np.float32

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            known = _known_or_none(self.known, part)
            # The fast mode also adds up in float32, within a block of tasks only.
            sums = np.zeros(out.shape, np.float32) if fast else out
            rest = np.zeros((2, out.shape[1]))
            rows = np.empty((0, out.shape[1]))
            run(part.starts, part.coded, self.log_errors, self.log_prior, known, rows, sums, rest)
            if fast:
                out += sums
            out[-2:] += rest

        return add


@dataclass(frozen=True, slots=True)
class Posteriors:
    """The posterior over labels of each task, given workers' confusions and the prior."""

    log_errors: npt.NDArray[np.float64] | npt.NDArray[np.float32]
    log_prior: FloatArray
    known: Codes | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.log_prior),)

    def __call__(self, part: Part) -> FloatArray:
        return _posterior(labels_of(part), self.log_errors, self.log_prior, self.known)

    def kernel(self) -> Kernel:
        run = _pass_kernel(len(self.log_prior))
        # Nothing is added up; the arrays have the types of the fused pass, so one machine code
        # serves both.
        sums = np.empty((0, len(self.log_prior)), self.log_errors.dtype)
        rest = np.empty((0, len(self.log_prior)))

        def fill(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            known = _known_or_none(self.known, part)
            run(part.starts, part.coded, self.log_errors, self.log_prior, known, out, sums, rest)

        return fill


@dataclass(frozen=True, slots=True)
class VoteConfusions:
    """The start of EM: the M step's sums with vote shares for posteriors."""

    workers: int
    labels: int
    known: Codes | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.workers * self.labels + 2, self.labels

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        shares = clamped(vote_shares(part), _known_or_none(self.known, part))
        return _sums(part, shares, self.shape)

    def kernel(self) -> Kernel:
        run = _start_kernel(self.labels)

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            run(part.starts, part.coded, _known_or_none(self.known, part), out)

        return add


def entropy(posterior: FloatArray) -> float:
    """−Σ p ln p, with p no smaller than the floor."""
    floored = np.maximum(posterior, FLOOR)
    return -float(np.sum(floored * np.log(floored)))


def clamped(posterior: FloatArray, known: Codes) -> FloatArray:
    """The posterior with all mass on the known label, where one is known."""
    rows = np.flatnonzero(known >= 0)
    posterior[rows] = 0.0
    posterior[rows, known[rows]] = 1.0
    return posterior


def _known_or_none(known: Codes | None, part: LabelPart) -> Codes:
    """The part's gold labels; empty when no task has one."""
    if known is None:
        return np.empty(0, np.int32)
    return known[part.first : part.first + part.tasks]


def _posterior(
    part: LabelPart,
    log_errors: npt.NDArray[Any],
    log_prior: FloatArray,
    known: Codes | None,
) -> FloatArray:
    gathered = log_errors[part.report].astype(np.float64, copy=False)
    scores = log_prior + segment_sums(gathered, part.starts)
    return clamped(softmax(scores), _known_or_none(known, part))


def _sums(part: LabelPart, posterior: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    sums = np.zeros(shape)
    per_report = posterior[part.task]
    for truth in range(shape[1]):
        sums[:-2, truth] = grouped_sums(part.report, per_report[:, truth], shape[0] - 2)
    sums[-2] = posterior.sum(axis=0)
    sums[-1, 0] = entropy(posterior)
    return sums


@cache
def _pass_kernel(labels: int) -> Callable[..., None]:
    """The E step of each task, then whichever is asked for: its row, the M step's sums, or both.

    `labels` is a constant to the compiler, which unrolls the inner loops. `rows` or `sums` of
    length 0 are left alone.
    """

    @compiled
    def run(starts, coded, log_errors, log_prior, known, rows, sums, rest):  # type: ignore[no-untyped-def]
        posterior = np.empty(labels, np.float64)
        for task in range(len(starts) - 1):
            first, last = starts[task], starts[task + 1]
            for label in range(labels):
                posterior[label] = log_prior[label]
            for i in range(first, last):
                row = coded[i]
                for label in range(labels):
                    posterior[label] += log_errors[row, label]
            top = posterior[0]
            for label in range(1, labels):
                top = max(top, posterior[label])
            mass = 0.0
            for label in range(labels):
                posterior[label] = np.exp(posterior[label] - top)
                mass += posterior[label]
            for label in range(labels):
                posterior[label] /= mass
            if len(known) > 0 and known[task] >= 0:
                for label in range(labels):
                    posterior[label] = 0.0
                posterior[known[task]] = 1.0
            if len(rows) > 0:
                for label in range(labels):
                    rows[task, label] = posterior[label]
            if len(sums) > 0:
                for label in range(labels):
                    rest[0, label] += posterior[label]
                    floored = max(posterior[label], FLOOR)
                    rest[1, 0] -= floored * np.log(floored)
                for i in range(first, last):
                    row = coded[i]
                    for label in range(labels):
                        sums[row, label] += posterior[label]

    return run


@cache
def _start_kernel(labels: int) -> Callable[..., None]:
    @compiled
    def run(starts, coded, known, out):  # type: ignore[no-untyped-def]
        shares = np.empty(labels, np.float64)
        sums, tasks, rest = out[:-2], out[-2], out[-1]
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
                floored = max(shares[label], FLOOR)
                rest[0] -= floored * np.log(floored)
            for i in range(first, last):
                row = coded[i]
                for label in range(labels):
                    sums[row, label] += shares[label]

    return run
