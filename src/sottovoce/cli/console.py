"""What people see: notes and progress on standard error, tables and data on standard output.

Of truths, people see the first ones; all of them go into a pipe.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sottovoce.errors import UsageError
from sottovoce.tables import write_columns

if TYPE_CHECKING:
    from rich.console import Console

    from sottovoce.model import Reading, Result, Score


LARGE_FILE = 20_000_000
"""From so many bytes on, reading takes long enough to say so."""

SHOWN = 20
"""Rows of a long table that are shown on a terminal."""


def note(text: str) -> None:
    """One line on standard error."""
    typer.echo(text, err=True)


def say(text: str) -> None:
    """One line on standard output."""
    typer.echo(text)


def plural(count: int, noun: str) -> str:
    """So many of something.

    >>> plural(1, "report"), plural(1200, "report")
    ('1 report', '1,200 reports')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def hundred(filled: int) -> str:
    """100 people in ten rows of ten, the first so many filled.

    The same is always said in words beside it.
    """
    people = "●" * filled + "○" * (100 - filled)
    return "\n".join(" ".join(people[row : row + 10]) for row in range(0, 100, 10))


def notes_of(reading: Reading | None) -> None:
    """What reading did to rows, if it did anything."""
    for sentence in reading.sentences() if reading else []:
        note(f"note: {sentence}")


def note_of_simulation(simulated: bool) -> None:
    """A note that protects whoever reads results of reports that protect nobody."""
    if simulated:
        note("note: SIMULATED reports, whose noise came from a seed")


def print_json(content: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    typer.echo(json.dumps(content, ensure_ascii=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> None:
    """A table for people on standard output; numbers to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if title:  # apart from the table, whose width it would be wrapped to
        _console().print(title, style="italic", soft_wrap=True, markup=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        numbers = all(_is_number(row[i]) for row in rows)
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    _console().print(table)


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], total: int) -> None:
    """The first rows of a table of tasks, and how many more there are."""
    print_table(columns, rows)
    if total > len(rows):
        note(f"… {total - len(rows):,} more tasks: -o truths.csv writes them all")


def chart_width() -> int:
    """As wide as the terminal, up to 120 columns."""
    return min(shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100, 120)


def check_outputs(
    outputs: Sequence[tuple[Path | None, Callable[..., None]]], *, force: bool
) -> None:
    """Refuse before the work, not after it: each file is checked in its own way."""
    wanted = [(path, check) for path, check in outputs if path is not None]
    if len({path.resolve() for path, _ in wanted}) < len(wanted):
        raise UsageError("two outputs have the same name")
    for path, check in wanted:
        check(path, force=force)


def score_words(score: Score) -> str:
    """A score as a person reads it."""
    interval = f"95 % interval {interval_words(score)}"
    left_out = f"; {score.unanswered:,} had no answer" if score.unanswered else ""
    of = f"{score.tasks:,} gold tasks{left_out}"
    if score.accuracy is not None:
        return f"accuracy {score.accuracy:.4f} ({interval}; {of})"
    return f"MAE {score.mae:.4g} ({interval}), RMSE {score.rmse:.4g} ({of})"


def interval_words(score: Score) -> str:
    """The ends of a score's interval, with the digits that fit its unit."""
    digits = ".3f" if score.accuracy is not None else ".4g"
    return f"{score.low:{digits}} to {score.high:{digits}}"


@contextmanager
def passes(what: str, *, visible: bool) -> Iterator[Callable[[int], None] | None]:
    """A line on standard error that counts passes, if somebody is there to see it."""
    if not (visible and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        line = progress.add_task(what, total=None)
        yield lambda count: progress.update(line, description=f"{what}: pass {count}")


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on standard error that fills as parts of the work are done, if somebody sees it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich
    from rich.console import Console

    left, right = rich.TextColumn("{task.description}"), rich.TimeRemainingColumn()
    columns = (left, rich.BarColumn(), rich.MofNCompleteColumn(), right)
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        line = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(line, completed=done, total=total)


@contextmanager
def reading(source: str) -> Iterator[None]:
    """A line on standard error while a large file, or standard input, is read."""
    large = source == "-" or (os.path.isfile(source) and os.path.getsize(source) > LARGE_FILE)
    with passes(f"reading {source}", visible=large):
        yield


def _console() -> Console:
    from rich.console import Console

    # Piped output is not wrapped to a terminal's width nobody has.
    width = None if sys.stdout.isatty() else 160
    return Console(width=width, highlight=False, soft_wrap=False)


def _is_number(text: str) -> bool:
    return text.lstrip("-")[:1].isdigit() or text in {"", "-"}


def print_truths(result: Result) -> None:
    """The first truths as a table on a terminal; all of them as CSV into a pipe."""
    columns = result.table("truths")
    if not sys.stdout.isatty():
        pipe_csv(lambda path: write_columns(columns, path))
        return
    rows = [
        [_cell(column[i]) for column in columns.values()] for i in range(min(SHOWN, len(result)))
    ]
    print_rows(list(columns), rows, len(result))


def pipe_csv(write: Callable[[Path], object]) -> None:
    """All rows as CSV on standard output, once all of them are written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "truths.csv"
        write(path)
        with path.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)
    sys.stdout.flush()


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
