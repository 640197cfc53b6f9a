"""The exact law of a report given an answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from sottovoce.model.arrays import FloatArray

__all__ = ["WORDS", "Alphabet", "FiniteChannel"]

WORDS = 1 << 64
"""Weights are integers over this total: a uniform 64-bit word is below w with chance w / 2⁶⁴."""


class Alphabet(StrEnum):
    """What the codes of a mechanism's reports stand for."""

    LABELS = "labels"
    """Labels of the domain."""
    LABELS_OR_NULL = "labels or NULL"
    """Labels of the domain; NULL for the code after the last."""
    SUBSETS = "subsets"
    """Sets of labels: bit i of a 64-bit mask is label i."""
    POINTS = "points"
    """Points of the domain's grid, continued beyond its ends."""
    NUMBERS = "numbers"
    """Numbers on the domain's scale."""
    SIDES = "sides"
    """0 below a public threshold, 1 not below it."""
    SIDES_OR_NULL = "sides or NULL"
    """0 below, 1 not below, 2 NULL."""
    ENDS = "ends"
    """0 and 1: the low and the high end."""


@dataclass(frozen=True, slots=True)
class FiniteChannel:
    """P(report r | answer a) = weights[a][r] / total, in integers.

    `reports[r]` is the code that column r stands for; rows are the answers' codes 0, 1, …, and with
    `null` a last row for NULL.
    """

    weights: tuple[tuple[int, ...], ...]
    reports: tuple[int, ...]
    total: int = WORDS
    null: bool = False

    def matrix(self) -> FloatArray:
        """The same in floating point."""
        return np.array([[float(Fraction(w, self.total)) for w in row] for row in self.weights])
