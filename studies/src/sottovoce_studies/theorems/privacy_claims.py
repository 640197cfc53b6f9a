"""The papers' privacy theorems, against the exact privacy loss of a worker's k reports together.

The unit is the answer (one of the k answers differs) or the worker (all may differ); in both cases
all reports are observed. The proofs are on the page of privacy claims.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model import Unit, UnitName
from sottovoce.model.guarantee import check_answer_count
from sottovoce.privacy.hyper_distribution import UniformHyper
from sottovoce.privacy.mixtures import mixture_guarantee
from sottovoce.privacy.random_variance import delta_finite, rate_published
from sottovoce_studies.theorems.statement import (
    Published,
    check_between,
    check_positive,
    check_whole,
)

__all__ = [
    "published_equal_layers",
    "published_factorization_privacy",
    "published_laplace_privacy",
    "published_null_privacy",
    "published_one_layer",
    "published_two_layers",
    "published_variance_privacy",
]

ROUNDING = 1e-9
"""The relative difference up to which two figures are equal."""


def published_one_layer(flip: float, labels: int, answers: int, unit: UnitName) -> Published:
    """ε = ln((1 − p)(s − 1) / p) of randomised response that flips with p (P1 Thm. 6.2).

    >>> claim = published_one_layer(0.25, labels=2, answers=10, unit="worker")
    >>> round(claim.value, 4), round(claim.sound, 4), claim.holds
    (1.0986, 10.9861, False)
    """
    check_between(0, 1, flip=flip)
    _check_labels(labels, answers)
    value = _one_layer(flip, labels)
    sound = abs(value) * (answers if Unit(unit) is Unit.WORKER else 1)
    note = (
        "Each answer has its own noise: the loss of one answer is the same for any number of "
        "answers, and those of all answers of a worker add up. The absolute value is missing for "
        "flips above (s - 1) / s."
    )
    return _loss(value, sound, f"P1 Thm. 6.2, per {Unit(unit)}", note)


def published_two_layers(
    low: float, high: float, labels: int, answers: int, unit: UnitName
) -> Published:
    """ε = ln((2 − a − b)(s − 1) / (a + b)) for flip probabilities from U(a, b) (P1 Thm. 6.3).

    >>> claim = published_two_layers(0, 0.538, labels=2, answers=100, unit="answer")
    >>> round(claim.value, 4), round(claim.sound, 4), claim.holds
    (0.9997, 4.6052, False)
    """
    value = _one_layer(_mean_flip(low, high), labels)
    sound = _two_layers(low, high, labels, answers, unit)
    note = (
        "A worker's answers share one flip probability, and the reports together reveal it: the "
        "figure, in absolute value, is that of a worker who sends one answer."
    )
    return _loss(value, sound, f"P1 Thm. 6.3, per {Unit(unit)}", note)


def published_equal_layers(
    low: float, high: float, labels: int, answers: int, unit: UnitName
) -> Published:
    """Two layers U(a, b) are as private as one that flips with (a + b) / 2 (P1 Thm. 6.4).

    The printed figure is the exact loss of the one layer, for as many answers.

    >>> claim = published_equal_layers(0, 0.538, labels=2, answers=100, unit="worker")
    >>> round(claim.value, 2), round(claim.sound, 2), claim.holds
    (99.97, 67.18, False)
    """
    value = published_one_layer(_mean_flip(low, high), labels, answers, unit).sound
    sound = _two_layers(low, high, labels, answers, unit)
    note = (
        "Equal for one answer only. For more, two layers lose more per answer; per worker they can "
        "lose less, because the noise is shared."
    )
    return Published(
        value=value,
        sound=sound,
        holds=math.isclose(value, sound, rel_tol=ROUNDING),
        source=f"P1 Thm. 6.4, per {Unit(unit)}",
        note=note,
    )


def published_variance_privacy(
    epsilon: float, delta: float, answers: int, unit: UnitName
) -> Published:
    """The δ at ε that P3 Thm. 4.8 claims for its own noise, λ₂ = 2 ε ln(1/(1 − δ)) / D².

    D is the distance of two answers here, so its size does not matter; all of a worker's answers
    have the distance √k D.

    >>> claim = published_variance_privacy(1.0, 0.1, answers=10, unit="worker")
    >>> claim.value, round(claim.sound, 4), claim.holds
    (0.1, 0.4576, False)
    """
    check_positive(epsilon=epsilon)
    check_between(0, 1, delta=delta)
    check_answer_count(answers)
    distance = math.sqrt(answers) if Unit(unit) is Unit.WORKER else 1.0
    sound = delta_finite(epsilon, rate_published(epsilon, delta, 1.0), distance, answers)
    note = (
        "Per answer it holds for any number of answers, although its proof (eq. 13) does not; all "
        "answers of a worker are further apart than one."
    )
    return _loss(delta, sound, f"P3 Thm. 4.8, per {Unit(unit)}", note)


def published_laplace_privacy(values: Sequence[float], epsilon: float) -> Published:
    """ε of Laplace noise of scale |Γ| / ε, NULL replaced by a value of Γ (P4 Thm. 1).

    >>> published_laplace_privacy([0, 100], 1.0).sound
    50.0
    """
    note = (
        "The sensitivity of an answer is the range of the values, not their number; replacing NULL "
        "by a value costs nothing."
    )
    return _loss(epsilon, _value_epsilon(values, epsilon), "P4 Thm. 1", note)


def published_null_privacy(values: Sequence[float], epsilon: float) -> Published:
    """ε of randomised response with NULL as one more symbol (P4 eq. 8)."""
    _value_epsilon(values, epsilon)
    note = "NULL is one of the symbols, on both sides; |Gamma| in the formula counts the others."
    return _loss(epsilon, epsilon, "P4 eq. 8", note)


def published_factorization_privacy(
    values: Sequence[float], epsilon: float, *, null: bool
) -> Published:
    """ε of matrix factorisation, between two values or between NULL and a value (P4 Thm. 4).

    >>> [published_factorization_privacy(range(10), 1.0, null=n).sound for n in (False, True)]
    [0.9, inf]
    """
    sound = math.inf if null else _value_epsilon(values, epsilon)
    note = (
        "Answering a task changes the quadratic form that the worker minimises, so that the ratio "
        "between NULL and a value is unbounded; between two values the range over the number of "
        "values times epsilon holds."
    )
    change = "NULL to value" if null else "value to value"
    return _loss(epsilon, sound, f"P4 Thm. 4, {change}", note)


def _loss(value: float, sound: float, source: str, note: str) -> Published:
    """A claimed ε or δ, which holds if it is not below the true one."""
    holds = value >= sound or math.isclose(value, sound, rel_tol=ROUNDING)
    return Published(value=value, sound=sound, holds=holds, source=source, note=note)


def _one_layer(flip: float, labels: int) -> float:
    return math.log1p(-flip) - math.log(flip) + math.log(labels - 1)


def _mean_flip(low: float, high: float) -> float:
    UniformHyper(low, high)  # refuses what is no range of probabilities
    flip = (low + high) / 2
    if not 0 < flip < 1:
        raise UsageError(
            f"the mean flip probability must lie between 0 and 1, not {flip:g}: no finite epsilon "
            "holds otherwise"
        )
    return flip


def _two_layers(low: float, high: float, labels: int, answers: int, unit: UnitName) -> float:
    _check_labels(labels, answers)
    return mixture_guarantee(UniformHyper(low, high), labels, answers, unit).epsilon


def _check_labels(labels: int, answers: int) -> None:
    check_whole(labels=labels, answers=answers)
    if labels < 2:
        raise UsageError(f"labels must be at least 2, not {labels}")


def _value_epsilon(values: Sequence[float], epsilon: float) -> float:
    """ε (max − min) / |Γ|."""
    check_positive(epsilon=epsilon)
    if len(values) < 2 or not np.isfinite(values).all() or (np.diff(values) <= 0).any():
        raise UsageError("values must be at least two finite numbers that increase strictly")
    return epsilon * (values[-1] - values[0]) / len(values)
