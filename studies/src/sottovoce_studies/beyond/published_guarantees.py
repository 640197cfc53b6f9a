"""True guarantees of the papers' mechanisms as published.

The attacker sees all k reports of a worker. Per answer, neighbours differ in one of k answers; per
worker in all of them. A true value is the worst over neighbours, unless stated otherwise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sottovoce.mechanisms.laplace import Laplace
from sottovoce.mechanisms.laws.task_profiles import real_profiles
from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.mechanisms.published_factorization import PublishedFactorization
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import Domain, FloatArray, Unit
from sottovoce.planning.pipelines import true_guarantee
from sottovoce.privacy.random_variance import (
    delta_finite,
    delta_limit,
    delta_published,
    epsilon_single,
    rate_published,
)

__all__ = [
    "DIMENSION",
    "LENGTHS",
    "factorization",
    "laplace",
    "log_density",
    "null_response",
    "one_layer",
    "random_variance",
    "sound",
    "sparse_two_layer",
    "two_layer",
]

DIMENSION = 10
"""The dimension, ours because P4 gives none for its experiments."""

LENGTHS = (1.0, 10.0, 100.0, 1e3, 1e4)
"""Lengths of the worker's profile u at which the densities of neighbours are compared."""

DIGITS = Domain.ordinal(range(10))


def one_layer(symbols: int, epsilon: float, answers: int) -> dict[str, float]:
    """P1 Thm. 6.2 at a claimed ε; at 0 reports do not depend on answers."""
    # A policy has an ε above 0; at 0 all symbols are equally likely for every answer.
    if epsilon == 0:
        return {"answer": 0.0, "worker": 0.0, "delta": 0.0}
    response = RandomizedResponse.calibrated(_labels(symbols), epsilon)
    return {
        "answer": response.guarantee(answers, Unit.ANSWER).epsilon,
        "worker": response.guarantee(answers, Unit.WORKER).epsilon,
        "delta": response.delta(epsilon, answers, Unit.ANSWER),
    }


def two_layer(symbols: int, epsilon: float, answers: int) -> dict[str, float]:
    """P1 Thm. 6.3 at a claimed ε: exact ε per answer and per worker, exact δ at the claimed ε."""
    mechanism = TwoLayer.as_published(_labels(symbols), epsilon)
    return {
        "claimed": mechanism.claim().epsilon,
        "answer": mechanism.guarantee(answers, Unit.ANSWER).epsilon,
        "worker": mechanism.guarantee(answers, Unit.WORKER).epsilon,
        "delta": mechanism.delta(epsilon, answers, Unit.ANSWER),
    }


def random_variance(epsilon: float, delta: float, answers: int | None) -> dict[str, float | None]:
    """P3 Thm. 4.8 at a claimed (ε, δ), range 1: the smallest δ at ε; None answers mean k → ∞.

    Per worker all k answers change, a distance of √k; for k → ∞ no privacy is left.
    """
    rate = rate_published(epsilon, delta, 1.0)
    claimed = delta_published(epsilon, rate, 1.0)
    if answers is None:
        alone = delta_limit(epsilon, rate, 1.0)
        return {"claimed": claimed, "answer": alone, "worker": 1.0, "pure": None}
    return {
        "claimed": claimed,
        "answer": delta_finite(epsilon, rate, 1.0, answers),
        "worker": delta_finite(epsilon, rate, math.sqrt(answers), answers),
        "pure": epsilon_single(rate, 1.0) if answers == 1 else None,
    }


def laplace(values: tuple[int, ...], epsilon: float) -> dict[str, float]:
    """P4 Thm. 1 over some values: ε by the formula (max - min) / |Γ|, and of the sampler."""
    mechanism = Laplace.as_published(Domain.ordinal(values), epsilon)
    spread = max(values) - min(values)
    return {
        "answer": epsilon * spread / len(values),
        "drawn": mechanism.guarantee(1, Unit.ANSWER).epsilon,
    }


