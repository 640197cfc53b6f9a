"""Text files: checks of their bytes, and their records or lines.

Records of CSV and TSV files and lines of JSONL files are read for the header or the keys, and to
locate a fault. That is slow and exact, so it runs on the error path only. A record may span
lines; its row is the line it starts in, as an editor counts: the header is row 1.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sottovoce.errors import DataError
from sottovoce.tables.input_file import LocalFile


def first_keys(file: LocalFile) -> list[str]:
    """The keys of the first object, which are the columns; repeated keys stay repeated."""
    for line, text in _lines(file):
        return [key for key, _ in _object(file, line, text)]
    raise DataError("the file has only blank lines: expected one object per line", file=file.name)


def check_lines(file: LocalFile, position: int | None = None) -> int:
    """Raise for the first line that is not an object; else the line of object `position`."""
    line = 1
    for seen, (line, text) in enumerate(_lines(file)):
        if seen == position:
            break
        if position is None:
            _object(file, line, text)
    return line


def _lines(file: LocalFile) -> Iterator[tuple[int, str]]:
    with io.TextIOWrapper(file.open(), encoding="utf-8-sig") as text:
        for number, line in enumerate(text, 1):
            if line.strip():
                yield number, line


def _object(file: LocalFile, line: int, text: str) -> list[tuple[str, Any]]:
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "nested too deeply")
        raise DataError(
            f"is not JSON ({reason}): expected one object per line", file=file.name, row=line
        ) from None
    if not isinstance(pairs, _Pairs):
        kind = {list: "a list", str: "a string", type(None): "null"}.get(type(pairs), "a number")
        raise DataError(
            f"is {kind}: expected an object such as "
            '{"worker": "w1", "task": "t1", "answer": "yes"}',
            file=file.name,
            row=line,
        )
    return list(pairs)


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that it differs from a JSON list."""


LONGEST_RECORD = 2_000_000
"""The longest line that DuckDB accepts, in characters."""
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

    Only records that the reader keeps count, not blank lines and bad records.
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
    """A temporary copy whose records all end in LF; line ends inside cells stay."""
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
            return "text follows a closing quote: double a quote that is part of the text"
        found = _count(record, delimiter)
        if found != fields:
            return (
                f"{found} fields where the header has {fields}; "
                'fix the row, or pass bad_rows="drop"'
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
                "is part of the text",
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
    """A pattern for a quoted field and the text before it."""
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


_CHUNK = 1 << 23


@dataclass(slots=True)
class Marks:
    """Counts of quotes and line ends in a text file."""

    quotes: int = 0
    line_feeds: int = 0
    returns: int = 0
    pairs: int = 0
    ends_in_return: bool = False

    @property
    def paired(self) -> bool:
        """Whether the number of quotes is even."""
        return self.quotes % 2 == 0

    @property
    def mixed(self) -> bool:
        """Whether LF, CR and CR LF are mixed."""
        lone = (self.line_feeds - self.pairs, self.returns - self.pairs)
        return sum(count > 0 for count in (self.pairs, *lone)) > 1

    def add(self, chunk: bytes) -> None:
        """Count the next chunk."""
        self.quotes += chunk.count(b'"')
        self.line_feeds += chunk.count(b"\n")
        if b"\r" in chunk:
            self.returns += chunk.count(b"\r")
            self.pairs += chunk.count(b"\r\n")
        self.pairs += self.ends_in_return and chunk.startswith(b"\n")
        self.ends_in_return = chunk.endswith(b"\r")


def check_text(file: LocalFile) -> Marks:
    """Refuse a file that is not UTF-8 text; count its quotes and line ends.

    One pass over the bytes at memory speed: only chunks beyond ASCII are decoded.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    marks, offset = Marks(), 0
    try:
        with file.open() as stream:
            while chunk := stream.read(_CHUNK):
                if offset == 0 and chunk[:2] in (b"\xff\xfe", b"\xfe\xff"):
                    raise DataError("is UTF-16 text: save it as UTF-8", file=file.name)
                if (nul := chunk.find(0)) >= 0:
                    _refuse_nul(file, offset + nul)
                pending = len(decoder.getstate()[0])
                if pending or not chunk.isascii():
                    _decode(decoder, chunk, file, offset - pending)
                marks.add(chunk)
                offset += len(chunk)
    except (EOFError, zlib.error, OSError):
        raise DataError(
            "is a damaged or truncated gzip file: create or download it again", file=file.name
        ) from None
    if decoder.getstate()[0]:
        _refuse_byte(file, offset - len(decoder.getstate()[0]))
    return marks


def _decode(decoder: codecs.IncrementalDecoder, chunk: bytes, file: LocalFile, start: int) -> None:
    try:
        decoder.decode(chunk)
    except UnicodeDecodeError as error:
        _refuse_byte(file, start + error.start)


def _refuse_nul(file: LocalFile, offset: int) -> None:
    raise DataError(
        f"is not a text file: byte {offset:,} is NUL; save it as CSV, TSV or JSONL in UTF-8",
        file=file.name,
        row=_row(file, offset),
    )


def _refuse_byte(file: LocalFile, offset: int) -> None:
    with file.open() as stream:
        stream.seek(offset)
        byte = stream.read(1)[0]
    raise DataError(
        f"byte {offset:,} (0x{byte:02x}) is not UTF-8: save the file as UTF-8",
        file=file.name,
        row=_row(file, offset),
    )


def _row(file: LocalFile, offset: int) -> int:
    """The line the byte is in, as an editor counts."""
    lines = 1
    with file.open() as stream:
        while offset > 0 and (chunk := stream.read(min(_CHUNK, offset))):
            lines += chunk.count(b"\n")
            offset -= len(chunk)
    return lines
