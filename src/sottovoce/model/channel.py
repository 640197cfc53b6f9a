"""The law of a report given an answer: exact in integers, and in a form for inference.

`FiniteChannel` is the exact law. For inference every report of a table is coded as a symbol 0, 1,
…, and a channel gives the probability of each symbol given the worker's answer. So inference does
not depend on mechanisms, and mechanisms do not depend on inference.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model.arrays import Codes, FloatArray, StartsArray
from sottovoce.model.reports import Reports

WORDS = 1 << 64
"""Weights are integers over this total: a uniform 64-bit word is below w with chance w / 2⁶⁴."""


class Alphabet(StrEnum):
    """The meaning of the codes in a mechanism's reports."""

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


@dataclass(frozen=True, slots=True, eq=False)
class SetChannel:
    """Symbols that are sets of labels, as all mechanisms for labels send them.

        P(symbol | answer, state) ∝ inside[state] if the answer is in the set, else outside[state]

    Symbol y has the labels members[starts[y] : starts[y + 1]], and NULL where `null[y]`; `null` is
    empty where participation is public. Randomised response sends sets of one. A state is what
    the worker drew once and kept (two-layer's probability), with chance `prior[state]`.
    """

    labels: int
    starts: StartsArray
    members: Codes
    inside: FloatArray
    outside: FloatArray
    prior: FloatArray
    null: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        if not len(self.inside) == len(self.outside) == len(self.prior):
            raise UsageError("a state has a weight inside, one outside and a chance")

    @property
    def symbols(self) -> int:
        """How many sets there are."""
        return len(self.starts) - 1

    @property
    def hides_participation(self) -> bool:
        """Whether NULL is an answer like any other."""
        return len(self.null) > 0

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many labels each set has, NULL not counted."""
        return np.diff(self.starts)

    def matrix(self) -> FloatArray:
        """P(symbol | answer), up to a common factor, over states: rows are labels, then NULL."""
        inside, outside = float(self.prior @ self.inside), float(self.prior @ self.outside)
        law = np.full((self.labels + self.hides_participation, self.symbols), outside)
        law[self.members, np.repeat(np.arange(self.symbols), self.sizes)] = inside
        if self.hides_participation:
            law[-1, self.null] = inside
        return law


@dataclass(frozen=True, slots=True, eq=False)
class PointChannel:
    """Symbols of a finite law over numbers: P(symbol | answer = points[i]) = likelihood[i, symbol].

    With `null` a last row is the law given NULL.
    """

    points: FloatArray
    likelihood: FloatArray
    null: bool = False

    def __post_init__(self) -> None:
        if len(self.likelihood) != len(self.points) + self.null:
            raise UsageError("a channel has one row for each point, and one for NULL")

    @property
    def symbols(self) -> int:
        """How many symbols there are."""
        return int(self.likelihood.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class NoisyChannel:
    """Symbols are cells of the line between `edges`; a report is the answer + N(0, V) of a worker.

    A worker's V is variances[i] with chance prior[i], the same for all its reports.
    """

    low: float
    high: float
    edges: FloatArray
    variances: FloatArray
    prior: FloatArray

    @property
    def symbols(self) -> int:
        """How many cells there are."""
        return len(self.edges) + 1


@dataclass(frozen=True, slots=True, eq=False)
class FactorChannel:
    """Reports centre + uᵀV on every task, where u = (V Vᵀ + ridge I)⁻¹ (V offsets + noise).

    `profiles` is V, a column for each task of the table. Noise is independent, of this variance in
    each dimension. Offsets are on the scale of the domain, and 0 for NULL.
    """

    low: float
    high: float
    centre: float
    profiles: FloatArray
    ridge: float
    noise_variance: float


Channel: TypeAlias = SetChannel | PointChannel | NoisyChannel | FactorChannel


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A table of symbols, and their channel."""

    symbols: Reports
    channel: Channel
