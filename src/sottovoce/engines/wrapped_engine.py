"""Engines around another engine: one that tells how far it is, one whose sums are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sottovoce.errors import DataError
from sottovoce.model import Domain, FloatArray, Names
from sottovoce.seams import Engine, Step


class _Wrapped:
    """Another engine, as it is: a subclass says what becomes of its sums."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._totals = engine, 0

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

    def map(self, step: Step) -> FloatArray:
        return self._engine.map(step)


class WatchedEngine(_Wrapped):
    """Another engine, with a call after each pass over the reports.

    Aggregators are pure and report no progress; every round is one `total`, so counting those
    shows how far the work is.
    """

    def __init__(self, engine: Engine, watcher: Callable[[int], None]) -> None:
        super().__init__(engine)
        self._watcher = watcher

    def total(self, step: Step) -> FloatArray:
        sums = self._engine.total(step)
        self._totals += 1
        self._watcher(self._totals)
        return sums


class Sums(Protocol):
    """The sums of a run in their order, on something that outlives it."""

    def read(self, number: int) -> FloatArray | None:
        """The sum of that number, from 0; None where it is still to be made."""
        ...

    def append(self, number: int, sums: FloatArray) -> None:
        """Keep the next sum."""
        ...


class RecordedEngine(_Wrapped):
    """Another engine, whose sums are kept.

    An aggregator is a pure function of its sums: given those of an earlier run it asks for the same
    steps again, and is where that run was without a pass over the reports.
    """

    def __init__(self, engine: Engine, kept: Sums) -> None:
        super().__init__(engine)
        self._kept = kept

    def total(self, step: Step) -> FloatArray:
        number, self._totals = self._totals, self._totals + 1
        sums = self._kept.read(number)
        if sums is None:
            sums = self._engine.total(step)
            self._kept.append(number, sums)
        elif sums.shape != step.shape:
            raise DataError(
                f"sum {number} of the checkpoint has shape {sums.shape} where {step.shape} is due: "
                "it belongs to another run; name another folder"
            )
        return sums
