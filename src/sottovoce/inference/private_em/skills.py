"""A worker's own side of the EM: how good it is, and what its answers say of each task.

Both need posteriors that everybody knows and answers that the worker alone knows (P2, protocol 1,
lines 5 and 7).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.inference.steps.arithmetic import steady
from sottovoce.model import FloatArray

__all__ = ["IntegerArray", "log_terms", "skill"]

IntegerArray: TypeAlias = npt.NDArray[np.integer]


def skill(posterior: FloatArray, task: IntegerArray, label: IntegerArray, clip: int) -> FloatArray:
    """P(answer | truth) of one worker, at [truth, answer]: its share of the M step.

        P(v | t) = Σ posterior[i, t] over own answers v to tasks i, divided by its sum over v

    For two labels [1, 1] is P2's α and [0, 0] its β (§2.2). 0/0 is 1/K. All lies within
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
