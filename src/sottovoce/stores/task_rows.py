"""The rows of a file of tasks: bytes to cells under their columns' names, each with its row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from sottovoce.errors import DataError
from sottovoce.model.canonical_json import unique_fields
from sottovoce.stores.formats import BOM

__all__ = ["Row", "TaskFormat", "rows_of"]

TaskFormat: TypeAlias = Literal["csv", "tsv", "jsonl", "json"]

EXAMPLE = '{"task": "t1", "text": "Is it red?"}'


class Row(NamedTuple):
    """The cells of a row, and the row in which their columns are named.

    A JSON list has no lines that mean something: its items are counted.
    """

    number: int
    cells: dict[str, Any]
    named: int


def rows_of(content: bytes, format: TaskFormat, file: str) -> Iterator[Row]:
    """The rows in these bytes, in their order."""
    text = _text(content, file)
    match format:
        case "csv":
            return _delimited(text, ",", file)
        case "tsv":
            return _delimited(text, "\t", file)
        case "jsonl":
            return _lines(text, file)
        case "json":
            return _items(text, file)


def _text(content: bytes, file: str) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError("is UTF-16 text: save it as UTF-8", file=file)
    if (nul := content.find(0)) >= 0:
        raise DataError("has a NUL: is this a text file?", file=file, row=_row(content, nul))
    try:
        return content.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + (len(BOM) if content.startswith(BOM) else 0)
        raise DataError(
            f"byte {at:,} is not UTF-8: save the file as UTF-8", file=file, row=_row(content, at)
        ) from None


def _row(content: bytes, offset: int) -> int:
    return content.count(b"\n", 0, offset) + 1


def _delimited(text: str, delimiter: str, file: str) -> Iterator[Row]:
    records = _records(text, delimiter, file)
    first, names = next(records, (0, []))
    if not names:
        raise DataError("is empty: expected a header, such as task,text,image, and rows", file=file)
    _check_header(names, first, file)
    for number, record in records:
        if len(record) != len(names):
            raise DataError(
                f"{len(record)} cells where the header has {len(names)}: put quotes round a text "
                "that has commas",
                file=file, row=number,
            )  # fmt: skip
        yield Row(number, dict(zip(names, record, strict=True)), first)


def _records(text: str, delimiter: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """The records that are not blank, with the line each starts in."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(_words(error), file=file, row=start) from None
        if record:
            yield start, record


def _words(error: csv.Error) -> str:
    """What the csv module means."""
    if "unexpected end" in str(error):
        return "a quote opens here and is never closed: close it, or double one inside a text"
    if "field larger" in str(error):
        return "a cell of more than 131,072 characters: is a quote missing?"
    return "text follows a closing quote: double a quote that belongs to the text"


def _check_header(names: list[str], row: int, file: str) -> None:
    repeated = next((name for name in names if name and names.count(name) > 1), None)
    if repeated is not None:
        raise DataError(
            "the header names this column more than once: rename one",
            file=file, row=row, column=repeated[:40],
        )  # fmt: skip


def _lines(text: str, file: str) -> Iterator[Row]:
    # Not splitlines: a text may hold other separators that JSON does not escape.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield Row(number, _object(_parsed(line, file, number), file, number), number)


def _items(text: str, file: str) -> Iterator[Row]:
    items = _parsed(text, file, None)
    if not isinstance(items, list):
        raise DataError(f"is no JSON list: expected [{EXAMPLE}, …]", file=file)
    for number, item in enumerate(items, 1):
        yield Row(number, _object(item, file, number), number)


def _object(value: Any, file: str, number: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"is no JSON object: expected {EXAMPLE}", file=file, row=number)
    return value


def _parsed(text: str, file: str, number: int | None) -> Any:
    try:
        return json.loads(text, object_pairs_hook=unique_fields)
    except json.JSONDecodeError as error:
        row = number or error.lineno
        raise DataError(f"is not JSON ({error.msg})", file=file, row=row) from None
    except (ValueError, RecursionError):
        raise DataError(
            "is not JSON that can be read: a field is there twice, a number has thousands of "
            "digits, or it is nested too deeply",
            file=file, row=number,
        ) from None  # fmt: skip
