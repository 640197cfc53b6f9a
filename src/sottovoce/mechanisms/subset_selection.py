"""Subset selection: report a set of labels that probably holds the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.checking import (
    LABELS,
    check_answers,
    check_integer,
    integer,
    label_count,
    mechanism_fields,
    word_weight,
)
from sottovoce.mechanisms.laws.drawing import blocks
from sottovoce.mechanisms.laws.subsets import MOST_SYMBOLS, Subsets
from sottovoce.model import (
    NULL,
    Alphabet,
    Cells,
    Claim,
    Domain,
    FiniteChannel,
    FloatArray,
    Grid,
    Guarantee,
    Kind,
    Private,
    Unit,
    Words,
)
from sottovoce.model.grid import FINEST
from sottovoce.seams import Randomness

__all__ = ["BINS", "SubsetSelection", "check_sets"]

BINS = 10
"""Into so many bins a range of numbers is cut unless told otherwise."""


@dataclass(frozen=True, slots=True)
class SubsetSelection:
    """Send a set of `size` of K symbols, with the answer in it more often than not having it.

        P(set | answer) = include / 2⁶⁴ / C(K - 1, d - 1)         if the answer is in the set,
                          (2⁶⁴ - include) / 2⁶⁴ / C(K - 1, d)     if not

    Wang et al. 2016, Ye & Barg 2018. ε = ln(include (K - d) / ((2⁶⁴ - include) d)) per answer, by
    the integers. The K symbols are the labels; with `null` NULL is one more, the last. Numbers have
    0 labels: the steps + 1 points of their grid are cut into `bins`, point c into bin
    ⌊c · bins / (steps + 1)⌋, which is public. A report is a mask with bit i for symbol i.

    >>> sets = SubsetSelection.calibrated(Domain.categorical(range(20)), 1.0)
    >>> sets.size, round(sets.include / 2**64, 4)
    (5, 0.4754)
    """

    labels: int
    size: int
    include: int
    null: bool = False
    bins: int | None = None
    steps: int | None = None

    name: ClassVar[str] = "subset-selection"
    takes: ClassVar[frozenset[Kind]] = LABELS | {Kind.NUMERIC}
    alphabet: ClassVar[Alphabet] = Alphabet.SUBSETS

    def __post_init__(self) -> None:
        if not isinstance(self.null, bool):
            raise UsageError(f"null must be true or false, not {self.null!r}")
        most = MOST_SYMBOLS - self.null
        if self.bins is None or self.steps is None:
            if (self.bins, self.steps) != (None, None):
                raise UsageError("numbers need both bins and steps, labels neither")
            _check_symbols("labels", self.labels, most)
        else:
            check_integer("labels", self.labels, 0, 0)
            check_integer("steps", self.steps, 1, FINEST)
            _check_symbols("bins", self.bins, min(most, self.steps + 1))
        self._law.check()

    @classmethod
    def calibrated(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        unit: Unit = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
        null: bool = False,
        bins: int = BINS,
    ) -> Self:
        """The most telling sets whose exact guarantee is within the target."""
        cut: tuple[int, int] | tuple[None, None] = (None, None)
        if domain.is_numeric:
            labels, steps = 0, Grid.over(domain).steps
            cut = (min(bins, steps + 1), steps)
            _check_symbols("bins", cut[0], MOST_SYMBOLS - null)
        else:
            labels = label_count(domain, cls.name)
            _check_symbols("labels", labels, MOST_SYMBOLS - null)
        symbols = (cut[0] or labels) + null
        law = Subsets.calibrated(symbols, epsilon, unit=unit, delta=delta, answers=answers)
        return cls(labels, law.size, law.include, null, *cut)

    @property
    def _law(self) -> Subsets:
        return Subsets((self.bins or self.labels) + self.null, self.size, self.include)

    @property
    def cell_epsilon(self) -> float:
        """What one report betrays at most: how much likelier a set is with the answer in it."""
        return self._law.epsilon

    @property
    def hides_participation(self) -> bool:
        return self.null

    def draw(self, workers: int, randomness: Randomness) -> None:
        return None

    def symbols(self, answers: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The bit that stands for each answer: of its label, of its bin, or of NULL."""
        codes = np.asarray(answers, np.int64)
        if self.bins is None or self.steps is None:
            return np.where(codes == NULL, self.labels, codes)
        return np.where(codes == NULL, self.bins, codes * self.bins // (self.steps + 1))

    def sets(self, most: int) -> Words | None:
        """All masks that a report may be, rising; None where they are more than `most`."""
        symbols = self._law.symbols
        if math.comb(symbols, self.size) > most:
            return None
        chosen = combinations(range(symbols), self.size)
        return np.array(sorted(sum(1 << i for i in members) for members in chosen), np.uint64)

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        values = self.labels if self.steps is None else self.steps + 1
        codes = check_answers(cells, values, null=self.null)
        reports: Words = np.empty(len(codes), np.uint64)
        for block in blocks(len(codes)):
            reports[block] = self._law.sample(self.symbols(codes[block]), randomness)
        return cells.reporting(reports)

    def channel(self) -> FiniteChannel:
        law = self._law.channel()
        values = self.labels if self.steps is None else self.steps + 1
        answers = [*range(values), NULL] if self.null else range(values)
        weights = tuple(law.weights[symbol] for symbol in self.symbols(answers))
        return FiniteChannel(weights, law.reports, law.total, self.null)

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        return self._law.log_likelihood(np.asarray(reports, np.uint64), self.symbols(answers))

    def guarantee(self, answers: int, unit: Unit, delta: float = 0.0) -> Guarantee:
        return self._law.guarantee(answers, unit, delta)

    def delta(self, epsilon: float, answers: int, unit: Unit) -> float:
        return self._law.delta(epsilon, answers, unit)

    def claim(self, epsilon: float | None = None) -> Claim:
        return Claim(
            self._law.epsilon,
            0.0,
            "Wang et al. 2016; Ye & Barg 2018",
            "holds per answer; per worker it is k times that",
        )

    def as_json(self) -> dict[str, Any]:
        cut = {} if self.bins is None else {"bins": self.bins, "steps": self.steps}
        return {
            "name": self.name, "labels": self.labels, "size": self.size,
            "include": str(self.include), "null": self.null, **cut,
        }  # fmt: skip

    @classmethod
    def of_json(cls, document: Any) -> Self:
        fields = mechanism_fields(
            document, cls.name, {"labels", "size", "include", "null"}, frozenset({"bins", "steps"})
        )
        bins, steps = (integer(fields, f) if f in fields else None for f in ("bins", "steps"))
        return cls(
            integer(fields, "labels"), integer(fields, "size"), word_weight(fields, "include"),
            fields["null"], bins, steps,
        )  # fmt: skip


def _check_symbols(field: str, value: int, most: int) -> None:
    if isinstance(value, int) and value > most >= MOST_SYMBOLS - 1:
        raise UsageError(
            f"a set of labels is a mask of {MOST_SYMBOLS} bits, so {field} must be at most {most} "
            f"({MOST_SYMBOLS - 1} where NULL is private), not {value:,}: use randomized-response"
        )
    check_integer(field, value, 2, most)


def check_sets(reports: Cells, mechanism: SubsetSelection) -> None:
    """Refuse reports that are no sets of the mechanism's size and symbols."""
    symbols = (mechanism.bins or mechanism.labels) + mechanism.null
    masks = np.unique(reports.code)
    sizes = np.array([int(mask).bit_count() for mask in masks])
    if int(masks.max()) >> symbols or (sizes != mechanism.size).any():
        raise DataError(
            f"a report is no set of {mechanism.size} of the {symbols} symbols: it was not made "
            "under this policy"
        )
