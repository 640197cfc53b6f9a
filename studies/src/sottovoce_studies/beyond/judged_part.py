"""A part of study `calibration`: what its cells are, and how their results are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sottovoce.figures import Chart, Table
from sottovoce_studies.cells import Cell
from sottovoce_studies.rulings import Statement
from sottovoce_studies.study import Row

__all__ = ["Groups", "Judged", "Placed"]

Placed: TypeAlias = tuple[tuple[Any, ...], Cell]
"""A cell with its place in a part."""

Groups: TypeAlias = Mapping[tuple[Any, ...], Sequence[Any]]
"""The results of a part's cells by their place."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The rows of a part, the statements that they decide, charts and tables."""

    rows: Sequence[Row]
    statements: Sequence[Statement]
    charts: Sequence[Chart] = ()
    details: Sequence[Table] = ()
