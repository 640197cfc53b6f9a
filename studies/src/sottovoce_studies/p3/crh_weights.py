"""CRH in P3's notation: weights against given truths, and rounds until truths converge."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.inference.crh import crh_weights
from sottovoce.model import FloatArray, Reports
from sottovoce.planning.trials import best_constant, error_of
from sottovoce_studies.crowds import Source
from sottovoce_studies.p3.pipeline import (
    BASELINES,
    SETTINGS,
    answers_seed,
    noise_seed,
    published_policy,
)

__all__ = ["SHOWN", "compare_weights", "count_rounds", "matrix", "settle", "weights_against"]

SHOWN = 7
"""The number of users in P3 fig. 6."""
NOISY = 0.1
"""The share of users that count as having the largest noise."""
LONGEST = 200
METHODS = ("crh", *BASELINES)


def matrix(reports: Reports) -> FloatArray:
    """A complete table with one row per worker and one column per task."""
    values = np.full((len(reports.workers), len(reports.tasks)), np.nan)
    values[reports.worker, reports.task] = reports.value
    return values


def weights_against(values: FloatArray, truths: FloatArray) -> FloatArray:
    """P3 Eq. 2 with CRH's d and f: -ln of a user's share of squared errors over deviations.

    Against inferred truths it is the next round of CRH, against gold the true weight.
    """
    return crh_weights((np.square(values - truths) / values.std(axis=0)).mean(axis=1))


def settle(values: FloatArray, threshold: float) -> tuple[FloatArray, int]:
    """P3 Alg. 1: truths, and the rounds until all of them change by less than the threshold."""
    truths = values.mean(axis=0)
    for rounds in range(1, LONGEST + 1):
        weights = weights_against(values, truths)
        before, truths = truths, weights @ values / weights.sum()
        if np.abs(truths - before).max() < threshold:
            return truths, rounds
    return truths, LONGEST


def count_rounds(
    source: Source,
    epsilons: tuple[float, ...],
    thresholds: tuple[float, ...],
    trials: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Rounds at each threshold on the answers, and on reports at each epsilon.

    CPU seconds and errors are those of the first threshold; `drawing` are the seconds of drawing
    all noise by P3 Alg. 2, in the same vectorised form.
    """
    return [_rounds(source, epsilons, thresholds, trial, seed) for trial in range(trials)]


def _rounds(
    source: Source,
    epsilons: tuple[float, ...],
    thresholds: tuple[float, ...],
    trial: int,
    seed: int,
) -> dict[str, Any]:
    answers, truths = source.draw(answers_seed(seed, trial))
    clean = _timed(matrix(answers), thresholds, truths)
    drawing = _drawing(matrix(answers), np.random.default_rng(noise_seed(seed, trial)))
    noisy = []
    for epsilon in epsilons:
        policy = published_policy(answers.domain, epsilon)
        reports = perturb(answers, policy, SeededRandomness(noise_seed(seed, trial)))
        size = float(np.abs(reports.value - answers.value).mean())
        noisy.append({"noise": size, **_timed(matrix(reports), thresholds, truths)})
    return {
        "clean": clean,
        "noisy": noisy,
        "drawing": drawing,
        "best constant": best_constant(truths).error,
    }


def _drawing(values: FloatArray, rng: np.random.Generator) -> float:
    """CPU seconds of drawing a variance per user and a normal number per answer, and adding."""
    start = time.process_time()
    values + np.sqrt(rng.exponential(1.0, (len(values), 1))) * rng.standard_normal(values.shape)
    return time.process_time() - start


def _timed(
    values: FloatArray, thresholds: tuple[float, ...], truths: FloatArray
) -> dict[str, float]:
    start = time.process_time()
    found, rounds = settle(values, thresholds[0])
    seconds = time.process_time() - start
    baselines = {"mean": values.mean(axis=0), "median": np.median(values, axis=0)}
    return {
        "rounds": float(rounds),
        **{f"rounds at {each:g}": float(settle(values, each)[1]) for each in thresholds},
        "seconds": seconds,
        "error": float(np.abs(found - truths).mean()),
        **{f"error {name}": float(np.abs(baselines[name] - truths).mean()) for name in BASELINES},
    }


def compare_weights(source: Source, epsilon: float, trials: int, seed: int) -> list[dict[str, Any]]:
    """Estimated and true weights of all users, before and after noise, for each trial."""
    return [_weights(source, epsilon, trial, seed) for trial in range(trials)]


def _weights(source: Source, epsilon: float, trial: int, seed: int) -> dict[str, Any]:
    answers, truths = source.draw(answers_seed(seed, trial))
    noise = noise_seed(seed, trial)
    policy = published_policy(answers.domain, epsilon)
    reports = perturb(answers, policy, SeededRandomness(noise))
    size = np.abs(matrix(reports) - matrix(answers)).mean(axis=1)
    found: dict[str, Any] = {"noise": float(size.mean()), "constant": best_constant(truths).error}
    weights = {}
    for when, table in (("original", answers), ("perturbed", reports)):
        results = {name: infer(table, name, parameters=SETTINGS.get(name)) for name in METHODS}
        estimated = results["crh"].weights
        true = weights_against(matrix(table), truths)
        weights[when] = {"estimated": estimated, "true": true}
        found[f"correlation {when}"] = float(np.corrcoef(estimated, true)[0, 1])
        found |= {f"{name} {when}": error_of(each, truths) for name, each in results.items()}
    before, after = (_relative(weights[when]["estimated"]) for when in weights)
    noisy = np.argsort(size)[-max(1, round(NOISY * len(size))) :]
    found["lowered"] = float(np.mean(after[noisy] < before[noisy]))
    found["lowered others"] = float(np.mean(np.delete(after < before, noisy)))
    users = np.random.default_rng(noise).choice(len(size), SHOWN, replace=False)
    found["users"] = {
        "noise": size[users].tolist(),
        **{
            f"{kind} {when}": of[users].tolist()
            for when, kinds in weights.items()
            for kind, of in kinds.items()
        },
    }
    return found


def _relative(weights: FloatArray) -> FloatArray:
    """Weights relative to their mean, because only ratios matter in Eq. 1."""
    relative: FloatArray = weights / weights.mean()
    return relative
