"""How each worker compares with the others who answered the same tasks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.inference.steps.segments import grouped_sums
from sottovoce.inference.steps.votes import Votes
from sottovoce.model import FloatArray, Part, labels_of

__all__ = ["PeerAgreements", "WorkerLabels"]


@dataclass(frozen=True, slots=True)
class PeerAgreements:
    """Rows (Σ, n) for each worker: the share of a task's other answers that equal its own, summed
    over its n answers to tasks that somebody else answered too. Opens both sums.
    """  # noqa: D205 - one sentence

    workers: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.workers, 2

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        worker, label = np.divmod(part.report, part.labels)
        votes = Votes(np.ones(self.workers), part.labels)(part)
        others = np.diff(part.starts)[part.task] - 1.0
        same = (votes[part.task, label] - 1.0) / np.maximum(others, 1.0)
        return np.stack(
            [
                grouped_sums(worker, np.where(others > 0, same, 0.0), self.workers),
                grouped_sums(worker, (others > 0).astype(np.float64), self.workers),
            ],
            axis=1,
        )

    def kernel(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class WorkerLabels:
    """How often each worker gave each label. Opens those counts."""

    workers: int
    labels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.workers, self.labels

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        counts = np.bincount(part.report, minlength=self.workers * self.labels)
        return counts.reshape(self.shape).astype(np.float64)

    def kernel(self) -> None:
        return None