def null_response(symbols: int, epsilon: float, answers: int) -> dict[str, float]:
    """P4 Eq. 8 with NULL as a report: exact ε per answer and per worker."""
    response = NullRandomizedResponse.calibrated(Domain.ordinal(range(symbols)), epsilon)
    return {
        "answer": response.guarantee(answers, Unit.ANSWER).epsilon,
        "worker": response.guarantee(answers, Unit.WORKER).epsilon,
    }


def sparse_two_layer(symbols: int, epsilon: float, answers: int) -> dict[str, float]:
    """P4's baseline "2-Layer" (§VI-A), without a stated guarantee: exact ε per answer.

    Each worker draws an ε, uniform with the nominal one as mean; the range 0 to 2 ε is ours.
    """
    mechanism = TwoLayer.as_published_sparse(Domain.ordinal(range(symbols)), epsilon)
    return {"answer": mechanism.guarantee(answers, Unit.ANSWER).epsilon}


def factorization(epsilon: float, answers: int, draws: int, seed: int) -> dict[str, Any]:
    """P4 Thm. 4 for one worker and one pair of neighbours: k answers, or the last of them NULL.

    The answers are 9, and the last is 0. `value` is the ε between two values if participation is
    public. `losses` are |ln of the ratio| of the two densities of u at increasingly distant points
    of a line. `delta` is the failure probability at the claimed ε, the larger of two directions of
    E[(1 - exp(ε - loss(u)))₊] over draws of u: a lower bound for the worst pair. u is the exact
    minimum, as in the paper.
    """
    mechanism = PublishedFactorization.over(DIGITS, epsilon, dimension=DIMENSION)
    profiles = real_profiles([f"task {j}" for j in range(answers)], DIMENSION, "")
    rng = np.random.default_rng(seed)
    values = np.where(np.arange(answers) < answers - 1, 9.0, 0.0)
    full, without = (profiles, values), (profiles[:, :-1], values[:-1])

    def loss(fitted: FloatArray) -> FloatArray:
        given = log_density(fitted, *full, mechanism.scale)
        return given - log_density(fitted, *without, mechanism.scale)

    direction = -profiles[:, -1] / np.linalg.norm(profiles[:, -1])
    line = np.outer(direction, LENGTHS)
    noise = rng.laplace(scale=mechanism.scale, size=(2, DIMENSION, draws))
    over = [
        -np.expm1(np.minimum(epsilon - sign * loss(_minimum(*side, drawn)), 0.0))
        for sign, side, drawn in ((1, full, noise[0]), (-1, without, noise[1]))
    ]
    worst = max(over, key=lambda each: float(each.mean()))
    return {
        "value": mechanism.value_epsilon,
        "losses": np.abs(loss(line)).tolist(),
        "delta": float(worst.mean()),
        "s.e.": float(worst.std(ddof=1) / math.sqrt(draws)),
    }


def sound(
    mechanism: str, epsilon: float, delta: float, answers: int, hidden: bool
) -> dict[str, float]:
    """The true ε per answer of our calibration of a mechanism to the same claim."""
    labels = mechanism in ("two-layer", "randomized-response")
    domain = Domain.categorical(("no", "yes")) if labels else DIGITS
    target = Target(epsilon, delta=delta, answers=answers, hide_participation=hidden)
    true = true_guarantee(make_policy(domain, mechanism, target), target)
    return {"epsilon": true.epsilon, "delta": delta, "answers": answers}


def log_density(
    fitted: FloatArray, profiles: FloatArray, values: FloatArray, scale: float
) -> FloatArray:
    """ln f(u) up to a constant, for columns u: u has η = Σ aⱼvⱼ - H u, and |dη / du| = det H."""
    hessian = profiles @ profiles.T
    noise = (profiles @ values)[:, None] - hessian @ fitted
    return np.asarray(np.linalg.slogdet(hessian)[1] - np.abs(noise).sum(axis=0) / scale)


def _minimum(profiles: FloatArray, values: FloatArray, noise: FloatArray) -> FloatArray:
    """u with H u = Σ aⱼvⱼ - η, one column per η (P4 Eqs. 9-10)."""
    pull = (profiles @ values)[:, None] - noise
    return np.asarray(np.linalg.solve(profiles @ profiles.T, pull))


def _labels(symbols: int) -> Domain:
    return Domain.categorical(range(symbols))
