"""A table that Spark reads: Parquet files or a table of its catalogue, with the place of each row.

A place is one number: the file's position in the order of names, and the row's in the file. It
decides which of two rows comes first, and locates a fault.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from sottovoce.engines.spark.session import spark_errors
from sottovoce.errors import DataError, UsageError
from sottovoce.tables.column_roles import Roles, chosen_columns

_TABLE = "table:"
_ROW_BITS = 36
"""A file has fewer rows than 2³⁶, and there are fewer files than 2²⁷."""


class File(NamedTuple):
    """A file with rows, as rows name it; its size and time identify it."""

    path: str
    size: int
    changed: str


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A frame with the columns worker, task, answer and place.

    `columns` are their names in the source and `types` Spark's types; `files` are numbered as in
    places. A catalogue table that is not a folder of files has none, and places are in the order in
    which Spark reads the rows. No message quotes a cell of a `private` table.
    """

    frame: DataFrame
    name: str
    columns: Mapping[str, str]
    types: Mapping[str, str]
    files: tuple[File, ...]
    private: bool = False

    def place(self, number: int) -> tuple[str, int | None]:
        """The file of a row, and the row's number in it, from 1."""
        if not self.files:
            return self.name, None
        file, row = divmod(number, 1 << _ROW_BITS)
        return self.files[file].path, row + 1


def open_source(
    spark: SparkSession, source: Any, roles: Roles, columns: Mapping[str, str] | None
) -> Source:
    """The table in Parquet files (a path, a pattern, a folder or several), or `table:NAME`."""
    frame, name = _frame(spark, source)
    positions = chosen_columns(frame.columns, roles, columns, name)
    chosen = {role: frame.columns[i] for role, i in positions.items()}
    types = {role: dict(frame.dtypes)[column] for role, column in chosen.items()}
    files = _files(frame)
    return Source(_placed(frame, chosen, files), name, chosen, types, files, roles.private)


def _frame(spark: SparkSession, source: Any) -> tuple[DataFrame, str]:
    paths = _paths(source)
    name = ", ".join(paths)
    with spark_errors():
        try:
            if len(paths) == 1 and name.startswith(_TABLE):
                return spark.table(name.removeprefix(_TABLE)), name.removeprefix(_TABLE)
            return spark.read.parquet(*paths), name
        except AnalysisException as error:
            raise DataError(_unread(error.getCondition() or ""), file=name) from None
        except (PySparkException, Py4JError) as error:
            if "is not a Parquet file" not in str(error):
                raise
            raise DataError("is not a Parquet file, or a truncated one", file=name) from None


def _paths(source: Any) -> list[str]:
    several = isinstance(source, Sequence) and not isinstance(source, str | bytes)
    paths = [os.fspath(each) for each in (source if several else [source])]
    if not paths or not all(isinstance(path, str) for path in paths):
        raise UsageError("a source is a path, a pattern or table:NAME, or several paths")
    for path in paths:
        ending = os.path.splitext(path)[1].lower()
        if ending in (".csv", ".tsv", ".json", ".jsonl", ".gz"):
            raise UsageError(
                f"{path}: the Spark engine reads Parquet; write the table as Parquet, or infer "
                "without engine="
            )
    return paths


def _unread(condition: str) -> str:
    match condition:
        case "PATH_NOT_FOUND":
            return "there is no such file or folder"
        case "TABLE_OR_VIEW_NOT_FOUND":
            return "there is no such table in Spark's catalogue"
        case "UNABLE_TO_INFER_SCHEMA":
            return "there are no Parquet files"
        case _:
            return f"Spark cannot read it ({condition.lower().replace('_', ' ')})"


def _files(frame: DataFrame) -> tuple[File, ...]:
    """All files with rows, in order of their paths."""
    metadata = ("file_path", "file_size", "file_modification_time", "row_index")
    try:
        rows = frame.select(*[f"_metadata.{name}" for name in metadata])
    except AnalysisException:
        return ()
    with spark_errors():
        found = rows.drop("row_index").distinct().collect()
    return tuple(sorted(File(unquote(path), size, str(time)) for path, size, time in found))


def _placed(frame: DataFrame, columns: Mapping[str, str], files: tuple[File, ...]) -> DataFrame:
    roles = [sql.col(f"`{name.replace('`', '``')}`").alias(role) for role, name in columns.items()]
    if not files:
        return frame.select(*roles, sql.monotonically_increasing_id().alias("place"))
    row = sql.col("_metadata.row_index")
    if len(files) == 1:
        return frame.select(*roles, row.alias("place"))
    numbers = frame.sparkSession.createDataFrame(
        [(file.path, number << _ROW_BITS) for number, file in enumerate(files)],
        "path string, first long",
    )
    path = sql.url_decode(sql.col("_metadata.file_path")).alias("path")
    placed = frame.select(*roles, path, row.alias("row")).join(sql.broadcast(numbers), "path")
    place = (sql.col("first") + sql.col("row")).alias("place")
    return placed.select(*columns, place)
