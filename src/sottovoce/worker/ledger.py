"""The ledger: a record of a worker's privacy spend, on the worker's device.

It records what was spent, for which requester, and what is left.
"""

from __future__ import annotations

import hashlib
import math
import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Self

from sottovoce.errors import AlreadyReported, BudgetExceeded, LedgerDamaged, UsageError
from sottovoce.files.hash_chained_log import ORIGIN, LockedLog, chained, locked, verified
from sottovoce.model import Guarantee, Unit, UnitName
from sottovoce.model.budget import Amount, Budget
from sottovoce.model.canonical_json import canonical_bytes

FORMAT = "sottovoce-ledger/1"

PATIENCE = 30.0
"""Seconds to wait for another process."""


@dataclass(frozen=True, slots=True)
class Spending:
    """The privacy loss of a planned submission, and its requester.

    `guarantee(answers, unit)` is that of all a worker's reports for this requester under this
    policy. `whole` means that it holds for one submission only; `most` is the number of answers
    that the policy covers.
    """

    worker: str
    requester: str
    policy: str
    mechanism: str
    tasks: tuple[str, ...]
    guarantee: Callable[[int, Unit], Guarantee]
    whole: bool
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission: its requester, its policy, and the campaign's spend including it.

    A campaign is identified by requester and policy. `answers` and `spent` are totals of the
    campaign including this submission, because the guarantee of k₁ + k₂ answers is not the sum of
    two. Tasks are hashed with the ledger's salt.
    """

    sequence: int
    day: str
    requester: str
    policy: str
    mechanism: str
    answers: int
    spent: dict[Unit, Amount]
    tasks: tuple[str, ...] = field(repr=False)

    @property
    def campaign(self) -> tuple[str, str]:
        """The key of the entry's campaign: its requester and policy."""
        return self.requester, self.policy

    def as_json(self) -> dict[str, Any]:
        """The entry as a line's body."""
        return {
            "kind": "spend",
            "sequence": self.sequence,
            "day": self.day,
            "requester": self.requester,
            "policy": self.policy,
            "mechanism": self.mechanism,
            "answers": self.answers,
            "spent": {str(unit): list(amount) for unit, amount in self.spent.items()},
            "tasks": list(self.tasks),
        }

    @classmethod
    def of_json(cls, body: dict[str, Any]) -> Self:
        """The entry that `as_json` wrote."""
        names = ("sequence", "day", "requester", "policy", "mechanism", "answers")
        spent = {unit: Amount(*body["spent"][unit]) for unit in Unit}
        said = {name: body[name] for name in names}
        return cls(**said, spent=spent, tasks=tuple(body["tasks"]))


@dataclass(frozen=True, slots=True)
class Book:
    """All verified lines of a ledger. `digests[i]` is that of line i, counted from 0."""

    salt: str
    budget: Budget
    entries: tuple[Entry, ...]
    digests: tuple[str, ...]

    @classmethod
    def read(cls, lines: Sequence[bytes], path: str) -> Self:
        """Read the book from these lines; an error names the first damaged line."""
        salt, budget, entries, digests = "", None, [], [ORIGIN]
        for number, line in enumerate(lines):
            found = verified(line, digests[-1])
            if found is None:
                raise LedgerDamaged(path, line=number + 1, fault="this line was changed or damaged")
            body, digest = found
            digests.append(digest)
            try:
                if body["sequence"] != number or (number == 0) != (body["kind"] == "start"):
                    raise ValueError
                match body["kind"]:
                    case "start" if body["format"] == FORMAT:
                        salt, budget = str(body["salt"]), Budget(**body["budget"])
                    case "budget":
                        budget = Budget(**body["budget"])
                    case "spend":
                        entries.append(Entry.of_json(body))
                    case _:
                        raise ValueError
            except (KeyError, TypeError, ValueError, UsageError):
                fault = f"this is not a line of a {FORMAT} ledger"
                raise LedgerDamaged(path, line=number + 1, fault=fault) from None
        if budget is None:
            raise LedgerDamaged(path, line=1, fault="the ledger is empty")
        return cls(salt, budget, tuple(entries), tuple(digests[1:]))

    def spent(self, unit: UnitName) -> Amount:
        """The total spend of all campaigns."""
        return _total([entry.spent[Unit(unit)] for entry in self._latest().values()])

    def left(self, unit: UnitName) -> Amount:
        """The remaining budget; infinite if there is no limit."""
        limit, spent = self.budget.limit(unit), self.spent(unit)
        return Amount(*(max(0.0, a - b) for a, b in zip(limit, spent, strict=True)))

    def admitted(self, spending: Spending, day: str) -> Entry:
        """The entry for a submission, if it is allowed."""
        if not spending.tasks:
            raise UsageError("there is nothing to report; give at least one answer")
        campaign = (spending.requester, spending.policy)
        tasks = self._unreported(spending, campaign)
        latest = self._latest()
        before = latest[campaign].answers if campaign in latest else 0
        answers = before + len(tasks)
        if spending.most is not None and answers > spending.most:
            given = f", and {before:,} were given before" if before else ""
            raise UsageError(
                f"the policy promises for up to {spending.most:,} answers, not for {len(tasks):,}"
                f"{given}: give fewer"
            )
        spent = {unit: _amount(spending.guarantee(answers, unit)) for unit in Unit}
        entry = Entry(len(self.digests), day, *campaign, spending.mechanism, answers, spent, tasks)
        latest[campaign] = entry
        for unit in Unit:
            self._check(unit, _total([each.spent[unit] for each in latest.values()]), spending)
        return entry

    def earlier(self, spending: Spending) -> Entry | None:
        """The latest entry of the same campaign, with the campaign's totals so far."""
        return self._latest().get((spending.requester, spending.policy))

    def unreported(self, spending: Spending) -> tuple[str, ...]:
        """The tasks that may still be reported on; none after the only submission."""
        campaign = (spending.requester, spending.policy)
        seen = self._seen(campaign)
        if seen and spending.whole:
            return ()
        return tuple(task for task in spending.tasks if self._named(task, campaign) not in seen)

    def _latest(self) -> dict[tuple[str, str], Entry]:
        return {entry.campaign: entry for entry in self.entries}

    def _unreported(self, spending: Spending, campaign: tuple[str, str]) -> tuple[str, ...]:
        """The hashes of the tasks, none of which may have been reported."""
        seen = self._seen(campaign)
        if seen and spending.whole:
            raise AlreadyReported(*campaign)
        hashes = []
        for task in spending.tasks:
            named = self._named(task, campaign)
            if named in seen:
                raise AlreadyReported(*campaign, task=task)
            seen.add(named)
            hashes.append(named)
        return tuple(hashes)

    def _seen(self, campaign: tuple[str, str]) -> set[str]:
        """The hashes of all tasks that were reported; every entry has at least one."""
        return {
            task for entry in self.entries if entry.campaign == campaign for task in entry.tasks
        }

    def _named(self, task: str, campaign: tuple[str, str]) -> str:
        return hashlib.sha256(canonical_bytes([self.salt, *campaign, task])).hexdigest()[:32]

    def _check(self, unit: Unit, total: Amount, spending: Spending) -> None:
        limit, spent = self.budget.limit(unit), self.spent(unit)
        for i, quantity in enumerate(Amount._fields):
            if total[i] > limit[i]:
                raise BudgetExceeded(
                    spending.worker,
                    asked=total[i] - spent[i],
                    left=max(0.0, limit[i] - spent[i]),
                    unit=str(unit),
                    quantity=quantity,
                )


