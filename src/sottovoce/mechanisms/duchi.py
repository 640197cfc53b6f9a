"""One bit per number: the low or the high end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.codes import report_cells
from sottovoce.mechanisms.evidence import listed_evidence, plain_numbers
from sottovoce.mechanisms.laws.geometric import log_probabilities
from sottovoce.mechanisms.laws.symmetric_channel import Keeping
from sottovoce.mechanisms.odds import side_odds
from sottovoce.mechanisms.validation import (
    NUMBERS,
    check_answers,
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
    Words,
)
from sottovoce.seams import Randomness


@dataclass(frozen=True, slots=True)
class Duchi:
    """Send the high end with a probability that grows with the number (Duchi et al. 2018).

        P(high | answer i) = u(i) / 2⁶⁴,   u(i) = other + ⌊(2⁶⁴ - 2 other) i / steps⌋

    u runs from `other` to 2⁶⁴ - other, so the law of any answer lies between those of 0 and of
    `steps`, which are binary randomised response: ε = ln((2⁶⁴ - other) / other), and all guarantees
    are exactly those of randomised response with two labels.

    >>> bit = Duchi.calibrated(Domain.numeric(0, 10, step=0.1), 1.0)
    >>> bit.unbiased([0, 1]).round(3).tolist()
    [-58.198, 158.198]
    """

    steps: int
    other: int

    name: ClassVar[str] = "duchi"
    takes: ClassVar[frozenset[Kind]] = NUMBERS
    alphabet: ClassVar[Alphabet] = Alphabet.ENDS
    hides_participation: ClassVar[bool] = False
    citation: ClassVar[Citation] = Citation(
        "randomised rounding to the ends of the range",
        "Duchi et al. 2018",
        "J. C. Duchi, M. I. Jordan, M. J. Wainwright: Minimax Optimal Procedures for Locally "
        "Private Estimation. Journal of the American Statistical Association 113(521), 2018.",
    )
    hiding: ClassVar[Mapping[str, Any] | None] = None
    whole: ClassVar[bool] = False
    sound_as_published: ClassVar[bool] = False
    listing: ClassVar[Listing | None] = Listing(
        5,
        "Two ends: which end of the range it is nearer to",
        counts="how many of 100 workers send the true end",
    )
    in_browser: ClassVar[bool] = True
    is_separable: ClassVar[bool] = True
    is_plain: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_steps(self.steps)
        check_weight("other", self.other, WORDS // 2 - 1)

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
        """The smallest weight of the wrong end whose exact guarantee is within the target."""
        steps = grid_of(domain, cls.name).steps
        law = Keeping.calibrated(2, epsilon, unit=unit, delta=delta, answers=answers)
        return cls(steps, law.other)

    @property
    def _law(self) -> Keeping:
        return Keeping(2, self.other)

    @property
    def high(self) -> Words:
        """u(0), …, u(steps): the weights of the high end."""
        return _high(self.steps, self.other)

    def draw(self, workers: int, randomness: Randomness) -> None:
        return None

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        codes = check_answers(cells, self.steps + 1)
        return cells.reporting((randomness.words(len(codes)) < self.high[codes]).astype(np.int32))

    def channel(self) -> FiniteChannel:
        return FiniteChannel(tuple((WORDS - u, u) for u in self.high.tolist()), (0, 1))

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        report = check_within("report", reports, 0, 1)
        answer = check_within("answer", answers, 0, self.steps)
        high = log_probabilities(self.high)
        low = log_probabilities(np.uint64(0) - self.high)  # 2⁶⁴ - u, modulo 2⁶⁴
        return np.where(report == 1, high[answer], low[answer])

    def unbiased(self, reports: npt.ArrayLike) -> FloatArray:
        """Codes whose mean is the answer's code: (report - q) steps / (1 - 2q), q = other / 2⁶⁴."""
        wrong = self.other / WORDS
        known = (WORDS - 2 * self.other) / WORDS
        return (np.asarray(reports, np.float64) - wrong) * (self.steps / known)

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        return (Candidate(5),) if has_grid(domain) and not hidden else ()

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        return codes_within(codes, 0, 1)

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> Evidence:
        return listed_evidence(self, reports, domain)

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        """Each end becomes the number whose mean over reports is the answer."""
        cells = report_cells(reports, self.alphabet, domain)
        return plain_numbers(reports, self.unbiased(cells.code), domain)

    def odds(self) -> Odds:
        return side_odds(self, "whose answer is at the same end of the range", "end")

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        return self._law.guarantee(answers, unit, delta)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        return self._law.delta(epsilon, answers, unit)

    def claim(self, epsilon: float | None = None) -> Claim:
        return Claim(
            self._law.epsilon,
            0.0,
            "Duchi, Jordan & Wainwright 2018",
            "holds per answer; for k answers of a worker together it is k times that",
        )

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "steps": self.steps, "other": str(self.other)}

    @classmethod
    def of_json(cls, document: Any) -> Self:
        fields = mechanism_fields(document, cls.name, {"steps", "other"})
        return cls(integer(fields, "steps"), word_weight(fields, "other"))


@lru_cache(maxsize=8)
def _high(steps: int, other: int) -> Words:
    # Products exceed 64 bits, so the table has Python integers.
    table = np.array(
        [other + (WORDS - 2 * other) * i // steps for i in range(steps + 1)], np.uint64
    )
    table.flags.writeable = False
    return table
