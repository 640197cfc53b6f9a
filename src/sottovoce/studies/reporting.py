"""Outcomes as files and words: columns of a CSV, blocks of a page, the verdict in a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.figures import Block, Figure, Heading, Paragraph
from sottovoce.studies.study import Outcome, Size, Study, Value

__all__ = ["TITLE", "blocks", "csv_columns", "verdict_words"]

TITLE = "What Sottovoce claims, checked"


def verdict_words(study: Study, outcome: Outcome, size: Size) -> str:
    """The verdict and why; a quick run says what it left out."""
    words = f"verdict: {outcome.ruling}"
    if size == "quick":
        words += f" (quick run: {study.quick})"
    return f"{words}. {outcome.explanation[0].upper()}{outcome.explanation[1:]}"


def blocks(done: Sequence[tuple[Study, Outcome]], size: Size) -> list[Block]:
    """One page for all studies: claim, verdict, tables, figures."""
    found: list[Block] = []
    for study, outcome in done:
        found += [
            Heading(study.name),
            Paragraph(f"{study.claim}. Source: {study.source}."),
            Paragraph(verdict_words(study, outcome, size)),
            *outcome.tables(),
            *(Figure(chart) for chart in outcome.charts),
            *outcome.details,
        ]
    return found


def csv_columns(outcome: Outcome) -> dict[str, npt.NDArray[Any]]:
    """The rows as columns of one type each; what is missing is empty."""
    return {
        column: _column([row.get(column) for row in outcome.rows]) for column in outcome.columns()
    }


def _column(values: Sequence[Value]) -> npt.NDArray[Any]:
    if any(isinstance(value, str) for value in values):
        return np.array([None if value is None else str(value) for value in values], object)
    if None not in values and all(isinstance(value, int) for value in values):
        return np.array(values, np.int64)
    return np.array([np.nan if value is None else value for value in values], np.float64)
