"""Keyholders that are online or wait for work, in memory only.

Nothing of it is stored: the database has only a keyholder's last day, and no time of a batch.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

HERE = 60.0
"""Seconds after its last request for which a keyholder counts as online."""

REST = 600.0
"""Seconds between a certified batch and the next, while the campaign is open."""

Bell = tuple[asyncio.AbstractEventLoop, asyncio.Event]


class Attendance:
    """The keyholders' last requests, and bells that wake those who wait for work."""

    def __init__(self, rest: float = REST, clock: Callable[[], float] = time.monotonic) -> None:
        self._rest, self._clock, self._lock = rest, clock, threading.Lock()
        self._seen: dict[tuple[str, int], float] = {}
        self._certified: dict[str, tuple[int, float]] = {}
        self._bells: dict[str, set[Bell]] = defaultdict(set)
        self.ending: bool = False

    def see(self, campaign: str, seat: int) -> None:
        """Record a keyholder's request."""
        self._seen[campaign, seat] = self._clock()

    def is_here(self, campaign: str, seat: int) -> bool:
        """Whether it has made a request in the last minute."""
        seen = self._seen.get((campaign, seat))
        return seen is not None and self._clock() - seen <= HERE

    def has_rested(self, campaign: str, number: int) -> bool:
        """Whether a batch was certified long enough ago; measured from when this server saw it."""
        with self._lock:
            before = self._certified.get(campaign)
            if before is None or before[0] != number:
                before = self._certified[campaign] = (number, self._clock())
        return self._clock() - before[1] >= self._rest

    @contextmanager
    def listening(self, campaign: str) -> Iterator[asyncio.Event]:
        """An event that is set when something may have changed. For the thread of a loop."""
        bell = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._bells[campaign].add(bell)
        try:
            yield bell[1]
        finally:
            with self._lock:
                self._bells[campaign].discard(bell)
                if not self._bells[campaign]:
                    del self._bells[campaign]

    def ring(self, campaign: str) -> None:
        """Wake those who wait for this campaign."""
        with self._lock:
            bells = list(self._bells.get(campaign, ()))
        _ring(bells)

    def end(self) -> None:
        """Wake all waiters: the server stops."""
        self.ending = True
        # No lock: a signal handler may interrupt the thread that holds it.
        _ring([bell for bells in list(self._bells.values()) for bell in list(bells)])

    def forget(self, campaign: str) -> None:
        """Drop a deleted campaign."""
        with self._lock:
            self._certified.pop(campaign, None)
            for key in [key for key in self._seen if key[0] == campaign]:
                del self._seen[key]


def _ring(bells: list[Bell]) -> None:
    for loop, event in bells:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(event.set)
