"""Live sessions in this process: what waits to be done in each, and who does it.

Replies are queued, and one thread at a time does what waits in a session: it takes all of them,
stores them at once, and only then are they acknowledged. So a sum that takes seconds to open holds
up nobody else, and many replies cost one commit.
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
"""Sessions in which something is done at the same time."""

MOST_WAITING = 10_000
"""Replies that may wait in one session."""

log = logging.getLogger("sottovoce.live")


def _promise() -> Future[bool]:
    promised: Future[bool] = Future()
    promised.set_running_or_notify_cancel()  # it is kept even if nobody waits for it any more
    return promised


@dataclass(frozen=True, slots=True)
class QueuedReply:
    """A reply that waits to be taken. The future says whether the same one was taken before."""

    member: int
    content: bytes = field(repr=False)
    future: Future[bool] = field(default_factory=_promise)


@dataclass(frozen=True, slots=True)
class Stop:
    """The requester's wish that the session ends."""

    reason: str
    future: Future[bool] = field(default_factory=_promise)


@dataclass(frozen=True, slots=True)
class ProgressRequest:
    """Somebody's wish to see how the session gets on."""

    future: Future[bool] = field(default_factory=_promise)


QueuedItem: TypeAlias = QueuedReply | Stop | ProgressRequest


class ActiveSession:
    """One session: its replica, what waits, and since when its phase is on.

    Whoever holds `lock` may read or change the replica. That may take long: whoever only looks
    comes back later, or sees the `view` that there is.
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
        """Let it wait to be done."""
        with self._queue:
            if len(self._waiting) >= MOST_WAITING:
                raise Refused(Reason.BUSY, "too many replies are waiting: send it again later")
            self._waiting.append(item)

    def taken(self) -> list[QueuedItem]:
        """All that waits."""
        with self._queue:
            items = list(self._waiting)
            self._waiting.clear()
        return items

    def begins(self) -> bool:
        """Whether whoever asks shall do what waits; if not, somebody does, and looks again."""
        with self._queue:
            self._again, begins = self._working, not self._working
            self._working = True
        return begins

    def ends(self) -> bool:
        """Whether nothing is left to do."""
        with self._queue:
            self._working = bool(self._waiting) or self._again
            self._again = False
            return not self._working

    def show(self, replica: Replica) -> bool:
        """Let others see what is stored; whether another phase is on than was shown before.

        The time of a phase is counted from when this process first saw it.
        """
        self.replica, self.view = replica, replica.view()
        place = replica.session.place
        is_new = place != self._since[0]
        if is_new:
            self._since = (place, self._clock())
        return is_new

    @property
    def is_due(self) -> bool:
        """Whether the time of the phase is up."""
        place, since = self._since
        patience = None if self.replica is None else self.replica.patience
        return place is not None and patience is not None and self._clock() - since >= patience


class ActiveSessions:
    """The sessions that this process has looked at, and the threads in which things are done."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._sessions: dict[str, ActiveSession] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="sottovoce-live")

    def session(self, id: str) -> ActiveSession:
        """A session, which must exist."""
        with self._lock:
            return self._sessions.setdefault(id, ActiveSession(id, self._clock))

    def due(self) -> list[ActiveSession]:
        """Where the time of a phase is up."""
        with self._lock:
            sessions = list(self._sessions.values())
        return [active for active in sessions if active.is_due]

    def schedule(self, active: ActiveSession, work: Callable[[], None]) -> None:
        """Have it done soon, once more if it is being done."""
        if active.begins():
            self._threads.submit(_run, active, work)

    def forget(self, id: str) -> None:
        """Drop a session that is over."""
        with self._lock:
            self._sessions.pop(id, None)

    def close(self) -> None:
        """Do what waits, and end."""
        self._threads.shutdown()


def sessions_of(service: Service) -> ActiveSessions:
    """The live sessions of this service."""
    return service.parts.of(ActiveSessions)


def _run(active: ActiveSession, work: Callable[[], None]) -> None:
    while True:
        try:
            work()
        except Exception as error:
            # The message may hold what was read: only the kind of error is kept.
            log.error("a live session waits", extra={"error": type(error).__name__})
        if active.ends():
            return
