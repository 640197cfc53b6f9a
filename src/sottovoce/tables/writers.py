"""Tables that leave as CSV, JSONL or Parquet: whole files, or piece by piece in constant memory.

A file is written whole or not at all. Piece by piece, a table is its columns' names and an iterator
of chunks; a chunk has a list for each column. A column with `words` holds places among them instead
of the words themselves.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from json.encoder import encode_basestring
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import duckdb
import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import check_target, new_file
from sottovoce.tables.duckdb_connection import (
    connect,
    first_line,
    name_of,
    path_of,
    quiet_database,
    text_of,
)
from sottovoce.tables.input_file import Format, format_of_ending

_OPTIONS: dict[Format, str] = {
    "csv": "FORMAT csv, HEADER",
    "tsv": r"FORMAT csv, HEADER, DELIMITER '\t'",
    "jsonl": "FORMAT json",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
}


def write_columns(
    columns: Mapping[str, npt.NDArray[Any]], path: str | os.PathLike[str], *, force: bool = False
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


Chunk: TypeAlias = Sequence[Sequence[Any]]
"""Columns of one length."""

Words: TypeAlias = Mapping[str, Sequence[Any]]
"""The texts that the numbers in some columns stand for."""

Write: TypeAlias = Callable[[Any], str]
"""How a cell of a column is written."""

Pieces: TypeAlias = Generator[bytes, None, None]
"""Bytes that follow one another; closing it removes what lies on a disk."""

NO_WORDS: Words = MappingProxyType({})

PIECE = 1 << 18
"""Bytes that are read from a file at once."""

CELLS = 1 << 12
"""Written cells of a column that are kept, since the same worker comes again and again."""

MEMORY = "32MB"
"""What DuckDB may use while it writes a file."""

ROW_GROUP = 20_480

LONGEST_LINE = 1 << 17
"""Bytes; a task's name and a label have 10,000 at most."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_QUOTED = re.compile(r'[,"\r\n]|^\s|\s$|^$')


def csv_pieces(
    names: Sequence[str], chunks: Iterable[Chunk], words: Words = NO_WORDS, *, raw: bool = False
) -> Pieces:
    r"""A CSV file in UTF-8.

    Spreadsheets run text that starts with = + - @, a tab or a return as a formula: unless `raw`, it
    gets an apostrophe in front. Numbers are as they are, also where they are text.

    >>> pieces = csv_pieces(["task", "report"], [[["=1+1", "a, b"], [-1.5, "-2"]]])
    >>> b"".join(pieces).decode()
    'task,report\n\'=1+1,-1.5\n"a, b",-2\n'
    """
    yield (",".join(names) + "\n").encode()
    written = [_csv_writer(_raw_cell if raw else _safe_cell, words.get(name)) for name in names]
    for chunk in chunks:
        if chunk[0]:
            yield _csv_lines(chunk, written)


def jsonl_pieces(names: Sequence[str], chunks: Iterable[Chunk], words: Words = NO_WORDS) -> Pieces:
    r"""One JSON object a line, exactly what is there.

    >>> b"".join(jsonl_pieces(["task", "report"], [[["=1+1"], [2]]])).decode()
    '{"task":"=1+1","report":2}\n'
    """
    known = {name: [_json_cell(word) for word in words[name]] for name in words}
    for chunk in chunks:
        if chunk[0]:
            yield ("\n".join(_json_objects(names, chunk, known)) + "\n").encode()


def json_rows(columns: Mapping[str, Sequence[Any]]) -> str:
    """Columns as a JSON list of objects.

    >>> json_rows({"task": ["a", "b"], "truth": [1.5, None]})
    '[{"task":"a","truth":1.5},{"task":"b","truth":null}]'
    """
    if not columns:
        return "[]"
    return f"[{','.join(_json_objects(tuple(columns), tuple(columns.values()), {}))}]"


def parquet_pieces(
    kinds: Mapping[str, str],
    chunks: Iterable[Chunk],
    words: Words = NO_WORDS,
    *,
    folder: Path | None = None,
) -> Pieces:
    """A Parquet file of columns with these SQL types, through a temporary file in `folder`.

    Its index comes last, so it is written before the first byte is sent: the rows as CSV, which
    DuckDB turns into Parquet. Nothing is left when the iterator ends or is closed. OSError where
    there is no room for it.
    """
    with tempfile.TemporaryDirectory(prefix="export-", dir=folder) as temporary:
        rows, path = Path(temporary) / "rows.csv", Path(temporary) / "rows.parquet"
        with rows.open("wb") as stream:
            for line in csv_pieces(tuple(kinds), chunks, words, raw=True):
                stream.write(line)
                yield b""  # whoever has gone meanwhile is not waited for
        _write_parquet(kinds, rows, path)
        rows.unlink()
        with path.open("rb") as stream:
            while piece := stream.read(PIECE):
                yield piece


def _csv_lines(chunk: Chunk, written: Sequence[Write]) -> bytes:
    cells = [map(write, column) for write, column in zip(written, chunk, strict=True)]
    return ("\n".join(map(",".join, zip(*cells, strict=True))) + "\n").encode()


def _csv_writer(write: Write, words: Sequence[Any] | None) -> Write:
    if words is not None:
        return [write(word) for word in words].__getitem__
    # By type: 1 and 1.0 are equal, and written differently.
    return lru_cache(maxsize=CELLS, typed=True)(write)


def _raw_cell(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"' if _QUOTED.search(value) else value
    return "" if value is None else _bare(value)


def _safe_cell(value: Any) -> str:
    if isinstance(value, str) and value.startswith(_FORMULA) and not _NUMBER.fullmatch(value):
        value = "'" + value
    return _raw_cell(value)


def _json_objects(
    names: Sequence[str], chunk: Chunk, known: Mapping[str, Sequence[str]]
) -> list[str]:
    """A text for each row; one template, filled row by row, is the quickest way to them."""
    fields = (json.dumps(name).replace("%", "%%") + ":%s" for name in names)
    template = f"{{{','.join(fields)}}}"
    cells = [
        map(known[name].__getitem__ if name in known else _json_cell, column)
        for name, column in zip(names, chunk, strict=True)
    ]
    return [template % row for row in zip(*cells, strict=True)]


def _json_cell(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    return "null" if value is None else _bare(value)


def _bare(value: object) -> str:
    return repr(value).lower() if isinstance(value, bool) else repr(value)


def _write_parquet(kinds: Mapping[str, str], rows: Path, path: Path) -> None:
    """A table of our own writing, read as it was meant and with little memory."""
    columns = ", ".join(f"{text_of(name)}: {text_of(kind)}" for name, kind in kinds.items())
    scan = (
        f"read_csv({path_of(rows)}, auto_detect = false, header = true, delim = ',', "
        f"quote = '\"', escape = '\"', columns = {{{columns}}}, "
        f"max_line_size = {LONGEST_LINE}, buffer_size = {16 * LONGEST_LINE})"
    )
    # A database of its own: the process's may use most of the machine's memory.
    connection = quiet_database(path.parent, memory_limit=MEMORY, threads="1")
    try:
        connection.execute(
            f"COPY (SELECT * FROM {scan}) TO {text_of(str(path))} "
            f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})"
        )
    except duckdb.IOException:  # its message quotes a path
        raise OSError("the temporary file cannot be written") from None
    finally:
        connection.close()
