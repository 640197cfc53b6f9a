"""Ours beside the paper's: rows of a table, curves of a chart, and a baseline for both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sottovoce.figures import Role, Series
from sottovoce.planning.trials import Spread
from sottovoce.studies.study import Row, Value

__all__ = ["BAND", "beside", "curve", "spread_by", "within"]

BAND = 2.0
"""A band around a mean is so many standard errors wide on each side."""


def spread_by(trials: Sequence[Mapping[str, Any]]) -> dict[str, Spread]:
    """The spread of each number that every trial has, by its name."""
    return {name: Spread.of([trial[name] for trial in trials]) for name in trials[0]}


def beside(place: Mapping[str, Value], ours: Spread, paper: float | None = None) -> Row:
    """A row: where it belongs, ours with its standard error, and the paper's where it prints one.

    >>> beside({"part": "Table 9", "epsilon": 1.0}, Spread.of([0.1, 0.3]), 0.25)["difference"]
    -0.04999999999999999
    """
    row: dict[str, Value] = {
        **place,
        "ours": ours.mean,
        "s.e.": None if math.isnan(ours.standard_error) else ours.standard_error,
    }
    if paper is not None:
        row |= {"paper": paper, "difference": ours.mean - paper}
    return {**row, "trials": ours.trials}


def within(ours: Spread, figure: float, errors: float = BAND) -> bool:
    """Whether a figure lies within so many standard errors of our mean."""
    return abs(ours.mean - figure) <= errors * ours.standard_error


def curve(name: str, xs: Sequence[float], seen: Sequence[Spread], role: Role = "theirs") -> Series:
    """Means over an axis, with two standard errors on each side where they are known."""
    known = all(math.isfinite(spread.standard_error) for spread in seen)
    low = tuple(spread.mean - BAND * spread.standard_error for spread in seen)
    high = tuple(spread.mean + BAND * spread.standard_error for spread in seen)
    means = tuple(spread.mean for spread in seen)
    return Series(
        name, tuple(map(float, xs)), means, low if known else None, high if known else None, role
    )
