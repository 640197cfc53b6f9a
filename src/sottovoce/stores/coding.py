"""Columns as codes into sorted vocabularies, without a Python object per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.model import Codes, FloatArray, Names
from sottovoce.stores.faults import LONGEST, Fault, Faults
from sottovoce.stores.lookups import looked_up
from sottovoce.stores.opening import Table

__all__ = ["Coded", "codes_of", "fault_of", "is_text", "names_of", "numbers_of", "plain", "vocabulary_of"]

_INTEGERS = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT".split()
)
_FRACTIONS = ("FLOAT", "DOUBLE", "DECIMAL", "HUGEINT", "UHUGEINT")
_NESTED = ("STRUCT", "MAP", "UNION", "BLOB", "BIT")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The distinct cells of a column in order, NULL last, with their hashes."""

    cells: Names
    missing: npt.NDArray[np.bool_]
    hashes: npt.NDArray[np.uint64]
    lengths: npt.NDArray[np.int64]
    expression: str
    hashing: str


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of codes with its names; negative codes are faults."""

    codes: Codes
    names: Names


def plain(table: Table, role: str) -> str:
    """An SQL expression for the column as text, integers, booleans or doubles; '' is NULL."""
    kind = table.types[role]
    if kind == "BOOLEAN" or kind in _INTEGERS:
        return role
    if kind.startswith(_FRACTIONS):
        return f"CAST({role} AS DOUBLE)"
    if kind.startswith(_NESTED) or kind.endswith("]"):
        raise DataError(
            f"holds {kind.partition('(')[0].lower()} values: expected text or numbers",
            file=table.name,
            column=table.columns[role],
        )
    return f"nullif({role}, '')" if kind == "VARCHAR" else f"nullif(CAST({role} AS VARCHAR), '')"


def is_text(table: Table, role: str) -> bool:
    """Whether the column is read as text rather than as numbers or booleans."""
    return plain(table, role).startswith("nullif")


def names_of(table: Table, role: str) -> Coded:
    """A column of worker or task names.

    Text becomes an object array of str (DuckDB makes one str per name, so nothing is copied);
    integers stay integers.
    """
    expression = plain(table, role)
    if expression.startswith("CAST"):
        expression = _whole(table, role, expression)
    vocabulary = vocabulary_of(table, expression)
    good = ~vocabulary.missing & (vocabulary.lengths <= LONGEST)
    codes = np.where(vocabulary.missing, -Fault.EMPTY, -Fault.LONG).astype(np.int32)
    codes[good] = np.arange(np.count_nonzero(good), dtype=np.int32)
    return Coded(codes_of(table, vocabulary, codes), vocabulary.cells[good])


def vocabulary_of(table: Table, expression: str) -> Vocabulary:
    """The distinct values of an expression, sorted, with hashes that differ."""
    length = "length(cell)" if expression.startswith("nullif") else "0"
    for salt in range(8):
        hashing = f"hash({expression})" if salt == 0 else f"hash('{salt}' || {expression})"
        columns = table.fetch(
            f"SELECT cell, {hashing.replace(expression, 'cell')} AS hashed, "
            f"CAST({length} AS BIGINT) AS size "
            f"FROM (SELECT DISTINCT {expression} AS cell FROM {table.relation}) "
            "ORDER BY cell NULLS LAST"
        )
        hashes = np.ma.getdata(columns["hashed"])
        if _distinct(hashes):
            break
    else:
        raise DataError("hashes collide again and again: please report this", file=table.name)
    cells = columns["cell"]
    return Vocabulary(
        np.ma.getdata(cells),
        np.ma.getmaskarray(cells),
        hashes,
        np.ma.filled(columns["size"], 0),
        expression,
        hashing,
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
    expression = plain(table, role)
    text = expression.startswith("nullif")
    number = f"TRY_CAST({expression} AS DOUBLE)" if text else f"CAST({expression} AS DOUBLE)"
    column = table.fetch(f"SELECT {number} AS number FROM {table.relation}")["number"]
    values: FloatArray = np.ma.filled(column, np.nan)
    bad = ~np.isfinite(values)
    if not bad.any():
        return values, None
    kinds = table.fetch(
        f"SELECT CAST(CASE WHEN {expression} IS NULL THEN {Fault.EMPTY} "
        f"WHEN {number} IS NULL THEN {Fault.TEXT} ELSE {Fault.INFINITE} END AS TINYINT) AS kind "
        f"FROM {table.relation}"
    )["kind"]
    if not text:  # a NaN in a frame is how it says that there is no number
        kinds = np.where(np.isnan(values), np.int8(Fault.EMPTY), kinds)
    return values, np.where(bad, np.ma.getdata(kinds), np.int8(0))


def fault_of(codes: Codes) -> Faults | None:
    """The faults that negative codes stand for."""
    if not len(codes) or int(codes.min()) >= 0:
        return None
    return (-np.minimum(codes, 0)).astype(np.int8)


def _whole(table: Table, role: str, expression: str) -> str:
    """Whole numbers in a column of fractions, as pandas makes them when some are missing."""
    (fractions,) = table.one(
        f"SELECT count(*) FROM (SELECT {expression} AS n FROM {table.relation}) "
        "WHERE NOT isnan(n) AND (isinf(n) OR n <> trunc(n) OR abs(n) >= 9e15)"
    )
    if fractions:
        raise DataError(
            f"{role} names are numbers with fractions: expected text or integers",
            file=table.name,
            column=table.columns[role],
        )
    return f"TRY_CAST(CASE WHEN NOT isnan({expression}) THEN {expression} END AS BIGINT)"
