"""Reports: a table of worker, task and value as integer codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.model.arrays import Codes, FloatArray, Names
from sottovoce.model.display import Display, Displayed
from sottovoce.model.domain import Domain

LARGEST = 1e150
"""The largest number: its square can still be added up."""

Repeats: TypeAlias = Literal["first", "last", "keep", "error"]
"""The duplicate policy: the rows that count if a (worker, task) pair occurs more than once."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Counts of the rows that reading a table dropped or changed; nothing goes uncounted."""

    source: str
    rows: int
    repeated: int = 0
    contradicting: int = 0
    repeats: Repeats = "first"
    dropped: Mapping[str, int] = field(default_factory=dict)

    def sentences(self) -> list[str]:
        """Sentences about repeated and dropped rows; empty if there are none."""
        lines = []
        if self.repeated:
            fate = {
                "first": "kept the first of each",
                "last": "kept the last of each",
                "keep": "kept them all",
                "error": "refused",
            }[self.repeats]
            verbs = (
                "repeats" if self.repeated == 1 else "repeat",
                "pair contradicts itself"
                if self.contradicting == 1
                else "pairs contradict themselves",
            )
            lines.append(
                f"{self.repeated:,} of {self.rows:,} rows {verbs[0]} a (worker, task) pair: "
                f"{fate}; {self.contradicting:,} {verbs[1]}"
            )
        lines.extend(
            f"{count:,} of {self.rows:,} rows dropped: {reason}"
            for reason, count in self.dropped.items()
        )
        return lines


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reports(Displayed):
    """Raw answers or reports in columns: row i says that worker[i] gave value[i] for task[i].

    `worker` and `task` are codes into the vocabularies `workers` and `tasks`; `value` holds label
    codes, or floats when the domain is numeric. `simulated` marks reports whose noise came from a
    seed, and which protect nobody; `reported` marks a table whose answers are in a column named
    report. The repr shows counts and the domain, never an answer.

    >>> table = Reports.of([0, 1, 2], [0, 0, 0], [1, 1, 0], domain=Domain.categorical("ab"))
    >>> len(table), table.labels
    (3, 2)
    >>> table
    Reports: 3 answers by 3 workers on 1 task
      domain  categorical {a, b}
    """

    worker: Codes
    task: Codes
    value: Codes | FloatArray
    workers: Names
    tasks: Names
    domain: Domain
    reading: Reading | None = None
    simulated: bool = False
    reported: bool = False

    def __post_init__(self) -> None:
        if not self.worker.shape == self.task.shape == self.value.shape == (len(self.worker),):
            raise DataError("worker, task and value must be columns of one length")
        if len(self.worker) == 0:
            raise DataError("the table has no rows")
        for name, codes, size in (
            ("worker", self.worker, len(self.workers)),
            ("task", self.task, len(self.tasks)),
        ):
            _check_codes(name, codes, size)
        if self.domain.is_numeric:
            _check_numbers(self.value, self.domain)
        else:
            _check_codes("value", self.value, self.domain.size)

    @classmethod
    def of(
        cls,
        worker: npt.ArrayLike,
        task: npt.ArrayLike,
        value: npt.ArrayLike,
        *,
        domain: Domain,
        workers: npt.ArrayLike | None = None,
        tasks: npt.ArrayLike | None = None,
        reading: Reading | None = None,
    ) -> Reports:
        """Build a table from codes; vocabularies that are not given are 0, 1, 2, …."""
        worker_codes, task_codes = _codes("worker", worker), _codes("task", task)
        return cls(
            worker_codes,
            task_codes,
            np.asarray(value, np.float64) if domain.is_numeric else _codes("value", value),
            _vocabulary(workers, worker_codes),
            _vocabulary(tasks, task_codes),
            domain,
            reading,
        )

    def __len__(self) -> int:
        return len(self.worker)

    def _display(self) -> Display:
        workers, tasks = len(self.workers), len(self.tasks)
        title = (
            f"Reports: {len(self):,} answers by {workers:,} worker{'s' * (workers != 1)} on "
            f"{tasks:,} task{'s' * (tasks != 1)}{'; SIMULATED' if self.simulated else ''}"
        )
        facts = [("domain", str(self.domain))]
        if self.reading is not None:
            facts += [("source", self.reading.source)]
            facts += [("note", sentence) for sentence in self.reading.sentences()]
        return Display(title, tuple(facts))

    @property
    def labels(self) -> int:
        """How many labels the domain has; 0 for numbers."""
        return self.domain.size

    def as_numbers(self) -> Reports:
        """The same table with each label replaced by the number it stands for."""
        if self.domain.is_numeric:
            return self
        scale = self.domain.scale
        # A scale of one point still needs a range with low < high.
        domain = Domain.numeric(scale.min(), max(scale.max(), np.nextafter(scale.min(), np.inf)))
        return replace(self, value=scale[self.value], domain=domain)


def _codes(name: str, values: npt.ArrayLike) -> Codes:
    array = np.asarray(values)
    if array.dtype == np.int32:
        return array
    if array.size and array.dtype.kind not in "iu":
        raise DataError(f"{name} codes must be integers, not {array.dtype}")
    if array.size and array.max() > np.iinfo(np.int32).max:
        raise UsageError(f"{name} codes go up to 2^31 - 1, not {array.max():,}")
    if array.size and array.min() < 0:
        raise DataError(f"{name} code {array.min()} is negative")
    return array.astype(np.int32)


def _vocabulary(names: npt.ArrayLike | None, codes: Codes) -> Names:
    if names is None:
        return np.arange(int(codes.max()) + 1 if codes.size else 0)
    return np.asarray(names)


def _check_codes(name: str, codes: npt.NDArray[np.generic], size: int) -> None:
    if codes.dtype != np.int32:
        raise DataError(f"{name} must be 4-byte codes, not {codes.dtype}")
    low, high = int(codes.min()), int(codes.max())
    if low < 0 or high >= size:
        wrong = low if low < 0 else high
        raise DataError(f"{name} code {wrong} is outside its vocabulary of {size:,} names")


def _check_numbers(values: npt.NDArray[np.generic], domain: Domain) -> None:
    if values.dtype != np.float64:
        raise DataError(f"numeric values must be float64, not {values.dtype}")
    low, high = float(values.min()), float(values.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise DataError("numeric values must be finite: there is a NaN or an infinity among them")
    if max(-low, high) > LARGEST:
        raise DataError(f"values go up to {LARGEST:g} in size: divide them by a common factor")
    if low < domain.low or high > domain.high:
        raise DataError(
            f"values from {low:g} to {high:g} leave the range {domain.low:g}..{domain.high:g}"
        )
