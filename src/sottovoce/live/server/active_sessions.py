"""Live sessions in this process: their queued work, and the threads that do it.

Replies are queued, and one thread at a time does the work of a session: it takes all of them and
stores them together; only then are they acknowledged. A sum that takes seconds to open therefore
delays no other session, and many replies need one commit.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeAlias

from sottovoce.errors import Reason, Refused
from sottovoce.live.server.replica import PhaseStatus, Replica
from sottovoce.securesum.star.messages import Place
from sottovoce.server.service import Service

THREADS = 4
"""The most sessions that work at the same time."""

MOST_WAITING = 10_000
"""The most waiting replies of one session."""

log = logging.getLogger("sottovoce.live")


def _promise() -> Future[bool]:
    promised: Future[bool] = Future()
    promised.set_running_or_notify_cancel()  # it is stored even if nobody waits for it
    return promised


@dataclass(frozen=True, slots=True)
class QueuedReply:
    """A queued reply. The future is whether the same one was accepted before."""

    member: int
    content: bytes = field(repr=False)
    future: Future[bool] = field(default_factory=_promise)


@dataclass(frozen=True, slots=True)
class Stop:
    """A requester's request to end the session."""

    reason: str
    future: Future[bool] = field(default_factory=_promise)


@dataclass(frozen=True, slots=True)
class ProgressRequest:
    """A request for the session's progress."""

    future: Future[bool] = field(default_factory=_promise)


QueuedItem: TypeAlias = QueuedReply | Stop | ProgressRequest


class ActiveSession:
    """One session: its replica, its queue, and the start of its phase.

    Holders of `lock` may read or change the replica, which may take long. Others retry later or use
    the existing `view`.
    """

    def __init__(self, id: str, clock: Callable[[], float]) -> None:
        self.id = id
        self._clock = clock
        self.lock: threading.Lock = threading.Lock()
        self.replica: Replica | None = None
        self.view: PhaseStatus | None = None
        self._queue = threading.Lock()
        self._waiting: deque[QueuedItem] = deque()
        self._working = self._again = False
        self._since: tuple[Place | None, float] = (None, 0.0)

    def add(self, item: QueuedItem) -> None:
        """Add work to the queue."""
        with self._queue:
            if len(self._waiting) >= MOST_WAITING:
                raise Refused(Reason.BUSY, "too many replies are waiting; send it again later")
            self._waiting.append(item)

    def taken(self) -> list[QueuedItem]:
        """Take all queued work."""
        with self._queue:
            items = list(self._waiting)
            self._waiting.clear()
        return items

    def begins(self) -> bool:
        """Whether the caller must do the queued work; if not, another thread does it."""
        with self._queue:
            self._again, begins = self._working, not self._working
            self._working = True
        return begins

    def ends(self) -> bool:
        """Whether no work is left."""
        with self._queue:
            self._working = bool(self._waiting) or self._again
            self._again = False
            return not self._working

    def show(self, replica: Replica) -> bool:
        """Publish the stored state; return whether the phase has changed.

        The time of a phase starts when this process first sees it.
        """
        self.replica, self.view = replica, replica.view()
        place = replica.session.place
        is_new = place != self._since[0]
        if is_new:
            self._since = (place, self._clock())
        return is_new

    @property
    def is_due(self) -> bool:
        """Whether the phase has timed out."""
        place, since = self._since
        patience = None if self.replica is None else self.replica.patience
        return place is not None and patience is not None and self._clock() - since >= patience


class ActiveSessions:
    """The sessions in this process, and its worker threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._sessions: dict[str, ActiveSession] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="sottovoce-live")

    def session(self, id: str) -> ActiveSession:
        """A session, which must exist."""
        with self._lock:
            return self._sessions.setdefault(id, ActiveSession(id, self._clock))

    def due(self) -> list[ActiveSession]:
        """The sessions whose phase has timed out."""
        with self._lock:
            sessions = list(self._sessions.values())
        return [active for active in sessions if active.is_due]

    def schedule(self, active: ActiveSession, work: Callable[[], None]) -> None:
        """Schedule the work of a session, again if it is running."""
        if active.begins():
            self._threads.submit(_run, active, work)

    def forget(self, id: str) -> None:
        """Drop a finished session."""
        with self._lock:
            self._sessions.pop(id, None)

    def close(self) -> None:
        """Finish queued work, and stop."""
        self._threads.shutdown()


def sessions_of(service: Service) -> ActiveSessions:
    """The live sessions of this service."""
    return service.parts.of(ActiveSessions)


def _run(active: ActiveSession, work: Callable[[], None]) -> None:
    while True:
        try:
            work()
        except Exception as error:
            # The message could contain data: only the type of the error is logged.
            log.error("a live session waits", extra={"error": type(error).__name__})
        if active.ends():
            return
