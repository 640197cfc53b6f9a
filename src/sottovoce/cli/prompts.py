"""Questions in the terminal, and passphrases.

A passphrase is typed without echo, or read from a file or a variable.
"""

from __future__ import annotations

import getpass
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from sottovoce.cli.worker.consent import quoted_lines
from sottovoce.errors import UsageError
from sottovoce.http_client.replies import printable
from sottovoce.model import Domain, Label, Task

VARIABLE = "SOTTOVOCE_PASSPHRASE"
LONGEST = 10_000
"""Limit on the bytes read from a passphrase file."""


def given_passphrase(file: Path | None, *, twice: bool = False) -> str:
    """The passphrase from a file, `SOTTOVOCE_PASSPHRASE` or typed; a new one is typed twice."""
    if file is not None:
        return _read(file)
    if (found := os.environ.get(VARIABLE)) is not None:
        return found
    if not sys.stdin.isatty():
        raise UsageError(
            f"no terminal to ask for the passphrase: give --passphrase-file, or set {VARIABLE}"
        )
    typed = getpass.getpass("Passphrase: ")
    if twice and getpass.getpass("Repeat the passphrase: ") != typed:
        raise UsageError("the two passphrases differ: nothing was written")
    return typed


def _read(file: Path) -> str:
    """The first line, without its line ending."""
    try:
        with file.open("rb") as stream:
            content = stream.read(LONGEST).decode()
    except OSError as error:
        raise UsageError(f"cannot read {file} ({error.strerror})") from None
    except ValueError:
        raise UsageError(f"{file} is not UTF-8 text") from None
    return content.split("\n", 1)[0].removesuffix("\r")


SKIP, BACK, QUIT = "s", "b", "q"
COMMANDS = "s skips, b goes back, q quits and sends nothing"
MOST_LISTED = 100
"""Largest number of labels that are listed with a number; with more, a label is typed."""

Say = Callable[[str], None]


class Ended(Exception):  # noqa: N818 - reads as the fact it states
    """Standard input ended."""


def read_line(prompt: str) -> str:
    """A typed line. The prompt goes to standard error, which keeps standard output for data."""
    typer.echo(prompt, nl=False, err=True)
    line = sys.stdin.readline()
    if not line:
        typer.echo("", err=True)
        raise Ended
    return line.strip()


def agreed(question: str) -> bool:
    """Whether the question was answered with yes; anything else means no."""
    return read_line(f"{question} [y/N] ").lower() in ("y", "yes")


def confirmed(question: str, to: str) -> bool:
    """Whether a person at the terminal agrees; without a terminal --yes is needed."""
    if not sys.stdin.isatty():
        raise UsageError(f"no terminal to ask for confirmation: add --yes to {to}")
    return agreed(question)


class Questions:
    """The questions of a campaign to one worker, and the answers so far, which stay in memory."""

    def __init__(self, tasks: Sequence[Task], domain: Domain, unit: str | None, say: Say) -> None:
        self._tasks, self._domain, self._unit, self._say = tasks, domain, unit, say
        self._answers: dict[str, Label] = {}

    def asked(self) -> dict[str, Label] | None:
        """The answers by task, without skipped ones; None if the worker quits."""
        place = 0
        while place < len(self._tasks):
            self._show(place)
            typed = self._typed()
            if typed == QUIT:
                return None
            if typed == BACK:
                place = max(0, place - 1)
                continue
            name = self._tasks[place].name
            self._answers.pop(name, None)
            if typed != SKIP:
                self._answers[name] = self._choice(typed)
            place += 1
        return self._answers

    def _show(self, place: int) -> None:
        task = self._tasks[place]
        self._say(f"Question {place + 1:,} of {len(self._tasks):,}")
        for line in quoted_lines(task.text):
            self._say(line)
        if task.image is not None:
            for line in quoted_lines(f"image: {task.image}"):
                self._say(line)
        for line in self._choices():
            self._say(line)

    def _choices(self) -> list[str]:
        domain = self._domain
        if domain.is_numeric:
            return []
        labels = [printable(str(label)) for label in domain.labels]
        if self._is_numbered:
            return [f"  {number:>3}  {label}" for number, label in enumerate(labels, 1)]
        shown = ", ".join(labels[:MOST_LISTED])
        return [f"  one of {shown}{' …' if len(labels) > MOST_LISTED else ''}"]

    @property
    def _is_numbered(self) -> bool:
        """Whether labels are numbered; labels that are numbers are typed, to avoid confusion."""
        labels = self._domain.labels
        return len(labels) <= MOST_LISTED and not any(_number(str(each)) for each in labels)

    def _typed(self) -> str:
        while True:
            typed = read_line(f"{self._wanted()} ({COMMANDS}): ")
            if typed.lower() in (SKIP, BACK, QUIT):
                return typed.lower()
            if self._is_fine(typed):
                return typed
            self._say(f"  Invalid input: type {self._wanted()}.")

    def _wanted(self) -> str:
        domain = self._domain
        if domain.is_numeric:
            step = f" in steps of {domain.step:g}" if domain.step is not None else ""
            unit = f" {printable(self._unit)}" if self._unit else ""
            return f"a number from {domain.low:g} to {domain.high:g}{unit}{step}"
        return f"1 to {domain.size}" if self._is_numbered else "a label"

    def _is_fine(self, typed: str) -> bool:
        domain = self._domain
        if domain.is_numeric:
            number = _number(typed)
            return number is not None and domain.low <= number <= domain.high
        if self._is_numbered:
            return typed.isascii() and typed.isdigit() and 1 <= int(typed[:9]) <= domain.size
        return typed in {str(label) for label in domain.labels}

    def _choice(self, typed: str) -> Label:
        if self._domain.is_numeric:
            return float(typed)
        if self._is_numbered:
            return self._domain.labels[int(typed) - 1]
        return next(label for label in self._domain.labels if str(label) == typed)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
