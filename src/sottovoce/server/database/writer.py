"""The single thread that writes, with group commits."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice, takewhile
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused
from sottovoce.server.database.connection import STORAGE_ERRORS, Database, unavailable
from sottovoce.server.database.intake import Intake, IntakeOutcome, hold, take

T = TypeVar("T")

Pending: TypeAlias = asyncio.Future[IntakeOutcome]
Batch: TypeAlias = list[tuple[Intake, Pending]]

LARGEST_BATCH = 256
"""The most submissions in one transaction."""

MOST_WAITING = 10_000
"""The most waiting submissions; beyond this the server replies that it is busy."""

GATHERING, GATHERING_APART = 0.004, 0.012
"""Seconds until the next batch when more than one submission was in the last.

The second value is for a database in other processes: a transaction takes several round trips, and
other servers wait for the same campaign. Fewer, larger transactions are faster for all.
"""


class Writer:
    """Makes submissions and other changes durable in order of arrival.

    A commit costs about the same for one submission as for 256, so the next batch gathers while one
    is committed: under load each commit serves many, without load none waits.

    Everything in the queues is settled eventually, whatever happens.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._gathering = GATHERING if database.is_sqlite else GATHERING_APART
        self._waiting: deque[tuple[Intake, Pending]] = deque()
        self._changes: deque[tuple[Callable[[Connection], Any], Future[Any]]] = deque()
        self._wake = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="sottovoce-writer", daemon=True)
        self._thread.start()

    def take(self, intake: Intake) -> Pending:
        """The outcome of a submission, once durable. For the thread of an event loop."""
        future: Pending = asyncio.get_running_loop().create_future()
        with self._wake:
            self._check_open()
            if len(self._waiting) >= MOST_WAITING:
                raise Refused(Reason.BUSY, "too many reports are waiting; send it again later")
            self._waiting.append((intake, future))
            self._wake.notify()
        return future

    def change(self, work: Callable[[Connection], T]) -> Future[T]:
        """The outcome of work in its own transaction, once durable."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()  # it is done even if nobody waits for it
        with self._wake:
            self._check_open()
            self._changes.append((work, future))
            self._wake.notify()
        return future

    @property
    def waiting(self) -> int:
        """The number of waiting submissions."""
        return len(self._waiting)

    def close(self) -> None:
        """Write everything that waits, and stop."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()

    def _check_open(self) -> None:
        if self._closing:
            raise Refused(Reason.UNAVAILABLE, "the server is stopping; send it again later")

    def _work(self) -> None:
        try:
            while self._turn():
                pass
        finally:
            with self._wake:
                self._closing = True
            ended = Refused(Reason.UNAVAILABLE, "the server cannot write; send it again later")
            _hand_over((future, ended) for _, future in self._waiting)
            for _, change in self._changes:
                change.set_exception(ended)

    def _turn(self) -> bool:
        """Do one change and one batch, if any; return whether there may be more."""
        with self._wake:
            while not (self._waiting or self._changes or self._closing):
                self._wake.wait()
            change = self._changes[0] if self._changes else None
            batch = list(islice(self._waiting, LARGEST_BATCH))
        if change is not None:
            self._change(*change)
            self._changes.popleft()
        if batch:
            batch = self._write(batch)
            for _ in batch:
                self._waiting.popleft()
        if len(batch) > 1 and not self._closing:
            time.sleep(self._gathering)
        return change is not None or bool(batch)

    def _change(self, work: Callable[[Connection], Any], future: Future[Any]) -> None:
        try:
            outcome = self._durably(work)
        except Exception as error:
            future.set_exception(error)
        except BaseException as error:  # the thread continues: others wait for it
            future.set_exception(unavailable(error))
        else:
            future.set_result(outcome)

    def _write(self, batch: Batch) -> Batch:
        """Store a batch and return the settled submissions, possibly more."""
        outcomes: list[IntakeOutcome | Exception]
        try:
            batch, taken = self._durably(lambda connection: self._taken(connection, batch))
            outcomes = [*taken]
        except BaseException as error:
            refused = error if isinstance(error, Refused) else unavailable(error)
            outcomes = [refused] * len(batch)
        _hand_over(zip((future for _, future in batch), outcomes, strict=True))
        return batch

    def _taken(self, connection: Connection, batch: Batch) -> tuple[Batch, list[IntakeOutcome]]:
        """Wait for this server's turn, then include submissions that have arrived since."""
        if not self._database.is_sqlite:
            campaigns = {intake.campaign for intake, _ in batch}
            hold(connection, campaigns)
            with self._wake:
                more = takewhile(lambda each: each[0].campaign in campaigns, self._waiting)
                batch = list(islice(more, LARGEST_BATCH))
        return batch, take(connection, [intake for intake, _ in batch])

    def _durably(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._database.writing() as connection:
                return work(connection)
        except STORAGE_ERRORS as error:  # rolled back, and nothing was acknowledged
            raise unavailable(error) from None


def _hand_over(settled: Iterable[tuple[Pending, IntakeOutcome | Exception]]) -> None:
    """Pass outcomes to waiters in an event loop, which is woken once for all of them."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Pending, IntakeOutcome | Exception]]] = {}
    for future, outcome in settled:
        by_loop.setdefault(future.get_loop(), []).append((future, outcome))
    for loop, pairs in by_loop.items():
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(_settle, pairs)


def _settle(pairs: Iterable[tuple[Pending, IntakeOutcome | Exception]]) -> None:
    for future, outcome in pairs:
        if future.done():  # the waiter was cancelled
            continue
        if isinstance(outcome, IntakeOutcome):
            future.set_result(outcome)
        else:
            future.set_exception(outcome)
