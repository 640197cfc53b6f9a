"""What the answers are: as the user says, or as the column shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Codes, Domain, FloatArray, Kind, Label
from sottovoce.stores.coding import (
    Cells,
    cells_of,
    codes_of,
    fault_of,
    numbers_of,
    vocabulary_of,
)
from sottovoce.stores.faults import LONGEST, Fault, Faults, shown
from sottovoce.stores.opening import Table

__all__ = ["Answers", "answers_of", "parse_domain", "sorted_labels"]

FEW_VALUES = 20
"""Up to so many distinct whole numbers are taken for labels."""
MOST_LABELS = 10_000
"""More distinct labels than this are refused where labels were only guessed."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The column of answers, its domain and its faults."""

    values: Codes | FloatArray
    domain: Domain
    faults: Faults | None


def parse_domain(text: str) -> Domain | Kind:
    """A domain as the command line writes it.

    >>> parse_domain("numeric:0..10")
    Domain(kind=<Kind.NUMERIC: 'numeric'>, labels=(), low=0.0, high=10.0)
    >>> parse_domain("ordinal:G,P,R,X").labels
    ('G', 'P', 'R', 'X')
    >>> parse_domain("categorical")
    <Kind.CATEGORICAL: 'categorical'>
    """
    name, colon, rest = text.partition(":")
    try:
        kind = Kind(name.strip().lower())
    except ValueError:
        raise UsageError(
            f"no domain {text!r}: say categorical, ordinal, numeric, numeric:0..10, "
            "ordinal:low,mid,high or categorical:yes,no"
        ) from None
    if not colon:
        return kind
    if kind is Kind.NUMERIC:
        return _parse_range(text, rest)
    labels = [label.strip() for label in rest.split(",")]
    if not all(labels):
        raise UsageError(f"the domain {text!r} has an empty label: write {kind}:first,second")
    return Domain(kind, tuple(labels))


def _parse_range(text: str, rest: str) -> Domain:
    low, dots, high = rest.partition("..")
    try:
        numbers = float(low), float(high)
    except ValueError:
        numbers = (np.nan, np.nan)
    if not dots or np.isnan(numbers).any():
        raise UsageError(f"the domain {text!r} has no range: write numeric:0..10")
    return Domain.numeric(*numbers)


def answers_of(table: Table, wanted: Domain | Kind | None, role: str = "answer") -> Answers:
    """The answers under the domain that is wanted, or inferred when None is."""
    kind = wanted.kind if isinstance(wanted, Domain) else wanted
    guessed = kind is None
    if kind is None:
        kind = _inferred(table, role)
    if kind is Kind.NUMERIC:
        domain = wanted if isinstance(wanted, Domain) else Domain.numeric()
        return _numbers(table, domain, role)
    return _labels(table, wanted if isinstance(wanted, Domain) else kind, role, guessed=guessed)


def _numbers(table: Table, domain: Domain, role: str) -> Answers:
    values, faults = numbers_of(table, role)
    with np.errstate(invalid="ignore"):
        outside = (values < domain.low) | (values > domain.high)
    if outside.any():
        faults = np.zeros(len(values), np.int8) if faults is None else faults
        faults = np.where(outside & (faults == 0), np.int8(Fault.OUTSIDE), faults)
    return Answers(values, domain, faults)


def _labels(table: Table, wanted: Domain | Kind, role: str, *, guessed: bool) -> Answers:
    vocabulary = vocabulary_of(table, cells_of(table, role))
    if guessed and len(vocabulary.cells) > MOST_LABELS:
        raise DataError(
            f"{len(vocabulary.cells):,} distinct labels: are they numbers (--domain numeric) or "
            "ids, or is it another column (--columns answer=…)? --domain categorical takes them",
            file=table.name,
            column=table.columns[role],
        )
    cells = [_scalar(cell) for cell in vocabulary.cells]
    usable = ~vocabulary.missing & (vocabulary.lengths <= LONGEST)
    if isinstance(wanted, Domain):
        domain = wanted
    else:
        found = [
            cell for cell, good in zip(cells, usable, strict=True) if good and cell is not None
        ]
        domain = Domain(wanted, tuple(sorted_labels(found)) or ("",))
    places = {_key(label): code for code, label in enumerate(domain.labels)}
    codes = np.array([places.get(_key(cell), -Fault.UNKNOWN) for cell in cells], np.int32)
    codes[vocabulary.lengths > LONGEST] = -Fault.LONG
    codes[vocabulary.missing | np.array([cell is None for cell in cells])] = -Fault.EMPTY
    values = codes_of(table, vocabulary, codes)
    return Answers(values, domain, fault_of(values))


def sorted_labels(labels: list[Label]) -> list[Label]:
    """By number where all are numbers, else as text."""
    try:
        return sorted(labels, key=lambda label: (float(label), str(label)))
    except ValueError:
        return sorted(labels, key=str)


def _scalar(cell: Any) -> Label | None:
    """A Python label; whole fractions become integers, since that is what pandas made them of."""
    value: Label = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(value, float):
        if np.isnan(value):
            return None
        return int(value) if value.is_integer() else value
    return value


def _key(label: Label | None) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _inferred(table: Table, role: str) -> Kind:
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
    raise DataError(
        f"mixes numbers and text ({counts.numbers:,} numbers, {counts.texts:,} other cells; here "
        f"{shown(cell)}): say --domain categorical if they are labels, or mend the cells",
        file=table.name,
        row=table.row_of(position),
        column=table.columns[role],
    )
