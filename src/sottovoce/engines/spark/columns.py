"""The columns of a table on a cluster, as Spark expressions: names, and labels or numbers.

Each label has a code. Unusable rows are refused with their place, or counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from sottovoce.engines.spark.session import spark_errors
from sottovoce.engines.spark.source import Source
from sottovoce.errors import DataError
from sottovoce.model import Codes, Domain, Kind
from sottovoce.model.reports import LARGEST
from sottovoce.tables.answer_column import (
    MOST_LABELS,
    Profile,
    kind_by_name,
    label_codes,
    too_many_labels,
)
from sottovoce.tables.faults import LONGEST, REASONS, Fault, complaint

_WHOLE = frozenset("tinyint smallint int bigint".split())
_FRACTIONS = ("float", "double", "decimal")
_NESTED = ("struct", "map", "array", "binary", "variant")
_NUMBER = r"^\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i)(inf|infinity|nan))\s*$"
"""The accepted form of a number: Spark's own cast also takes `1d`."""


def is_text(source: Source, role: str) -> bool:
    """Whether the cells are read as text."""
    kind = source.types[role]
    return kind not in _WHOLE and kind != "boolean" and not kind.startswith(_FRACTIONS)


def plain_cells(source: Source, role: str) -> Column:
    """Text, whole numbers and booleans unchanged, fractions as doubles."""
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
    """The names of workers or tasks: text, or whole numbers; NULL if missing."""
    cell = plain_cells(source, role)
    if not source.types[role].startswith(_FRACTIONS):
        return cell
    return sql.when(~sql.isnan(cell), cell.try_cast("bigint"))


def name_fault(source: Source, role: str) -> Column:
    """The fault of a name, or 0."""
    name = name_cells(source, role)
    if not is_text(source, role):
        return sql.when(name.isNull(), sql.lit(int(Fault.EMPTY))).otherwise(0)
    empty = name.isNull() | (name == "")
    long = sql.length(name) > LONGEST
    return sql.when(empty, sql.lit(int(Fault.EMPTY))).when(long, int(Fault.LONG)).otherwise(0)


def number_cells(source: Source, role: str) -> Column:
    """The cells as numbers; NULL if they are none."""
    cell = plain_cells(source, role)
    if not is_text(source, role):
        return cell.cast("double")
    return sql.when(cell.rlike(_NUMBER), sql.trim(cell).try_cast("double"))


def number_fault(source: Source, domain: Domain, role: str = "answer") -> Column:
    """The fault of a number, or 0."""
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


MOST_DISTINCT = 1_000_000
"""The most different cells of labels that are collected."""


@dataclass(frozen=True, slots=True, eq=False)
class SparkAnswers:
    """The domain of a table's answers, and for labels each different cell with its code.

    A code below 0 means a fault.
    """

    domain: Domain
    cells: pa.Array | None = None
    codes: Codes | None = None

    def coded(self, source: Source) -> DataFrame:
        """The source's frame with `value` and `fault` in place of the answers."""
        if self.cells is None or self.codes is None:
            value, fault = number_cells(source, "answer"), number_fault(source, self.domain)
            return source.frame.withColumns({"value": value, "fault": fault})
        table = pa.table({"cell": self.cells, "code": pa.array(self.codes)})
        codes = sql.broadcast(source.frame.sparkSession.createDataFrame(table))
        cell = plain_cells(source, "answer")
        frame = source.frame.withColumn("cell", cell)
        # NULL is one of the cells, and NaN another.
        frame = frame.join(codes, frame["cell"].eqNullSafe(codes["cell"]))
        value = sql.when(sql.col("code") >= 0, sql.col("code"))
        fault = sql.when(sql.col("code") < 0, -sql.col("code")).otherwise(0)
        return frame.withColumns({"value": value, "fault": fault})


