"""The verbs: what an engine, a step and an aggregator promise each other.

An aggregator asks only for sums over reports and for maps over tasks, so the same algorithm runs
on one machine, on a cluster and under a secure sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from sottovoce.model import Domain, FloatArray, Kind, Names, Part, Result

__all__ = ["Aggregator", "Engine", "Kernel", "Step"]

Kernel: TypeAlias = Callable[[Part, FloatArray], None]
"""The compiled twin of a step: adds its value for a part to an array (or, for a map, fills it)."""


class Step(Protocol):
    """A pure function of all the reports of some tasks.

    Under `Engine.total` its values, each of `shape`, are added up over parts. Under `Engine.map`
    it returns one row of `shape` per task of the part.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the sum, or of one task's row."""
        ...

    def __call__(self, part: Part) -> FloatArray:
        """The value in NumPy: the specification."""
        ...

    def kernel(self) -> Kernel | None:
        """The compiled twin, equal to the specification up to rounding; None if there is none."""
        ...


class Engine(Protocol):
    """Adds up a step over blocks of whole tasks, wherever they lie; maps over tasks."""

    @property
    def workers(self) -> Names:
        """The vocabulary of workers."""
        ...

    @property
    def tasks(self) -> Names:
        """The vocabulary of tasks."""
        ...

    @property
    def domain(self) -> Domain:
        """What the reports' values are."""
        ...

    def total(self, step: Step) -> FloatArray:
        """The step's values added up over all reports."""
        ...

    def map(self, step: Step) -> FloatArray:
        """The step's rows for all tasks, in the vocabulary's order."""
        ...


class Aggregator(Protocol):
    """Infers truths and weights from sums alone."""

    @property
    def takes(self) -> frozenset[Kind]:
        """The kinds of domain the method is defined for."""
        ...

    def fit(self, engine: Engine) -> Result:
        """The truths, with weights and confidence; nothing is fitted in place."""
        ...
