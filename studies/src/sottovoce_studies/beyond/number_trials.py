"""Cells on numbers: the default and its rivals on a public dataset, clean or randomised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target, mechanism_of
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.model import WORDS, FloatArray, Gold, Grid, Policy, Reports, Result
from sottovoce.planning.pipelines import P3_DELTA, Pipeline
from sottovoce.planning.trials import best_constant, error_of, trial_seed
from sottovoce_studies.beyond.label_trials import AUTO
from sottovoce_studies.beyond.scores import interval_score
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Source

__all__ = [
    "FORMER",
    "MEANS",
    "MECHANISMS",
    "POOLED",
    "TEACHES",
    "clean_numbers",
    "intervals",
    "noisy_numbers",
    "taught_intervals",
    "unbiased",
]

POOLED, MEANS = "pooled mean", "means of tasks"

FORMER = "crh"
"""The default for numbers before this one; its intervals are the ones to improve on."""

MECHANISMS: tuple[Pipeline, ...] = (
    Pipeline("random-variance Gaussian", "random-variance-gaussian", delta=P3_DELTA),
    Pipeline("Laplace", "laplace"),
    Pipeline("piecewise", "piecewise"),
    Pipeline("Duchi", "duchi"),
    Pipeline("subset selection", "subset-selection"),
    Pipeline("threshold", "threshold"),
)
"""Mechanisms for numbers. Matrix factorisation is not one of them: its reports on tasks that a
worker did not answer look like the others, so no mean of them is unbiased.
"""

TEACHES = "known" in signature(infer).parameters
"""Whether `infer` takes known truths."""

NORMAL = 1.959964
"""Half the width of a 95 % interval, in standard errors."""


def clean_numbers(dataset: Source, methods: tuple[str, ...]) -> dict[str, float]:
    """The mean absolute error of the default, of every method and of the best constant."""
    answers, truths = dataset.draw(0)
    found = {name: error_of(infer(answers, name), truths) for name in (AUTO, *methods)}
    return {**found, CONSTANT: best_constant(truths).error}


def intervals(dataset: Source) -> dict[str, dict[str, float]]:
    """Coverage, mean score and mean width of 95 % intervals on clean answers, ours and CRH's."""
    answers, truths = dataset.draw(0)
    known = np.isfinite(truths)
    return {name: _scored(infer(answers, name), truths, known) for name in (AUTO, FORMER)}


def taught_intervals(dataset: Source, known: int, trial: int, seed: int) -> dict[str, float]:
    """The same of the default with some truths known, drawn at random, on the other tasks.

    Empty if the default does not learn from known truths.
    """
    answers, truths = dataset.draw(0)
    there = np.flatnonzero(np.isfinite(truths))
    rng = np.random.default_rng(trial_seed(seed, 2, trial))
    given = rng.choice(there, known, replace=False)
    rest = np.isfinite(truths)
    rest[given] = False
    try:
        taught = _taught(answers, truths, given)
    except UsageError:
        return {}
    return _scored(taught, truths, rest)


def noisy_numbers(
    dataset: Source, pair: Pipeline, epsilon: float, trial: int, seed: int
) -> dict[str, float]:
    """Errors of the default, of unbiased means of reports, and of the best constant.

    Means are moved into the public range. Public thresholds are drawn again in each trial.
    """
    answers, truths = dataset.draw(0)
    if pair.mechanism == "threshold":
        pair = replace(pair, parameters={**pair.parameters, "salt": f"trial {trial}"})
    most = int(np.bincount(answers.worker).max())
    policy = pair.policy(answers.domain, Target(epsilon, answers=most))
    reports = perturb(answers, policy, SeededRandomness(trial_seed(seed, 1, trial)))
    found = infer(reports, policy=policy, compiled=True)
    return {
        AUTO: error_of(found, truths),
        POOLED: _distance(unbiased(reports, "constant", policy), truths),
        MEANS: _distance(unbiased(reports, "mean", policy), truths),
        CONSTANT: best_constant(truths).error,
    }


def unbiased(reports: Reports, method: str, policy: Policy) -> FloatArray:
    """The mean of all reports, or of each task's, so corrected that noise does not shift it."""
    means = np.asarray(infer(reports, method, policy=policy).truths, np.float64)
    domain = policy.domain
    centre, stretch = _stretch(policy)
    return np.clip(centre + (means - centre) * stretch, domain.low, domain.high)


def _stretch(policy: Policy) -> tuple[float, float]:
    """Plain numbers are unbiased for all mechanisms but subset selection, whose votes shrink.

    With k of d bins in a set, the own one with probability p and each other with q, the mean of the
    votes is c + (p - q) / k · the distance of the own bin from c, the mean of the bins' middles.
    """
    mechanism = mechanism_of(policy)
    if not isinstance(mechanism, SubsetSelection) or mechanism.bins is None:
        return 0.0, 1.0
    grid = Grid.over(policy.domain)
    points = np.arange(grid.steps + 1)
    bins = mechanism.symbols(points)
    centre = np.mean(np.bincount(bins, grid.values(points)) / np.bincount(bins))
    own = mechanism.include / WORDS
    other = (mechanism.size - own) / (mechanism.bins - 1)
    return float(centre), mechanism.size / (own - other)


def _taught(answers: Reports, truths: FloatArray, given: npt.NDArray[np.intp]) -> Result:
    """The default with these truths known."""
    options: dict[str, Any] = {"known": Gold(answers.tasks[given], truths[given])}
    return infer(answers, **options)


def _interval(result: Result) -> tuple[FloatArray, FloatArray]:
    """The 95 % interval of every truth."""
    own: Callable[[], tuple[FloatArray, FloatArray]] | None = getattr(result, "interval", None)
    if own is not None:
        return own()
    if result.standard_error is None:
        raise UsageError(f"{result.provenance.method} gives no standard errors")
    middle, half = np.asarray(result.truths, np.float64), NORMAL * result.standard_error
    return middle - half, middle + half


def _scored(result: Result, truths: FloatArray, rows: npt.NDArray[np.bool_]) -> dict[str, float]:
    low, high = (end[rows] for end in _interval(result))
    wanted = truths[rows]
    return {
        "coverage": float(((low <= wanted) & (wanted <= high)).mean()),
        "score": float(interval_score(low, high, wanted).mean()),
        "width": float((high - low).mean()),
    }


def _distance(found: FloatArray, truths: FloatArray) -> float:
    known = np.isfinite(truths)
    return float(np.abs(found[known] - truths[known]).mean())
