"""P4's real datasets as far as they are public: who answers how much, and what."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.model import Reports
from sottovoce.studies.sources import Dataset, Source

__all__ = ["DATASETS", "public", "summary"]

DATASETS: Mapping[str, str] = MappingProxyType({"Web": "web", "AdultContent": "adult2"})
"""The names that P4 uses, and those of the cache."""

PLACES = 100
"""Workers are drawn at so many equal steps of their order, and at its start."""


def public() -> dict[str, Dataset]:
    """The datasets that are in the cache, by P4's names."""
    found = {paper: Dataset.of(name) for paper, name in DATASETS.items()}
    return {paper: dataset for paper, dataset in found.items() if dataset is not None}


def summary(source: Source) -> dict[str, Any]:
    """How sparse the workers' answers are, what is answered, what is true, what is right.

    The sparsity of a worker is the share of tasks that it does not answer (P4 §VI-B).
    """
    answers, truths = source.draw(0)
    labels, tasks = answers.domain.size, len(answers.tasks)
    each = np.bincount(answers.worker, minlength=len(answers.workers))
    sparsity = 1 - each / tasks
    known = truths >= 0
    gold = truths[answers.task]
    correct = answers.value[gold >= 0] == gold[gold >= 0]
    return {
        "workers": len(answers.workers), "tasks": tasks, "answers": len(answers),
        "maximum sparsity": float(sparsity.max()), "minimum sparsity": float(sparsity.min()),
        "average sparsity": float(sparsity.mean()),
        "answered": _steps(np.sort(each / tasks)),
        "answer shares": _shares(answers.value, labels),
        "truth shares": _shares(truths[known], labels),
        "vote shares": _shares(_votes(answers), labels),
        "truths": int(known.sum()), "checked": len(correct), "correct": int(correct.sum()),
    }  # fmt: skip


def _steps(ordered: npt.NDArray[np.float64]) -> list[float]:
    places = np.linspace(0, len(ordered) - 1, PLACES + 1).round().astype(int)
    return [float(share) for share in ordered[places]]


def _shares(codes: npt.NDArray[Any], labels: int) -> list[float]:
    return [float(share) for share in np.bincount(codes, minlength=labels) / len(codes)]


def _votes(answers: Reports) -> npt.NDArray[Any]:
    """Each task's most frequent answer, the least of those that tie."""
    labels, tasks = answers.domain.size, len(answers.tasks)
    cells = answers.task.astype(np.int64) * labels + answers.value
    counts = np.bincount(cells, minlength=tasks * labels).reshape(tasks, labels)
    votes: npt.NDArray[Any] = np.argmax(counts, axis=1)
    return votes
