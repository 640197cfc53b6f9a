"""Truths as a command prints them: some of them for people, all of them into a pipe."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.cli import screen
from sottovoce.tables import write_columns

if TYPE_CHECKING:
    from sottovoce.model import Result

__all__ = ["print_truths"]

SHOWN = 20


def print_truths(result: Result) -> None:
    """The first truths as a table on a terminal; all of them as CSV into a pipe."""
    columns = result.table("truths")
    if not sys.stdout.isatty():
        _pipe(columns)
        return
    rows = [
        [_cell(column[i]) for column in columns.values()] for i in range(min(SHOWN, len(result)))
    ]
    screen.print_table(list(columns), rows)
    if len(result) > SHOWN:
        screen.note(f"… {len(result) - SHOWN:,} more tasks: -o truths.csv writes them all")


def _pipe(columns: dict[str, Any]) -> None:
    """All rows as CSV on standard output."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "truths.csv"
        write_columns(columns, path)
        with path.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)
    sys.stdout.flush()


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
