"""The Parquet files of a large table, in order: one DuckDB relation with a column for each role.

Also the fingerprint that distinguishes one table from another.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from sottovoce.engines.chunked.columns import Located
from sottovoce.errors import DataError, UsageError
from sottovoce.tables.column_roles import Roles, chosen_columns
from sottovoce.tables.duckdb_connection import (
    first_line,
    name_of,
    path_of,
    quiet_database,
    text_of,
)
from sottovoce.tables.input_file import format_of_ending, local_file
from sottovoce.tables.relation import Relation, check_ends_like_parquet

_LETTERS = "*?["
_HIDDEN = ("_", ".")
"""Prefixes of file names that belong to the program that wrote the folder."""


class Files(NamedTuple):
    """The table's name in messages, and its files."""

    name: str
    paths: tuple[Path, ...]


def parquet_files(source: Any) -> Files:
    """The files that a path, a pattern, a folder or a list of them names; each is checked."""
    if isinstance(source, str | os.PathLike):
        paths, name = _named(os.fspath(source)), os.fspath(source)
    elif isinstance(source, Iterable) and not hasattr(source, "read"):
        parts = [each for each in source if isinstance(each, str | os.PathLike)]
        if not parts:
            raise _unreadable()
        paths = [path for each in parts for path in _named(os.fspath(each))]
        name = os.fspath(parts[0]) if len(parts) == 1 else f"{len(paths):,} files"
    else:
        raise _unreadable()
    seen: set[Path] = set()
    for path in paths:
        if path in seen:
            raise UsageError(f"{path} is named twice: its answers would count twice")
        seen.add(path)
        _check(path)
    return Files(name, tuple(paths))


def _unreadable() -> UsageError:
    return UsageError(
        "a large table is Parquet files: give a path, a pattern, a folder or a list of them"
    )


def _named(text: str) -> list[Path]:
    if text == "-":
        raise UsageError(
            "the chunked engine reads a table more than once: give files, not a stream"
        )
    path = Path(text)
    if path.is_dir():
        found = sorted(p for p in path.rglob("*.parquet") if _is_shown(p.relative_to(path)))
        if not found:
            raise DataError("is a folder without Parquet files (*.parquet)", file=text)
        return [p for p in found if p.is_file()]
    if not path.exists() and any(letter in text for letter in _LETTERS):
        matches = sorted(Path(match) for match in glob.glob(text, recursive=True))
        if not matches:
            raise DataError("no file matches this", file=text)
        return [p for match in matches for p in (_named(str(match)) if match.is_dir() else [match])]
    return [path]


def _is_shown(path: Path) -> bool:
    return not any(part.startswith(_HIDDEN) for part in path.parts)


def _check(path: Path) -> None:
    with local_file(path) as file:  # reports the fault of a file that cannot be read
        if file.format == "parquet" or format_of_ending(path) == "parquet":
            check_ends_like_parquet(file)
            return
        raise DataError(
            f"is {file.format}: the chunked engine reads Parquet; convert it (in DuckDB: COPY "
            "'table.csv' TO 'table.parquet'), or infer without engine=",
            file=file.name,
        )


def fingerprint(paths: Iterable[Path]) -> list[list[Any]]:
    """A digest that changes with any file: name, size, time and Parquet footer."""
    return [[path.name, *_state(path)] for path in paths]


def _state(path: Path) -> tuple[int, int, str]:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            file.seek(-8, os.SEEK_END)
            length = int.from_bytes(file.read(4), "little")
            file.seek(-min(length + 8, status.st_size), os.SEEK_END)
            footer = hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(path)) from None
    return status.st_size, status.st_mtime_ns, footer


MEMORY = 2 << 30
"""DuckDB's default memory, if the machine has that much to spare."""
LEAST_MEMORY = 256 << 20
SPILL = ".spill"
"""The folder for DuckDB's temporary files."""


def database(work: Path, memory: int | None) -> duckdb.DuckDBPyConnection:
    """A separate database with little memory: the process's own may use most of the machine's."""
    if memory is not None and memory < LEAST_MEMORY:
        raise UsageError(
            f"memory= must be at least {LEAST_MEMORY >> 20} MiB, not {memory:,} bytes: less would "
            "only be slow"
        )
    return quiet_database(work / SPILL, memory_limit=f"{MEMORY if memory is None else memory}B")


@contextmanager
def duckdb_errors(name: str) -> Iterator[None]:
    """Turn DuckDB's errors about a table into one line."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise DataError("needs more memory than memory= allows: allow more", file=name) from None
    except duckdb.Error as error:
        raise DataError(f"cannot be read as parquet: {first_line(error)}", file=name) from None


def located(
    connection: duckdb.DuckDBPyConnection,
    files: Files,
    roles: Roles,
    columns: Mapping[str, str] | None,
) -> Located:
    """The table in these files; the first file's columns are used and must be in all files."""
    paths = [str(path) for path in files.paths]
    _refuse_packed(connection, paths)
    found = _names(connection, paths)
    names = found[0]
    positions = chosen_columns(names, roles, columns, paths[0])
    chosen = {role: names[place] for role, place in positions.items()}
    for path, others in zip(paths, found, strict=True):
        for name in chosen.values():
            if name not in others:
                raise DataError(f"there is no column {name!r}, which {paths[0]} has", file=path)
    rows = _rows(connection, paths)
    if not sum(rows.values()):
        raise DataError("the table has a header but no rows", file=files.name)
    select = ", ".join(f"{name_of(name)} AS {role}" for role, name in chosen.items())
    relation = _relation(select, paths)
    described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    types = {str(row[0]): str(row[1]) for row in described}
    table = Relation(connection, files.name, relation, chosen, types, lambda position: position + 1)
    return Located(table, rows, tuple(_relation(select, [path]) for path in paths))


def _relation(select: str, paths: list[str]) -> str:
    # By name and with a common type: files of one table may come from different programs.
    union = ", union_by_name = true" if len(paths) > 1 else ""
    return f"(SELECT {select} FROM read_parquet({_list(paths)}, hive_partitioning = false{union}))"


def _list(paths: list[str]) -> str:
    return "[" + ", ".join(path_of(path) for path in paths) + "]"


def _refuse_packed(connection: duckdb.DuckDBPyConnection, paths: list[str]) -> None:
    row = connection.execute(
        f"SELECT file_name FROM parquet_kv_metadata({_list(paths)}) "
        f"WHERE key = {text_of('sottovoce')}::BLOB LIMIT 1"
    ).fetchone()
    if row is not None:
        raise DataError(
            "is a packed table, which fits into memory: infer without engine=", file=str(row[0])
        )


def _names(connection: duckdb.DuckDBPyConnection, paths: list[str]) -> list[list[str]]:
    """The columns of each file."""
    first = connection.execute(f"DESCRIBE SELECT * FROM read_parquet({_list(paths[:1])})")
    names = [str(row[0]) for row in first.fetchall()]
    if len(paths) == 1:
        return [names]
    rows = connection.execute(
        f"SELECT file_name, list(name) FROM parquet_schema({_list(paths)}) GROUP BY file_name"
    ).fetchall()
    found: dict[str, Any] = dict(rows)
    return [names, *(found[path] for path in paths[1:])]


def _rows(connection: duckdb.DuckDBPyConnection, paths: list[str]) -> dict[str, int]:
    rows = connection.execute(
        f"SELECT file_name, num_rows FROM parquet_file_metadata({_list(paths)})"
    ).fetchall()
    found = {os.fspath(name): int(count) for name, count in rows}
    return {path: found[path] for path in paths}
