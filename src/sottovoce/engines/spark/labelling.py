"""What the answers of a table on a cluster are: labels, each with its code, or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.engines.spark.cells import is_text, number_cells, number_fault, plain_cells
from sottovoce.engines.spark.failing import saying
from sottovoce.engines.spark.sources import Source
from sottovoce.errors import DataError
from sottovoce.model import Codes, Domain, Kind
from sottovoce.tables.answer_column import (
    MOST_LABELS,
    Profile,
    kind_by_name,
    label_codes,
    too_many_labels,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

__all__ = ["Answers", "answers_of"]

MOST_DISTINCT = 1_000_000
"""So many different cells of labels are looked at, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The domain of a table's answers, and for labels each different cell with its code.

    A code below 0 stands for a fault.
    """

    domain: Domain
    cells: pa.Array | None = None
    codes: Codes | None = None

    def coded(self, source: Source) -> DataFrame:
        """The source's frame with `value` and `fault` in place of the answers."""
        from pyspark.sql import functions as sql

        if self.cells is None or self.codes is None:
            value, fault = number_cells(source, "answer"), number_fault(source, self.domain)
            return source.frame.withColumns({"value": value, "fault": fault})
        import pyarrow as pa

        table = pa.table({"cell": self.cells, "code": pa.array(self.codes)})
        codes = sql.broadcast(source.frame.sparkSession.createDataFrame(table))
        cell = plain_cells(source, "answer")
        frame = source.frame.withColumn("cell", cell)
        # NULL is one of the cells, and NaN another.
        frame = frame.join(codes, frame["cell"].eqNullSafe(codes["cell"]))
        value = sql.when(sql.col("code") >= 0, sql.col("code"))
        fault = sql.when(sql.col("code") < 0, -sql.col("code")).otherwise(0)
        return frame.withColumns({"value": value, "fault": fault})


def answers_of(source: Source, wanted: Domain | Kind | None) -> Answers:
    """The answers under the domain that is wanted, or inferred when None is."""
    kind = wanted.kind if isinstance(wanted, Domain) else wanted
    guessed = kind is None
    with saying():
        if kind is None:
            kind = _guessed(source)
        if kind is Kind.NUMERIC:
            return Answers(wanted if isinstance(wanted, Domain) else Domain.numeric())
        cells = _distinct(source, MOST_LABELS if guessed else MOST_DISTINCT)
    domain, codes = _coded(cells, wanted if isinstance(wanted, Domain) else kind)
    return Answers(domain, cells, codes)


def _guessed(source: Source) -> Kind:
    from pyspark.sql import functions as sql

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
    from pyspark.sql import functions as sql

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
        _sum(rows, finite), _sum(rows, number.isNotNull() & ~finite),
        _sum(rows, number.isNull() & present),
        sql.coalesce(sql.bool_and(sql.when(finite, number == sql.floor(number))), sql.lit(True)),
        _sum(sql.lit(1), finite),
    ).first()  # fmt: skip
    assert row is not None  # noqa: S101 - an aggregate has one row
    numbers, infinite, texts, whole, distinct = row
    return Profile(int(numbers), int(infinite), int(texts), bool(whole), int(distinct))


def _sum(what: Column, where: Column) -> Column:
    from pyspark.sql import functions as sql

    return sql.coalesce(sql.sum(sql.when(where, what)), sql.lit(0))


def _refuse_mixture(source: Source, profile: Profile) -> None:
    from pyspark.sql import functions as sql

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
    """The different cells, in order; more than so many are refused."""
    cells = source.frame.select(plain_cells(source, "answer").alias("cell")).distinct()
    found = cells.limit(most + 1).toArrow().column("cell").combine_chunks()
    if len(found) > most:
        raise DataError(
            too_many_labels(cells.count()), file=source.name, column=source.columns["answer"]
        )
    return found.take(_order(found))


def _order(cells: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    return pc.array_sort_indices(cells)


def _coded(cells: pa.Array, wanted: Domain | Kind) -> tuple[Domain, Codes]:
    import pyarrow as pa

    names = cells.to_pylist()
    texts = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
    missing = np.array([cell is None or (texts and cell == "") for cell in names], np.bool_)
    lengths = np.array([len(cell) if texts and cell is not None else 0 for cell in names], np.int64)
    return label_codes(names, missing, lengths, wanted)