def answers_of(source: Source, wanted: Domain | Kind | None) -> SparkAnswers:
    """The answers under the given domain, or under the inferred one for None."""
    kind = wanted.kind if isinstance(wanted, Domain) else wanted
    guessed = kind is None
    with spark_errors():
        if kind is None:
            kind = _guessed(source)
        if kind is Kind.NUMERIC:
            return SparkAnswers(wanted if isinstance(wanted, Domain) else Domain.numeric())
        cells = _distinct(source, MOST_LABELS if guessed else MOST_DISTINCT)
    domain, codes = _coded(cells, wanted if isinstance(wanted, Domain) else kind)
    return SparkAnswers(domain, cells, codes)


def _guessed(source: Source) -> Kind:
    told = kind_by_name(source.columns["answer"])
    if told is not None:
        return told
    if source.types["answer"] == "boolean":
        return Kind.CATEGORICAL
    cell = plain_cells(source, "answer")
    cells = source.frame.select(cell.alias("cell"), number_cells(source, "answer").alias("number"))
    estimate = cells.agg(sql.approx_count_distinct("cell")).first()
    many = estimate is not None and estimate[0] > 2 * MOST_LABELS
    profile = _profile(cells, source, grouped=not many)
    if profile.mixed:
        _refuse_mixture(source, profile)
    return profile.kind


def _profile(cells: DataFrame, source: Source, *, grouped: bool) -> Profile:
    rows = sql.col("rows")
    counted = (
        cells.groupBy("cell", "number").agg(sql.count("*").alias("rows"))
        if grouped
        else cells.withColumn("rows", sql.lit(1))
    )
    number, cell = sql.col("number"), sql.col("cell")
    present = cell.isNotNull() & (cell != "") if is_text(source, "answer") else cell.isNotNull()
    finite = number.isNotNull() & ~sql.isnan(number) & (sql.abs(number) != float("inf"))
    row = counted.agg(
        _sum(rows, finite),
        _sum(rows, number.isNotNull() & ~finite),
        _sum(rows, number.isNull() & present),
        sql.coalesce(sql.bool_and(sql.when(finite, number == sql.floor(number))), sql.lit(True)),
        _sum(sql.lit(1), finite),
    ).first()
    assert row is not None  # noqa: S101 - an aggregate has one row
    numbers, infinite, texts, whole, distinct = row
    return Profile(int(numbers), int(infinite), int(texts), bool(whole), int(distinct))


def _sum(what: Column, where: Column) -> Column:
    return sql.coalesce(sql.sum(sql.when(where, what)), sql.lit(0))


def _refuse_mixture(source: Source, profile: Profile) -> None:
    cell, number = plain_cells(source, "answer"), number_cells(source, "answer")
    present = cell.isNotNull() & (cell != "")
    rarer = number.isNull() if profile.texts <= profile.numbers else number.isNotNull()
    odd = source.frame.where(present & rarer)
    first: Any = odd.select(sql.min_by("answer", "place"), sql.min("place")).first()
    file, row = source.place(int(first[1]))
    raise DataError(
        profile.complaint(first[0], private=source.private),
        file=file,
        row=row,
        column=source.columns["answer"],
    )


def _distinct(source: Source, most: int) -> pa.Array:
    """The different cells, in order; too many are refused."""
    cells = source.frame.select(plain_cells(source, "answer").alias("cell")).distinct()
    found = cells.limit(most + 1).toArrow().column("cell").combine_chunks()
    if len(found) > most:
        raise DataError(
            too_many_labels(cells.count()), file=source.name, column=source.columns["answer"]
        )
    return found.take(_order(found))


def _order(cells: pa.Array) -> pa.Array:
    return pc.array_sort_indices(cells)


def _coded(cells: pa.Array, wanted: Domain | Kind) -> tuple[Domain, Codes]:
    names = cells.to_pylist()
    texts = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
    missing = np.array([cell is None or (texts and cell == "") for cell in names], np.bool_)
    lengths = np.array([len(cell) if texts and cell is not None else 0 for cell in names], np.int64)
    return label_codes(names, missing, lengths, wanted)


