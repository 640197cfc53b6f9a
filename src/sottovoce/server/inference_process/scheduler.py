"""Background inference while reports arrive; of several servers on one database, one infers."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from sottovoce.errors import Reason, Refused
from sottovoce.server.campaigns.webhooks import announce
from sottovoce.server.child_process import ChildEnded, ChildProcess
from sottovoce.server.database import Database
from sottovoce.server.database.campaigns import find_campaign
from sottovoce.server.database.results import (
    Columns,
    StoredResult,
    Summary,
    find_result,
    gone,
    store_problem,
    store_result,
    unfinished,
)
from sottovoce.server.inference_process.child import ReportCache
from sottovoce.server.inference_process.fit import FittedResult
from sottovoce.server.service import Service
from sottovoce.version import __version__

KEY = int.from_bytes(b"sotto-vo", "big")
"""The number of PostgreSQL's advisory lock, which is per database."""

INTERVAL = 2.0
"""Seconds between two checks for new reports."""

REST = 2.0
"""A pass is followed by a pause of at least this many times its length."""

PATIENCE = 3
"""How often a process may crash on the same reports before the campaign gets an error."""

MOST_DOUBLINGS = 6
"""Each failure doubles the pause, up to this many times."""

STOPPED = "inference stopped unexpectedly, perhaps for lack of memory; new reports start it again"

log = logging.getLogger("sottovoce.inference")


class Election:
    """An election by a lock on its own connection; a holder that dies releases it.

    On SQLite there is one server, and it wins.
    """

    def __init__(self, database: Database) -> None:
        self._database = None if database.is_sqlite else Database(database.url)
        self._connection: Connection | None = None

    def won(self) -> bool:
        """Whether this server infers now."""
        if self._database is None:
            return True
        try:
            if self._connection is not None:
                self._connection.execute(text("SELECT 1"))
                return True
            return self._stood(self._database)
        except DBAPIError:
            self._give_up()
            return False

    def close(self) -> None:
        """Let another server win."""
        self._give_up()
        if self._database is not None:
            self._database.close()

    def _stood(self, database: Database) -> bool:
        connection = database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._connection = connection
        won = connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": KEY}).scalar()
        if not won:
            self._give_up()
        return bool(won)

    def _give_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()  # a pooled connection would keep its lock
            connection.close()


class InferenceProcess(ChildProcess):
    """The inference process."""

    def __init__(self, database: Database) -> None:
        url = database.url.render_as_string(hide_password=False)
        super().__init__("sottovoce.server.inference_process.child", {"database": url})

    def infer(self, id: str) -> FittedResult | None:
        """A campaign's current truths; None if the campaign does not exist."""
        header, content = self.ask({"campaign": id})
        if not header:
            return None
        found = StoredResult(header["sequence"], header["erasures"], Summary(**header["summary"]))
        return FittedResult(found, content)

    def forget(self, id: str) -> None:
        """Drop the cached reports of a deleted campaign."""
        if self.pid is not None:
            self.infer(id)  # it finds no campaign and drops the cache


@contextmanager
def background_inference(service: Service, *, interval: float = INTERVAL) -> Iterator[None]:
    """Keep results up to date while the block runs."""
    background = _Background(service, interval, InferenceProcess(service.database))
    background.start()
    try:
        yield
    finally:
        background.close()


def infer_now(service: Service, campaign_id: str) -> None:
    """Update a campaign's result now. Blocks: not for event loops."""
    outcome = ReportCache(service.database).infer(campaign_id)
    if outcome is None:
        raise Refused(
            Reason.NOT_FOUND, "the campaign does not exist, or none of its totals are opened"
        )
    _keep(service, campaign_id, outcome)


class _Background:
    """A thread that finds new reports, runs inference in a child process, and stores results."""

    def __init__(self, service: Service, interval: float, child: InferenceProcess) -> None:
        self._service, self._interval = service, interval
        self._child = child
        self._election = Election(service.database)
        self._stop = threading.Event()
        self._failures, self._busy = 0, 0.0
        self._asked: set[str] = set()
        self._ended: dict[str, tuple[tuple[int, int], int]] = {}
        self._thread = threading.Thread(target=self._work, name="sottovoce-inference", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._child.stop()
        self._thread.join()
        self._child.close()
        self._election.close()

    def _work(self) -> None:
        pause = self._interval  # accepting reports comes first after a start
        while not self._stop.wait(pause):
            self._busy = 0.0
            try:
                self._pass()
                self._failures = 0
            except Exception as error:
                if self._stop.is_set():
                    return
                self._failures += 1
                # The message could contain data: only the type of the error is logged.
                log.warning("a pass of inference failed", extra={"error": type(error).__name__})
            patience = 2 ** min(self._failures, MOST_DOUBLINGS) * self._interval
            pause = max(patience, REST * self._busy)

    def _pass(self) -> None:
        if not self._election.won():
            return
        with self._service.database.reading() as connection:
            waiting = unfinished(connection)
            deleted = gone(connection, self._asked)
        for id in deleted:
            self._asked.discard(id)
            self._child.forget(id)
        failed: Exception | None = None
        for id, counts in waiting.items():
            if self._stop.is_set():
                return
            try:
                self._infer(id, counts)
            except Exception as error:  # the others need not wait
                failed = error
        if failed is not None:
            raise failed

    def _infer(self, id: str, counts: tuple[int, int]) -> None:
        try:
            self._child.start()
            started = time.monotonic()
            self._asked.add(id)
            outcome = self._child.infer(id)
            self._busy += time.monotonic() - started
        except ChildEnded:
            if not self._stop.is_set():
                self._note_end(id, counts)
            raise
        self._ended.pop(id, None)
        if outcome is not None:
            _keep(self._service, id, outcome)

    def _note_end(self, id: str, counts: tuple[int, int]) -> None:
        """After repeated crashes on the same reports, store an error instead of retrying."""
        before, times = self._ended.get(id, (counts, 0))
        times = times + 1 if before == counts else 1
        self._ended[id] = (counts, times)
        if times >= PATIENCE:
            del self._ended[id]
            self._service.change(lambda connection: _give_up(connection, id, counts))


def _keep(service: Service, id: str, outcome: FittedResult) -> None:
    service.change(lambda connection: _store(connection, id, outcome))


def _store(connection: Connection, id: str, outcome: FittedResult) -> None:
    """Store a result unless the campaign is deleted or has a newer one; queue notifications."""
    stored = find_campaign(connection, id, hold=True)
    if stored is None:
        return
    before = find_result(connection, stored.number)
    if before is not None and before.age > outcome.found.age:
        return
    store_result(connection, stored.number, outcome.found, outcome.content)
    summary = outcome.found.summary
    if stored.campaign.terms.policy.sealed and before is None:
        details = {"contributions": summary.workers, "tasks": summary.tasks}
        announce(connection, stored, "campaign.opened_sums", details)
    if summary.settled and not (before is not None and before.summary.settled):
        details = {"reports": summary.reports, "workers": summary.workers, "tasks": summary.tasks}
        announce(connection, stored, "campaign.converged", details)


def _give_up(connection: Connection, id: str, seen: tuple[int, int]) -> None:
    """Record that these reports give no truths; earlier truths stay."""
    stored = find_campaign(connection, id, hold=True)
    if stored is None:
        return
    before = find_result(connection, stored.number)
    if before is None:
        before = StoredResult(0, 0, Summary(0, 0, stored.campaign.terms.policy.hash, __version__))
        store_result(connection, stored.number, before, Columns.none().pack())
    store_problem(connection, stored.number, before, STOPPED, seen)
