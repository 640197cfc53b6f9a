"""The same function over many items, in several processes."""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import Any, Generic, Self, TypeAlias, TypeVar

from sottovoce.errors import SottovoceError, UsageError

__all__ = ["Processes", "Progress"]

Item = TypeVar("Item")
Found = TypeVar("Found")

Progress: TypeAlias = Callable[[int, int], None]
"""Called with how many items are done, and how many there are."""

CHUNKS_PER_PROCESS = 8
"""Small enough that no process waits long for the last one, large enough to keep pipes quiet."""


class Processes(Generic[Item, Found]):
    """A function kept in so many processes; with one job everything stays in this process.

    The function goes to each process once, with whatever it carries (a `partial` over a table).
    Processes are spawned, so that they inherit no thread and no lock. Results do not depend on
    the number of jobs.

    >>> with Processes(abs, jobs=1) as processes:
    ...     processes.map([-2, 3])
    [2, 3]
    """

    def __init__(self, function: Callable[[Item], Found], *, jobs: int = 1) -> None:
        if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
            raise UsageError(f"jobs must be a whole number from 1 up, not {jobs!r}")
        self._function, self._jobs = function, jobs
        self._executor: Executor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def map(self, items: Sequence[Item], progress: Progress | None = None) -> list[Found]:
        """The function of every item, in the order of the items."""
        found: dict[int, Found] = {}
        for place, result in self.results(items):
            found[place] = result
            if progress is not None:
                progress(len(found), len(items))
        return [found[place] for place in range(len(items))]

    def results(
        self, items: Sequence[Item], size: int | None = None
    ) -> Iterator[tuple[int, Found]]:
        """The function of every item beside the item's place, as they are finished.

        Items go to a process `size` at a time, else in a few chunks for each.
        """
        if self._jobs == 1 or len(items) < 2:
            yield from ((place, self._function(item)) for place, item in enumerate(items))
            return
        size = size or math.ceil(len(items) / (self._jobs * CHUNKS_PER_PROCESS))
        pending: dict[Future[list[Found]], int] = {
            self._pool().submit(_apply, items[first : first + size]): first
            for first in range(0, len(items), size)
        }
        try:
            for future in as_completed(pending):
                yield from enumerate(future.result(), pending[future])
        except BrokenProcessPool:
            raise SottovoceError(
                "a process ended before its work, perhaps for want of memory: try fewer jobs"
            ) from None
        finally:
            for future in pending:
                future.cancel()

    def _pool(self) -> Executor:
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                self._jobs, get_context("spawn"), _remember, (self._function,)
            )
        return self._executor


_remembered: list[Callable[[Any], Any]] = []
"""The function of this process, once it is one of several."""


def _remember(function: Callable[[Any], Any]) -> None:
    # Ctrl-C reaches every process of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _remembered[:] = [function]


def _end_with_parent() -> None:
    """A process whose first one was killed would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _apply(items: Sequence[Any]) -> list[Any]:
    [function] = _remembered
    return [function(item) for item in items]
