"""Protocols that connect the packages: Randomness, Release, Mechanism, Step, Engine, Aggregator.

A mechanism turns answers into reports on the worker's device. An aggregator asks only for sums
over reports and for maps over tasks, so the same algorithm runs on one machine, on a cluster and
under a secure sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from sottovoce.model import (
    Alphabet,
    Candidate,
    Cells,
    Citation,
    Claim,
    Codes,
    Domain,
    Evidence,
    FiniteChannel,
    FloatArray,
    Guarantee,
    Kind,
    Listing,
    Names,
    Odds,
    Part,
    Private,
    Promise,
    ReportCodes,
    Reports,
    Result,
    Unit,
    UnitName,
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
    opens noised totals only. All that the rest of the system needs to know of it is here, so a
    mechanism is one file, named in `mechanisms.registry`; its page is docs/mechanisms/NAME.md.
    Fields `labels` and `steps`, where it has them, are those of the domain it is made for.
    """

    name: ClassVar[str]

    takes: ClassVar[frozenset[Kind]]
    """The kinds of domain whose answers it takes."""

    hiding: ClassVar[Mapping[str, Any] | None]
    """Parameters of `calibrated` that hide participation: none needed where it is always hidden.

    None where it cannot be.
    """

    whole: ClassVar[bool]
    """Whether it needs all answers of a worker at once, and so cannot be sampled."""

    sound_as_published: ClassVar[bool]
    """Whether the paper's calibration is the sound one.

    Where it is another, the class method `as_published(domain, epsilon, …)` makes it.
    """

    listing: ClassVar[Listing | None]
    """How requesters' pages list it, which read it from the server; None where they do not."""

    @property
    def citation(self) -> Citation:
        """What it is in words, and where it comes from."""
        ...

    @property
    def hides_participation(self) -> bool:
        """Whether NULL is an answer like any other, so that every cell must be given."""
        ...

    @property
    def is_separable(self) -> bool:
        """Whether each report has noise of its own, so that answers may go out bit by bit.

        What a worker draws once would be drawn again, a dense submission has every task already,
        and a sample of the answers would be taken twice.
        """
        ...

    @property
    def in_browser(self) -> bool:
        """Whether the worker's page can run it with nothing but a browser."""
        ...

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        """The ways in which a planner tries it for a promise; none where others always do better.

        `hidden` asks for private participation. Whatever cannot be calibrated is left out later.
        """
        ...

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        """The smallest ε at this delta for a worker with so many answers."""
        ...

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
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
        unit: UnitName = Unit.ANSWER,
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

    def __hash__(self) -> int:
        """Equal mechanisms have one hash: what is computed of them is kept."""
        ...

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

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        """Which codes it can have sent: a server refuses the others."""
        ...

    def evidence(
        self, reports: Reports, domain: Domain, *, as_numbers: bool = False
    ) -> Evidence | None:
        """The reports as symbols, with the law of a symbol given an answer.

        `as_numbers` asks for labels on their scale, where the domain has one. None where a report
        depends on answers in a way that has no such law.
        """
        ...

    @property
    def is_plain(self) -> bool:
        """Whether `plain` leaves reports as they are, so that each may be read alone."""
        ...

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        """A table of labels or numbers, for methods that know nothing of the noise.

        NULL reports are left out, and counted.
        """
        ...

    def odds(self) -> Odds | None:
        """What becomes of 100 answers; None where no report stands for one answer."""
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
