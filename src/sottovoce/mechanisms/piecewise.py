"""The piecewise mechanism on a grid: a window around the answer is likelier than the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.codes import report_cells
from sottovoce.mechanisms.evidence import binned_evidence, plain_numbers
from sottovoce.mechanisms.odds import point_odds
from sottovoce.mechanisms.validation import (
    NUMBERS,
    check_answers,
    check_entries,
    check_integer,
    check_steps,
    check_weight,
    check_within,
    codes_within,
    grid_of,
    has_grid,
    integer,
    mechanism_fields,
    word_weight,
)
from sottovoce.model import (
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
    Guarantee,
    Kind,
    Listing,
    Odds,
    Private,
    Promise,
    ReportCodes,
    Reports,
    Unit,
    UnitName,
)
from sottovoce.privacy.calibration import smallest_integer
from sottovoce.privacy.composition import calibrated_cell, cells_delta, cells_guarantee
from sottovoce.seams import Randomness

MOST_REPORTS = 1 << 18
"""The maximum number of reports: for a small ε and many steps, fewer than the optimum."""


@dataclass(frozen=True, slots=True)
class Piecewise:
    """Report a point of a window that moves with the answer, or one outside (Wang et al. 2019).

    The reports are the K = steps + 1 + 2 beyond points -beyond, …, steps + beyond. The window of
    answer i has `width` = W of them, and V = K - W are outside:

        left(i) = ⌊(2 i V + steps) / (2 steps)⌋ - beyond,
        P(a point outside) = outside / 2⁶⁴,   P(a point inside) = inside / 2⁶⁴,
        inside = ⌊(2⁶⁴ - V outside) / W⌋,   the remainder goes to the window's last point.

    ε = ln((inside + remainder) / outside). Sizes follow the continuous optimum (Alg. 2): with C =
    (exp(ε/2) + 1) / (exp(ε/2) - 1), `beyond` and `width` are (C - 1) / 2 ranges; if that gives more
    than 2¹⁸ reports, `beyond` and `width` are cut to fit, which costs variance, not bias.

    >>> rating = Piecewise.calibrated(Domain.numeric(0, 10, step=0.1), 2.0)
    >>> rating.beyond, rating.width, round(rating.cell_epsilon, 6)
    (58, 58, 2.0)
    >>> rating.unbiased(rating.mean([30])).round(1).tolist()
    [30.2]
    """

    steps: int
    beyond: int
    width: int
    outside: int

    name: ClassVar[str] = "piecewise"
    takes: ClassVar[frozenset[Kind]] = NUMBERS
    alphabet: ClassVar[Alphabet] = Alphabet.POINTS
    hides_participation: ClassVar[bool] = False
    citation: ClassVar[Citation] = Citation(
        "the piecewise mechanism",
        "Wang et al. 2019",
        "N. Wang, X. Xiao, Y. Yang, J. Zhao, S. C. Hui, H. Shin, J. Shin, G. Yu: Collecting and "
        "Analyzing Multidimensional Data with Local Differential Privacy. ICDE 2019.",
    )
    hiding: ClassVar[Mapping[str, Any] | None] = None
    whole: ClassVar[bool] = False
    sound_as_published: ClassVar[bool] = False
    listing: ClassVar[Listing | None] = Listing(
        3,
        "Piecewise: mostly a number near the true one",
        counts="how many of 100 workers send a number close to their answer",
    )
    in_browser: ClassVar[bool] = True
    is_separable: ClassVar[bool] = True
    is_plain: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_steps(self.steps)
        check_integer("beyond", self.beyond, 0, (MOST_REPORTS - self.steps - 1) // 2)
        check_integer("width", self.width, 1, self.reports - 1)
        check_weight("outside", self.outside, WORDS // self.reports)

    @classmethod
    def calibrated(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        unit: UnitName = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
    ) -> Self:
        """The smallest weight outside the window whose guarantee is within the target."""
        steps = grid_of(domain, cls.name).steps
        return calibrated_cell(
            lambda cell, tolerance: cls._of(steps, cell),
            epsilon,
            unit=unit,
            delta=delta,
            answers=answers,
        )

    @classmethod
    def _of(cls, steps: int, cell: float) -> Self:
        half_ranges = 2 / math.expm1(cell / 2)  # C - 1
        widest = (MOST_REPORTS - steps - 1) // 2
        beyond = min(round(half_ranges * steps / 2), widest)
        width = max(beyond, 1)
        most = WORDS // (steps + 1 + 2 * beyond)
        outside = smallest_integer(
            lambda weight: cls(steps, beyond, width, weight).cell_epsilon <= cell, 1, most
        )
        return cls(steps, beyond, width, outside)

    @property
    def reports(self) -> int:
        """K: the number of possible reports."""
        return self.steps + 1 + 2 * self.beyond

    @property
    def _outsiders(self) -> int:
        return self.reports - self.width

    @property
    def inside(self) -> int:
        """The weight of a point of the window, except the last."""
        return (WORDS - self._outsiders * self.outside) // self.width

    @property
    def _remainder(self) -> int:
        return (WORDS - self._outsiders * self.outside) % self.width

    def left(self, answers: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The first point of each answer's window."""
        codes = np.asarray(answers, np.int64)
        return (2 * codes * self._outsiders + self.steps) // (2 * self.steps) - self.beyond

    def draw(self, workers: int, randomness: Randomness) -> None:
        return None

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        left = self.left(check_answers(cells, self.steps + 1))
        words = randomness.words(len(left))
        window = np.uint64(WORDS - self._outsiders * self.outside)
        place = (words // np.uint64(self.inside)).astype(np.int64)
        within = left + np.minimum(place, self.width - 1)
        # words - window wraps around for those inside; np.where discards them.
        other = ((words - window) // np.uint64(self.outside)).astype(np.int64) - self.beyond
        other += np.where(other >= left, self.width, 0)
        return cells.reporting(np.where(words < window, within, other).astype(np.int32))

    def channel(self) -> FiniteChannel:
        check_entries(self.steps + 1, self.reports)
        return FiniteChannel(
            tuple(self._row(int(left) + self.beyond) for left in self.left(range(self.steps + 1))),
            tuple(range(-self.beyond, self.steps + self.beyond + 1)),
        )

    def _row(self, before: int) -> tuple[int, ...]:
        after = self._outsiders - before
        window = (self.inside,) * (self.width - 1) + (self.inside + self._remainder,)
        return (self.outside,) * before + window + (self.outside,) * after

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        last = self.steps + self.beyond
        report = check_within("report", reports, -self.beyond, last)
        place = report - self.left(check_within("answer", answers, 0, self.steps))
        inside, top, outside = (
            math.log(weight) - math.log(WORDS)
            for weight in (self.inside, self.inside + self._remainder, self.outside)
        )
        within = np.where(place == self.width - 1, top, inside)
        return np.where((place >= 0) & (place < self.width), within, outside)

    def mean(self, answers: npt.ArrayLike) -> FloatArray:
        """E[report | answer], on the scale of codes."""
        moved = (self.left(answers) + self.beyond).astype(np.float64)
        return self._offset + self._slope * moved

    def unbiased(self, reports: npt.ArrayLike) -> FloatArray:
        """Codes whose mean is the answer's code, up to half a step from the window's rounding.

        E[report | i] is affine in left(i), and left(i) in i up to rounding by half a point; a point
        of the window's path is steps / V ≤ 1 steps of the answer.
        """
        per_step = self._slope * self._outsiders / self.steps
        if per_step <= 0:
            raise UsageError("reports under this policy carry no information about answers")
        return (np.asarray(reports, np.float64) - self._offset) / per_step

    @property
    def _slope(self) -> float:
        """How far the mean moves when the window moves by one point."""
        return ((self.inside - self.outside) * self.width + self._remainder) / WORDS

    @property
    def _offset(self) -> float:
        """The mean when the window lies at the left end: exact before the one division."""
        K, W, E = self.reports, self.width, self.beyond
        twice = self.outside * K * self.steps
        twice += (self.inside - self.outside) * W * (W - 1 - 2 * E)
        return (twice + 2 * self._remainder * (W - 1 - E)) / (2 * WORDS)

    @property
    def cell_epsilon(self) -> float:
        """Exact, because the windows of the first and the last answer end at different points."""
        return math.log1p((self.inside + self._remainder - self.outside) / self.outside)

    def cell_delta(self, epsilon: float) -> float:
        """Exact: the windows of 0 and `steps` overlap least, in W - m points, m = min(V, W).

        Of two windows a shift apart, m points are in the left one alone and m in the right one,
        whose last has the remainder. The left one's last is alone only if they are disjoint.
        """
        if epsilon >= self.cell_epsilon:
            return 0.0
        alone, shift = min(self._outsiders, self.width), math.exp(epsilon)
        top = self.inside + self._remainder
        gain = max(self.inside - shift * self.outside, 0.0)
        right = (alone - 1) * gain + max(top - shift * self.outside, 0.0)
        left = alone * gain + max(top - shift * self.inside, 0.0) if alone < self.width else 0.0
        return max(left, right) / WORDS

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        return (Candidate(4),) if has_grid(domain) and not hidden else ()

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        return codes_within(codes, -self.beyond, self.steps + self.beyond)

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> Evidence:
        return binned_evidence(self, reports, domain)

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        """Each point becomes the number whose mean over reports is the answer."""
        cells = report_cells(reports, self.alphabet, domain)
        return plain_numbers(reports, self.unbiased(cells.code), domain)

    def odds(self) -> Odds:
        return point_odds(self, self.steps, self.beyond)

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        return cells_guarantee(self, answers, unit, delta, exact=True)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        return cells_delta(self, epsilon, answers, unit)

    def claim(self, epsilon: float | None = None) -> Claim:
        return Claim(
            self.cell_epsilon,
            0.0,
            "Wang et al. 2019, Alg. 2",
            "holds per answer, here for the integer law; for k answers of a worker together it is "
            "k times that",
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "steps": self.steps,
            "beyond": self.beyond,
            "width": self.width,
            "outside": str(self.outside),
        }

    @classmethod
    def of_json(cls, document: Any) -> Self:
        fields = mechanism_fields(document, cls.name, {"steps", "beyond", "width", "outside"})
        return cls(
            integer(fields, "steps"),
            integer(fields, "beyond"),
            integer(fields, "width"),
            word_weight(fields, "outside"),
        )
