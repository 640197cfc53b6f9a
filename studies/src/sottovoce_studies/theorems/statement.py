"""A paper's figure, always shown with the correct one; parameters outside its scope are refused."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray
from sottovoce.model.guarantee import check_count, check_number

__all__ = ["Published", "check_between", "check_positive", "check_whole", "open_probabilities"]


LEAST = 1e-50


def check_positive(**named: float) -> None:
    """Refuse a value that is not above 0, or whose powers leave the range of floats."""
    for name, value in named.items():
        check_number(name, value)
        if not LEAST <= value <= 1 / LEAST:
            raise UsageError(
                f"{name} must be above 0, from {LEAST:g} to {1 / LEAST:g}, not {value:g}"
            )


def check_between(low: float, high: float, **named: float) -> None:
    """Refuse a value that is not strictly between two numbers."""
    for name, value in named.items():
        check_number(name, value)
        if not low < value < high:
            raise UsageError(f"{name} must lie between {low:g} and {high:g}, not {value:g}")


def check_whole(**named: int) -> None:
    """Refuse anything but a whole number of at least 1."""
    for name, value in named.items():
        check_count(name, value)
        if value < 1:
            raise UsageError(f"{name} must be at least 1, not {value}")


def open_probabilities(name: str, values: npt.ArrayLike) -> FloatArray:
    """The values as a list of probabilities that are neither 0 nor 1."""
    array = np.atleast_1d(np.asarray(values, np.float64))
    if array.ndim != 1 or not array.size:
        raise UsageError(f"{name} must be a list of probabilities, one per worker")
    wrong = array[~((array > 0) & (array < 1))]
    if wrong.size:
        raise UsageError(
            f"{name} must lie between 0 and 1, not {wrong[0]:g}; a worker who is never or always "
            "wrong has an infinite weight: use 0.98 or 0.02, as TD does"
        )
    return array


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The value of a paper's formula, and the proven value for the same parameters.

    `holds` is whether the claim follows, at these parameters, from what is proven: a bound holds if
    it is no sharper than `sound`, a value if it equals it. `note` says what is wrong in general.

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
