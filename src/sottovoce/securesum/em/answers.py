"""What one worker's answers in a private EM may be."""

from __future__ import annotations

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.private_em.skills import IntegerArray
from sottovoce.securesum.em.terms import EMTerms

__all__ = ["check_answers"]


def check_answers(terms: EMTerms, task: IntegerArray, label: IntegerArray) -> None:
    """Refuse codes that are not about the tasks and labels of the terms, or too many to a task."""
    if task.ndim != 1 or task.shape != label.shape:
        raise UsageError("answers have one task and one label each")
    if not task.size:
        return
    if task.min() < 0 or task.max() >= len(terms.tasks):
        raise UsageError(f"an answer is to none of the {len(terms.tasks):,} tasks there are")
    if label.min() < 0 or label.max() >= len(terms.labels):
        raise UsageError(f"an answer is none of the {len(terms.labels):,} labels there are")
    most = int(np.bincount(task).max())
    if most > terms.repeats:
        times = "once" if terms.repeats == 1 else f"up to {terms.repeats} times"
        raise UsageError(f"a task may be answered {times}, and one was answered {most} times")
