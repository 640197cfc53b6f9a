"""Majority vote, plain or weighted by given skills."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from sottovoce.crowdkit.accuracies import Accuracies
from sottovoce.crowdkit.frames import label_series, posterior_frame
from sottovoce.crowdkit.skills import weigh
from sottovoce.crowdkit.table import Table, ranks
from sottovoce.inference.outcome import choose
from sottovoce.inference.rows import row_sum
from sottovoce.inference.steps.votes import Votes
from sottovoce.model import FloatArray

__all__ = ["MajorityVote"]


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
            table = Table.of(data).as_counted()
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

    def _vote(self, table: Table, weights: FloatArray) -> None:
        engine = table.engine()
        count = len(table.labels)
        posterior = _shares(engine.map(Votes(weights, count)))
        self.probas_ = posterior_frame(posterior, table.tasks, table.labels)
        truths = choose(posterior)
        self.labels_ = label_series(truths, table.tasks, table.labels)
        right, given = engine.total(Accuracies(truths, len(table.workers), count))
        skills = pd.Series(
            right / given, index=table.workers, name="skill", dtype=_share_type(table)
        )
        self.skills_ = skills.iloc[np.argsort(ranks(table.workers))]

    def _give_up(self, table: Table) -> None:
        self.probas_ = pd.DataFrame(index=table.tasks, columns=table.labels)
        self.labels_ = pd.Series([], dtype=object, name="agg_label")
        self.skills_ = pd.Series([], dtype=float, index=table.workers, name="skill")


def _share_type(table: Table) -> str:
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
