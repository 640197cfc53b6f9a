"""Cells on simulated labels: pure noise, and workers who are a little better than chance."""

from __future__ import annotations

import numpy as np

from sottovoce.api.infer import infer
from sottovoce.errors import UsageError
from sottovoce.model import Domain, FloatArray, Reports, Result
from sottovoce.planning.trials import trial_seed

__all__ = [
    "SIZES",
    "WARNED",
    "draw_labels",
    "least_false",
    "pure_noise",
    "warned",
    "weak_signal",
]

SIZES = ((50, 10), (200, 40), (1000, 50))
"""Tasks and workers of tables of pure noise; seeds take them in turn."""

WEAK_ANSWERS, WEAK_WORKERS = 1000, 50
"""Sizes of tables with a weak signal."""

WARNED = 0.95
"""The share of tables of pure noise that a warning must reach."""
RATIOS = 4000


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
    """Whether a result warns that its answers may carry no signal; None if it cannot warn."""
    sentences = getattr(result, "warnings", None)
    return None if sentences is None else any("signal" in each for each in sentences)


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


def least_false(labels: int, answers: int, edge: float, seed: int) -> float:
    """The share of tables with a weak signal that any rule reports as noise, if it reports 95 %.

    By Neyman and Pearson no rule does better than the ratio of likelihoods, which knows how often
    workers are right. With q the probability of the right label and w of each other, a task with
    nₓ answers x contributes Σₓ (q / w)^nₓ, up to a constant.
    """
    rng = np.random.default_rng(trial_seed(seed, 5, labels, answers, round(100 * edge)))
    right = 1 / labels + edge
    wrong = (1 - right) / (labels - 1)

    def ratios(laws: list[float]) -> FloatArray:
        counts = rng.multinomial(answers, laws, size=(RATIOS, WEAK_ANSWERS // answers))
        weights = np.exp(counts * np.log(right / wrong)).mean(axis=2)
        return np.asarray(np.log(weights).sum(axis=1), np.float64)

    noise, signal = ratios([1 / labels] * labels), ratios([right, *[wrong] * (labels - 1)])
    return float((signal < np.quantile(noise, WARNED)).mean())
