"""Columns as codes into sorted vocabularies, without a Python object per row.

A code is the place of a row's hash in the vocabulary: cheap because a row is 8 bytes whatever its
text is; exact because the vocabulary's hashes are checked to be distinct and every row's hash is
one of them. Names can be put in the order in which the table first uses them (`in_order`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.inference.steps.arithmetic import COMPILED_FROM, compiled
from sottovoce.model import Codes, FloatArray, Names
from sottovoce.tables.faults import LONGEST, Fault, Faults
from sottovoce.tables.relation import Relation


def order_of_appearance(values: npt.NDArray[np.integer[Any]], size: int) -> npt.NDArray[np.intp]:
    """The distinct values among 0 … size − 1, in order of appearance."""
    rows = len(values)
    first = np.full(size, -1, np.int64)
    first[values[::-1]] = np.arange(rows - 1, -1, -1)  # the earliest row is written last
    is_first = np.zeros(rows, np.bool_)
    is_first[first[first >= 0]] = True
    return values[is_first].astype(np.intp)


def in_order(codes: Codes, names: Names) -> tuple[Codes, Names]:
    """The same column with its names in order of appearance; names that do not appear are gone."""
    order = order_of_appearance(codes, len(names))
    places = np.empty(len(names), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places[codes], names[order]


_CHANGED = "the table changed while it was read: read it again"
Hashes: TypeAlias = npt.NDArray[np.uint64]


def looked_up(rows: Hashes, vocabulary: Hashes, codes: Codes) -> Codes:
    """codes[i] for each row whose hash is vocabulary[i]."""
    if len(rows) < COMPILED_FROM:
        return looked_up_plain(rows, vocabulary, codes)
    return looked_up_compiled(rows, vocabulary, codes)


def looked_up_plain(rows: Hashes, vocabulary: Hashes, codes: Codes) -> Codes:
    """By binary search: the specification."""
    order = np.argsort(vocabulary)
    places: npt.NDArray[np.intp] = order[
        np.searchsorted(vocabulary[order], rows).clip(max=len(order) - 1)
    ]
    if not np.array_equal(vocabulary[places], rows):
        raise DataError(_CHANGED)
    return codes[places]


def looked_up_compiled(rows: Hashes, vocabulary: Hashes, codes: Codes) -> Codes:
    """By a table with open addressing, at most half full."""
    size = 1 << max(1, 2 * len(vocabulary) - 1).bit_length()
    keys, places = np.zeros(size, np.uint64), np.full(size, -1, np.int32)
    result = np.empty(len(rows), np.int32)
    if not _kernel()(rows, vocabulary, codes, keys, places, result):
        raise DataError(_CHANGED)
    return result


@cache
def _kernel() -> Callable[..., Any]:
    return compiled(_fill_and_find)


def _fill_and_find(
    rows: Hashes, vocabulary: Hashes, codes: Codes, keys: Hashes, places: Codes, result: Codes
) -> bool:  # pragma: no cover - compiled
    mask = np.uint64(len(keys) - 1)
    one = np.uint64(1)
    for i in range(len(vocabulary)):
        slot = vocabulary[i] & mask
        while places[slot] >= 0:
            slot = (slot + one) & mask
        keys[slot] = vocabulary[i]
        places[slot] = i
    for row in range(len(rows)):
        slot = rows[row] & mask
        while places[slot] >= 0 and keys[slot] != rows[row]:
            slot = (slot + one) & mask
        if places[slot] < 0:
            return False
        result[row] = codes[places[slot]]
    return True


_INTEGERS = frozenset("TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT".split())
_FRACTIONS = ("FLOAT", "DOUBLE", "DECIMAL", "HUGEINT", "UHUGEINT")
_NESTED = ("STRUCT", "MAP", "UNION", "BLOB", "BIT")
_HASHINGS = ("hash({})", *(f"hash('{salt}' || {{}})" for salt in "abcdefg"))
"""The first that keeps the names apart is used; with 64 bits that is the first of all."""


@dataclass(frozen=True, slots=True)
class SqlCells:
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


def cells_of(table: Relation, role: str) -> SqlCells:
    """How to read the column: text, integers and booleans as they are, fractions as doubles."""
    kind = table.types[role]
    if kind == "VARCHAR":
        return SqlCells(role, is_text=True)
    if kind == "BOOLEAN" or kind in _INTEGERS:
        return SqlCells(role)
    if kind.startswith(_FRACTIONS):
        return SqlCells(f"CAST({role} AS DOUBLE)", is_fraction=True)
    if kind.startswith(_NESTED) or kind.endswith("]"):
        raise DataError(
            f"holds {kind.partition('(')[0].lower()} values: expected text or numbers",
            file=table.name,
            column=table.columns[role],
        )
    return SqlCells(f"CAST({role} AS VARCHAR)", is_text=True)


def names_of(table: Relation, role: str) -> Coded:
    """A column of worker or task names.

    Text becomes an object array of str (DuckDB makes one str per name, so nothing is copied);
    integers stay integers.
    """
    vocabulary = vocabulary_of(table, name_cells(table, role))
    good = ~vocabulary.missing & (vocabulary.lengths <= LONGEST)
    codes = np.where(vocabulary.missing, -Fault.EMPTY, -Fault.LONG).astype(np.int32)
    codes[good] = np.arange(np.count_nonzero(good), dtype=np.int32)
    return Coded(codes_of(table, vocabulary, codes), vocabulary.cells[good])


def name_cells(table: Relation, role: str) -> SqlCells:
    """How to read a column of names: as text or as integers."""
    cells = cells_of(table, role)
    return _whole(table, role, cells) if cells.is_fraction else cells


def vocabulary_of(table: Relation, cells: SqlCells) -> Vocabulary:
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


def codes_of(table: Relation, vocabulary: Vocabulary, codes: Codes) -> Codes:
    """The code of every row, in the order of the source."""
    column = table.fetch(f"SELECT {vocabulary.hashing} AS hashed FROM {table.relation}")["hashed"]
    return looked_up(np.ma.getdata(column), vocabulary.hashes, codes)


def numbers_of(table: Relation, role: str) -> tuple[FloatArray, Faults | None]:
    """A column of numbers, NaN where there is none, and what is wrong with those."""
    number, kind = number_cells(table, role)
    column = table.fetch(f"SELECT {number} AS number FROM {table.relation}")["number"]
    values: FloatArray = np.ma.filled(column, np.nan)
    if np.isfinite(values).all():
        return values, None
    kinds = table.fetch(f"SELECT {kind} AS kind FROM {table.relation}")["kind"]
    return values, np.ma.getdata(kinds)


def number_cells(table: Relation, role: str) -> tuple[str, str]:
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


def _whole(table: Relation, role: str, cells: SqlCells) -> SqlCells:
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
    return SqlCells(f"TRY_CAST(CASE WHEN NOT isnan({cells.sql}) THEN {cells.sql} END AS BIGINT)")
