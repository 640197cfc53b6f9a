"""A mechanism that the registry does not know: this file is all there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.evidence import label_evidence
from sottovoce.mechanisms.laws.symmetric_channel import Keeping
from sottovoce.mechanisms.odds import label_odds
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
    Alphabet,
    Candidate,
    Cells,
    Citation,
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

__all__ = ["ToyRedraw"]


@dataclass(frozen=True, slots=True)
class ToyRedraw:
    """Sometimes discard the answer, and draw a uniformly random label instead.

    P(report = any label | forgotten) = redrawn / 2⁶⁴ each
    """

    labels: int
    redrawn: int

    name: ClassVar[str] = "toy-redraw"
    takes: ClassVar[frozenset[Kind]] = LABELS
    alphabet: ClassVar[Alphabet] = Alphabet.LABELS
    hides_participation: ClassVar[bool] = False
    citation: ClassVar[Citation] = Citation(
        "a toy that draws some answers again", "Nobody 2031", "N. Nobody: A Toy. Nowhere 2031."
    )
    hiding: ClassVar[Mapping[str, Any] | None] = None
    whole: ClassVar[bool] = False
    sound_as_published: ClassVar[bool] = False
    listing: ClassVar[Listing | None] = Listing(0, "Toy: some answers are drawn again")
    in_browser: ClassVar[bool] = False
    is_separable: ClassVar[bool] = True
    is_plain: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_labels(self.labels)
        check_weight("redrawn", self.redrawn, self._law.most)

    @property
    def _law(self) -> Keeping:
        return Keeping(self.labels, self.redrawn)

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
        labels = label_count(domain, cls.name)
        law = Keeping.calibrated(labels, epsilon, unit=unit, delta=delta, answers=answers)
        return cls(labels, law.other)

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        return () if hidden or domain.is_numeric else (Candidate(0),)

    def draw(self, workers: int, randomness: Randomness) -> None:
        return None

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        codes = check_answers(cells, self.labels)
        drawn = randomness.words(len(codes)) // np.uint64(self.redrawn)
        return cells.reporting(np.where(drawn < self.labels, drawn, codes).astype(np.int32))

    def channel(self) -> FiniteChannel:
        return self._law.channel()

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        return self._law.log_likelihood(np.asarray(reports), np.asarray(answers))

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        return codes_within(codes, 0, self.labels - 1)

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> Evidence:
        return label_evidence(self, reports, domain, as_numbers=as_numbers)

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        return reports

    def odds(self) -> Odds:
        return label_odds(self, self.labels)

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        return self._law.guarantee(answers, unit, delta)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        return self._law.delta(epsilon, answers, unit)

    def claim(self, epsilon: float | None = None) -> None:
        return None

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "labels": self.labels, "redrawn": str(self.redrawn)}

    @classmethod
    def of_json(cls, document: Any) -> Self:
        fields = mechanism_fields(document, cls.name, {"labels", "redrawn"})
        return cls(integer(fields, "labels"), word_weight(fields, "redrawn"))
