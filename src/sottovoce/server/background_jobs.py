"""Background work of the server: threads, sample campaigns, and a limit on exports."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from sottovoce.errors import Reason, Refused

MOST_REHEARSALS = 4
"""The most concurrent sample campaigns: each slows all others a little."""

MOST_EXPORTS = 4
"""The most concurrent exports: each holds a connection and some memory."""


@contextmanager
def background_thread(work: Callable[[threading.Event], None], name: str) -> Iterator[None]:
    """Run `work` in a thread while the block runs; it must return soon after the event is set."""
    done = threading.Event()
    thread = threading.Thread(target=work, args=(done,), name=f"sottovoce-{name}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class SampleRun(Protocol):
    """A longer job."""

    def run(self, ending: threading.Event) -> None:
        """Run until everything is done or `ending` is set."""
        ...


R = TypeVar("R", bound=SampleRun)


class SampleRunLimit:
    """Lets a few jobs run at once and refuses others."""

    def __init__(self, most: int = MOST_REHEARSALS) -> None:
        self._most, self._lock = most, threading.Lock()
        self._ending = threading.Event()
        self._taken = 0
        self._threads: set[threading.Thread] = set()

    def start(self, prepare: Callable[[], R]) -> R:
        """Prepare a job, if there is room for it, and run it in its own thread."""
        self._take()
        try:
            prepared = prepare()
            thread = threading.Thread(
                target=self._run, args=(prepared,), name="sottovoce-rehearsal", daemon=True
            )
            with self._lock:
                self._check_runs()
                self._threads.add(thread)
                thread.start()
        except BaseException:
            self._give_back()
            raise
        return prepared

    @property
    def under_way(self) -> int:
        """The number of running jobs."""
        return self._taken

    def close(self) -> None:
        """Stop all jobs and wait until they have ended."""
        with self._lock:
            self._ending.set()
            left = list(self._threads)
        for thread in left:
            thread.join()

    def _run(self, rehearsal: SampleRun) -> None:
        try:
            rehearsal.run(self._ending)
        finally:
            self._give_back(threading.current_thread())

    def _take(self) -> None:
        with self._lock:
            self._check_runs()
            if self._taken >= self._most:
                raise Refused(
                    Reason.BUSY, f"{self._most} sample campaigns are running; try again later"
                )
            self._taken += 1

    def _give_back(self, thread: threading.Thread | None = None) -> None:
        with self._lock:
            self._taken -= 1
            if thread is not None:
                self._threads.discard(thread)

    def _check_runs(self) -> None:
        if self._ending.is_set():
            raise Refused(Reason.UNAVAILABLE, "the server is stopping; try again later")


class ExportLimit:
    """Lets a few exports run at once and refuses others."""

    def __init__(self, most: int = MOST_EXPORTS) -> None:
        self._most, self._free = most, threading.BoundedSemaphore(most)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold a slot while the block runs."""
        if not self._free.acquire(blocking=False):
            raise Refused(Reason.BUSY, f"{self._most} exports are already running; try again later")
        try:
            yield
        finally:
            self._free.release()
