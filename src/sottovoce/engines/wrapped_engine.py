"""Engines around another engine: one reports progress, one checkpoints its sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sottovoce.errors import DataError
from sottovoce.model import Domain, FloatArray, Names
from sottovoce.seams import Engine, Step


class _Wrapped:
    """A wrapper that passes everything on; subclasses override the sums."""

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
    """Another engine, with a callback after each pass over the reports.

    Aggregators are pure and report no progress; every round is one `total`, so counting those shows
    the progress.
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
    """Storage for the sums of a run, in order, that survives the run."""

    def read(self, number: int) -> FloatArray | None:
        """The sum of that number, from 0; None if it is still to be computed."""
        ...

    def append(self, number: int, sums: FloatArray) -> None:
        """Keep the next sum."""
        ...


class RecordedEngine(_Wrapped):
    """Another engine, whose sums are checkpointed.

    An aggregator is a pure function of its sums: given those of an earlier run, it asks for the
    same steps again and reaches the same point without a pass over the reports.
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
                f"sum {number} of the checkpoint has shape {sums.shape}, not {step.shape}: it "
                "belongs to another run; name another folder"
            )
        return sums
