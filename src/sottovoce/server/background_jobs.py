"""Background work of the server: a thread for a block, rehearsals, and a limit on exports."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from sottovoce.errors import Reason, Refused

MOST_REHEARSALS = 4
"""Rehearsals at once: each takes a little of the time of all others."""

MOST_EXPORTS = 4
"""Exports that may be under way: each holds a connection and some memory."""


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
    """Something that goes on for a while."""

    def run(self, ending: threading.Event) -> None:
        """Go on until all is done, or until `ending` is set."""
        ...


R = TypeVar("R", bound=SampleRun)


class SampleRunLimit:
    """Lets a few run at once, and refuses the others, who come back later."""

    def __init__(self, most: int = MOST_REHEARSALS) -> None:
        self._most, self._lock = most, threading.Lock()
        self._ending = threading.Event()
        self._taken = 0
        self._threads: set[threading.Thread] = set()

    def start(self, prepare: Callable[[], R]) -> R:
        """Prepare one, if there is room for it, and run it in a thread of its own."""
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
        """How many there are now."""
        return self._taken

    def close(self) -> None:
        """Tell all that it is over, and wait until they have heard it."""
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
                    Reason.BUSY, f"{self._most} sample campaigns are under way: try again later"
                )
            self._taken += 1

    def _give_back(self, thread: threading.Thread | None = None) -> None:
        with self._lock:
            self._taken -= 1
            if thread is not None:
                self._threads.discard(thread)

    def _check_runs(self) -> None:
        if self._ending.is_set():
            raise Refused(Reason.UNAVAILABLE, "the server is stopping: try again later")


class ExportLimit:
    """Lets a few do at once what takes long, and refuses the others, who come back later."""

    def __init__(self, most: int = MOST_EXPORTS) -> None:
        self._most, self._free = most, threading.BoundedSemaphore(most)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """One of the slots, for as long as the block runs."""
        if not self._free.acquire(blocking=False):
            raise Refused(
                Reason.BUSY, f"{self._most} exports are under way already: try again later"
            )
        try:
            yield
        finally:
            self._free.release()