_ROLES = ("worker", "task", "answer")


class Checked:
    """The valid rows as `worker`, `task`, `value` and `place`, and the number of all rows."""

    def __init__(self, frame: DataFrame, rows: int, dropped: dict[str, int]) -> None:
        self.frame, self.rows, self.dropped = frame, rows, dropped

    @property
    def sound(self) -> int:
        """The number of valid rows."""
        return self.rows - sum(self.dropped.values())


def checked(source: Source, answers: SparkAnswers, *, drop: bool) -> Checked:
    """One pass over all rows; the first fault is raised, or with `drop` all are counted."""
    _check_whole(source)
    coded = answers.coded(source)
    faults = {role: name_fault(source, role) for role in ("worker", "task")}
    faults["answer"] = sql.col("fault")
    with spark_errors():
        rows, counts, first = _counted(coded, faults)
        if not rows:
            raise DataError("the table has no rows", file=source.name)
        if counts and not drop:
            _raise_first(source, answers, coded, faults, first)
    if sum(counts.values()) == rows:
        raise DataError("no row is left after dropping the bad ones", file=source.name)
    faulty = faults["worker"] + faults["task"] + faults["answer"]
    sound = coded.where(~(faulty > 0)) if counts else coded
    names = {role: name_cells(source, role) for role in ("worker", "task")}
    frame = sound.withColumns(names).select("worker", "task", "value", "place")
    return Checked(frame, rows, counts)


def _counted(coded: DataFrame, faults: dict[str, Column]) -> tuple[int, dict[str, int], int | None]:
    """The number of rows, the number with each fault (a row counts once), and the first place."""
    reason = sql.lit(None).cast("int")
    for number, role in reversed(list(enumerate(_ROLES))):
        reason = sql.when(faults[role] > 0, faults[role] + number * len(Fault)).otherwise(reason)
    by_reason = coded.groupBy(reason.alias("reason")).agg(
        sql.count("*").alias("rows"), sql.min("place").alias("first")
    )
    rows, counts, firsts = 0, {}, []
    for row in sorted(by_reason.collect(), key=lambda row: row.reason or 0):
        rows += row.rows
        if row.reason is not None:
            role, fault = divmod(row.reason - 1, len(Fault))
            counts[REASONS[Fault(fault + 1)].format(_ROLES[role])] = int(row.rows)
            firsts.append(int(row.first))
    return rows, counts, min(firsts, default=None)


def _raise_first(
    source: Source,
    answers: SparkAnswers,
    coded: DataFrame,
    faults: dict[str, Column],
    first: int | None,
) -> None:
    here = coded.where(sql.col("place") == sql.lit(first))
    cells = [plain_cells(source, role).alias(f"{role}_cell") for role in _ROLES]
    kinds = [faults[role].alias(role) for role in _ROLES]
    row: Any = here.select(*cells, *kinds).first()
    role = next(role for role in _ROLES if row[role])
    file, number = source.place(first or 0)
    raise DataError(
        complaint(
            Fault(row[role]), role, row[f"{role}_cell"], answers.domain, private=source.private
        ),
        file=file,
        row=number,
        column=source.columns[role],
    )


def _check_whole(source: Source) -> None:
    """Refuse names that are numbers with fractions."""
    for role in ("worker", "task"):
        if not source.types[role].startswith(("float", "double", "decimal")):
            continue
        name = plain_cells(source, role)
        odd = ~sql.isnan(name) & ((name != sql.floor(name)) | (sql.abs(name) >= 9e15))
        with spark_errors():
            found = source.frame.where(odd).limit(1).count()
        if found:
            raise DataError(
                f"{role} names are numbers with fractions: expected text or integers",
                file=source.name,
                column=source.columns[role],
            )
