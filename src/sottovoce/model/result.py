"""Result: truths, confidence and weights of workers, as inference returns them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import NotInstalled, UsageError
from sottovoce.model.arrays import Codes, FloatArray, Names
from sottovoce.model.display import SHOWN, Display, Displayed, first_rows
from sottovoce.model.domain import Domain
from sottovoce.model.reports import Reading

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


TableName: TypeAlias = Literal["truths", "posterior", "workers", "confusions"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a result: enough to reproduce it."""

    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    reading: Reading | None = None
    policy_hash: str | None = None
    simulated: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(Displayed):
    """Truths, confidence and weights, as arrays with their vocabularies.

    For labels `truths` are codes into `domain.labels`, `confidence` is the probability of the
    chosen label and `posterior[task, label]` that of every label. For numbers `truths` are floats
    and `standard_error` is their standard error. The method defines `weights`.
    `confusions[worker, truth, answer]` is the probability of an answer given the truth.
    `warnings` are sentences that say why the truths may be of little use. `log_scale` means that
    the errors of numbers are symmetric in their logarithms (`interval`).
    """

    tasks: Names
    workers: Names
    domain: Domain
    truths: Codes | FloatArray
    weights: FloatArray
    answers: npt.NDArray[np.int64]
    rounds: int
    converged: bool
    provenance: Provenance
    confidence: FloatArray | None = None
    posterior: FloatArray | None = None
    standard_error: FloatArray | None = None
    confusions: FloatArray | None = None
    prior: FloatArray | None = None
    warnings: tuple[str, ...] = ()
    log_scale: bool = False

    def __len__(self) -> int:
        return len(self.tasks)

    def _display(self) -> Display:
        made, answers = self.provenance, int(self.answers.sum())
        title = (
            f"Result of {made.method}: {len(self):,} tasks, {len(self.workers):,} workers, "
            f"{answers:,} answers; {'converged' if self.converged else 'NOT converged'} after "
            f"{self.rounds:,} rounds{'; SIMULATED reports' if made.simulated else ''}"
        )
        facts = tuple(("warning", sentence) for sentence in self.warnings)
        if not len(self):  # the truths of a large table are in files
            rows = first_rows(self.workers, self.weights)
            return Display(title, facts, ("worker", "weight"), rows, len(self.workers))
        columns = {name: column[:SHOWN] for name, column in self._truths(SHOWN).items()}
        shown = "confidence" if self.confidence is not None else ""
        return Display(
            title, facts, tuple(columns), first_rows(*columns.values()), len(self), share=shown
        )

    @property
    def values(self) -> npt.NDArray[Any]:
        """The truths themselves: labels rather than their codes, or numbers."""
        return self._values()

    def _values(self, most: int | None = None) -> npt.NDArray[Any]:
        if self.domain.is_numeric:
            return self.truths[:most]
        return _label_array(self.domain)[self.truths[:most]]

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """The ends of intervals that contain the truths, numbers, with probability `level`.

        Errors are normal with the standard error, on a logarithmic scale if the method used one,
        and intervals end where the domain does.
        """
        if self.standard_error is None:
            raise UsageError("only truths that are numbers have intervals; labels have confidence")
        if not 0 < level < 1:
            raise UsageError(f"level must lie between 0 and 1, not {level:g}")
        reach = NormalDist().inv_cdf((1 + level) / 2) * self.standard_error
        truths = np.asarray(self.truths, np.float64)
        low, high = truths - reach, truths + reach
        if self.log_scale:
            factor = np.exp(reach / truths)
            low, high = truths / factor, truths * factor
        ends = self.domain.low, self.domain.high
        return np.clip(low, *ends), np.clip(high, *ends)

    def table(self, name: TableName = "truths") -> dict[str, npt.NDArray[Any]]:
        """One of the result's tables as columns.

        `truths`: task, truth, confidence or standard_error, answers; `posterior`: task and a
        column per label; `workers`: worker, weight; `confusions`: worker, truth, answer,
        probability.
        """
        match name:
            case "truths":
                return self._truths()
            case "workers":
                return {"worker": self.workers, "weight": self.weights}
            case "posterior" if self.posterior is not None:
                # A label named task is renamed: the column task holds the tasks.
                texts = map(str, self.domain.labels)
                labels = ["task_" if label == "task" else label for label in texts]
                columns = {label: self.posterior[:, i] for i, label in enumerate(labels)}
                return {"task": self.tasks, **columns}
            case "confusions" if self.confusions is not None:
                return self._confusions(self.confusions)
            case "posterior" | "confusions":
                raise UsageError(f"{self.provenance.method} gives no {name}")
            case _:
                raise UsageError(
                    f"no table {name!r}: there are truths, posterior, workers and confusions"
                )

    def _truths(self, most: int | None = None) -> dict[str, npt.NDArray[Any]]:
        columns = {"task": self.tasks, "truth": self._values(most)}
        if self.confidence is not None:
            columns["confidence"] = self.confidence
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error
        return {**columns, "answers": self.answers}

    def _confusions(self, confusions: FloatArray) -> dict[str, npt.NDArray[Any]]:
        workers, labels, _ = confusions.shape
        names = _label_array(self.domain)
        return {
            "worker": np.repeat(self.workers, labels * labels),
            "truth": np.tile(np.repeat(names, labels), workers),
            "answer": np.tile(names, workers * labels),
            "probability": confusions.reshape(-1),
        }

    def to_pandas(self, table: TableName = "truths") -> pandas.DataFrame:
        """One of the result's tables as a pandas frame."""
        try:
            import pandas
        except ImportError:
            raise NotInstalled("pandas", purpose="a pandas frame", extra="pandas") from None
        return pandas.DataFrame(self.table(table))

    def to_polars(self, table: TableName = "truths") -> polars.DataFrame:
        """One of the result's tables as a Polars frame."""
        try:
            import polars
        except ImportError:
            raise NotInstalled("polars", purpose="a Polars frame") from None
        return polars.DataFrame(_plain(self.table(table)))

    def to_arrow(self, table: TableName = "truths") -> pyarrow.Table:
        """One of the result's tables as an Arrow table."""
        try:
            import pyarrow
        except ImportError:
            raise NotInstalled("pyarrow", purpose="an Arrow table") from None
        return pyarrow.table(_plain(self.table(table)))


def _label_array(domain: Domain) -> npt.NDArray[Any]:
    """Labels as an array of their common type, or of objects where they have none."""
    kinds = {type(label) for label in domain.labels}
    if len(kinds) == 1 and kinds <= {bool, int, float}:
        return np.array(domain.labels)
    array = np.empty(domain.size, dtype=object)
    array[:] = domain.labels
    return array


def _plain(columns: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    """Strings as lists, which every frame library accepts; numbers unchanged."""
    return {
        name: column.tolist() if column.dtype.kind in "OTU" else column
        for name, column in columns.items()
    }
