"""Any source as a DuckDB relation whose columns are named after their roles.

Sources are files, or frames in memory: pandas, Polars, Arrow, or a mapping of arrays, none of which
is required.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, TypeGuard

import duckdb
import numpy as np

from sottovoce.errors import DataError, UsageError
from sottovoce.tables.column_roles import Roles, chosen_columns
from sottovoce.tables.duckdb_connection import connect, first_line, name_of, path_of, text_of
from sottovoce.tables.input_file import LocalFile
from sottovoce.tables.text_files import (
    check_lines,
    check_records,
    check_text,
    first_keys,
    header,
    line_of_record,
    with_one_line_end,
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame, what it is called in messages, and the names of its columns."""

    data: Any
    kind: str
    names: list[str]


class _Stream:
    """An Arrow stream and nothing else, so that DuckDB reads it without pyarrow."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._data.__arrow_c_stream__(requested_schema)


def frame_of(source: Any) -> Frame:
    """The source as a frame; a UsageError says what is accepted if it is none."""
    libraries = {base.__module__.partition(".")[0] for base in type(source).__mro__}
    if "pandas" in libraries and hasattr(source, "columns"):
        return Frame(source, "the pandas frame", [str(name) for name in source.columns])
    if "polars" in libraries and hasattr(source, "collect"):
        source = source.collect()
    if "polars" in libraries and hasattr(source, "columns"):
        return Frame(source, "the Polars frame", list(source.columns))
    if hasattr(source, "column_names") and hasattr(source, "__arrow_c_stream__"):
        return Frame(source, "the Arrow table", [str(name) for name in source.column_names])
    if isinstance(source, Mapping):
        return Frame(source, "the mapping", [str(name) for name in source])
    raise UsageError(
        f"cannot read a table from {type(source).__name__}: give a path, '-', an open binary "
        "file, a pandas or Polars frame, an Arrow table or a mapping of arrays"
    )


def registered(
    connection: duckdb.DuckDBPyConnection, frame: Frame, positions: Sequence[int]
) -> None:
    """Make the columns at `positions` the view `frame`, named c0, c1 and so on."""
    names = [f"c{i}" for i in range(len(positions))]
    data = frame.data
    if frame.kind == "the mapping":
        view: Any = _arrays(data, positions)
    elif frame.kind == "the pandas frame":
        view = data.iloc[:, list(positions)].set_axis(names, axis=1)
    elif frame.kind == "the Polars frame":
        renamed = {frame.names[place]: name for place, name in zip(positions, names, strict=True)}
        view = _Stream(data[:, list(positions)].rename(renamed))
    else:
        view = _Stream(data.select(list(positions)).rename_columns(names))
    if not len(next(iter(view.values())) if isinstance(view, dict) else data):
        raise DataError("the table has no rows", file=frame.kind)
    connection.register("frame", view)


def _arrays(data: Mapping[Any, Any], positions: Sequence[int]) -> dict[str, Any]:
    values = list(data.values())
    arrays = [_array(values[i]) for i in positions]
    if any(array.ndim != 1 or len(array) != len(arrays[0]) for array in arrays):
        raise DataError("its columns must be lists or arrays of one length", file="the mapping")
    return {f"c{i}": array for i, array in enumerate(arrays)}


def _array(values: Any) -> Any:
    """An array DuckDB can scan: text as objects, which is how it takes it."""
    array = np.asarray(values)
    if array.dtype.kind == "U" and not isinstance(values, np.ndarray):
        array = np.empty(
            len(values), object
        )  # np.asarray would turn [1, "a"] into text of one width
        array[:] = list(values)
    return array.astype(object) if array.dtype.kind in "UT" else array


@dataclass(frozen=True, slots=True)
class Relation:
    """A source that DuckDB can query, and what is needed to speak about it.

    `relation` has one column per role; `columns` are the names these have in the source, `types`
    DuckDB's types. `row_of` turns the position of a row into the number a person would look for:
    the line of a text file, else counted from 1. `dropped` counts rows already left out. No message
    quotes a cell of a `private` table.
    """

    connection: duckdb.DuckDBPyConnection
    name: str
    relation: str
    columns: Mapping[str, str]
    types: Mapping[str, str]
    row_of: Callable[[int], int]
    dropped: Mapping[str, int] = field(default_factory=dict)
    private: bool = False

    def fetch(self, query: str) -> dict[str, Any]:
        """The columns of a query over `relation`, as arrays; masked where there are NULLs."""
        return self.connection.execute(query).fetchnumpy()

    def one(self, query: str) -> tuple[Any, ...]:
        """The only row of a query."""
        row: tuple[Any, ...] | None = self.connection.execute(query).fetchone()
        return row or ()


def is_path(source: object) -> TypeGuard[str | os.PathLike[str] | BinaryIO]:
    """Whether the source names a file, or is one, rather than a frame."""
    return isinstance(source, str | os.PathLike) or hasattr(source, "read")


@contextmanager
def open_relation(
    source: Any, roles: Roles, columns: Mapping[str, str] | None = None, *, drop: bool = False
) -> Iterator[Relation]:
    """The table in a local file or a frame; what DuckDB finds wrong with it becomes one line."""
    connection = connect()
    opening = _Opening(connection, roles, columns, drop)
    is_file = isinstance(source, LocalFile)
    name, kind = (source.name, source.format) if is_file else ("the frame", "a table")
    try:
        table = opening.file(source) if is_file else opening.frame(source)
        yield replace(table, private=roles.private)
    except duckdb.Error as error:
        reason = "" if roles.private else f": {first_line(error)}"
        raise DataError(f"cannot be read as {kind}{reason}", file=name) from None
    finally:
        connection.close()


@dataclass(frozen=True, slots=True)
class _Opening:
    """Opens a source: the roles of its columns, and whether bad records are dropped."""

    connection: duckdb.DuckDBPyConnection
    roles: Roles
    columns: Mapping[str, str] | None
    drop: bool

    def file(self, file: LocalFile) -> Relation:
        match file.format:
            case "parquet":
                return self._parquet(file)
            case "jsonl":
                return self._jsonl(file)
            case _:
                return self._delimited(file)

    def frame(self, source: object) -> Relation:
        frame = frame_of(source)
        positions = chosen_columns(frame.names, self.roles, self.columns, frame.kind)
        registered(self.connection, frame, list(positions.values()))
        select = ", ".join(f"c{i} AS {role}" for i, role in enumerate(positions))
        names = {role: frame.names[i] for role, i in positions.items()}
        return _described(self.connection, frame.kind, f"(SELECT {select} FROM frame)", names)

    def _parquet(self, file: LocalFile) -> Relation:
        check_ends_like_parquet(file)
        scan = f"read_parquet({path_of(file.path)}, hive_partitioning = false)"
        rows = self.connection.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
        names = [str(row[0]) for row in rows]
        positions = chosen_columns(names, self.roles, self.columns, file.name)
        select = ", ".join(f"{name_of(names[i])} AS {role}" for role, i in positions.items())
        chosen = {role: names[i] for role, i in positions.items()}
        return _described(self.connection, file.name, f"(SELECT {select} FROM {scan})", chosen)

    def _jsonl(self, file: LocalFile) -> Relation:
        check_text(file)
        names = first_keys(file)
        positions = chosen_columns(names, self.roles, self.columns, file.name)
        chosen = {role: names[i] for role, i in positions.items()}
        types = ", ".join(f"{text_of(name)}: 'VARCHAR'" for name in chosen.values())
        scan = (
            f"read_ndjson({path_of(file.path)}, columns = {{{types}}}, "
            f"compression = '{'gzip' if file.gzipped else 'none'}', maximum_object_size = 67108864)"
        )
        select = ", ".join(f"{name_of(name)} AS {role}" for role, name in chosen.items())
        try:
            self.connection.execute(f"CREATE TEMP TABLE rows AS SELECT {select} FROM {scan}")
        except duckdb.Error:
            check_lines(file)
            raise
        return _described(
            self.connection, file.name, "rows", chosen, lambda position: check_lines(file, position)
        )

    def _delimited(self, file: LocalFile) -> Relation:
        delimiter = "\t" if file.format == "tsv" else ","
        marks = check_text(file)
        blank, names = header(file, delimiter)
        positions = chosen_columns(names, self.roles, self.columns, file.name)
        if not marks.paired:
            check_records(file, delimiter, None if self.drop else len(names))
        select = ", ".join(f"c{i} AS {role}" for role, i in positions.items())
        with with_one_line_end(file, delimiter) if marks.mixed else nullcontext(file) as uniform:
            scan = _csv_scan(uniform, delimiter, blank, len(names), self.drop)
            try:
                self.connection.execute(f"CREATE TEMP TABLE rows AS SELECT {select} FROM {scan}")
            except duckdb.Error:
                check_records(file, delimiter, len(names))
                raise
        return _described(
            self.connection,
            file.name,
            "rows",
            {role: names[i] for role, i in positions.items()},
            lambda position: line_of_record(file, delimiter, len(names), position),
            _rejected(self.connection) if self.drop else {},
        )


def check_ends_like_parquet(file: LocalFile) -> None:
    """Refuse a file without Parquet's marks at both ends."""
    with file.path.open("rb") as stream:
        begins = stream.read(4)
        stream.seek(-min(4, file.path.stat().st_size), os.SEEK_END)
        ends = stream.read(4)
    if begins != b"PAR1":
        raise DataError("is not a Parquet file, despite its name", file=file.name)
    if ends != b"PAR1" or file.path.stat().st_size < 12:
        raise DataError("is a truncated Parquet file: create or download it again", file=file.name)


def _csv_scan(file: LocalFile, delimiter: str, blank: int, fields: int, drop: bool) -> str:
    """Read as text, nothing guessed: the header was read before."""
    types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(fields))
    return (
        f"read_csv({path_of(file.path)}, auto_detect = false, skip = {blank}, header = true, "
        f"delim = {text_of(delimiter)}, quote = '\"', escape = '\"', strict_mode = true, "
        f"compression = '{'gzip' if file.gzipped else 'none'}', columns = {{{types}}}"
        f"{', store_rejects = true, rejects_limit = 0' if drop else ''})"
    )


def _rejected(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    row = connection.execute("SELECT count(DISTINCT line) FROM reject_errors").fetchone()
    return {"wrong number of fields": row[0]} if row and row[0] else {}


def _described(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    relation: str,
    columns: Mapping[str, str],
    row_of: Callable[[int], int] = lambda position: position + 1,
    dropped: Mapping[str, int] | None = None,
) -> Relation:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    types = {str(row[0]): str(row[1]) for row in rows}
    return Relation(connection, name, relation, columns, types, row_of, dropped or {})
