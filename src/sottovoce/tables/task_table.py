"""Tasks from a file: CSV, TSV, JSONL or a JSON list of objects.

Bytes are parsed into cells by column and row, then into tasks. Every error names the row, as an
editor counts them (the header is row 1), and the column.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Task, label_text
from sottovoce.model.campaign import MOST_TASKS
from sottovoce.model.canonical_json import unique_fields
from sottovoce.tables.input_file import BOM

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
                file=file,
                row=number,
            )
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
    """An error of the csv module in our words."""
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
            file=file,
            row=row,
            column=repeated[:40],
        )


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
            file=file,
            row=number,
        ) from None


COLUMNS = ("task", "text", "image", "known")
MOST_BYTES = 64 << 20

_ENDINGS: Mapping[str, TaskFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
}


class TaskTable(NamedTuple):
    """The tasks of a file, and the ignored columns."""

    tasks: list[Task]
    ignored: tuple[str, ...]


def read_tasks(
    content: bytes | str | os.PathLike[str], format: TaskFormat | None = None
) -> list[Task]:
    r"""The tasks in these bytes, or in the file at this path, in their order.

    A task without a text is shown by its name. The text is plain text.

    >>> read_tasks(b"task,text\nt1,Is it red?\nt2,\n", "csv")[0]
    Task(name='t1', text='Is it red?', image=None)
    """
    return read_task_table(content, format).tasks


def read_task_table(
    content: bytes | str | os.PathLike[str], format: TaskFormat | None = None
) -> TaskTable:
    """The same, with the names of the ignored columns."""
    if isinstance(content, bytes):
        if format is None:
            raise UsageError("say which format the tasks have: csv, tsv, jsonl or json")
        return _table(content, format, "tasks")
    path = Path(content)
    chosen = format or _ENDINGS.get(path.suffix.lower())
    if chosen is None:
        raise DataError("tasks are read from .csv, .tsv, .jsonl or .json", file=str(path))
    return _table(_content(path), chosen, str(path))


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DataError(f"has more than {MOST_BYTES:,} bytes", file=str(path))
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError("there is no such file", file=str(path)) from None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", file=str(path)) from None


def _table(content: bytes, format: TaskFormat, file: str) -> TaskTable:
    columns = _Columns(file)
    tasks: list[Task] = []
    seen: dict[str, int] = {}
    for row in rows_of(content, format, file):
        task = _task(row, columns.of(row), file)
        if task.name in seen:
            raise DataError(
                f"task {task.name[:40]!r} is here and in row {seen[task.name]:,}: name each once",
                file=file,
                row=row.number,
                column="task",
            )
        if len(tasks) == MOST_TASKS:
            raise DataError(f"has more than {MOST_TASKS:,} tasks", file=file, row=row.number)
        seen[task.name] = row.number
        tasks.append(task)
    if not tasks:
        raise DataError("has no tasks: expected a row for each", file=file)
    return TaskTable(tasks, tuple(columns.ignored))


class _Columns:
    """The role of each column; objects of one file may have other fields each."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._known: dict[tuple[str, ...], dict[str, str]] = {}
        self.ignored: dict[str, None] = {}

    def of(self, row: Row) -> dict[str, str]:
        """The column of each role that this row has."""
        names = tuple(row.cells)
        if names not in self._known:
            roles = {
                role: name for role in COLUMNS if (name := self._named(names, role, row.named))
            }
            if "task" not in roles:
                self._refuse(names, row.named)
            self.ignored |= dict.fromkeys(
                name[:40] for name in names if name.strip() and name not in roles.values()
            )
            self._known[names] = roles
        return self._known[names]

    def _named(self, names: Sequence[str], role: str, row: int) -> str | None:
        """By its name, else without regard to case and outer spaces."""
        if role in names:
            return role
        near = [name for name in names if name.strip().casefold() == role]
        if len(near) > 1:
            several = " and ".join(repr(name) for name in near[:3])
            raise DataError(
                f"{several} could each be the {role}: rename one", file=self._file, row=row
            )
        return near[0] if near else None

    def _refuse(self, names: Sequence[str], row: int) -> None:
        shown = ", ".join(repr(name[:40]) for name in names[:6]) or "nothing"
        if len(names) == 1 and any(mark in names[0] for mark in ";|\t"):
            way = "split its cells by commas"
        else:
            way = "call the column with the tasks' names task"
        raise DataError(f"there is no column task, only {shown}: {way}", file=self._file, row=row)


def _task(row: Row, roles: dict[str, str], file: str) -> Task:
    cells = {role: _cell(row, role, name, file) for role, name in roles.items()}
    name = cells["task"]
    text, image = cells.get("text", ""), cells.get("image", "").strip()
    try:
        known = cells.get("known", "").strip() or None
        return Task(name, text if text.strip() else name, image or None, known)
    except UsageError as error:
        column = _column_at_fault(name, text, image)
        raise DataError(str(error), file=file, row=row.number, column=column) from None


def _cell(row: Row, role: str, name: str, file: str) -> str:
    value = row.cells[name]
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if role == "task" and type(value) is int:  # as a table of reports would have it
        return str(value)
    if role == "known" and isinstance(value, int | float):
        return label_text(value)
    raise DataError(f"the {role} must be a text", file=file, row=row.number, column=name[:40])


def _column_at_fault(name: str, text: str, image: str) -> str:
    trials: dict[str, tuple[Any, ...]]
    trials = {"task": (name, "x"), "text": ("x", text or "x"), "image": ("x", "x", image or None)}
    for column, trial in trials.items():
        try:
            Task(*trial)
        except UsageError:
            return column
    return "known"
