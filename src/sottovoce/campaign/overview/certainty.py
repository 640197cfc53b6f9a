"""How sure the truths are, and which of them count as settled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sottovoce.campaign.overview.bins import Bin, binned
from sottovoce.model import Domain, Grid
from sottovoce.server.database.results import Columns

__all__ = ["CONFIDENT", "Certainty", "certainty_of", "is_settled", "threshold_of"]

CONFIDENT = 0.95
"""A label is settled from this confidence on."""

CLOSE = 0.025
"""A number is settled up to this standard error, in parts of the range."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """How many tasks with reports are settled, how many are open, and how sure all of them are.

    Labels have a confidence and are settled from 0.95 on; numbers have a standard error and are
    settled up to 2.5 % of the range.
    """

    kind: str
    threshold: float
    settled: int
    open: int
    histogram: tuple[Bin, ...]


def certainty_of(columns: Columns, domain: Domain) -> Certainty | None:
    """The certainty of a result; None where it has no truths."""
    if not len(columns.place):
        return None
    settled = int(np.count_nonzero(is_settled(columns, domain)))
    finite = columns.certainty[np.isfinite(columns.certainty)]
    high = float(finite.max(initial=threshold_of(domain))) if columns.is_numeric else 1.0
    return Certainty(
        "standard_error" if columns.is_numeric else "confidence",
        threshold_of(domain),
        settled,
        len(columns.place) - settled,
        binned(finite, 0.0, high),
    )


def is_settled(columns: Columns, domain: Domain) -> npt.NDArray[np.bool_]:
    """Which truths are settled; what is not finite is not."""
    if columns.is_numeric:
        return np.asarray(columns.certainty <= threshold_of(domain), np.bool_)
    return np.asarray(columns.certainty >= CONFIDENT, np.bool_)


def threshold_of(domain: Domain) -> float:
    """The confidence of a settled label, or the standard error of a settled number."""
    if not domain.is_numeric:
        return CONFIDENT
    grid = Grid.over(domain)
    return CLOSE * float(grid.high - grid.low)
