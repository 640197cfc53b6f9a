"""Columns as codes into sorted vocabularies, without a Python object per row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.model import Codes, FloatArray, Names
from sottovoce.stores.faults import LONGEST, Fault, Faults
from sottovoce.stores.lookups import looked_up
from sottovoce.stores.opening import Table

__all__ = [
    "Cells",
    "Coded",
    "Vocabulary",
    "cells_of",
    "codes_of",
    "fault_of",
    "name_cells",
    "names_of",
    "number_cells",
    "numbers_of",
    "vocabulary_of",
]

_INTEGERS = frozenset("TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT".split())
_FRACTIONS = ("FLOAT", "DOUBLE", "DECIMAL", "HUGEINT", "UHUGEINT")
_NESTED = ("STRUCT", "MAP", "UNION", "BLOB", "BIT")
_HASHINGS = ("hash({})", *(f"hash('{salt}' || {{}})" for salt in "abcdefg"))
"""The first that keeps the names apart is used; with 64 bits that is the first of all."""


@dataclass(frozen=True, slots=True)
class Cells:
    """An SQL expression for the cells of a column, and what it gives."""

    sql: str
    is_text: bool = False
    is_fraction: bool = False


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The distinct cells of a column in order, with their hashes; `missing`: NULL and empty text.

    `hashing` is the SQL expression that gives a row's hash.
    """

    cells: Names
    missing: npt.NDArray[np.bool_]
    hashes: npt.NDArray[np.uint64]
    lengths: npt.NDArray[np.int64]
    hashing: str


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of codes with its names; negative codes are faults."""

    codes: Codes
    names: Names


def cells_of(table: Table, role: str) -> Cells:
    """How to read the column: text, integers and booleans as they are, fractions as doubles."""
    kind = table.types[role]
    if kind == "VARCHAR":
        return Cells(role, is_text=True)
    if kind == "BOOLEAN" or kind in _INTEGERS:
        return Cells(role)
    if kind.startswith(_FRACTIONS):
        return Cells(f"CAST({role} AS DOUBLE)", is_fraction=True)
    if kind.startswith(_NESTED) or kind.endswith("]"):
        raise DataError(
            f"holds {kind.partition('(')[0].lower()} values: expected text or numbers",
            file=table.name,
            column=table.columns[role],
        )
    return Cells(f"CAST({role} AS VARCHAR)", is_text=True)


def names_of(table: Table, role: str) -> Coded:
    """A column of worker or task names.

    Text becomes an object array of str (DuckDB makes one str per name, so nothing is copied);
    integers stay integers.
    """
    vocabulary = vocabulary_of(table, name_cells(table, role))
    good = ~vocabulary.missing & (vocabulary.lengths <= LONGEST)
    codes = np.where(vocabulary.missing, -Fault.EMPTY, -Fault.LONG).astype(np.int32)
    codes[good] = np.arange(np.count_nonzero(good), dtype=np.int32)
    return Coded(codes_of(table, vocabulary, codes), vocabulary.cells[good])


def name_cells(table: Table, role: str) -> Cells:
    """How to read a column of names: as text or as integers."""
    cells = cells_of(table, role)
    return _whole(table, role, cells) if cells.is_fraction else cells


def vocabulary_of(table: Table, cells: Cells) -> Vocabulary:
    """The distinct cells, sorted, with hashes that differ."""
    length = "length(cell)" if cells.is_text else "0"
    for hashing in _HASHINGS:
        columns = table.fetch(
            f"SELECT cell, {hashing.format('cell')} AS hashed, CAST({length} AS BIGINT) AS size "
            f"FROM (SELECT DISTINCT {cells.sql} AS cell FROM {table.relation}) "
            "ORDER BY cell NULLS LAST"
        )
        hashes = np.ma.getdata(columns["hashed"])
        if _distinct(hashes):
            break
    else:
        raise DataError("hashes collide again and again: please report this", file=table.name)
    distinct, missing = np.ma.getdata(columns["cell"]), np.ma.getmaskarray(columns["cell"]).copy()
    if cells.is_text and distinct[0] == "":  # sorts before every other text
        missing[0] = True
    return Vocabulary(
        distinct, missing, hashes, np.ma.filled(columns["size"], 0), hashing.format(cells.sql)
    )


def _distinct(hashes: npt.NDArray[np.uint64]) -> bool:
    ordered = np.sort(hashes)
    return not (ordered[1:] == ordered[:-1]).any()


def codes_of(table: Table, vocabulary: Vocabulary, codes: Codes) -> Codes:
    """The code of every row, in the order of the source."""
    column = table.fetch(f"SELECT {vocabulary.hashing} AS hashed FROM {table.relation}")["hashed"]
    return looked_up(np.ma.getdata(column), vocabulary.hashes, codes)


def numbers_of(table: Table, role: str) -> tuple[FloatArray, Faults | None]:
    """A column of numbers, NaN where there is none, and what is wrong with those."""
    number, kind = number_cells(table, role)
    column = table.fetch(f"SELECT {number} AS number FROM {table.relation}")["number"]
    values: FloatArray = np.ma.filled(column, np.nan)
    if np.isfinite(values).all():
        return values, None
    kinds = table.fetch(f"SELECT {kind} AS kind FROM {table.relation}")["kind"]
    return values, np.ma.getdata(kinds)


def number_cells(table: Table, role: str) -> tuple[str, str]:
    """SQL for the numbers of a column, NULL where there is none, and for the fault of each or 0."""
    cells = cells_of(table, role)
    number = f"{'TRY_CAST' if cells.is_text else 'CAST'}({cells.sql} AS DOUBLE)"
    empty = f"{cells.sql} IS NULL" + (f" OR {cells.sql} = ''" if cells.is_text else "")
    kind = (
        f"CAST(CASE WHEN {empty} THEN {Fault.EMPTY} WHEN {number} IS NULL THEN {Fault.TEXT} "
        f"WHEN isfinite({number}) THEN 0 ELSE {Fault.INFINITE} END AS TINYINT)"
    )
    return number, kind


def fault_of(codes: Codes) -> Faults | None:
    """The faults that negative codes stand for."""
    if not len(codes) or int(codes.min()) >= 0:
        return None
    return (-np.minimum(codes, 0)).astype(np.int8)


def _whole(table: Table, role: str, cells: Cells) -> Cells:
    """Whole numbers in a column of fractions, as pandas makes them when some are missing."""
    (fractions,) = table.one(
        f"SELECT count(*) FROM (SELECT {cells.sql} AS n FROM {table.relation}) "
        "WHERE NOT isnan(n) AND (isinf(n) OR n <> trunc(n) OR abs(n) >= 9e15)"
    )
    if fractions:
        raise DataError(
            f"{role} names are numbers with fractions: expected text or integers",
            file=table.name,
            column=table.columns[role],
        )
    return Cells(f"TRY_CAST(CASE WHEN NOT isnan({cells.sql}) THEN {cells.sql} END AS BIGINT)")
