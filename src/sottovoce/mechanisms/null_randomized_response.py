"""Randomised response with NULL (no answer) as an additional symbol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sottovoce.mechanisms.papers import P4
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.model import Alphabet, Citation, Claim, Listing


@dataclass(frozen=True, slots=True)
class NullRandomizedResponse(RandomizedResponse):
    """Keep an answer, a label or NULL, or send another of the s + 1 symbols (P4 Eq. 8).

        P(report = answer) = keep / 2⁶⁴,   P(report = any other symbol) = other / 2⁶⁴,
        keep + s · other = 2⁶⁴

    P4 adds NULL to Γ, so each row adds up to 1, and ε = ln(keep / other) per answer exactly,
    between labels and between a label and NULL. Every worker reports on every task; the report
    with code s is NULL.

    >>> from sottovoce.model import Domain
    >>> response = NullRandomizedResponse.calibrated(Domain.ordinal(range(5)), 3.0)
    >>> round(response.keep_probability, 6)
    0.800682
    """

    name: ClassVar[str] = "null-randomized-response"
    null: ClassVar[bool] = True
    alphabet: ClassVar[Alphabet] = Alphabet.LABELS_OR_NULL
    hides_participation: ClassVar[bool] = True
    citation: ClassVar[Citation] = Citation(
        "randomised response with “no answer” as an additional answer", *P4
    )
    hiding: ClassVar[Mapping[str, Any] | None] = {}
    listing: ClassVar[Listing | None] = Listing(
        2, "Randomised response with “no answer” as a label", keeps_answers=True
    )
    is_separable: ClassVar[bool] = False
    is_plain: ClassVar[bool] = False

    def claim(self, epsilon: float | None = None) -> Claim:
        return Claim(self._law.epsilon, 0.0, "P4 §IV-B, Eq. 8", "holds per answer")
