"""The papers' printed tables as data, compared with our results in rows and curves.

Each table names its source, and its numbers are copied exactly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.figures import Role, Series
from sottovoce.planning.trials import Spread
from sottovoce_studies.study import Row, Value

__all__ = ["BAND", "PrintedTable", "compared_row", "curve", "printed", "spread_by", "within"]


BAND = 2.0
"""Half the width of a band around a mean, in standard errors."""


def spread_by(trials: Sequence[Mapping[str, Any]]) -> dict[str, Spread]:
    """The spread of each number that every trial has, by its name."""
    return {name: Spread.of([trial[name] for trial in trials]) for name in trials[0]}


def compared_row(place: Mapping[str, Value], ours: Spread, paper: float | None = None) -> Row:
    """A row with its place, our mean and standard error, and the paper's number if there is one.

    >>> compared_row({"part": "Table 9", "epsilon": 1.0}, Spread.of([0.1, 0.3]), 0.25)["difference"]
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
    """Whether a figure is within this number of standard errors of our mean."""
    return abs(ours.mean - figure) <= errors * ours.standard_error


def curve(name: str, xs: Sequence[float], seen: Sequence[Spread], role: Role = "theirs") -> Series:
    """Means over an axis, with a band of two standard errors where these are known."""
    known = all(math.isfinite(spread.standard_error) for spread in seen)
    low = tuple(spread.mean - BAND * spread.standard_error for spread in seen)
    high = tuple(spread.mean + BAND * spread.standard_error for spread in seen)
    means = tuple(spread.mean for spread in seen)
    return Series(
        name, tuple(map(float, xs)), means, low if known else None, high if known else None, role
    )


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table of a paper: its columns, its rows and its source."""

    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def column(self, name: str) -> tuple[Any, ...]:
        """The entries of a column, from top to bottom."""
        place = self.columns.index(name)
        return tuple(row[place] for row in self.rows)

    def number(self, column: str, row: Any) -> float:
        """The number in a column, in the row with this first entry.

        >>> printed("P1 Table 3").number("two-layer TD", 0.5)
        0.0962
        """
        place = self.columns.index(column)
        return float(next(entries[place] for entries in self.rows if entries[0] == row))


@cache
def printed(name: str) -> PrintedTable:
    """A table by its paper and name, such as `P1 Table 3` or `P4 examples`."""
    paper, _, table = name.partition(" ")
    text = resources.files(__package__).joinpath("data", f"{paper.lower()}.json").read_text("utf-8")
    document = json.loads(text)
    if table not in document:
        raise UsageError(f"no printed table is called {name!r}")
    found = document[table]
    source = found.get("source") or f"{document['source']}, {table}"
    rows = tuple(tuple(row) for row in found["rows"])
    return PrintedTable(source, tuple(found["columns"]), rows)
