"""Laplace noise on a grid, in integers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.codes import report_cells
from sottovoce.mechanisms.evidence import binned_evidence, plain_numbers
from sottovoce.mechanisms.laws.draws import below
from sottovoce.mechanisms.laws.geometric import LONGEST, Clamped, Geometric
from sottovoce.mechanisms.odds import point_odds
from sottovoce.mechanisms.validation import (
    NUMBERS,
    check_answers,
    check_entries,
    check_integer,
    check_steps,
    check_within,
    codes_within,
    grid_of,
    has_grid,
    integer,
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
from sottovoce.model.policy import check_target
from sottovoce.privacy.composition import calibrated_cell, cells_delta, cells_guarantee
from sottovoce.seams import Randomness


@dataclass(frozen=True, slots=True)
class Laplace:
    """Add two-sided geometric noise to a point of the grid (P4 Eq. 7; Ghosh et al. 2009).

        report = min(max(answer + z, -R), steps + R),  P(z) ∝ (ratio / 2⁶⁴)^|z|,  R = reach - steps

    in the integers of `Geometric`, so floating point leaks nothing, and the clamp makes every
    report possible under every answer. ε is about steps · ln(2⁶⁴ / ratio); for the exact value see
    `Clamped`.

    `null` sets the treatment of missing answers: "absent" (who answered is public), "centre" or the
    code of a point, which then represents NULL, or "random", a uniform point. The law of NULL is
    that of an answer or a mixture of theirs, so NULL is as hidden as any answer (P4 Thm. 1).

    If the table ends before 14 noise scales (many steps, small ε) the clamp shortens reports: their
    mean is then biased towards the middle, and only `log_likelihood` accounts for it.

    >>> noise = Laplace.calibrated(Domain.numeric(0, 10, step=0.1), 1.0)
    >>> noise.steps, noise.law.beyond, round(noise.guarantee(5, Unit.WORKER).epsilon, 5)
    (100, 1400, 5.0)
    """

    steps: int
    centre: int
    ratio: int
    reach: int
    null: str | int = "absent"
    step: str | None = None
    """The size of a step as a fraction: only as published, because the paper's claim needs it."""

    name: ClassVar[str] = "laplace"
    takes: ClassVar[frozenset[Kind]] = NUMBERS
    alphabet: ClassVar[Alphabet] = Alphabet.POINTS
    citation: ClassVar[Citation] = Citation(
        "two-sided geometric (discrete Laplace) noise",
        "Ghosh et al. 2009",
        "A. Ghosh, T. Roughgarden, M. Sundararajan: Universally Utility-Maximizing Privacy "
        "Mechanisms. STOC 2009.",
    )
    hiding: ClassVar[Mapping[str, Any] | None] = {"null": "centre"}
    whole: ClassVar[bool] = False
    sound_as_published: ClassVar[bool] = False
    listing: ClassVar[Listing | None] = Listing(
        4,
        "Laplace noise: the number plus or minus some noise",
        counts="how many of 100 workers send a number close to their answer",
    )
    in_browser: ClassVar[bool] = True
    is_plain: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_steps(self.steps)
        check_integer("reach", self.reach, self.steps, LONGEST)
        if isinstance(self.null, str) and self.null not in ("absent", "centre", "random"):
            raise UsageError(
                f"null must be absent, centre, random or the code of a point, not {self.null!r}"
            )
        if not isinstance(self.null, str):
            check_integer("null", self.null, 0, self.steps)
        if self.step is not None:
            _fraction(self.step)
        Geometric(self.centre, self.ratio, self.reach)

    @classmethod
    def calibrated(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        unit: UnitName = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
        null: str | int = "absent",
    ) -> Self:
        """The least noise whose guarantee is within the target.

        It lands within 1e-6 below the target while the weights have enough bits, which is up to ε
        20 per answer; at 30 it may miss by 0.003, and above 34 to 42 (many steps to few) it stays
        at the least noise that 64 bits can represent.
        """
        steps = grid_of(domain, cls.name).steps
        law = calibrated_cell(
            lambda cell, tolerance: Clamped.near(steps, cell, tolerance),
            epsilon,
            unit=unit,
            delta=delta,
            answers=answers,
        )
        return cls(steps, law.noise.centre, law.noise.ratio, law.noise.reach, null)

    @classmethod
    def as_published(cls, domain: Domain, epsilon: float) -> Self:
        """Noise of scale |Γ| / ε, with NULL replaced by a uniform value (P4 Eqs. 6-7).

        |Γ| is the number of values, for a range of numbers that of its grid points; the scale is in
        the numbers themselves, whose sensitivity is max - min. So the true ε is (max - min) / |Γ|
        times the claim: 0.9 for {0, …, 9}, 50 for {0, 100}, where 64-bit weights end before: then
        this is the least noise they can represent.

        >>> published = Laplace.as_published(Domain.ordinal(range(10)), 1.0)
        >>> round(published.claim().epsilon, 6), round(published.law.cell_epsilon, 6)
        (1.0, 0.9)
        """
        check_target(epsilon, 0.0, 1)
        grid = grid_of(domain, cls.name)
        cell = epsilon * float(grid.high - grid.low) / (grid.steps + 1)
        noise = Clamped.near(grid.steps, cell, 1e-9).noise
        return cls(grid.steps, noise.centre, noise.ratio, noise.reach, "random", str(grid.step))

    @property
    def law(self) -> Clamped:
        """The law of a report given an answer that is not NULL."""
        return Clamped(self.steps, Geometric(self.centre, self.ratio, self.reach))

    @property
    def beyond(self) -> int:
        """How many points a report may lie beyond either end of the range."""
        return self.law.beyond

    @property
    def hides_participation(self) -> bool:
        return self.null != "absent"

    def draw(self, workers: int, randomness: Randomness) -> None:
        return None

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        codes = check_answers(cells, self.steps + 1, null=self.hides_participation)
        noise = self.law.noise.sample(len(codes), randomness)
        points = codes.astype(np.int64)
        missing = np.flatnonzero(points == NULL)
        if self.null == "random":
            points[missing] = below(self.steps + 1, len(missing), randomness).astype(np.int64)
        elif missing.size:
            points[missing] = self._stand_in
        reports = np.clip(points + noise, -self.law.beyond, self.law.last)
        return cells.reporting(reports.astype(np.int32))

    @property
    def _stand_in(self) -> int:
        return self.steps // 2 if isinstance(self.null, str) else self.null

    def channel(self) -> FiniteChannel:
        law = self.law
        reports = range(-law.beyond, law.last + 1)
        check_entries(self.steps + 1, len(reports))
        rows = [tuple(law.weights_of(code).tolist()) for code in range(self.steps + 1)]
        total = WORDS
        if self.null == "random":
            total *= len(rows)
            null = tuple(map(sum, zip(*rows, strict=True)))
            rows = [tuple(weight * len(rows) for weight in row) for row in rows] + [null]
        elif self.hides_participation:
            rows.append(rows[self._stand_in])
        return FiniteChannel(tuple(rows), tuple(reports), total, self.hides_participation)

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        law, lowest = self.law, NULL if self.hides_participation else 0
        report = check_within("report", reports, -law.beyond, law.last)
        answer = check_within("answer", answers, lowest, self.steps)
        value = law.log_likelihood(report, np.where(answer == NULL, self._stand_in, answer))
        if self.null == "random":
            value = np.where(answer == NULL, law.log_mixture()[report + law.beyond], value)
        return value

    @property
    def is_separable(self) -> bool:
        return not self.hides_participation

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        return (Candidate(3),) if has_grid(domain) else ()

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        return codes_within(codes, -self.beyond, self.steps + self.beyond)

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> Evidence:
        return binned_evidence(self, reports, domain)

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        return plain_numbers(reports, report_cells(reports, self.alphabet, domain).code, domain)

    def odds(self) -> Odds:
        return point_odds(self, self.steps, self.beyond)

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        return cells_guarantee(self.law, answers, unit, delta, exact=False)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        return cells_delta(self.law, epsilon, answers, unit)

    def claim(self, epsilon: float | None = None) -> Claim | None:
        if self.step is None:
            return None
        claimed = (self.steps + 1) * self.law.noise.decay / float(_fraction(self.step))
        return Claim(
            claimed,
            0.0,
            "P4 Thm. 1",
            "uses the number of values where the range matters: the true epsilon per answer is "
            f"{self.law.cell_epsilon:.4g}",
        )

    def as_json(self) -> dict[str, Any]:
        law = {
            "name": self.name,
            "steps": self.steps,
            "centre": str(self.centre),
            "ratio": str(self.ratio),
            "reach": self.reach,
            "null": self.null,
        }
        return law if self.step is None else {**law, "step": self.step}

    @classmethod
    def of_json(cls, document: Any) -> Self:
        fields = mechanism_fields(
            document, cls.name, {"steps", "centre", "ratio", "reach", "null"}, frozenset({"step"})
        )
        return cls(
            integer(fields, "steps"),
            word_weight(fields, "centre"),
            word_weight(fields, "ratio"),
            integer(fields, "reach"),
            fields["null"],
            fields.get("step"),
        )


def _fraction(text: Any) -> Fraction:
    """The size of a step, written as 3 or 1/20."""
    if isinstance(text, str) and re.fullmatch(r"[1-9][0-9]{0,39}(/[1-9][0-9]{0,39})?", text):
        return Fraction(text)
    raise UsageError(f"step must be a fraction above 0, written as text, not {text!r}")
