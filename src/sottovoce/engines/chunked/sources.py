"""The Parquet files of a large table, in order, and what tells one table from another."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from sottovoce.errors import DataError, UsageError
from sottovoce.tables.input_file import format_of_ending, local_file
from sottovoce.tables.relation import check_ends_like_parquet

__all__ = ["Files", "fingerprint", "parquet_files"]

_LETTERS = "*?["
_HIDDEN = ("_", ".")
"""What the names of files begin with that belong to whoever wrote the others."""


class Files(NamedTuple):
    """What the table is called in messages, and its files."""

    name: str
    paths: tuple[Path, ...]


def parquet_files(source: Any) -> Files:
    """The files that a path, a pattern, a folder or several of them name; each looked at."""
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
        raise UsageError("--engine chunked reads a table more than once: give files, not a stream")
    path = Path(text)
    if path.is_dir():
        found = sorted(p for p in path.rglob("*.parquet") if _is_shown(p.relative_to(path)))
        if not found:
            raise DataError("is a folder without Parquet files (*.parquet)", file=text)
        return [p for p in found if p.is_file()]
    if not path.exists() and any(letter in text for letter in _LETTERS):
        matches = sorted(Path(match) for match in glob.glob(text, recursive=True))
        if not matches:
            raise DataError("no file is named like this", file=text)
        return [p for match in matches for p in (_named(str(match)) if match.is_dir() else [match])]
    return [path]


def _is_shown(path: Path) -> bool:
    return not any(part.startswith(_HIDDEN) for part in path.parts)


def _check(path: Path) -> None:
    with local_file(path) as file:  # says what is wrong with a file that cannot be read
        if file.format == "parquet" or format_of_ending(path) == "parquet":
            check_ends_like_parquet(file)
            return
        raise DataError(
            f"is {file.format}: --engine chunked reads Parquet; convert it (in DuckDB: COPY "
            "'table.csv' TO 'table.parquet'), or infer without --engine",
            file=file.name,
        )


def fingerprint(paths: Iterable[Path]) -> list[list[Any]]:
    """What would not stay the same if a file changed: name, size, time, and the Parquet footer."""
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