def _amount(guarantee: Guarantee) -> Amount:
    if not guarantee.is_finite:
        raise UsageError(
            f"the policy promises nothing per {guarantee.unit} for {guarantee.answers:,} answers "
            f"at delta {guarantee.delta:g}: no budget covers it"
        )
    return Amount(float(guarantee.epsilon), float(guarantee.delta))


def _total(amounts: Sequence[Amount]) -> Amount:
    return Amount(math.fsum(a.epsilon for a in amounts), math.fsum(a.delta for a in amounts))


def _today() -> date:
    return datetime.now(UTC).date()


class Ledger:
    """An append-only file: every submission is added before its reports are sent.

    Each use locks the file exclusively, reads and verifies all of it, and adds at most one line,
    which is on disk when the call returns. A spend beyond the budget is refused and does not change
    the file. A line cut short by a crash had not been acknowledged: the next use removes it and
    counts it in `torn`.

    An existing ledger must have the given `budget`, unless `adopt` accepts the one it has.

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
        self.torn: int = 0
        with self._held() as lines:
            book = self._read(lines) or self._start(lines, budget)
        if book.budget != budget and not adopt:
            raise UsageError(
                f"{self._path} was opened with another budget, {book.budget}; open it with that "
                "one, then call raise_budget"
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
        """All entries, oldest first."""
        return self._book().entries

    def spent(self, unit: UnitName) -> Amount:
        """(ε, δ) of all campaigns together."""
        return self._book().spent(unit)

    def left(self, unit: UnitName) -> Amount:
        """(ε, δ) that may still be spent; infinite if the budget has no limit."""
        return self._book().left(unit)

    def spend(self, spending: Spending) -> Entry:
        """Book a submission durably, or refuse it and change nothing."""
        with self._held() as lines:
            book = self._existing(lines)
            entry = book.admitted(spending, self._today().isoformat())
            self._add(lines, book, entry.as_json())
        return entry

    def check(self, spending: Spending) -> Entry:
        """The entry that `spend` would add, or the same refusal; nothing is booked."""
        return self._book().admitted(spending, self._today().isoformat())

    def earlier(self, spending: Spending) -> Entry | None:
        """The latest entry for the same requester and policy, with their totals."""
        return self._book().earlier(spending)

    def unreported(self, spending: Spending) -> tuple[str, ...]:
        """The tasks on which the same requester has no report under the same policy."""
        return self._book().unreported(spending)

    def raise_budget(self, budget: Budget) -> None:
        """Raise the budget; the ledger records the change."""
        with self._held() as lines:
            book = self._existing(lines)
            if not budget.covers(book.budget):
                raise UsageError(f"a budget can only be raised, and it is {book.budget}")
            body = {
                "kind": "budget",
                "sequence": len(book.digests),
                "day": self._today().isoformat(),
                "budget": budget.as_json(),
            }
            self._add(lines, book, body)

    def _held(self) -> AbstractContextManager[LockedLog]:
        return locked(self._path, self._timeout)

    def _book(self) -> Book:
        with self._held() as lines:
            return self._existing(lines)

    def _existing(self, lines: LockedLog) -> Book:
        book = self._read(lines)
        if book is None:
            raise UsageError(f"{self._path} was removed after it was opened")
        return book

    def _read(self, lines: LockedLog) -> Book | None:
        """The book, without a line cut short by a crash; None if nothing was ever written."""
        whole, rest = lines.read()
        book = Book.read(whole, self._path) if whole else None
        # Check the head first: an acknowledged line that is torn is damage, not a crash.
        lines.check_head(book.digests if book else ())
        if rest:
            lines.cut(rest)
            self.torn += 1
        return book

    def _start(self, lines: LockedLog, budget: Budget) -> Book:
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

    def _add(self, lines: LockedLog, book: Book, body: dict[str, Any]) -> None:
        line, digest = chained(body, book.digests[-1])
        lines.append(line, len(book.digests), digest)
