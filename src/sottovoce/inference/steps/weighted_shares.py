"""Weighted shares of each label's votes, with a weight for every worker and label (BWA)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sottovoce.inference.steps.arithmetic import column_sum, grouped_sums, segment_sums
from sottovoce.model import Codes, FloatArray, LabelPart, Part, labels_of


@dataclass(frozen=True, slots=True)
class WeightedShares:
    """z[j, x] = ( prior · mean[x] + Σₖ w[k, x] [vₖⱼ = x] ) / ( prior + Σₖ w[k, x] ) for each task.

    The sums run over the task's answers.
    """

    weights: FloatArray
    mean: FloatArray
    prior: float

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.mean),)

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        worker, label = np.divmod(part.report, part.labels)
        weights = self.weights[worker]
        given = weights * (label[:, np.newaxis] == np.arange(part.labels))
        top = self.prior * self.mean + segment_sums(given, part.starts)
        return np.asarray(top / (self.prior + segment_sums(weights, part.starts)))

    def kernel(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class ShareErrors:
    """Σ ([vₖⱼ = x] − z[j, x])² of each worker k and label x; last Σⱼ z[j, x] over tasks.

    Opens each worker's squared distance from the shares of every label.
    """

    shares: WeightedShares

    @property
    def shape(self) -> tuple[int, ...]:
        workers, labels = self.shares.weights.shape
        return workers + 1, labels

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        return _errors(part, self.shares(part), self.shape)

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, shares=replace(self.shares, weights=self.shares.weights[workers]))

    def kernel(self) -> None:
        return None


def _errors(part: LabelPart, shares: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    worker, label = np.divmod(part.report, part.labels)
    sums = np.zeros(shape)
    for x in range(part.labels):
        distance = np.square((label == x) - shares[part.task, x])
        sums[:-1, x] = grouped_sums(worker, distance, len(sums) - 1)
    sums[-1] = column_sum(shares)
    return sums
