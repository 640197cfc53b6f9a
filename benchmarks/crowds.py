"""The same simulated answers for every benchmark."""

from __future__ import annotations

import numpy as np

from sottovoce.datasets import CategoricalCrowd, generate
from sottovoce.model import Reports

__all__ = ["REDUNDANCY", "simulated"]

REDUNDANCY = 10


def simulated(answers: int, labels: int, workers: int | None = None) -> Reports:
    """A categorical crowd of `answers` answers, ten per task; by default one worker per 1,000.

    Rows are shuffled, as in a log of answers: sorting them is part of the work.
    """
    crowd = CategoricalCrowd(
        workers=workers or max(answers // 1000, 20),
        tasks=answers // REDUNDANCY,
        labels=labels,
        redundancy=REDUNDANCY,
        ability="heterogeneous",
        seed=answers + labels,
    )
    reports, _ = generate(crowd)
    order = np.random.default_rng(0).permutation(len(reports))
    return Reports(
        reports.worker[order],
        reports.task[order],
        reports.value[order],
        reports.workers,
        reports.tasks,
        reports.domain,
    )
