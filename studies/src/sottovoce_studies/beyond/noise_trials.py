"""Cells on simulated labels: pure noise, and workers who are a little better than chance."""

from __future__ import annotations

import numpy as np

from sottovoce.api.infer import infer
from sottovoce.errors import UsageError
from sottovoce.model import Domain, Reports, Result
from sottovoce.planning.trials import trial_seed

__all__ = ["SIZES", "WEAK_ANSWERS", "draw_labels", "pure_noise", "warned", "weak_signal"]

SIZES = ((50, 10), (200, 40), (1000, 50))
"""Tasks and workers of tables of pure noise; seeds take them in turn."""

WEAK_ANSWERS, WEAK_WORKERS = 1000, 50
"""Sizes of tables with a weak signal."""


def draw_labels(
    tasks: int, workers: int, answers: int, labels: int, right: float, rng: np.random.Generator
) -> Reports:
    """Each task has answers of distinct random workers, right with one probability.

    Truths and errors are uniform; if `right` is 1 / labels, answers do not depend on the task.
    """
    truths = rng.integers(labels, size=tasks)
    worker = rng.permuted(np.tile(np.arange(workers), (tasks, 1)), axis=1)[:, :answers].ravel()
    task = np.repeat(np.arange(tasks), answers)
    wrong = rng.random(len(task)) >= right
    value = (truths[task] + wrong * rng.integers(1, labels, len(task))) % labels
    return Reports.of(
        worker,
        task,
        value,
        domain=Domain.categorical(range(labels)),
        workers=np.arange(workers),
        tasks=np.arange(tasks),
    )


def warned(result: Result) -> bool | None:
    """Whether a result says that its answers carry no signal; None if it cannot say."""
    sentences = getattr(result, "warnings", None)
    return None if sentences is None else any("no signal" in each for each in sentences)


def pure_noise(
    labels: int, answers: int, first: int, count: int, seed: int
) -> dict[str, list[float | None]]:
    """The mean confidence of the default on labels that say nothing, and whether it warns."""
    found: dict[str, list[float | None]] = {"confidence": [], "warned": []}
    for number in range(first, first + count):
        rng = np.random.default_rng(trial_seed(seed, 3, labels, answers, number))
        tasks, workers = SIZES[number % len(SIZES)]
        result = infer(draw_labels(tasks, workers, answers, labels, 1 / labels, rng), compiled=True)
        if result.confidence is None:
            raise UsageError("the default gives no confidence")
        found["confidence"].append(float(result.confidence.mean()))
        found["warned"].append(warned(result))
    return found


def weak_signal(
    labels: int, answers: int, edge: float, first: int, count: int, seed: int
) -> dict[str, list[bool | None]]:
    """Whether the default warns on 1,000 answers that are right more often than by chance."""
    found: dict[str, list[bool | None]] = {"warned": []}
    for number in range(first, first + count):
        rng = np.random.default_rng(trial_seed(seed, 4, labels, answers, number))
        tasks = WEAK_ANSWERS // answers
        crowd = draw_labels(tasks, WEAK_WORKERS, answers, labels, 1 / labels + edge, rng)
        found["warned"].append(warned(infer(crowd, compiled=True)))
    return found
