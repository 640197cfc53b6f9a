"""Output: notes and progress on standard error, tables and data on standard output.

A terminal shows the first truths; a pipe gets all of them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import sottovoce
from sottovoce.errors import UsageError
from sottovoce.tables import write_columns

if TYPE_CHECKING:
    from rich.console import Console

    from sottovoce.model import Guarantee, Reading, Reports, Result, Score


LARGE_FILE = 20_000_000
"""Size in bytes from which reading shows progress."""

SHOWN = 20
"""Number of rows of a long table that a terminal shows."""


def note(text: str) -> None:
    """Print one line on standard error."""
    typer.echo(text, err=True)


def warn(sentences: Iterable[str]) -> None:
    """Print a result's warnings on standard error."""
    for sentence in sentences:
        note(f"warning: {sentence}")


def say(text: str) -> None:
    """Print one line on standard output."""
    typer.echo(text)


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "report"), plural(1200, "report")
    ('1 report', '1,200 reports')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def hundred(filled: int) -> str:
    """100 dots in ten rows of ten, of which the first `filled` are filled.

    Callers always print the same fact in words next to it.
    """
    people = "●" * filled + "○" * (100 - filled)
    return "\n".join(" ".join(people[row : row + 10]) for row in range(0, 100, 10))


def notes_of(reading: Reading | None) -> None:
    """Print what reading did to rows, if anything."""
    for sentence in reading.sentences() if reading else []:
        note(f"note: {sentence}")


def note_of_simulation(simulated: bool) -> None:
    """Print a note if the results come from simulated reports, which protect nobody."""
    if simulated:
        note("note: SIMULATED reports; their noise came from a seed")


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output."""
    typer.echo(json.dumps(content, ensure_ascii=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> None:
    """Print a table on standard output, with numbers aligned right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if title:  # printed separately, or it would wrap to the width of the table
        _console().print(title, style="italic", soft_wrap=True, markup=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        numbers = all(_is_number(row[i]) for row in rows)
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    _console().print(table)


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], total: int) -> None:
    """Print the first rows of a table of tasks, and how many more there are."""
    print_table(columns, rows)
    if total > len(rows):
        note(f"… {total - len(rows):,} more tasks; -o truths.csv writes all")


def chart_width() -> int:
    """The width of the terminal, at most 120 columns."""
    return min(shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100, 120)


def check_outputs(
    outputs: Sequence[tuple[Path | None, Callable[..., None]]], *, force: bool
) -> None:
    """Check all output files before the work starts, each with its own check."""
    wanted = [(path, check) for path, check in outputs if path is not None]
    if len({path.resolve() for path, _ in wanted}) < len(wanted):
        raise UsageError("two outputs have the same name: choose different files")
    for path, check in wanted:
        check(path, force=force)


def score_words(score: Score) -> str:
    """A score in words."""
    interval = f"95 % interval {interval_words(score)}"
    left_out = f"; {score.unanswered:,} had no answer" if score.unanswered else ""
    left_out += f"; {score.known:,} known tasks were left out" if score.known else ""
    of = f"{score.tasks:,} gold tasks{left_out}"
    if score.accuracy is not None:
        return f"accuracy {score.accuracy:.4f} ({interval}; {of})"
    return f"MAE {score.mae:.4g} ({interval}), RMSE {score.rmse:.4g} ({of})"


def interval_words(score: Score) -> str:
    """A score's interval, with digits that fit its unit."""
    digits = ".3f" if score.accuracy is not None else ".4g"
    return f"{score.low:{digits}} to {score.high:{digits}}"


def guarantee_json(answer: Guarantee, worker: Guarantee) -> dict[str, Any]:
    """The guarantees of a simulated run, for one answer and for a worker."""
    return {
        "per_answer": answer.epsilon,
        "per_worker": worker.epsilon,
        "delta": answer.delta,
        "answers": worker.answers,
        "assumptions": list(answer.assumptions),
    }


def print_guarantee(answer: Guarantee, worker: Guarantee) -> None:
    """Print the guarantees of a simulated run, and their assumptions."""
    say(f"Guarantee: {answer}; {worker} with up to {worker.answers:,} answers. It holds if")
    for assumption in answer.assumptions:
        say(f"  - {assumption}")


def print_cpu(seconds: Mapping[str, float], workers: int) -> None:
    """Print the CPU seconds of each party of a simulated run."""
    for party, spent in seconds.items():
        each = f", {1000 * spent / workers:.2f} ms each" if party == "workers" else ""
        say(f"CPU of {party}: {spent:.2f} s{each}")


@contextmanager
def passes(what: str, *, visible: bool) -> Iterator[Callable[[int], None] | None]:
    """Count passes in a line on standard error, if it is a terminal."""
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
    """Show a progress bar on standard error, if it is a terminal."""
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
    """Show a line on standard error while a large file or standard input is read."""
    large = source == "-" or (os.path.isfile(source) and os.path.getsize(source) > LARGE_FILE)
    with passes(f"reading {source}", visible=large):
        yield


def read_table(source: str, keywords: Mapping[str, Any]) -> Reports:
    """Read a table, with a line on standard error while a large one is read."""
    with reading(source):
        return sottovoce.read(source, **keywords)


def _console() -> Console:
    from rich.console import Console

    # Piped output has no terminal width to wrap to.
    width = None if sys.stdout.isatty() else 160
    return Console(width=width, highlight=False, soft_wrap=False)


def _is_number(text: str) -> bool:
    return text.lstrip("-")[:1].isdigit() or text in {"", "-"}


def print_truths(result: Result) -> None:
    """Print the first truths as a table on a terminal, or all of them as CSV into a pipe."""
    columns = result.table("truths")
    if not sys.stdout.isatty():
        pipe_csv(lambda path: write_columns(columns, path))
        return
    rows = [
        [_cell(column[i]) for column in columns.values()] for i in range(min(SHOWN, len(result)))
    ]
    print_rows(list(columns), rows, len(result))


def pipe_csv(write: Callable[[Path], object]) -> None:
    """Copy all rows as CSV to standard output once they are complete."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "truths.csv"
        write(path)
        with path.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)
    sys.stdout.flush()


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
