"""Result: truths, confidence and weights of workers, as inference returns them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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
    """The origin of a result: enough to reproduce it.

    `known` is how many known truths the method learnt from, `calibration` what they changed.
    `started_from` is the number of reports of the fit where the rounds started; 0 from scratch.
    """

    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    reading: Reading | None = None
    policy_hash: str | None = None
    simulated: bool = False
    known: int = 0
    calibration: str | None = None
    started_from: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(Displayed):
    """Truths, confidence and weights, as arrays with their vocabularies.

    For labels `truths` are codes into `domain.labels`, `confidence` is the probability of the
    chosen label and `posterior[task, label]` that of every label. For numbers `truths` are floats
    and `standard_error` is their standard error. The method defines `weights`.
    `confusions[worker, truth, answer]` is the probability of an answer given the truth, and `crowd`
    that of a worker about whom nothing is known; `hyperparameters` are learnt numbers of the
    method's priors. An update starts from them.
    `known` marks the tasks whose truth was given; `nonconformity` holds the sorted scores of these
    tasks, from which `prediction_sets` and `intervals` follow. `warnings` are sentences that say
    why the truths may be of little use. `log_scale` means that the errors of numbers are symmetric
    in their logarithms.
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
    known: npt.NDArray[np.bool_] | None = None
    nonconformity: FloatArray | None = None
    warnings: tuple[str, ...] = ()
    log_scale: bool = False
    crowd: FloatArray | None = None
    hyperparameters: tuple[float, ...] = ()
    origin: Callable[..., Result] | None = None

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

    def updated(self, more: Any, **reading: Any) -> Result:
        """The result of these reports and `more`, a table of the same domain, without a new start.

        `more` may have new workers and tasks; keywords say how to read it (see `read`), and what to
        do with repeats in either table. All else is as in the call of `infer` that made this
        result. The rounds of `aware-labels` start where they ended, so about half as many suffice;
        other methods, and all once reports have doubled since a fit from scratch, start again.
        Truths and confidence are those of `infer` with all reports, up to its `tolerance`.

        A result has its reports while it is in memory; one that was pickled has lost them.

        >>> from sottovoce import infer
        >>> answers = {"worker": ["ann", "bob"], "task": ["q1", "q1"], "answer": ["yes", "no"]}
        >>> result = infer(answers)
        >>> more = {"worker": ["cy", "cy"], "task": ["q1", "q2"], "answer": ["no", "yes"]}
        >>> result.updated(more).answers.tolist()
        [3, 1]
        """
        if self.origin is None:
            raise UsageError(
                "this result has no reports to add to, as only a result of infer has until it is "
                "saved: pass all reports to infer, with start= and this result"
            )
        return self.origin(self, more, reading)

    def prediction_sets(self, level: float = 0.95) -> npt.NDArray[np.bool_]:
        """Sets of labels that contain the truth with probability `level`, as [task, label].

        Conformal, from at least 10 known truths: a set has every label whose probability is at
        least that of the truth in all but a share 1 - `level` of the known tasks, and the truth
        itself. The level holds on average over tasks if the known tasks are a random sample of
        them. n known truths give sets of all labels for a level above n / (n + 1).
        """
        if self.posterior is None:
            raise UsageError("numbers have intervals(level), not sets of labels")
        sets = 1 - self.posterior <= self._quantile(level)
        sets[self.known] = False
        sets[np.arange(len(sets)), self.truths] = True
        return np.asarray(sets)

    def intervals(self, level: float = 0.95) -> FloatArray:
        """Intervals that contain the truth with probability `level`, as [task, (low, high)].

        Truths plus and minus a multiple of their standard errors: conformal with at least 10 known
        truths (see `prediction_sets`), else the quantile of the normal distribution. They are
        symmetric on a logarithmic scale if the method used one, and end where the domain does.
        """
        if self.standard_error is None:
            raise UsageError("labels have prediction_sets(level), not intervals")
        times = NormalDist().inv_cdf((1 + level) / 2) if 0 < level < 1 else math.nan
        if self.nonconformity is not None or math.isnan(times):
            times = self._quantile(level)
        error = self.standard_error
        width = np.multiply(times, error, out=np.zeros_like(error), where=error > 0)
        low, high = self.domain.low, self.domain.high
        truths = np.asarray(self.truths, np.float64)
        ends = [truths - width, truths + width]
        if self.log_scale:
            with np.errstate(over="ignore"):  # an interval without an end
                ends = [truths * np.exp(-width / truths), truths * np.exp(width / truths)]
        return np.asarray(np.clip(np.stack(ends, axis=1), low, high))

    def _quantile(self, level: float) -> float:
        """The score that a share `level` of tasks stays below: the ⌈(n + 1) level⌉-th of n."""
        if not 0 < level < 1:
            raise UsageError(f"level must lie between 0 and 1, not {level!r}")
        if self.nonconformity is None:
            raise UsageError("sets need at least 10 known truths: pass known= to infer")
        place = math.ceil((len(self.nonconformity) + 1) * level - 1e-9)
        return math.inf if place > len(self.nonconformity) else float(self.nonconformity[place - 1])

    def table(self, name: TableName = "truths") -> dict[str, npt.NDArray[Any]]:
        """One of the result's tables as columns.

        `truths`: task, truth, confidence or standard_error, answers, and with known truths known;
        `posterior`: task and a
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
        known = {} if self.known is None else {"known": self.known}
        return {**columns, "answers": self.answers, **known}

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
