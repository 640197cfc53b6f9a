"""Cells of a table as Spark's expressions: names, numbers, texts of labels, and their faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sottovoce.engines.spark.sources import Source
from sottovoce.errors import DataError
from sottovoce.model import Domain
from sottovoce.model.reports import LARGEST
from sottovoce.tables.faults import LONGEST, Fault

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["is_text", "name_cells", "name_fault", "number_cells", "number_fault", "plain_cells"]

_WHOLE = frozenset("tinyint smallint int bigint".split())
_FRACTIONS = ("float", "double", "decimal")
_NESTED = ("struct", "map", "array", "binary", "variant")
_NUMBER = r"^\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i)(inf|infinity|nan))\s*$"
"""What a text must look like: Spark's own cast takes `1d` as well."""


def is_text(source: Source, role: str) -> bool:
    """Whether the cells are read as text."""
    kind = source.types[role]
    return kind not in _WHOLE and kind != "boolean" and not kind.startswith(_FRACTIONS)


def plain_cells(source: Source, role: str) -> Column:
    """Text, whole numbers and booleans as they are, fractions as doubles."""
    from pyspark.sql import functions as sql

    kind, cell = source.types[role], sql.col(role)
    if kind in _WHOLE or kind in ("boolean", "string"):
        return cell
    if kind.startswith(_FRACTIONS):
        return cell.cast("double")
    if kind.startswith(_NESTED):
        raise DataError(
            f"holds {kind.partition('<')[0]} values: expected text or numbers",
            file=source.name,
            column=source.columns[role],
        )
    return cell.cast("string")


def name_cells(source: Source, role: str) -> Column:
    """The names of workers or tasks: text, or whole numbers; NULL where there is none."""
    from pyspark.sql import functions as sql

    cell = plain_cells(source, role)
    if not source.types[role].startswith(_FRACTIONS):
        return cell
    return sql.when(~sql.isnan(cell), cell.try_cast("bigint"))


def name_fault(source: Source, role: str) -> Column:
    """What is wrong with a name, or 0."""
    from pyspark.sql import functions as sql

    name = name_cells(source, role)
    if not is_text(source, role):
        return sql.when(name.isNull(), sql.lit(int(Fault.EMPTY))).otherwise(0)
    empty = name.isNull() | (name == "")
    long = sql.length(name) > LONGEST
    return sql.when(empty, sql.lit(int(Fault.EMPTY))).when(long, int(Fault.LONG)).otherwise(0)


def number_cells(source: Source, role: str) -> Column:
    """The cells as numbers; NULL where they are none."""
    from pyspark.sql import functions as sql

    cell = plain_cells(source, role)
    if not is_text(source, role):
        return cell.cast("double")
    return sql.when(cell.rlike(_NUMBER), sql.trim(cell).try_cast("double"))


def number_fault(source: Source, domain: Domain, role: str = "answer") -> Column:
    """What is wrong with a number, or 0."""
    from pyspark.sql import functions as sql

    cell, number = plain_cells(source, role), number_cells(source, role)
    empty = cell.isNull() | (cell == "") if is_text(source, role) else cell.isNull()
    infinite = sql.isnan(number) | (sql.abs(number) == float("inf"))
    low, high = max(domain.low, -LARGEST), min(domain.high, LARGEST)
    return (
        sql.when(empty, sql.lit(int(Fault.EMPTY)))
        .when(number.isNull(), int(Fault.TEXT))
        .when(infinite, int(Fault.INFINITE))
        .when((number < low) | (number > high), int(Fault.OUTSIDE))
        .otherwise(0)
    )
