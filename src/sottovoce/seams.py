"""Protocols that connect the packages: Randomness, Release, Mechanism, Step, Engine, Aggregator.

A mechanism turns answers into reports on the worker's device. An aggregator asks only for sums over
reports and for maps over tasks, so the same algorithm runs on one machine, on a cluster and under a
secure sum.
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
"""The compiled version of a step: adds its value for a part to an array (a map fills it)."""


class Randomness(Protocol):
    """The source of noise: the operating system for reports, a seed for simulations."""

    @property
    def simulated(self) -> bool:
        """True for seeded noise, which protects nobody."""
        ...

    def words(self, count: int) -> Words:
        """`count` independent uniform 64-bit words."""
        ...


class Release(Protocol):
    """How a policy releases answers, and the privacy loss of that; validated when constructed.

    Either a mechanism, which perturbs each answer on the device, or a sealed sum, which perturbs no
    single answer and opens noised totals only. The rest of the system uses these members only, so a
    mechanism is one file, registered in `mechanisms.registry`; its page is docs/mechanisms/NAME.md.
    The fields `labels` and `steps`, if it has them, are those of its domain.
    """

    name: ClassVar[str]

    takes: ClassVar[frozenset[Kind]]
    """The kinds of domain it accepts."""

    hiding: ClassVar[Mapping[str, Any] | None]
    """Parameters of `calibrated` that hide participation; empty if it is always hidden.

    None if participation cannot be hidden.
    """

    whole: ClassVar[bool]
    """Whether it needs all answers of a worker at once, so that answers cannot be sampled."""

    sound_as_published: ClassVar[bool]
    """Whether the paper's calibration is sound.

    If it is not, the class method `as_published(domain, epsilon, …)` gives the paper's calibration.
    """

    listing: ClassVar[Listing | None]
    """Its entry on the requester's pages, which read it from the server; None if unlisted."""

    @property
    def citation(self) -> Citation:
        """A description in words, and the source."""
        ...

    @property
    def hides_participation(self) -> bool:
        """Whether NULL is a possible answer, so that every (worker, task) cell must be given."""
        ...

    @property
    def is_separable(self) -> bool:
        """Whether each report has independent noise, so that answers can be sent in several parts.

        False if a worker's one-time draw would be repeated, if a dense submission already has every
        task, or if a sample of the answers would be taken twice.
        """
        ...

    @property
    def in_browser(self) -> bool:
        """Whether the worker's page can run it in the browser alone."""
        ...

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        """The variants that a planner tries for a promise; empty if others always do better.

        `hidden` asks for private participation. Variants that cannot be calibrated are dropped
        later.
        """
        ...

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        """The smallest ε at this delta for a worker with this number of answers."""
        ...

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        """The smallest δ at this epsilon, on the same curve."""
        ...

    def claim(self, epsilon: float | None = None) -> Claim | None:
        """The paper's statement about these parameters; of a curve, its point at this epsilon."""
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
        """The release with the least noise within (epsilon, delta) for this many answers."""
        ...

    def as_json(self) -> dict[str, Any]:
        """The release as it is written in a policy: its name, integers and text. No floats."""
        ...

    @classmethod
    def of_json(cls, document: Any) -> Self:
        """The release that `as_json` wrote; raises for anything else."""
        ...


class Mechanism(Release, Protocol):
    """Turns answers into reports. A frozen dataclass of integers, validated when constructed."""

    def __hash__(self) -> int:
        """Equal mechanisms have equal hashes, so values computed from them can be cached."""
        ...

    @property
    def alphabet(self) -> Alphabet:
        """The format of its reports."""
        ...

    def draw(self, workers: int, randomness: Randomness) -> Private | None:
        """Values that each worker draws once per campaign and keeps; None if there are none."""
        ...

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        """The reports for these answers. Takes all cells of each worker at once."""
        ...

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        """A mask of the codes that the mechanism can have sent; a server refuses the others."""
        ...

    def evidence(
        self, reports: Reports, domain: Domain, *, as_numbers: bool = False
    ) -> Evidence | None:
        """The reports as symbols, with the law of a symbol given an answer.

        `as_numbers` asks for labels on their numeric scale, if the domain has one. None if the
        reports have no such law.
        """
        ...

    @property
    def is_plain(self) -> bool:
        """Whether `plain` leaves reports unchanged, so that each can be read by itself."""
        ...

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        """A table of labels or numbers, for methods that do not model the noise.

        NULL reports are dropped, and counted.
        """
        ...

    def odds(self) -> Odds | None:
        """The odds for 100 answers; None if no report represents a single answer."""
        ...


class CellMechanism(Mechanism, Protocol):
    """A mechanism whose reports each depend on one answer, given the worker's private draw."""

    def channel(self) -> FiniteChannel:
        """The exact law of one report given its answer, in integers."""
        ...

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        """ln P(report | answer) for arrays of codes, which are broadcast."""
        ...


class Step(Protocol):
    """A pure function of all the reports of some tasks.

    `Engine.total` adds up its values, each of `shape`, over parts. Under `Engine.map` it returns
    one row of `shape` per task of the part.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the sum, or of one task's row."""
        ...

    def __call__(self, part: Part) -> FloatArray:
        """The value in NumPy: the specification."""
        ...

    def kernel(self) -> Kernel | None:
        """The compiled version, equal to the specification up to rounding, or None."""
        ...


@runtime_checkable
class WorkerStep(Step, Protocol):
    """A step whose sums are per worker, so that a cluster can keep them in several places.

    The numbers of the workers come first, equally many for each, in their order; the numbers for
    all workers together come last.
    """

    def among(self, workers: Codes, count: int) -> Self:
        """The same step for a subset of `count` workers, renumbered 0, 1, …."""
        ...


class Engine(Protocol):
    """Adds up a step over blocks of whole tasks, wherever they are stored; maps over tasks."""

    @property
    def workers(self) -> Names:
        """The vocabulary of workers."""
        ...

    @property
    def tasks(self) -> Names:
        """The names of the local tasks, whose rows `map` returns; on one machine, all tasks."""
        ...

    @property
    def task_count(self) -> int:
        """The number of tasks, local or not."""
        ...

    @property
    def domain(self) -> Domain:
        """The domain of the reports' values."""
        ...

    def total(self, step: Step) -> FloatArray:
        """The step's values added up over all reports."""
        ...

    def map(self, step: Step) -> FloatArray:
        """The step's rows for the local tasks, in their order."""
        ...


class Aggregator(Protocol):
    """Infers truths and weights from sums alone."""

    @property
    def takes(self) -> frozenset[Kind]:
        """The kinds of domain the method is defined for."""
        ...

    def fit(self, engine: Engine) -> Result:
        """The truths, with weights and confidence; `fit` sets no attributes."""
        ...


class Learnt(Protocol):
    """Everything the truth of a task needs in addition to the task's own reports."""

    def among(self, workers: Codes, count: int) -> Self:
        """The part that is needed for a subset of `count` workers, renumbered 0, 1, …."""
        ...


L = TypeVar("L", bound=Learnt)


@runtime_checkable
class SumsAggregator(Aggregator, Protocol[L]):
    """An aggregator that first learns from sums, and then infers truths task by task.

    The sums can be computed anywhere, and the truths wherever the tasks are; `fit` does both.
    """

    name: ClassVar[str]

    def learn(self, engine: Engine) -> L:
        """Learns from sums. Uses no map."""
        ...

    def tell(self, engine: Engine, learnt: L) -> Result:
        """The result for the local tasks. Uses no sum."""
        ...
