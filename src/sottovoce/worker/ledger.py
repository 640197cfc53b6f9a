"""The record of what a worker has spent, on the worker's device."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.files.hash_chained_log import ORIGIN, Lines, chained, locked
from sottovoce.model import Unit
from sottovoce.worker.book import FORMAT, Book, Entry, Spending
from sottovoce.worker.budget import Amount, Budget

__all__ = ["Ledger"]

PATIENCE = 30.0
"""Seconds to wait for another process."""


def _today() -> date:
    return datetime.now(UTC).date()


class Ledger:
    """A file to which every submission is added before its reports leave, and nothing is removed.

    Each use takes the file for itself, reads all of it, verifies it and at most adds one line,
    which is on the disk when the call returns. A spend beyond the budget is refused and leaves the
    file as it was. A line that was cut short by a crash had not been acknowledged: the next use
    takes it off and counts it in `torn`.

    A ledger that exists must have the `budget` given, unless `adopt` takes it with the one it has.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Ledger(f"{folder}/ledger.jsonl", Budget(worker_epsilon=8)).left(Unit.WORKER)
    Amount(epsilon=8.0, delta=0.0)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        budget: Budget,
        *,
        timeout: float = PATIENCE,
        today: Callable[[], date] = _today,
        adopt: bool = False,
    ) -> None:
        self._path = os.path.abspath(os.fspath(path))
        self._timeout, self._today = timeout, today
        self.torn = 0
        with self._held() as lines:
            book = self._read(lines) or self._start(lines, budget)
        if book.budget != budget and not adopt:
            raise UsageError(
                f"{self._path} was opened with another budget, {book.budget}: open it with that "
                "one, and call raise_budget"
            )

    def __repr__(self) -> str:
        return f"Ledger({self._path!r})"

    def __len__(self) -> int:
        return len(self.entries())

    @property
    def budget(self) -> Budget:
        """The budget in force."""
        return self._book().budget

    def entries(self) -> tuple[Entry, ...]:
        """What was promised to whom, oldest first."""
        return self._book().entries

    def spent(self, unit: Unit) -> Amount:
        """(ε, δ) of all campaigns together."""
        return self._book().spent(unit)

    def left(self, unit: Unit) -> Amount:
        """(ε, δ) that may still be spent; infinite where the budget has no limit."""
        return self._book().left(unit)

    def spend(self, spending: Spending) -> Entry:
        """Book a submission, durably, or refuse it and leave everything as it was."""
        with self._held() as lines:
            book = self._existing(lines)
            entry = book.admitted(spending, self._today().isoformat())
            self._add(lines, book, entry.as_json())
        return entry

    def check(self, spending: Spending) -> Entry:
        """The entry that `spend` would add, or the same refusal; nothing is booked."""
        return self._book().admitted(spending, self._today().isoformat())

    def earlier(self, spending: Spending) -> Entry | None:
        """The latest entry for the same requester and policy: all that was booked for them."""
        return self._book().earlier(spending)

    def unreported(self, spending: Spending) -> tuple[str, ...]:
        """Those of its tasks on which the same requester has no report under the same policy."""
        return self._book().unreported(spending)

    def raise_budget(self, budget: Budget) -> None:
        """Allow more from now on; the record keeps when."""
        with self._held() as lines:
            book = self._existing(lines)
            if not budget.covers(book.budget):
                raise UsageError(f"a budget is only raised, and it is {book.budget}")
            self._add(
                lines,
                book,
                {
                    "kind": "budget",
                    "sequence": len(book.digests),
                    "day": self._today().isoformat(),
                    "budget": budget.as_json(),
                },
            )

    def _held(self) -> AbstractContextManager[Lines]:
        return locked(self._path, self._timeout)

    def _book(self) -> Book:
        with self._held() as lines:
            return self._existing(lines)

    def _existing(self, lines: Lines) -> Book:
        book = self._read(lines)
        if book is None:
            raise UsageError(f"{self._path} has been removed since it was opened")
        return book

    def _read(self, lines: Lines) -> Book | None:
        """The book, without what a crash has left; None where nothing was ever written."""
        whole, rest = lines.read()
        book = Book.read(whole, self._path) if whole else None
        # First the head: a line that was acknowledged and is torn now is damage, not a crash.
        lines.check_head(book.digests if book else ())
        if rest:
            lines.cut(rest)
            self.torn += 1
        return book

    def _start(self, lines: Lines, budget: Budget) -> Book:
        body = {
            "kind": "start",
            "sequence": 0,
            "format": FORMAT,
            "salt": secrets.token_hex(16),
            "day": self._today().isoformat(),
            "budget": budget.as_json(),
        }
        line, digest = chained(body, ORIGIN)
        lines.append(line, 0, digest)
        return Book.read([line[:-1]], self._path)

    def _add(self, lines: Lines, book: Book, body: dict[str, Any]) -> None:
        line, digest = chained(body, book.digests[-1])
        lines.append(line, len(book.digests), digest)
