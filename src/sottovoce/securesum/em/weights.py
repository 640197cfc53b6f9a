"""A worker's skill and weight, and the sensitivity of both.

Both need public posteriors and the worker's private answers (P2, protocol 1, lines 5 and 7).

In noised rounds answers are weighted by their agreement with the opened sums, in whole steps. All
of it is integer arithmetic, so the bound on a weight's sensitivity holds for the actual messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.inference.steps.arithmetic import steady
from sottovoce.model import FloatArray
from sottovoce.model.sum_rounds import Integers

IntegerArray: TypeAlias = npt.NDArray[np.integer]


def skill(posterior: FloatArray, task: IntegerArray, label: IntegerArray, clip: int) -> FloatArray:
    """P(answer | truth) of one worker, at [truth, answer]: its share of the M step.

        P(v | t) = Σ posterior[i, t] over own answers v to tasks i, divided by its sum over v

    For two labels [1, 1] is P2's α and [0, 0] its β (§2.2). 0/0 is 1/K. All values are within
    [1/clip, 1 - 1/clip], so that logarithms stay finite.

    >>> posterior = np.array([[0.0, 1.0], [0.5, 0.5]])
    >>> skill(posterior, np.array([0, 1]), np.array([1, 0]), clip=4).round(3).tolist()
    [[0.75, 0.25], [0.333, 0.667]]
    """
    labels = posterior.shape[1]
    counts = np.zeros((labels, labels))
    np.add.at(counts.T, label, posterior[task])
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.full_like(counts, 1 / labels), where=totals > 0)
    return np.clip(steady(shares), 1 / clip, 1 - 1 / clip)


def log_terms(
    chances: FloatArray, task: IntegerArray, label: IntegerArray, tasks: int
) -> FloatArray:
    """Σ ln P(answer | truth) over one worker's answers to each task: (tasks, labels), never > 0.

    Added up over workers, columns 1 and 0 are P2's log aᵢ and log bᵢ. A task without an answer of
    this worker has zeros.
    """
    terms = np.zeros((tasks, len(chances)))
    np.add.at(terms, task, np.log(chances).T[label])
    return terms


SLOPE, SMOOTHING = 2, 10
"""g and s of the weight: the best of those tried, by measured error."""

GRID = 1 << 14
"""The resolution of agreement: parts of 1."""

MOST_TASKS, MOST_SCALE, MOST_LABELS = 1 << 17, 1 << 20, 1 << 8
"""Up to these no product exceeds 64 bits."""


@dataclass(frozen=True, slots=True)
class Moves:
    """The sensitivity of a vector, in steps: the largest sum of moves, and of squared moves."""

    absolute: int
    squared: int


def agreement(posterior: FloatArray, task: IntegerArray, label: IntegerArray) -> int:
    """Σ P(own label is right) over a worker's answers, each in whole parts of 1/GRID.

    For any posteriors, each answer counts from 0 to GRID.
    """
    chances = np.nan_to_num(posterior[task, label], nan=0.0)
    return int(np.rint(np.clip(chances, 0.0, 1.0) * GRID).astype(np.int64).sum())


def weights(agreed: Integers, answers: Integers, labels: int, scale: int) -> Integers:
    """The weight of each worker, in steps: from -scale to scale, 0 for one that guesses.

    With K labels, k answers and the smoothed agreement a = (s/K + Σ agreement) / (s + k)

        w = g (K a - 1) / (K - 1), cut to [-1, 1], in steps of 1/scale, rounded half up

    which is 2 g (a - 1/2) for two labels. A worker that errs on purpose has a negative weight,
    which inverts its answers.

    >>> weights(np.array([16 * GRID, 8 * GRID]), np.array([16, 16]), 2, 100).tolist()
    [100, 0]
    """
    _check(labels, scale)
    steps = scale * SLOPE * (labels * agreed - GRID * answers)
    parts = (labels - 1) * GRID * (SMOOTHING + answers)
    return np.asarray(np.clip((2 * steps + parts) // (2 * parts), -scale, scale))


@lru_cache(maxsize=256)
def answer_moves(labels: int, tasks: int, scale: int) -> Moves:
    """The sensitivity of a worker's weighted answers to one answer, for any other answers.

    The message is w eᵢ for each answered task i: with two labels eᵢ is 1 or -1 in one slot, with
    more 1 in one of K slots. Let one answer change among {none, labels}, let k be the number of
    answers with it, and G = g K / (K - 1).

    1. The other k - 1 tasks. If the label changes, Σ agreement moves by at most 1, so a by at most
       1/(s + k). If the answer is new, a' - a = (m - a)/(s + k) with m and a in [0, 1]: at most
       that again. So w moves by at most G/(s + k); in whole steps, since rounding is monotone and
       commutes with whole steps, by at most Dₖ = ⌈G scale / (s + k)⌉; cutting adds nothing. Each
       of k - 1 slots moves by Dₖ at most.
    2. The task itself. |w| ≤ scale before and after: one slot moves by 2 scale at most with two
       labels (from -w to w'), two slots by scale each with more.

        Σ|move| ≤ 2 scale + max (k - 1) Dₖ,   Σ move² ≤ (4 or 2) scale² + max (k - 1) Dₖ²

    over k = 1 … tasks. The only assumption on the posteriors is that each counts from 0 to 1, so a
    server that lies about them gains nothing.

    >>> answer_moves(2, 159, 1000)
    Moves(absolute=5875, squared=4364810)
    """
    _check(labels, scale)
    if tasks > MOST_TASKS:
        raise UsageError(f"weighted rounds are for up to {MOST_TASKS:,} tasks, not {tasks:,}")
    k = np.arange(1, tasks + 1, dtype=np.int64)
    slope = -(-SLOPE * labels * scale // ((labels - 1) * (SMOOTHING + k)))
    own = 4 if labels == 2 else 2
    return Moves(
        2 * scale + int(((k - 1) * slope).max()), own * scale**2 + int(((k - 1) * slope**2).max())
    )


def worker_moves(answers: int, labels: int, scale: int) -> Moves:
    """The sensitivity to all of a worker's answers: at most k of them to k others.

    |w| ≤ scale. A changed answer moves one slot by 2 scale (two labels) or two slots by scale. An
    added or removed one, of which there are at most 2 k, moves one slot by scale.
    """
    own = 4 if labels == 2 else 2
    return Moves(2 * scale * answers, own * scale**2 * answers)


def _check(labels: int, scale: int) -> None:
    if scale > MOST_SCALE or labels > MOST_LABELS:
        raise UsageError(
            f"weighted rounds take up to {MOST_SCALE:,} steps and {MOST_LABELS} labels, not "
            f"{scale:,} and {labels:,}"
        )
