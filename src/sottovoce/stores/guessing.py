"""Whether a column of answers holds numbers or labels, where nobody says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.errors import DataError
from sottovoce.model import Kind
from sottovoce.stores.coding import Cells, cells_of
from sottovoce.stores.faults import shown
from sottovoce.stores.opening import Table

__all__ = ["FEW_VALUES", "MOST_LABELS", "Profile", "guessed_kind", "kind_by_name"]

FEW_VALUES = 20
"""Up to so many distinct whole numbers are taken for labels."""
MOST_LABELS = 10_000
"""More distinct labels than this are refused where labels were only guessed."""


def guessed_kind(table: Table, role: str) -> Kind:
    """Numbers or labels, by the column's name, else by its type and cells."""
    told = kind_by_name(table.columns[role])
    if told is not None:
        return told
    if table.types[role] == "BOOLEAN":
        return Kind.CATEGORICAL
    cells = cells_of(table, role)
    (distinct,) = table.one(f"SELECT approx_count_distinct({cells.sql}) FROM {table.relation}")
    many = distinct > 2 * MOST_LABELS  # then the estimate is sure enough
    counts = _profile(table, cells, grouped=not many)
    if counts.mixed:
        _refuse_mixture(table, role, counts, cells)
    return counts.kind


def kind_by_name(column: str) -> Kind | None:
    """What a column's name says of its cells, if anything."""
    usual = column.strip().casefold()
    if usual in ("label", "true_label"):
        return Kind.CATEGORICAL
    return Kind.NUMERIC if usual == "value" else None


@dataclass(frozen=True, slots=True)
class Profile:
    """How many cells are numbers, infinite ones, or texts; `distinct` counts finite numbers."""

    numbers: int
    infinite: int
    texts: int
    whole: bool
    distinct: int

    @property
    def mixed(self) -> bool:
        """Whether nobody can tell what the cells are."""
        return self.texts > 0 and self.numbers > 0

    @property
    def kind(self) -> Kind:
        """Numbers, unless they are few and whole; else labels."""
        if self.numbers == 0:
            return Kind.CATEGORICAL
        is_numeric = not self.whole or self.distinct > FEW_VALUES or self.infinite > 0
        return Kind.NUMERIC if is_numeric else Kind.CATEGORICAL

    def complaint(self, cell: object, *, private: bool = False) -> str:
        """What to say of a mixture, of which one cell is shown."""
        here = "here the rarer" if private else f"here {shown(cell)}"
        return (
            f"mixes numbers and text (numbers in {self.numbers:,} rows, text in {self.texts:,}; "
            f"{here}): say --domain categorical if they are labels, or mend the cells"
        )


def _profile(table: Table, cells: Cells, *, grouped: bool) -> Profile:
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
    return Profile(int(row[0]), int(row[1]), int(row[2]), bool(row[3]), int(row[4]))


def _present(sql: str, cells: Cells) -> str:
    return f"{sql} IS NOT NULL" + (f" AND {sql} <> ''" if cells.is_text else "")


def _refuse_mixture(table: Table, role: str, counts: Profile, cells: Cells) -> None:
    rarer = "IS NULL" if counts.texts <= counts.numbers else "IS NOT NULL"
    odd = table.fetch(
        f"SELECT {_present(cells.sql, cells)} AND TRY_CAST({cells.sql} AS DOUBLE) {rarer} AS odd "
        f"FROM {table.relation}"
    )["odd"]
    position = int(np.argmax(odd))
    (cell,) = table.one(f"SELECT {role} FROM {table.relation} LIMIT 1 OFFSET {position}")
    raise DataError(
        counts.complaint(cell, private=table.private),
        file=table.name,
        row=table.row_of(position),
        column=table.columns[role],
    )
