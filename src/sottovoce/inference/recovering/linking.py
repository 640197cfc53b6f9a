"""Whose column is it: the tasks that it answers say so, where tasks were handed out one by one."""

from __future__ import annotations

import numpy as np

from sottovoce.inference.recovering.binary_vectors import Bits

__all__ = ["linked"]


def linked(answered: Bits, assigned: Bits) -> list[int | None]:
    """For each column (rows: columns, tasks) the one worker whose tasks it can be of, or None.

    A worker with exactly these tasks comes first; else one that had these tasks among others. Two
    that fit equally well are not told apart, and neither are two columns that fit one worker.

    >>> answered = np.array([[1, 1, 0], [0, 1, 1]], bool)
    >>> linked(answered, np.array([[0, 1, 1], [1, 1, 0], [1, 1, 0]], bool))
    [None, 0]
    """
    same = (answered[:, None, :] == assigned[None, :, :]).all(axis=2)
    within = (answered[:, None, :] <= assigned[None, :, :]).all(axis=2)
    fits = np.where(same.any(axis=1, keepdims=True), same, within)
    alone = (fits.sum(axis=1) == 1)[:, None] & (fits.sum(axis=0) == 1)[None, :] & fits
    return [int(row.argmax()) if row.any() else None for row in alone]
