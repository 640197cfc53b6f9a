"""Columns into a file, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import check_target, new_file
from sottovoce.stores.formats import Format, format_of_ending
from sottovoce.stores.sql import connect, first_line, name_of, text_of

__all__ = ["check_path", "copied", "storable", "write_columns", "write_tables"]

_OPTIONS: dict[Format, str] = {
    "csv": "FORMAT csv, HEADER",
    "tsv": r"FORMAT csv, HEADER, DELIMITER '\t'",
    "jsonl": "FORMAT json",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
}


def write_columns(
    columns: Mapping[str, npt.NDArray[Any]],
    path: str | os.PathLike[str],
    *,
    force: bool = False,
) -> None:
    """Write arrays of one length as CSV, TSV, JSONL (each also `.gz`) or Parquet, by the ending.

    A NaN becomes null in JSONL, which has no word for it.
    """
    write_tables({path: columns}, force=force)


def write_tables(
    tables: Mapping[str | os.PathLike[str], Mapping[str, npt.NDArray[Any]]], *, force: bool = False
) -> None:
    """Write several tables, each to its path as `write_columns` does: all of them or none."""
    with ExitStack() as stack:
        for path in tables:
            check_path(path)
        places = {path: stack.enter_context(new_file(path, force=force)) for path in tables}
        for path, columns in tables.items():
            _save(columns, places[path])


def check_path(path: str | os.PathLike[str], *, force: bool = True) -> None:
    """Refuse a path that could not be written to, before the work and not after it."""
    _options_for(path)
    check_target(path, force=force)


def _save(columns: Mapping[str, npt.NDArray[Any]], path: os.PathLike[str]) -> None:
    options = _options_for(path)
    arrays = [storable(column) for column in columns.values()]
    if not arrays or any(array.shape != (len(arrays[0]),) for array in arrays):
        raise UsageError("a table needs columns, all of one length")
    is_json = options.startswith("FORMAT json")
    select = ", ".join(
        f"{_finite(array, f'c{i}') if is_json else f'c{i}'} AS {name_of(name)}"
        for i, (name, array) in enumerate(zip(columns, arrays, strict=True))
    )
    view = {f"c{i}": array for i, array in enumerate(arrays)}
    copied({"columns": view}, f"SELECT {select} FROM columns", path, options)


def copied(
    views: Mapping[str, Mapping[str, npt.NDArray[Any]]],
    query: str,
    path: os.PathLike[str],
    options: str,
) -> None:
    """Copy the rows of a query over named views of arrays to a file."""
    connection = connect()
    try:
        for name, view in views.items():
            connection.register(name, view)
        connection.execute(f"COPY ({query}) TO {text_of(os.fspath(path))} ({options})")
    except duckdb.IOException:  # its message is long, and about DuckDB's insides
        raise UsageError(f"cannot write {os.path.basename(path)}: is the disk full?") from None
    except duckdb.Error as error:
        raise UsageError(f"cannot write {os.path.basename(path)}: {first_line(error)}") from None
    finally:
        connection.close()


def storable(column: npt.ArrayLike) -> npt.NDArray[Any]:
    """An array as DuckDB takes it: text and mixed labels as objects that are text."""
    array = np.asarray(column)
    if array.dtype.kind not in "UTO":
        return np.ascontiguousarray(array)
    text = np.empty(len(array), dtype=object)
    text[:] = [None if cell is None else str(cell) for cell in array.tolist()]
    return text


def _options_for(path: str | os.PathLike[str]) -> str:
    name = os.path.basename(os.fspath(path)).lower()
    format, gzipped = format_of_ending(path), name.endswith(".gz")
    if format is None or (gzipped and format == "parquet"):
        raise UsageError(
            f"cannot tell from {name!r} what to write: let it end in .csv, .tsv, .jsonl "
            "(each also .gz) or .parquet"
        )
    return _OPTIONS[format] + (", COMPRESSION gzip" if gzipped else "")


def _finite(array: npt.NDArray[Any], column: str) -> str:
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return column
    return f"CASE WHEN isfinite({column}) THEN {column} END"
