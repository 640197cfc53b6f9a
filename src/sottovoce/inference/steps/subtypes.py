"""The start of a model in which every truth has several subtypes of tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sottovoce.inference.steps.arithmetic import column_sum, grouped_sums
from sottovoce.inference.steps.votes import vote_shares
from sottovoce.model import Codes, FloatArray, Part, labels_of


@dataclass(frozen=True, slots=True)
class VoteSubtypes:
    """The sums of `Confusions` for the columns truth · subtypes + subtype, from vote shares.

    With as many subtypes as labels, a task belongs to (truth, subtype) with the product of their
    shares of its votes: the subtype is the label that the truth is confused with, or the truth
    itself. With two, it is the truth itself or any other. One subtype gives plain vote shares.
    Opens each worker's expected confusion counts.
    """

    workers: int
    labels: int
    subtypes: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.workers * self.labels + 2, self.labels * self.subtypes

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        share = vote_shares(part)
        within = np.ones((part.tasks, 1, 1))
        if self.subtypes == self.labels:
            within = share[:, np.newaxis]
        elif self.subtypes == 2:
            within = np.stack([share, 1 - share], axis=2)
        posterior = (share[:, :, np.newaxis] * within).reshape(part.tasks, -1)
        sums = np.zeros(self.shape)
        for column in range(self.shape[1]):
            values = posterior[part.task, column]
            sums[:-2, column] = grouped_sums(part.report, values, len(sums) - 2)
        sums[-2] = column_sum(posterior)
        return sums

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, workers=len(workers))

    def kernel(self) -> None:
        return None
