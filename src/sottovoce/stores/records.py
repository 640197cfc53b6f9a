"""The records of a CSV or TSV file, one by one: for the header, and to say where a fault is.

Slow and exact, so it runs on the error path only. A record may span lines; its row is the line it
starts in, as an editor counts: the header is row 1.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from sottovoce.errors import DataError
from sottovoce.stores.sources import LocalFile

__all__ = ["check_records", "header", "line_of_record", "with_one_line_end"]

LONGEST_RECORD = 2_000_000
"""How many characters DuckDB takes for a line."""
_CLOSING = re.compile(r'[^"]*(?:""[^"]*)*"(?!")')


def header(file: LocalFile, delimiter: str) -> tuple[int, list[str]]:
    """How many blank lines come before the header, and the names of the columns."""
    for line, record in _records(file, delimiter):
        if record.strip():
            return line - 1, _fields(record.rstrip("\r\n"), delimiter, file, line)
    raise DataError("the file is empty: expected a table with a header and rows", file=file.name)


def check_records(file: LocalFile, delimiter: str, fields: int | None) -> None:
    """Raise for an unclosed quote or, given the number of `fields`, for the first bad record."""
    complaint = _complaints(delimiter, fields)
    for line, record in _records(file, delimiter):
        if fields is not None and (message := complaint(record)):
            raise DataError(message, file=file.name, row=line)


def line_of_record(file: LocalFile, delimiter: str, fields: int, position: int) -> int:
    """The line in which data record `position`, counted from 0, starts.

    Counts what the reader keeps: blank lines and bad records pass by.
    """
    complaint = _complaints(delimiter, fields)
    good = (
        line
        for line, record in _records(file, delimiter)
        if record.strip("\r\n") and not complaint(record)
    )
    return next(islice(good, position + 1, None), 0)  # the header comes first


@contextmanager
def with_one_line_end(file: LocalFile, delimiter: str) -> Iterator[LocalFile]:
    """A temporary copy whose records all end in LF; cells keep the line ends they hold."""
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        path = Path(folder) / "input"
        with path.open("w", encoding="utf-8", newline="") as copy:
            for _, record in _records(file, delimiter):
                copy.write(record.rstrip("\r\n") + "\n")
        yield replace(file, path=path, gzipped=False)


def _complaints(delimiter: str, fields: int | None) -> Callable[[str], str | None]:
    stray = re.compile(_quoted(delimiter) + rf" *(?!{re.escape(delimiter)}|[\r\n]| |$)")

    def complaint(record: str) -> str | None:
        if not record.strip("\r\n"):
            return None
        if '"' in record and stray.search(record):
            return "text follows a closing quote: double a quote that belongs to the text"
        found = _count(record, delimiter)
        if found != fields:
            return (
                f"{found} fields where the header has {fields}; "
                "mend the row, or leave such rows out with --bad-rows drop"
            )
        if len(record) > LONGEST_RECORD:
            return f"a row of {len(record):,} characters: is a quote missing?"
        return None

    return complaint


def _records(file: LocalFile, delimiter: str) -> Iterator[tuple[int, str]]:
    opening = re.compile(rf'(?:^|{re.escape(delimiter)}) *"')
    with io.TextIOWrapper(file.open(), encoding="utf-8-sig", newline="") as text:
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


def _quoted(delimiter: str) -> str:
    """A pattern for a quoted field with what comes before it."""
    return rf'(^|{re.escape(delimiter)}) *(?>"[^"]*(?:""[^"]*)*")'


def _count(record: str, delimiter: str) -> int:
    if '"' in record:
        record = re.sub(_quoted(delimiter), r"\1", record)
    return record.count(delimiter) + 1


def _fields(record: str, delimiter: str, file: LocalFile, line: int) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(record), delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise DataError(f"the header cannot be read: {error}", file=file.name, row=line) from None
