"""Majority vote, plain or weighted by given skills; how often workers agree with given truths.

Repeated rows count once. Workers without a given skill are refused or get a default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from sottovoce.crowdkit.dataframes import CodedFrame, label_series, posterior_frame, ranks
from sottovoce.errors import DataError
from sottovoce.inference.aggregator import choose
from sottovoce.inference.steps.arithmetic import compiled, row_sum
from sottovoce.inference.steps.votes import Votes
from sottovoce.model import Codes, FloatArray, LabelPart, Part, labels_of
from sottovoce.seams import Kernel


@dataclass(frozen=True, slots=True)
class Accuracies:
    """For each worker, how many distinct (task, label) answers it gave, and how many are true.

    Row 0 counts the true ones, row 1 all. Opens each worker's agreement with the truths.
    """

    truths: Codes = field(repr=False)
    workers: int
    labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return 2, self.workers

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        cells = self.workers * self.labels
        task, report = np.divmod(np.unique(part.task.astype(np.int64) * cells + part.report), cells)
        worker, label = np.divmod(report, self.labels)
        right = (label == self._truths(part)[task]).astype(np.float64)
        return np.stack(
            [np.bincount(worker, right, self.workers), np.bincount(worker, minlength=self.workers)]
        )

    def kernel(self) -> Kernel:
        run = _kernel(self.labels)

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            seen = np.full(self.workers * self.labels, -1, np.int32)
            run(part.starts, part.coded, self._truths(part), seen, out)

        return add

    def _truths(self, part: LabelPart) -> Codes:
        return self.truths[part.first : part.first + part.tasks]


@cache
def _kernel(labels: int) -> Callable[..., None]:
    @compiled
    def run(starts, coded, truths, seen, out):  # type: ignore[no-untyped-def]
        for task in range(len(starts) - 1):
            for i in range(starts[task], starts[task + 1]):
                if seen[coded[i]] == task:
                    continue
                seen[coded[i]] = task
                worker = coded[i] // labels
                out[1, worker] += 1.0
                if coded[i] - worker * labels == truths[task]:
                    out[0, worker] += 1.0

    return run


def agreements(table: CodedFrame, truths: Codes) -> FloatArray:
    """The share of each worker's distinct answers that are true."""
    step = Accuracies(truths, len(table.workers), len(table.labels))
    right, given = table.engine().total(step)
    return np.asarray(right / given)


def weigh(
    data: pd.DataFrame, skills: pd.Series[Any], on_missing: str, default: float | None
) -> tuple[CodedFrame, FloatArray]:
    """The answers that count, and the weight of each worker among them."""
    _check(on_missing, default)
    table = CodedFrame.of(data)
    weights = _weights(table, skills)
    missing = np.isnan(weights)[table.worker]
    if default is not None:
        return table, np.where(np.isnan(weights), default, weights)
    if not missing.any():
        return table, weights
    if on_missing == "error":
        raise ValueError(
            f"{missing.sum():,} answers come from workers without a skill: add their skills, or "
            'choose on_missing_skill="ignore" or "value"'
        )
    kept = CodedFrame.of(data[~missing])
    if lost := len(table.tasks) - len(kept.tasks):
        raise ValueError(
            f"{lost:,} tasks have no answer from a worker with a skill: add skills, or choose "
            'on_missing_skill="value"'
        )
    return kept, _weights(kept, skills)


def _weights(table: CodedFrame, skills: pd.Series[Any]) -> FloatArray:
    if not skills.index.is_unique:
        raise DataError("skills names a worker more than once; keep one skill each")
    return skills.reindex(table.workers).to_numpy(np.float64, na_value=np.nan)


def _check(on_missing: str, default: float | None) -> None:
    if on_missing not in ("error", "ignore", "value"):
        raise ValueError(f'on_missing_skill is "error", "ignore" or "value", not {on_missing!r}')
    if on_missing == "value" and default is None:
        raise ValueError('on_missing_skill="value" needs a default_skill')
    if on_missing != "value" and default is not None:
        raise ValueError('a default_skill needs on_missing_skill="value"')


@dataclass(eq=False)
class MajorityVote:
    """The label with the most votes, or with the largest sum of skills.

    `on_missing_skill` says what happens to answers of workers that `skills` leaves out: "error",
    "ignore" them, or let them count as the "value" `default_skill`.

    >>> rows = [("t1", "a", "yes"), ("t1", "b", "no"), ("t1", "c", "no"), ("t2", "a", "yes")]
    >>> frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> MajorityVote().fit_predict(frame).to_dict()
    {'t1': 'no', 't2': 'yes'}
    >>> MajorityVote().fit_predict(frame, pd.Series({"a": 5, "b": 1, "c": 2})).to_dict()
    {'t1': 'yes', 't2': 'yes'}
    """

    default_skill: float | None = None
    on_missing_skill: str = "error"

    labels_: pd.Series[Any] = field(init=False, repr=False)
    """The truth of each task."""
    skills_: pd.Series[float] = field(init=False, repr=False)
    """The share of each worker's answers that are the truth."""
    probas_: pd.DataFrame = field(init=False, repr=False)
    """The share of the votes that each label has, by task."""

    def fit(self, data: pd.DataFrame, skills: pd.Series[Any] | None = None) -> MajorityVote:
        """Count the votes; the results are attributes."""
        if skills is None:
            table = CodedFrame.of(data).as_counted()
            weights = np.ones(len(table.workers))
        else:
            table, weights = weigh(data, skills, self.on_missing_skill, self.default_skill)
            table = table.sorted()
        if len(table):
            self._vote(table, weights)
        else:
            self._give_up(table)
        return self

    def fit_predict(self, data: pd.DataFrame, skills: pd.Series[Any] | None = None) -> Any:
        """Fit, and give `labels_`."""
        return self.fit(data, skills).labels_

    def fit_predict_proba(
        self, data: pd.DataFrame, skills: pd.Series[Any] | None = None
    ) -> pd.DataFrame:
        """Fit, and give `probas_`."""
        return self.fit(data, skills).probas_

    def _vote(self, table: CodedFrame, weights: FloatArray) -> None:
        engine = table.engine()
        count = len(table.labels)
        posterior = _shares(engine.map(Votes(weights, count)))
        self.probas_ = posterior_frame(posterior, table.tasks, table.labels)
        truths = choose(posterior)
        self.labels_ = label_series(truths, table.tasks, table.labels)
        skills = pd.Series(
            agreements(table, truths), index=table.workers, name="skill", dtype=_share_type(table)
        )
        self.skills_ = skills.iloc[np.argsort(ranks(table.workers))]

    def _give_up(self, table: CodedFrame) -> None:
        self.probas_ = pd.DataFrame(index=table.tasks, columns=table.labels)
        self.labels_ = pd.Series([], dtype=object, name="agg_label")
        self.skills_ = pd.Series([], dtype=float, index=table.workers, name="skill")


def _share_type(table: CodedFrame) -> str:
    """Shares of nullable labels are nullable, as their comparisons are."""
    label = pd.Series([], dtype=table.label_type)
    return "Float64" if str((label == label).dtype) == "boolean" else "float64"


def _shares(scores: FloatArray) -> FloatArray:
    totals = row_sum(scores)
    if not totals.all():
        raise ValueError(
            f"the skills of {int((totals == 0).sum()):,} tasks' workers add up to 0, "
            "so no label has a share of them"
        )
    return np.asarray(scores / totals[:, np.newaxis])
