"""Tasks on which everybody agrees: the counts of a round alone give every label away."""

from __future__ import annotations

import numpy as np

from sottovoce.inference.recovering.modular import Integers

__all__ = ["NONE", "unanimous"]

NONE = -1
"""The code of a label that is not there, or not known."""


def unanimous(counts: Integers) -> Integers:
    """The label that all answers to a task have, for each task of counts (tasks, labels).

    μᵢ(0) is 0 or 1 there (P2, protocol 1, line 2), which theorem 1 leaves out by its assumption.

    >>> unanimous(np.array([[0, 3], [1, 2], [2, 0], [0, 0]])).tolist()
    [1, -1, 0, -1]
    """
    total = counts.sum(axis=1)
    label = counts.argmax(axis=1)
    agreed = (total > 0) & (counts.max(axis=1) == total)
    return np.where(agreed, label, NONE).astype(np.int64)
