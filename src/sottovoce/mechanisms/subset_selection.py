"""Subset selection: report a set of labels that probably contains the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.codes import report_cells
from sottovoce.mechanisms.evidence import coded, left_out, listed_channel
from sottovoce.mechanisms.laws.draws import blocks
from sottovoce.mechanisms.laws.subsets import MOST_SYMBOLS, Subsets
from sottovoce.mechanisms.odds import shares
from sottovoce.mechanisms.validation import (
    LABELS,
    check_answers,
    check_integer,
    integer,
    label_count,
    mechanism_fields,
    word_weight,
)
from sottovoce.model import (
    NULL,
    WORDS,
    Alphabet,
    Candidate,
    Cells,
    Citation,
    Claim,
    Domain,
    Evidence,
    FiniteChannel,
    FloatArray,
    Grid,
    Guarantee,
    Kind,
    Listing,
    Odds,
    Private,
    Promise,
    ReportCodes,
    Reports,
    SetChannel,
    Unit,
    UnitName,
    Words,
)
from sottovoce.model.grid import FINEST
from sottovoce.seams import Randomness

BINS = 10
"""The default number of bins of a range of numbers."""

PLANNED_BINS = (10, 6, 16)
"""The numbers of bins that a planner tries."""

MOST_LABELS = MOST_SYMBOLS - 1
"""Subsets are sent as the bits of a word, one of which means NULL."""

MOST_SETS = 4096
"""Up to this many sets, inference lists all of them."""


@dataclass(frozen=True, slots=True)
class SubsetSelection:
    """Send a set of `size` of K symbols, which contains the answer more often than not.

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
    citation: ClassVar[Citation] = Citation(
        "subset selection",
        "Ye & Barg 2018",
        "M. Ye, A. Barg: Optimal Schemes for Discrete Distribution Estimation under Locally "
        "Differential Privacy. IEEE Transactions on Information Theory 64(8), 2018.",
    )
    hiding: ClassVar[Mapping[str, Any] | None] = {"null": True}
    whole: ClassVar[bool] = False
    sound_as_published: ClassVar[bool] = False
    listing: ClassVar[Listing | None] = Listing(
        7,
        "Subset selection: a set that may contain the true answer",
        counts="how many of 100 workers send a set that contains their answer",
        fewest_symbols=3,
        most_labels=MOST_LABELS,
    )
    in_browser: ClassVar[bool] = True
    is_plain: ClassVar[bool] = False

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
        unit: UnitName = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
        null: bool = False,
        bins: int = BINS,
    ) -> Self:
        """The most informative sets whose exact guarantee is within the target."""
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
        """The largest privacy loss of one report: how much likelier a set with the answer is."""
        return self._law.epsilon

    @property
    def hides_participation(self) -> bool:
        return self.null

    def draw(self, workers: int, randomness: Randomness) -> None:
        return None

    def symbols(self, answers: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The bit of each answer: of its label, of its bin, or of NULL."""
        codes = np.asarray(answers, np.int64)
        if self.bins is None or self.steps is None:
            return np.where(codes == NULL, self.labels, codes)
        return np.where(codes == NULL, self.bins, codes * self.bins // (self.steps + 1))

    def sets(self, most: int) -> Words | None:
        """All masks that a report may be, in increasing order; None if more than `most`."""
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

    @property
    def is_separable(self) -> bool:
        return not self.hides_participation

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        if domain.is_numeric:
            points = Grid.over(domain).steps + 1
            cuts = sorted({min(bins, points) for bins in PLANNED_BINS})
            return [Candidate(8, f"{bins} bins", {"bins": bins}) for bins in cuts]
        return (Candidate(2),) if (2 if hidden else 3) <= domain.size <= MOST_LABELS else ()

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        size, symbols = self.size, self._law.symbols
        masks = (int(mask) for mask in codes.tolist())
        return np.array([m.bit_count() == size and not m >> symbols for m in masks], bool)

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> Evidence:
        """Each set is a symbol; if there are very many sets of labels, each that occurs."""
        cells = self._checked(reports, domain)
        masks = cells.code.astype(np.uint64)
        if domain.is_numeric or as_numbers:
            sets = self.sets(MOST_SETS)
            if sets is None:
                sets = np.unique(masks)
            listed = listed_channel(self, domain, tuple(sets.tolist()), masks=True)
            return coded(reports, np.searchsorted(sets, masks), listed)
        occurring, symbols = np.unique(masks, return_inverse=True)
        return coded(reports, symbols, self._set_channel(occurring))

    def _set_channel(self, masks: Words) -> SetChannel:
        bits = np.arange(self.labels, dtype=np.uint64)
        rows, members = np.nonzero(masks[:, None] >> bits & np.uint64(1))
        starts = np.searchsorted(rows, np.arange(len(masks) + 1))
        last = np.uint64(self.labels)
        null = (masks >> last & np.uint64(1)).astype(bool) if self.null else np.zeros(0, bool)
        # Relative to the weight inside: the number of sets would exceed the range of a float.
        outside = np.array([math.exp(-self.cell_epsilon)])
        return SetChannel(
            self.labels, starts, members.astype(np.int32), np.ones(1), outside, np.ones(1), null
        )

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        """A set is a vote for each of its symbols except NULL; a bin's vote is for its middle."""
        cells = self._checked(reports, domain)
        bits = np.arange(self.bins or self.labels, dtype=np.uint64)
        rows, voted = np.nonzero(cells.code.astype(np.uint64)[:, None] >> bits & np.uint64(1))
        each = replace(
            reports,
            worker=reports.worker[rows],
            task=reports.task[rows],
            value=np.zeros(len(rows), np.int32),
            reading=left_out(reports, len(reports) - len(np.unique(rows))),
        )
        if not domain.is_numeric:
            return replace(each, value=voted.astype(np.int32), domain=domain)
        return replace(each, value=self._middles(domain)[voted], domain=Domain.numeric())

    def _middles(self, domain: Domain) -> FloatArray:
        """The middle of each bin of the range."""
        grid = Grid.over(domain)
        points = np.arange(grid.steps + 1)
        bins = self.symbols(points)
        return np.bincount(bins, grid.values(points)) / np.bincount(bins)

    def _checked(self, reports: Reports, domain: Domain) -> Cells:
        """Check that all reports are sets of this size and of these symbols."""
        cells = report_cells(reports, self.alphabet, domain)
        if not self.admits(np.unique(cells.code.astype(np.uint64))).all():
            raise DataError(
                f"a report is not a set of {self.size} of the {self._law.symbols} symbols: it was "
                "not made under this policy"
            )
        return cells

    def odds(self) -> Odds:
        held = round(100 * self.include / WORDS)
        return Odds(
            held,
            f"Of 100 workers with the same answer {shares(held)[0]} send a set of {self.size} "
            f"that contains it and {shares(held)[1]} a set that does not.",
        )

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        return self._law.guarantee(answers, unit, delta)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        return self._law.delta(epsilon, answers, unit)

    def claim(self, epsilon: float | None = None) -> Claim:
        return Claim(
            self._law.epsilon,
            0.0,
            "Wang et al. 2016; Ye & Barg 2018",
            "holds per answer; for k answers of a worker together it is k times that",
        )

    def as_json(self) -> dict[str, Any]:
        cut = {} if self.bins is None else {"bins": self.bins, "steps": self.steps}
        return {
            "name": self.name,
            "labels": self.labels,
            "size": self.size,
            "include": str(self.include),
            "null": self.null,
            **cut,
        }

    @classmethod
    def of_json(cls, document: Any) -> Self:
        fields = mechanism_fields(
            document, cls.name, {"labels", "size", "include", "null"}, frozenset({"bins", "steps"})
        )
        bins, steps = (integer(fields, f) if f in fields else None for f in ("bins", "steps"))
        return cls(
            integer(fields, "labels"),
            integer(fields, "size"),
            word_weight(fields, "include"),
            fields["null"],
            bins,
            steps,
        )


def _check_symbols(field: str, value: int, most: int) -> None:
    if isinstance(value, int) and value > most >= MOST_SYMBOLS - 1:
        raise UsageError(
            f"a set of labels is a mask of {MOST_SYMBOLS} bits, so {field} must be at most {most} "
            f"({MOST_SYMBOLS - 1} if participation is private), not {value:,}: use "
            "randomized-response"
        )
    check_integer(field, value, 2, most)
