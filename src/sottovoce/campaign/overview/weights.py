"""How much workers count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.campaign.overview.bins import Bin, binned
from sottovoce.server.database.results import Columns, Summary

__all__ = ["Weights", "weights_of"]


@dataclass(frozen=True, slots=True)
class Weights:
    """How many workers there are and how their weights spread, or why there are none."""

    workers: int
    why_none: str | None
    histogram: tuple[Bin, ...] = ()


def weights_of(columns: Columns, summary: Summary | None) -> Weights:
    """The weights of a result."""
    finite = columns.weight[np.isfinite(columns.weight)]
    if not len(finite):
        return Weights(len(columns.weight), _why(summary))
    low, high = float(finite.min()), float(finite.max())
    return Weights(len(columns.weight), None, binned(finite, low, high))


def _why(summary: Summary | None) -> str:
    if summary is None:
        return "Weights come with the first result, and nothing is inferred yet."
    if summary.problem is not None:
        return f"There is no result: {summary.problem}."
    return f"The method {summary.method} gives workers no weights."
