"""The verbs: what a mechanism, an engine, a step and an aggregator promise each other.

A mechanism turns answers into reports on the worker's device. An aggregator asks only for sums
over reports and for maps over tasks, so the same algorithm runs on one machine, on a cluster and
under a secure sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

import numpy.typing as npt

from sottovoce.model import (
    Alphabet,
    Cells,
    Claim,
    Codes,
    Domain,
    FiniteChannel,
    FloatArray,
    Guarantee,
    Kind,
    Names,
    Part,
    Private,
    Result,
    Unit,
    Words,
)

__all__ = [
    "Aggregator",
    "CellMechanism",
    "Engine",
    "Kernel",
    "Learnt",
    "Mechanism",
    "Randomness",
    "Release",
    "Step",
    "SumsAggregator",
    "WorkerStep",
]

Kernel: TypeAlias = Callable[[Part, FloatArray], None]
"""The compiled twin of a step: adds its value for a part to an array (or, for a map, fills it)."""


class Randomness(Protocol):
    """Where noise comes from: the operating system for reports, a seed for simulations."""

    @property
    def simulated(self) -> bool:
        """Whether this protects nobody."""
        ...

    def words(self, count: int) -> Words:
        """So many independent uniform 64-bit words."""
        ...


class Release(Protocol):
    """What a policy says of how answers get out, and what that betrays: checked at birth.

    A mechanism, which perturbs each answer on the device; or a sealed sum, which perturbs none and
    opens noised totals only.
    """

    name: ClassVar[str]
    takes: ClassVar[frozenset[Kind]]

    @property
    def hides_participation(self) -> bool:
        """Whether NULL is an answer like any other, so that every cell must be given."""
        ...

    def guarantee(self, answers: int, unit: Unit, delta: float = 0.0) -> Guarantee:
        """The smallest ε at this delta for a worker with so many answers."""
        ...

    def delta(self, epsilon: float, answers: int, unit: Unit) -> float:
        """The smallest δ at this epsilon: the other way along the same curve."""
        ...

    def claim(self, epsilon: float | None = None) -> Claim | None:
        """What the paper says of these parameters; where it gives a curve, at this epsilon."""
        ...

    @classmethod
    def calibrated(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        unit: Unit = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
    ) -> Self:
        """The least noise whose guarantee for so many answers is within (epsilon, delta)."""
        ...

    def as_json(self) -> dict[str, Any]:
        """The release in a policy: its name, integers and texts. No floats."""
        ...

    @classmethod
    def of_json(cls, document: Any) -> Self:
        """The release that `as_json` wrote; anything else is refused."""
        ...


class Mechanism(Release, Protocol):
    """Turns answers into reports. A frozen dataclass of integers, checked at birth."""

    @property
    def alphabet(self) -> Alphabet:
        """What reports are written in."""
        ...

    def draw(self, workers: int, randomness: Randomness) -> Private | None:
        """What each worker draws once per campaign and keeps; None where there is nothing."""
        ...

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        """Reports in place of answers. Takes all cells of each worker at once."""
        ...


class CellMechanism(Mechanism, Protocol):
    """A mechanism whose reports depend on one answer each, given what the worker drew."""

    def channel(self) -> FiniteChannel:
        """The exact law of one report given its answer, in integers."""
        ...

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        """ln P(report | answer) for arrays of codes, which are broadcast."""
        ...


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


@runtime_checkable
class WorkerStep(Step, Protocol):
    """A step whose sums are workers': a cluster may keep them in several places.

    What a sum holds for workers comes first, as many numbers for each, in their order; what it
    holds for all together comes last.
    """

    def among(self, workers: Codes, count: int) -> Self:
        """The same step for some of `count` workers alone, who are then numbered 0, 1, …."""
        ...


class Engine(Protocol):
    """Adds up a step over blocks of whole tasks, wherever they lie; maps over tasks."""

    @property
    def workers(self) -> Names:
        """The vocabulary of workers."""
        ...

    @property
    def tasks(self) -> Names:
        """The names of the tasks at hand, whose rows `map` gives: on one machine, all of them."""
        ...

    @property
    def task_count(self) -> int:
        """How many tasks there are, here and elsewhere."""
        ...

    @property
    def domain(self) -> Domain:
        """What the reports' values are."""
        ...

    def total(self, step: Step) -> FloatArray:
        """The step's values added up over all reports."""
        ...

    def map(self, step: Step) -> FloatArray:
        """The step's rows for the tasks at hand, in their order."""
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


class Learnt(Protocol):
    """What sums over all reports say: all that the truth of a task needs beside its own reports."""

    def among(self, workers: Codes, count: int) -> Self:
        """What is needed where only some of `count` workers occur, numbered 0, 1, …."""
        ...


L = TypeVar("L", bound=Learnt)


@runtime_checkable
class SumsAggregator(Aggregator, Protocol[L]):
    """An aggregator that learns from sums first, and tells truths task by task afterwards.

    The sums may be made anywhere, and the truths told wherever the tasks lie: `fit` is both.
    """

    name: ClassVar[str]

    def learn(self, engine: Engine) -> L:
        """What the sums say. No map is asked for."""
        ...

    def tell(self, engine: Engine, learnt: L) -> Result:
        """The result for the tasks at hand. No sum is asked for."""
        ...
