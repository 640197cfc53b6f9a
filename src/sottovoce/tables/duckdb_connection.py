"""DuckDB without a progress bar, downloads, or files in the user's folders."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import cache

import duckdb


def connect() -> duckdb.DuckDBPyConnection:
    """A connection of its own to the process's database in memory; close it to free its tables."""
    return _database(os.getpid()).cursor()


@cache
def _database(process: int) -> duckdb.DuckDBPyConnection:
    """One database a process (20 ms to start; a forked child needs its own).

    What does not fit into memory spills to the system's temporary folder.
    """
    return quiet_database(os.path.join(tempfile.gettempdir(), f"sottovoce-{process}"))


def quiet_database(temporary: str | os.PathLike[str], **settings: str) -> duckdb.DuckDBPyConnection:
    """A new database in memory that spills to the folder `temporary`."""
    offline = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = duckdb.connect(config={**offline, **settings, "temp_directory": str(temporary)})
    # Jupyter without ipywidgets has no progress bar, and DuckDB then refuses every such setting.
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")
    connection.execute("SET python_enable_replacements = false")
    return connection


def text_of(value: str) -> str:
    """A string literal."""
    return "'" + value.replace("'", "''") + "'"


def name_of(value: str) -> str:
    """A quoted identifier."""
    return '"' + value.replace('"', '""') + '"'


def path_of(path: str | os.PathLike[str]) -> str:
    """A literal for the one file at `path`: the letters of a pattern stand for themselves."""
    escaped = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in os.fspath(path))
    return text_of(escaped)


def first_line(error: Exception) -> str:
    """What DuckDB complains about, in one line of at most 200 characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200]
