"""Downloads: a file appears whole or not at all, with as many rows as the server said."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sottovoce.connection import Connection
from sottovoce.errors import Unreachable
from sottovoce.files.atomic_output import new_file
from sottovoce.tables.duckdb_connection import connect, text_of
from sottovoce.tables.input_file import Format, format_of_ending

__all__ = ["download"]

ROWS = "sottovoce-rows"


def download(
    connection: Connection,
    place: str,
    name: str,
    path: str | os.PathLike[str],
    *,
    raw: bool,
    force: bool,
) -> int | None:
    """Fetch an export into a file; returns its rows, None if the server does not say how many."""
    query = {"raw": "true"} if raw else None
    format = format_of_ending(name)
    lines = Lines(csv=format == "csv")
    with new_file(path, force=force) as temporary:
        with connection.stream(place, query=query) as content, temporary.open("wb") as file:
            stated = content.headers.get(ROWS, "")
            for piece in content:
                file.write(piece)
                if format in ("csv", "jsonl"):
                    lines.add(piece)
        if not stated.isdigit() or format is None:
            return None
        rows = _rows(temporary, format, lines)
        if rows != int(stated):
            raise Unreachable(
                connection.address,
                reason=f"it announced {int(stated):,} rows and sent {rows:,}, so that nothing was "
                "written",
            )
    return rows


@dataclass(slots=True)
class Lines:
    """Counts the lines of a text piece by piece; of a CSV those outside quotes."""

    csv: bool
    count: int = 0
    is_quoted: bool = False

    def add(self, piece: bytes) -> None:
        """Count those of a further piece."""
        if not self.csv or (not self.is_quoted and b'"' not in piece):
            self.count += piece.count(b"\n")
            return
        # A doubled quote inside quotes leaves and enters them at once.
        for i, between in enumerate(piece.split(b'"')):
            if i:
                self.is_quoted = not self.is_quoted
            if not self.is_quoted:
                self.count += between.count(b"\n")


def _rows(path: Path, format: Format, lines: Lines) -> int:
    if format != "parquet":
        return lines.count - lines.csv  # the header is no row
    database = connect()
    try:
        query = f"SELECT num_rows FROM parquet_file_metadata({text_of(str(path))})"
        return int(database.execute(query).fetchall()[0][0])
    finally:
        database.close()
