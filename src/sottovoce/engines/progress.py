"""An engine that tells somebody how far it is."""

from __future__ import annotations

from collections.abc import Callable

from sottovoce.model import Domain, FloatArray, Names
from sottovoce.seams import Engine, Step

__all__ = ["WatchedEngine"]


class WatchedEngine:
    """Another engine, with a call after each pass over the reports.

    Aggregators are pure and report no progress; every round is one `total`, so counting those
    shows how far the work is.
    """

    def __init__(self, engine: Engine, watcher: Callable[[int], None]) -> None:
        self._engine, self._watcher, self._passes = engine, watcher, 0

    @property
    def workers(self) -> Names:
        return self._engine.workers

    @property
    def tasks(self) -> Names:
        return self._engine.tasks

    @property
    def task_count(self) -> int:
        return self._engine.task_count

    @property
    def domain(self) -> Domain:
        return self._engine.domain

    def total(self, step: Step) -> FloatArray:
        sums = self._engine.total(step)
        self._passes += 1
        self._watcher(self._passes)
        return sums

    def map(self, step: Step) -> FloatArray:
        return self._engine.map(step)
