"""Parquet files as one DuckDB relation whose columns are named after their roles."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from sottovoce.engines.chunked.rows import Located
from sottovoce.engines.chunked.sources import Files
from sottovoce.errors import DataError, UsageError
from sottovoce.tables.column_roles import Roles, chosen_columns
from sottovoce.tables.duckdb_connection import first_line, name_of, path_of, text_of
from sottovoce.tables.relation import Table

__all__ = ["LEAST_MEMORY", "MEMORY", "SPILL", "database", "located", "saying"]

MEMORY = 2 << 30
"""What DuckDB may use where nobody says, if the machine has as much to spare."""
LEAST_MEMORY = 256 << 20
SPILL = ".spill"
"""Where DuckDB puts what is not to be held in memory."""


def database(work: Path, memory: int | None) -> duckdb.DuckDBPyConnection:
    """A database of its own, with little memory: the process's may use most of the machine's."""
    if memory is not None and memory < LEAST_MEMORY:
        raise UsageError(
            f"--memory is at least {LEAST_MEMORY >> 20} MiB, not {memory:,} bytes: less would only "
            "be slow"
        )
    connection = duckdb.connect(
        config={
            "memory_limit": f"{MEMORY if memory is None else memory}B",
            "temp_directory": str(work / SPILL),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET python_enable_replacements = false")
    return connection


@contextmanager
def saying(name: str) -> Iterator[None]:
    """What DuckDB finds wrong with a table, as one line."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise DataError("needs more memory than --memory allows: allow more", file=name) from None
    except duckdb.Error as error:
        raise DataError(f"cannot be read as parquet: {first_line(error)}", file=name) from None


def located(
    connection: duckdb.DuckDBPyConnection,
    files: Files,
    roles: Roles,
    columns: Mapping[str, str] | None,
) -> Located:
    """The table in these files; columns are chosen by the first and must be in all."""
    paths = [str(path) for path in files.paths]
    _refuse_packed(connection, paths)
    found = _names(connection, paths)
    names = found[0]
    positions = chosen_columns(names, roles, columns, paths[0])
    chosen = {role: names[place] for role, place in positions.items()}
    for path, others in zip(paths, found, strict=True):
        for name in chosen.values():
            if name not in others:
                raise DataError(f"there is no column {name!r}, as {paths[0]} has", file=path)
    rows = _rows(connection, paths)
    if not sum(rows.values()):
        raise DataError("the table has a header but no rows", file=files.name)
    select = ", ".join(f"{name_of(name)} AS {role}" for role, name in chosen.items())
    relation = _relation(select, paths)
    described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    types = {str(row[0]): str(row[1]) for row in described}
    table = Table(connection, files.name, relation, chosen, types, lambda position: position + 1)
    return Located(table, rows, tuple(_relation(select, [path]) for path in paths))


def _relation(select: str, paths: list[str]) -> str:
    # By name and with a common type: files of one table are not always written by one program.
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
            "is a packed table, which fits into memory: infer without --engine", file=str(row[0])
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
