"""Whether a column of answers holds numbers or labels, where nobody says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.errors import DataError
from sottovoce.model import Kind
from sottovoce.stores.coding import Cells, cells_of
from sottovoce.stores.faults import shown
from sottovoce.stores.opening import Table

__all__ = ["FEW_VALUES", "MOST_LABELS", "guessed_kind"]

FEW_VALUES = 20
"""Up to so many distinct whole numbers are taken for labels."""
MOST_LABELS = 10_000
"""More distinct labels than this are refused where labels were only guessed."""


def guessed_kind(table: Table, role: str) -> Kind:
    """Numbers or labels, by the column's name, else by its type and cells."""
    usual = table.columns[role].strip().casefold()
    if usual in ("label", "true_label") or table.types[role] == "BOOLEAN":
        return Kind.CATEGORICAL
    if usual == "value":
        return Kind.NUMERIC
    cells = cells_of(table, role)
    (distinct,) = table.one(f"SELECT approx_count_distinct({cells.sql}) FROM {table.relation}")
    many = distinct > 2 * MOST_LABELS  # then the estimate is sure enough
    counts = _profile(table, cells, grouped=not many)
    if counts.texts and counts.numbers:
        _refuse_mixture(table, role, counts, cells)
    if counts.numbers == 0:
        return Kind.CATEGORICAL
    is_numeric = not counts.whole or many or counts.distinct > FEW_VALUES or counts.infinite > 0
    return Kind.NUMERIC if is_numeric else Kind.CATEGORICAL


@dataclass(frozen=True, slots=True)
class _Profile:
    numbers: int
    infinite: int
    texts: int
    whole: bool
    distinct: int


def _profile(table: Table, cells: Cells, *, grouped: bool) -> _Profile:
    count, group = ("count(*)", "GROUP BY cell") if grouped else ("1", "")
    row = table.one(
        "SELECT coalesce(sum(rows) FILTER (isfinite(n)), 0), "
        "coalesce(sum(rows) FILTER (NOT isfinite(n)), 0), "
        f"coalesce(sum(rows) FILTER (n IS NULL AND {_present('cell', cells)}), 0), "
        "coalesce(bool_and(n = trunc(n)) FILTER (isfinite(n)), true), "
        "count(*) FILTER (isfinite(n)) FROM "
        f"(SELECT cell, TRY_CAST(cell AS DOUBLE) AS n, rows FROM (SELECT cell, {count} AS rows "
        f"FROM (SELECT {cells.sql} AS cell FROM {table.relation}) {group}))"
    )
    return _Profile(int(row[0]), int(row[1]), int(row[2]), bool(row[3]), int(row[4]))


def _present(sql: str, cells: Cells) -> str:
    return f"{sql} IS NOT NULL" + (f" AND {sql} <> ''" if cells.is_text else "")


def _refuse_mixture(table: Table, role: str, counts: _Profile, cells: Cells) -> None:
    rarer = "IS NULL" if counts.texts <= counts.numbers else "IS NOT NULL"
    odd = table.fetch(
        f"SELECT {_present(cells.sql, cells)} AND TRY_CAST({cells.sql} AS DOUBLE) {rarer} AS odd "
        f"FROM {table.relation}"
    )["odd"]
    position = int(np.argmax(odd))
    (cell,) = table.one(f"SELECT {role} FROM {table.relation} LIMIT 1 OFFSET {position}")
    here = "here the rarer" if table.private else f"here {shown(cell)}"
    raise DataError(
        f"mixes numbers and text (numbers in {counts.numbers:,} rows, text in {counts.texts:,}; "
        f"{here}): say --domain categorical if they are labels, or mend the cells",
        file=table.name,
        row=table.row_of(position),
        column=table.columns[role],
    )
