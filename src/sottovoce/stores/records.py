"""The records of a CSV or TSV file, one by one: for the header, and to say where a fault is.

Slow and exact, so it runs on the error path only. A record may span lines; its row is the line it
starts in, as an editor counts: the header is row 1.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from sottovoce.errors import DataError
from sottovoce.stores.sources import LocalFile

__all__ = ["check_records", "header", "line_of_record"]

_CLOSING = re.compile(r'[^"]*(?:""[^"]*)*"(?!")')


def header(file: LocalFile, delimiter: str) -> list[str]:
    """The names of the columns."""
    for line, record in _records(file, delimiter):
        if record.strip():
            return _fields(record.rstrip("\n"), delimiter, file, line)
    raise DataError("the file is empty: expected a table with a header and rows", file=file.name)


def check_records(file: LocalFile, delimiter: str, fields: int) -> None:
    """Raise for the first record with an unclosed quote or a wrong number of fields."""
    for line, record in _records(file, delimiter):
        found = _count(record, delimiter)
        if found != fields and record != "\n":
            raise DataError(
                f"{found} fields where the header has {fields}; "
                "mend the row, or leave such rows out with --bad-rows drop",
                file=file.name,
                row=line,
            )


def line_of_record(file: LocalFile, delimiter: str, fields: int, position: int) -> int:
    """The line in which data record `position`, counted from 0, starts.

    Counts what the reader keeps: blank lines and records with other field counts pass by.
    """
    seen = -1  # the header
    line = 0
    for line, record in _records(file, delimiter):  # noqa: B007 - the last line is the fallback
        if record == "\n" or _count(record, delimiter) != fields:
            continue
        if seen == position:
            break
        seen += 1
    return line


def _records(file: LocalFile, delimiter: str) -> Iterator[tuple[int, str]]:
    opening = re.compile(rf'(?:^|{re.escape(delimiter)}) *"')
    with io.TextIOWrapper(file.open(), encoding="utf-8-sig") as text:
        start, parts, is_open = 1, list[str](), False
        for number, line in enumerate(text, 1):
            if not parts:
                start = number
            is_open = _open_after(line, is_open, opening) if is_open or '"' in line else False
            parts.append(line)
            if not is_open:
                yield start, "".join(parts)
                parts.clear()
        if parts:
            raise DataError(
                "a quote opens here and is never closed: close it, or double a quote that "
                "belongs to the text",
                file=file.name,
                row=start,
            )


def _open_after(line: str, is_open: bool, opening: re.Pattern[str]) -> bool:
    """Whether a quoted field is still open at the end of the line."""
    position = 0
    while True:
        if is_open:
            closed = _CLOSING.match(line, position)
            if closed is None:
                return True
            position, is_open = closed.end(), False
        opened = opening.search(line, position)
        if opened is None:
            return False
        position, is_open = opened.end(), True


def _count(record: str, delimiter: str) -> int:
    if '"' in record:
        quoted = rf'(^|{re.escape(delimiter)}) *"[^"]*(?:""[^"]*)*"'
        record = re.sub(quoted, r"\1", record)
    return record.count(delimiter) + 1


def _fields(record: str, delimiter: str, file: LocalFile, line: int) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(record), delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise DataError(f"the header cannot be read: {error}", file=file.name, row=line) from None
