"""A paper's figure, never shown without what holds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sottovoce.errors import UsageError

__all__ = ["Published"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What a paper's formula gives, beside what is proven of the same parameters.

    `holds` says whether the claim follows, at these parameters, from what is proven: a bound holds
    if it is no sharper than `sound`, a value if it equals it. `note` says what is wrong in general.

    >>> print(Published(value=0.5, sound=0.75, holds=False, source="P1 eq. 6", note="A slip."))
    P1 eq. 6 prints 0.5; does not hold; sound: 0.75. A slip.
    """

    value: float
    sound: float
    holds: bool
    source: str
    note: str

    def __post_init__(self) -> None:
        if math.isnan(self.value) or math.isnan(self.sound):
            raise UsageError(f"{self.source} has no value at these parameters; choose others")

    def __str__(self) -> str:
        verdict = "holds here" if self.holds else "does not hold"
        figures = f"{self.source} prints {self.value:.6g}; {verdict}; sound: {self.sound:.6g}."
        return f"{figures} {self.note}"
