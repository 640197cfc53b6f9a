"""Cells on labels: the default and its rivals on a public dataset, clean or randomised.

Accuracies are exact expectations over random ties. Confidences are those of labels drawn at random
among ties, with the trial's seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.inference import METHODS, suits
from sottovoce.inference.aggregator import choose
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, FloatArray, Policy, Reports
from sottovoce.planning.pipelines import AWARE, Pipeline
from sottovoce.planning.trials import best_constant, trial_seed
from sottovoce_studies.beyond.scores import (
    calibration_error,
    log_loss,
    rightness,
    smoothed_shares,
)
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Source

__all__ = ["AUTO", "FREQUENT", "VOTE", "clean_trial", "compared_methods", "label_trial"]

AUTO, VOTE, FREQUENT = AWARE, "majority vote", "most frequent label"

RESPONSE = Pipeline("randomised response", "randomized-response")

_NOISE = 1
"""As in contests, so that trials of the same number have the same reports."""


def compared_methods(domain: Domain) -> tuple[str, ...]:
    """The methods that `compare` runs on answers of a domain."""
    return tuple(
        name for name in METHODS if domain.kind in METHODS[name].takes and suits(name, domain)
    )


def label_trial(dataset: Source, epsilon: float | None, trial: int, seed: int) -> dict[str, float]:
    """The default on one draw of reports at an epsilon per answer; None is clean answers.

    Accuracies of the default, of majority vote on the reports, of the most frequent reported label
    and of the best constant; and the calibration error and log loss of the default's posterior.
    """
    answers, truths = dataset.draw(0)
    noise = trial_seed(seed, _NOISE, trial)
    reports, policy = _reports(answers, epsilon, noise)
    known = truths >= 0
    posterior, gold = _posterior(reports, AUTO, policy)[known], truths[known]
    every = votes(reports)
    rng = np.random.default_rng(noise)
    chosen = choose(posterior, rng)
    confidence = posterior[np.arange(len(gold)), chosen]
    error = calibration_error(confidence, (chosen == gold).astype(np.float64), rng)
    return {
        AUTO: float(rightness(posterior, gold).mean()),
        VOTE: float(rightness(every[known], gold).mean()),
        FREQUENT: _frequent(every, gold),
        CONSTANT: 1 - best_constant(truths).error,
        "calibration error": error.error,
        "perfect": error.perfect,
        "log loss": log_loss(posterior, gold),
        "log loss of votes": log_loss(smoothed_shares(every[known]), gold),
        "confidence": float(confidence.mean()),
    }


def clean_trial(dataset: Source, methods: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Accuracies by method on clean answers, and the default's differences with standard errors.

    The standard errors are paired over tasks.
    """
    answers, truths = dataset.draw(0)
    known = truths >= 0
    gold = truths[known]
    right = {
        name: rightness(_posterior(answers, name, None)[known], gold) for name in (AUTO, *methods)
    }
    apart = {name: each - right[AUTO] for name, each in right.items()}
    return {
        "accuracy": {
            **{name: float(each.mean()) for name, each in right.items()},
            FREQUENT: _frequent(votes(answers), gold),
            CONSTANT: 1 - best_constant(truths).error,
        },
        "standard error": {
            name: float(each.std(ddof=1) / np.sqrt(len(gold))) for name, each in apart.items()
        },
    }


def votes(reports: Reports) -> FloatArray:
    """How many reports of each task are each label."""
    shape = len(reports.tasks), reports.domain.size
    cells = reports.task.astype(np.int64) * shape[1] + reports.value
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)


def _frequent(every: FloatArray, gold: npt.NDArray[Any]) -> float:
    """The accuracy of the most frequent label of all reports, for every task."""
    counts = every.sum(axis=0)
    return float(rightness(np.tile(counts, (len(gold), 1)), gold).mean())


def _reports(answers: Reports, epsilon: float | None, noise: int) -> tuple[Reports, Policy | None]:
    if epsilon is None:
        return answers, None
    most = int(np.bincount(answers.worker).max())
    policy = RESPONSE.policy(answers.domain, Target(epsilon, answers=most))
    return perturb(answers, policy, SeededRandomness(noise)), policy


def _posterior(reports: Reports, method: str, policy: Policy | None) -> FloatArray:
    result = infer(reports, method, policy=policy, compiled=True)
    if result.posterior is None:
        raise UsageError(f"{method} gives no probabilities of labels")
    return result.posterior
