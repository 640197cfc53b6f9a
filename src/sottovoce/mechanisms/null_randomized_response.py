"""Randomised response with NULL (no answer) as an additional symbol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.evidence import label_evidence, plain_labels
from sottovoce.mechanisms.laws.symmetric_channel import Keeping
from sottovoce.mechanisms.odds import label_odds
from sottovoce.mechanisms.papers import P4
from sottovoce.mechanisms.validation import (
    LABELS,
    check_answers,
    check_labels,
    check_weight,
    codes_within,
    integer,
    label_count,
    mechanism_fields,
    word_weight,
)
from sottovoce.model import (
    NULL,
    Alphabet,
    Candidate,
    Cells,
    Citation,
    Claim,
    Codes,
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
from sottovoce.seams import Randomness


@dataclass(frozen=True, slots=True)
class NullRandomizedResponse:
    """Keep an answer, a label or NULL, or send another of the s + 1 symbols (P4 Eq. 8).

        P(report = answer) = keep / 2⁶⁴,   P(report = any other symbol) = other / 2⁶⁴,
        keep + s · other = 2⁶⁴

    P4 adds NULL to Γ, so each row adds up to 1, and ε = ln(keep / other) per answer exactly,
    between labels and between a label and NULL. Every worker reports on every task; the report
    with code s is NULL.

    >>> response = NullRandomizedResponse.calibrated(Domain.ordinal(range(5)), 3.0)
    >>> round(response.keep_probability, 6)
    0.800682
    """

    labels: int
    other: int

    name: ClassVar[str] = "null-randomized-response"
    takes: ClassVar[frozenset[Kind]] = LABELS
    alphabet: ClassVar[Alphabet] = Alphabet.LABELS_OR_NULL
    hides_participation: ClassVar[bool] = True
    citation: ClassVar[Citation] = Citation(
        "randomised response with “no answer” as an additional answer", *P4
    )
    hiding: ClassVar[Mapping[str, Any] | None] = {}
    whole: ClassVar[bool] = False
    sound_as_published: ClassVar[bool] = True
    listing: ClassVar[Listing | None] = Listing(
        2, "Randomised response with “no answer” as a label", keeps_answers=True
    )
    in_browser: ClassVar[bool] = True
    is_separable: ClassVar[bool] = False
    is_plain: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_labels(self.labels)
        check_weight("other", self.other, self._law.most)

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
        """The smallest weight of other symbols whose exact guarantee is within the target."""
        labels = label_count(domain, cls.name)
        law = Keeping.calibrated(labels + 1, epsilon, unit=unit, delta=delta, answers=answers)
        return cls(labels, law.other)

    @property
    def _law(self) -> Keeping:
        return Keeping(self.labels + 1, self.other)

    @property
    def keep_probability(self) -> float:
        """The probability that the answer itself is sent."""
        return self._law.keep_probability

    def draw(self, workers: int, randomness: Randomness) -> None:
        return None

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        codes = check_answers(cells, self.labels, null=True)
        return cells.reporting(self._law.sample(self._symbols(codes), randomness))

    def channel(self) -> FiniteChannel:
        law = self._law.channel()
        return FiniteChannel(law.weights, law.reports, null=True)

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        return self._law.log_likelihood(np.asarray(reports), self._symbols(np.asarray(answers)))

    def _symbols(self, codes: npt.NDArray[Any]) -> Codes:
        """NULL is the symbol after the last label."""
        return np.where(codes == NULL, np.int32(self.labels), codes).astype(np.int32, copy=False)

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        return (Candidate(1),) if hidden and not domain.is_numeric else ()

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        return codes_within(codes, 0, self.labels)

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> Evidence:
        return label_evidence(self, reports, domain, as_numbers=as_numbers)

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        return plain_labels(reports, self.alphabet, domain)

    def odds(self) -> Odds:
        return label_odds(self, self.labels, null=True)

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        return self._law.guarantee(answers, unit, delta)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        return self._law.delta(epsilon, answers, unit)

    def claim(self, epsilon: float | None = None) -> Claim:
        return Claim(self._law.epsilon, 0.0, "P4 §IV-B, Eq. 8", "holds per answer")

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "labels": self.labels, "other": str(self.other)}

    @classmethod
    def of_json(cls, document: Any) -> Self:
        fields = mechanism_fields(document, cls.name, {"labels", "other"})
        return cls(integer(fields, "labels"), word_weight(fields, "other"))
