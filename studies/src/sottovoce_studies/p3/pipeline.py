"""P3's pipeline on one source of answers: noise of random variance, and inference.

P3 calibrates its noise by Lemma 4.7: the distance of two answers as a quantile of the data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

import numpy as np
import scipy  # its parts are loaded when first used

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Policy, Result
from sottovoce.planning.pipelines import P3_DELTA, Pipeline
from sottovoce.planning.trials import best_constant, error_of, trial_seed
from sottovoce.privacy.random_variance import delta_finite, rate_published
from sottovoce_studies.crowds import Source
from sottovoce_studies.theorems.gaussian_noise import published_range
from sottovoce_studies.theorems.statement import Published

__all__ = [
    "BASELINES",
    "DISTANCE",
    "ETA",
    "MOST",
    "SETTINGS",
    "B",
    "answers_seed",
    "coverage",
    "epsilon_of_noise",
    "noise_of",
    "noise_seed",
    "ours_at",
    "over_range",
    "published",
    "published_distance",
    "published_policy",
    "read_aware",
    "true_epsilon",
]


B, ETA = 2.0, 0.9
"""P3 prints neither b nor eta, these are ours. The lemma then claims 0.778 of all pairs."""

BASELINES = ("mean", "median")

SETTINGS: Mapping[str, Mapping[str, Any]] = {"crh": {"scaling": "deviation"}}
"""P3 cites CRH as published: squared errors over the task's standard deviation."""

FINE = 3.0
"""The epsilon up to which ours is subset selection, as in other studies; piecewise above."""

MOST = 16.0
"""The largest epsilon of ours; its noise is then far below the errors of any worker."""


def published_distance(lambda1: float, b: float = B, eta: float = ETA) -> float:
    """Δ = γ / λ₁ with γ = b √(2 ln(1/(1 - η))).

    >>> round(published_distance(25.0), 4)
    0.1717
    """
    return b * math.sqrt(-2 * math.log1p(-eta)) / lambda1


def coverage(lambda1: float) -> Published:
    """The probability that two answers of a user are within Δ: as claimed, and true."""
    return published_range(lambda1, ETA, B)


DISTANCE = published_distance(1.0)
"""The Δ of users with λ₁ = 1."""


def noise_of(epsilon: float, distance: float) -> float:
    """E|noise| = 1 / √(2 λ₂) at the rate of P3 Thm. 4.8, λ₂ = 2 ε ln(1/(1 - δ)) / D².

    >>> round(noise_of(1.0, 10.0), 2)
    15.4
    """
    return 1 / math.sqrt(2 * rate_published(epsilon, P3_DELTA, distance))


def epsilon_of_noise(noise: float, distance: float) -> float:
    """The ε at which Thm. 4.8 requires this mean size of the noise; ε falls with its square.

    >>> round(epsilon_of_noise(1.0, 10.0), 1)
    237.3
    """
    return (noise_of(1.0, distance) / noise) ** 2


@lru_cache(maxsize=256)
def true_epsilon(
    epsilon: float, answers: int, share: float = 1.0, delta: float = P3_DELTA
) -> float:
    """The true ε at δ of the noise of Thm. 4.8, for one of k answers.

    `share` is the theorem's D over the width of the public range. With share = 1/√k, the result is
    for all k answers of a worker at the same noise.
    """
    rate = rate_published(epsilon, delta, share)

    def excess(at: float) -> float:
        return delta_finite(at, rate, 1.0, answers) - delta

    if excess(0.0) <= 0:
        return 0.0
    # Thm. 4.8 holds for D = 1 and any k, with its ε at this rate.
    return float(scipy.optimize.brentq(excess, 0.0, epsilon / share**2, xtol=1e-6))


def over_range(
    lambda1: float, epsilon: float, width: float, b: float = B, eta: float = ETA
) -> float:
    """ε (D / Δ)²: the noise for ε at Lemma 4.7's Δ is the noise for this epsilon over the range D.

    >>> round(over_range(25.0, 1.0, 10.0))
    3393
    """
    return epsilon * (width / published_distance(lambda1, b, eta)) ** 2


def ours_at(epsilon: float) -> tuple[Pipeline, float]:
    """Our pair for a guarantee without δ, chosen without using truths, and its ε."""
    if epsilon <= FINE:
        return Pipeline("subset selection + aware", "subset-selection"), epsilon
    return Pipeline("piecewise + aware", "piecewise"), min(epsilon, MOST)


def answers_seed(seed: int, trial: int) -> int:
    """The seed of a trial's answers, the same for every noise and method."""
    return trial_seed(seed, 0, trial)


def noise_seed(seed: int, trial: int) -> int:
    """The seed of a trial's noise words, the same for every noise and method."""
    return trial_seed(seed, 1, trial)


def published_policy(domain: Domain, epsilon: float) -> Policy:
    """P3 Alg. 2 at the rate of Thm. 4.8, with the width of the domain for D."""
    pair = Pipeline("P3", "random-variance-gaussian", delta=P3_DELTA, published=True)
    return pair.policy(domain, Target(epsilon))


def published(
    source: Source, method: str, epsilon: float, trials: int, seed: int
) -> list[dict[str, float]]:
    """P3 §V: the distance between truths from answers and from their reports, for each trial.

    `change` is P3's utility, the MAE between A(D) and A(M(D)); `clean` and `error` are the MAE of
    both to the truth. The plain mean and median are computed on the same reports. Reports are not
    clipped to the range.
    """
    return [_published(source, method, epsilon, trial, seed) for trial in range(trials)]


def _published(
    source: Source, method: str, epsilon: float, trial: int, seed: int
) -> dict[str, float]:
    drawn = answers_seed(seed, trial)
    answers, truths = source.draw(drawn)
    policy = published_policy(answers.domain, epsilon)
    reports = perturb(answers, policy, SeededRandomness(noise_seed(seed, trial)))
    found = {
        "noise": float(np.abs(reports.value - answers.value).mean()),
        "best constant": best_constant(truths).error,
    }
    for name in (method, *BASELINES):
        clean = _clean(cast("Any", source), name, drawn)
        noisy = infer(reports, name, policy=policy, parameters=SETTINGS.get(name))
        words = "" if name == method else f" {name}"
        found |= {
            f"change{words}": float(np.abs(noisy.truths - clean.truths).mean()),
            f"clean{words}": error_of(clean, truths),
            f"error{words}": error_of(noisy, truths),
        }
    return found


def read_aware(source: Source, epsilon: float, trials: int, seed: int) -> list[dict[str, float]]:
    """The MAE to the truth of ours at a true ε per answer without δ, on the same answers."""
    return [_aware(source, epsilon, trial, seed) for trial in range(trials)]


def _aware(source: Source, epsilon: float, trial: int, seed: int) -> dict[str, float]:
    answers, truths = source.draw(answers_seed(seed, trial))
    pair, spent = ours_at(epsilon)
    most = int(np.bincount(answers.worker).max())
    policy = pair.policy(answers.domain, Target(spent, answers=most))
    reports = perturb(answers, policy, SeededRandomness(noise_seed(seed, trial)))
    result = infer(reports, pair.method, policy=policy, compiled=True)
    return {"error": error_of(result, truths), "rounds": float(result.rounds)}


@lru_cache(maxsize=512)
def _clean(source: Any, method: str, seed: int) -> Result:
    """The result without noise, cached because every noise is compared with it."""
    answers, _ = source.draw(seed)
    return infer(answers, method, parameters=SETTINGS.get(method))
