"""One-layer randomised response: keep a label, or send another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.evidence import label_evidence, plain_labels
from sottovoce.mechanisms.laws.symmetric_channel import Keeping
from sottovoce.mechanisms.odds import label_odds
from sottovoce.mechanisms.papers import P1
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
class RandomizedResponse:
    """Keep a label, or replace it by a uniformly random other label (P1 Def. 5.1).

        P(report = answer) = keep / 2⁶⁴,   P(report = any other label) = other / 2⁶⁴,
        keep + (s - 1) other = 2⁶⁴

    The guarantee is exact for these integers: ε = ln(keep / other) per answer (P1 Thm. 6.2), and k
    ε per worker, because each answer has independent noise.

    >>> coin = RandomizedResponse.calibrated(Domain.categorical("ab"), 1.0986122886681098)
    >>> round(coin.keep_probability, 9)
    0.75
    """

    labels: int
    other: int

    name: ClassVar[str] = "randomized-response"
    takes: ClassVar[frozenset[Kind]] = LABELS
    null: ClassVar[bool] = False
    alphabet: ClassVar[Alphabet] = Alphabet.LABELS
    hides_participation: ClassVar[bool] = False
    citation: ClassVar[Citation] = Citation("randomised response", *P1)
    hiding: ClassVar[Mapping[str, Any] | None] = None
    whole: ClassVar[bool] = False
    sound_as_published: ClassVar[bool] = True
    listing: ClassVar[Listing | None] = Listing(
        1, "Randomised response: the true label, or another one", keeps_answers=True
    )
    in_browser: ClassVar[bool] = True
    is_separable: ClassVar[bool] = True
    is_plain: ClassVar[bool] = True

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
        law = Keeping.calibrated(
            labels + cls.null, epsilon, unit=unit, delta=delta, answers=answers
        )
        return cls(labels, law.other)

    @property
    def _law(self) -> Keeping:
        return Keeping(self.labels + self.null, self.other)

    @property
    def keep_probability(self) -> float:
        """The probability that the answer itself is sent."""
        return self._law.keep_probability

    def draw(self, workers: int, randomness: Randomness) -> None:
        return None

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        codes = check_answers(cells, self.labels, null=self.null)
        return cells.reporting(self._law.sample(self._symbols(codes), randomness))

    def channel(self) -> FiniteChannel:
        law = self._law.channel()
        return FiniteChannel(law.weights, law.reports, null=self.null)

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        return self._law.log_likelihood(np.asarray(reports), self._symbols(np.asarray(answers)))

    def _symbols(self, codes: npt.NDArray[Any]) -> Codes:
        """NULL, if it is allowed, is the symbol after the last label."""
        if not self.null:
            return codes
        return np.where(codes == NULL, np.int32(self.labels), codes).astype(np.int32, copy=False)

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        return (Candidate(1),) if hidden is cls.null and not domain.is_numeric else ()

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        return codes_within(codes, 0, self._law.symbols - 1)

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> Evidence:
        return label_evidence(self, reports, domain, as_numbers=as_numbers)

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        return plain_labels(reports, self.alphabet, domain)

    def odds(self) -> Odds:
        return label_odds(self, self.labels, null=self.null)

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        return self._law.guarantee(answers, unit, delta)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        return self._law.delta(epsilon, answers, unit)

    def claim(self, epsilon: float | None = None) -> Claim:
        return Claim(
            self._law.epsilon,
            0.0,
            "P1 Thm. 6.2",
            "holds per answer; for k answers of a worker together it is k times that",
        )

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "labels": self.labels, "other": str(self.other)}

    @classmethod
    def of_json(cls, document: Any) -> Self:
        fields = mechanism_fields(document, cls.name, {"labels", "other"})
        return cls(integer(fields, "labels"), word_weight(fields, "other"))
