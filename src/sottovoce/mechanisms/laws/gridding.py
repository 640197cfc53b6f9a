"""What mechanisms for numbers share: answers are the points 0, …, steps of a public grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.checking import check_integer
from sottovoce.model import Domain, Grid, Kind
from sottovoce.model.grid import FINEST

__all__ = [
    "FARTHEST",
    "MOST_ENTRIES",
    "NUMBERS",
    "check_entries",
    "check_steps",
    "check_within",
    "grid_of",
    "has_grid",
]

NUMBERS = frozenset({Kind.NUMERIC, Kind.ORDINAL})

MOST_ENTRIES = 1 << 22
"""The largest channel that is written out."""

FARTHEST = 1 << 30
"""Points of the grid beyond which no noise is believed."""


def grid_of(domain: Domain, mechanism: str) -> Grid:
    """The grid of a domain; labels without an order are refused."""
    if domain.kind not in NUMBERS:
        raise UsageError(
            f"{mechanism} takes numbers or labels in order, not {domain}: use randomized-response"
        )
    return Grid.over(domain)


def has_grid(domain: Domain) -> bool:
    """Whether answers are numbers, or labels in order that are evenly spaced."""
    if domain.kind is not Kind.ORDINAL:
        return domain.is_numeric
    try:
        Grid.over(domain)
    except UsageError:
        return False
    return True


def check_steps(steps: Any) -> None:
    """Refuse a grid with no step, or with too many."""
    check_integer("steps", steps, 1, FINEST)


def check_entries(answers: int, reports: int) -> None:
    """Refuse to write out a channel that nobody could use."""
    if answers * reports > MOST_ENTRIES:
        raise UsageError(
            f"the channel has {answers:,} answers and {reports:,} reports, more than "
            f"{MOST_ENTRIES:,} entries: use log_likelihood, or a coarser step"
        )


def check_within(what: str, codes: npt.ArrayLike, low: int, high: int) -> npt.NDArray[np.int64]:
    """Codes, all from low to high; the error names the row and never the code."""
    given = np.asarray(codes)
    wrong = (given < low) | (given > high)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0]) + 1
        raise DataError(f"{what} {row:,} is not a code from {low:,} to {high:,}", row=row)
    return given.astype(np.int64)
