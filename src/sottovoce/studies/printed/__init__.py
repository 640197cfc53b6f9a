"""What the papers print, as data: each table with its source, copied digit by digit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from sottovoce.errors import UsageError

__all__ = ["PrintedTable", "printed"]

Number = int | float


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table of a paper: its columns, its rows, and where it stands."""

    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def column(self, name: str) -> tuple[Any, ...]:
        """The entries of a column, from top to bottom."""
        place = self.columns.index(name)
        return tuple(row[place] for row in self.rows)

    def number(self, column: str, row: Any) -> float:
        """The number in a column, in the row that starts so.

        >>> printed("P1 Table 3").number("two-layer TD", 0.5)
        0.0962
        """
        place = self.columns.index(column)
        return float(next(entries[place] for entries in self.rows if entries[0] == row))


@cache
def printed(name: str) -> PrintedTable:
    """A table by its paper and name, such as `P1 Table 3` or `P4 examples`."""
    paper, _, table = name.partition(" ")
    text = resources.files(__name__).joinpath(f"{paper.lower()}.json").read_text("utf-8")
    document = json.loads(text)
    if table not in document:
        raise UsageError(f"nothing printed is called {name!r}")
    found = document[table]
    source = found.get("source") or f"{document['source']}, {table}"
    rows = tuple(tuple(row) for row in found["rows"])
    return PrintedTable(source, tuple(found["columns"]), rows)
