"""The expected mean error of sparse private numbers (P4 §IV), corrected.

m workers of one quality; a task's truth is estimated by the plain mean of its reports (P4 eq. 1
with q = 1/m). An answer is the value of Γ nearest to truth + N(0, σ²); a cell is NULL with
probability 1 − s. The error of a mean of independent reports is bracketed, with no approximation:

    |bias| ≤ E|mean − truth| ≤ min( √(bias² + variance of the mean), E|report − truth| )

`published_…` are P4's own expected errors as printed, Thms. 2, 3 and 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy  # its parts are imported on first use

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray
from sottovoce_studies.theorems.statement import Published, check_positive, check_whole

__all__ = [
    "ExpectedError",
    "SparseSetting",
    "factorization_error",
    "keep_probability",
    "laplace_error",
    "null_response_error",
    "published_factorization_error",
    "published_laplace_error",
    "published_null_response_error",
]


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """E|estimate − truth|: proven bounds, and its value if the mean of the reports is normal."""

    least: float
    estimate: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseSetting:
    """A task with one truth, workers of one quality, and a share `answered` of cells not NULL.

    `null` replaces a NULL before Laplace noise: None for a random value of Γ, as in P4, or a
    number.

    >>> paper = SparseSetting(values=tuple(range(10)), truth=0, answered=0.1, epsilon=1)
    >>> round(float(paper.answer_law() @ paper.support), 3)
    0.382
    """

    values: tuple[float, ...]
    truth: float
    answered: float
    epsilon: float
    sigma: float = 1.0
    workers: int = 1_000
    null: float | None = None

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon, sigma=self.sigma)
        check_whole(workers=self.workers)
        if len(self.values) < 2 or not np.isfinite(self.values).all():
            raise UsageError("values must be at least two finite numbers")
        if (np.diff(self.values) <= 0).any():
            raise UsageError("values must increase strictly")
        if not 0 < self.answered <= 1:
            raise UsageError(f"answered must lie in (0, 1], not {self.answered:g}")
        for name, value in (("truth", self.truth), ("null", self.null or 0.0)):
            if not math.isfinite(value):
                raise UsageError(f"{name} must be finite, not {value}")

    @property
    def support(self) -> FloatArray:
        """Γ as an array."""
        return np.asarray(self.values, np.float64)

    @property
    def width(self) -> float:
        """max Γ − min Γ: the largest change of one answer."""
        return self.values[-1] - self.values[0]

    def answer_law(self) -> FloatArray:
        """The probability of each value: truth + N(0, σ²) rounded to the nearest."""
        cuts = (self.support[1:] + self.support[:-1]) / 2
        below = scipy.special.ndtr((cuts - self.truth) / self.sigma)
        return np.diff(below, prepend=0.0, append=1.0)

    def null_law(self) -> tuple[FloatArray, FloatArray]:
        """The replacements of a NULL before Laplace noise, and their probabilities."""
        if self.null is not None:
            return np.asarray([self.null]), np.ones(1)
        return self.support, np.full(len(self.values), 1 / len(self.values))


def keep_probability(epsilon: float, values: int) -> float:
    """The probability that randomised response keeps one of |Γ| + 1 symbols (P4 eq. 8).

    >>> round(keep_probability(3, 5), 6)
    0.800682
    """
    check_positive(epsilon=epsilon)
    check_whole(values=values)
    return 1 / (1 + values * math.exp(-epsilon))


def laplace_error(setting: SparseSetting, scale: float | None = None) -> ExpectedError:
    """The error of the mean of m reports under Laplace noise, NULLs replaced (P4 §IV-A).

    The scale is (max − min) / ε by default; P4 takes |Γ| / ε. With d the distance of the answer, or
    of the replacement of a NULL, from the truth, E|d + Lap(b)| = |d| + b exp(−|d| / b).
    """
    b = setting.width / setting.epsilon if scale is None else scale
    check_positive(scale=b)
    fill, chance = setting.null_law()
    distance = np.concatenate([setting.support, fill]) - setting.truth
    law = np.concatenate([setting.answered * setting.answer_law(), (1 - setting.answered) * chance])
    bias, variance = _moments(distance, law)
    single = law @ (np.abs(distance) + b * np.exp(-np.abs(distance) / b))
    return _bracket(bias, (variance + 2 * b * b) / setting.workers, float(single))


def null_response_error(setting: SparseSetting) -> ExpectedError:
    """The error of the mean of the reports that are not NULL, under randomised response (P4 §IV-B).

    A report is y with probability other + s (keep − other) P(answer = y), with keep and other the
    two probabilities of P4 eq. 8. Given that they are not NULL they follow this law, scaled. Their
    number K is binomial; given K they are independent, so the mean has this law's bias and its
    variance times E[1/K]. A task where every report is NULL is left out.
    """
    keep = keep_probability(setting.epsilon, len(setting.values))
    other = keep * math.exp(-setting.epsilon)
    law = other + setting.answered * (keep - other) * setting.answer_law()
    reported = float(law.sum())
    law = law / reported
    distance = setting.support - setting.truth
    bias, variance = _moments(distance, law)
    return _bracket(
        bias, variance * _inverse_count(setting.workers, reported), float(law @ np.abs(distance))
    )


def factorization_error(truths: npt.ArrayLike, factors: npt.ArrayLike) -> float:
    """A lower bound on the mean error of P4's matrix factorisation, with every cell answered.

    With V the d × n public factors, the mean of a worker's reports is P a, where P projects on the
    rows of V; noise has mean 0. If answers are right on average, tasks err by |(I − P) truths| at
    least, with any number of workers: the part that V cannot represent is lost.

    >>> factorization_error([7.0, 7.0], [[1.0, 0.0]])
    3.5
    """
    mu, v = np.asarray(truths, np.float64), np.asarray(factors, np.float64)
    if mu.ndim != 1 or v.ndim != 2 or v.shape[1] != len(mu) or not v.size:
        raise UsageError("factors must have a row per dimension and a column per truth")
    fitted = v.T @ np.linalg.lstsq(v.T, mu, rcond=None)[0]
    return float(np.abs(mu - fitted).mean())


def _moments(distance: FloatArray, law: FloatArray) -> tuple[float, float]:
    """Mean and variance of a finite law."""
    mean = float(law @ distance)
    return mean, float(law @ np.square(distance - mean))


def _inverse_count(workers: int, chance: float) -> float:
    """E[1/K] for K binomial and not 0."""
    counts = np.arange(1, workers + 1)
    ways = -scipy.special.gammaln(counts + 1) - scipy.special.gammaln(workers - counts + 1)
    logs = ways + scipy.special.xlogy(counts, chance)
    logs += scipy.special.xlog1py(workers - counts, -min(chance, 1.0))
    weight = np.exp(logs - logs.max())
    return float(weight @ (1 / counts) / weight.sum())


def _bracket(bias: float, variance: float, single: float) -> ExpectedError:
    """Jensen's inequality on either side of the mean of a folded normal."""
    least, spread = abs(bias), math.sqrt(variance)
    most = max(least, min(math.hypot(bias, spread), single))
    z = least / spread if spread else math.inf
    folded = least * math.erf(z / math.sqrt(2)) + spread * math.sqrt(2 / math.pi) * math.exp(
        -z * z / 2
    )
    return ExpectedError(least, min(max(folded, least), most), most)


def published_laplace_error(setting: SparseSetting, scale: float | None = None) -> Published:
    """(1 − s)(φ + |Γ|/ε) + s (σ √(2/π) + |Γ|/ε), φ = |μ − E(v)| (P4 Thm. 2).

    Another `scale` takes the place of |Γ|/ε in both the printed and the sound figure.

    >>> paper = SparseSetting(values=tuple(range(10)), truth=0, answered=0.1, epsilon=1)
    >>> round(published_laplace_error(paper).value, 5)
    14.12979
    >>> round(published_laplace_error(paper, scale=9).value, 5)
    13.12979
    """
    b = len(setting.values) / setting.epsilon if scale is None else scale
    sound = laplace_error(setting, b).most
    fill, chance = setting.null_law()
    phi = abs(setting.truth - float(chance @ fill))
    s = setting.answered
    value = (1 - s) * phi + s * setting.sigma * math.sqrt(2 / math.pi) + b
    note = (
        "If a random replacement can fall on either side of the truth, phi must be E|v - mu|. In "
        "a crowd the bound is far from sharp, because noise averages out. The scale must be the "
        "range of the values over epsilon, not their number."
    )
    return Published(value=value, sound=sound, holds=value >= sound, source="P4 Thm. 2", note=note)


def published_null_response_error(setting: SparseSetting) -> Published:
    """(1 − s)|μ − Σ y/(e^ε + |Γ|)| + s Σₓ N(x; μ, σ)|μ − Σ y Pₓᵧ| (P4 Thm. 3), as printed.

    N is the normal density, taken at the values of Γ and not normalised. The printed example is
    3.551; the formula gives this.

    >>> paper = SparseSetting(values=tuple(range(10)), truth=0, answered=0.1, epsilon=1)
    >>> claim = published_null_response_error(paper)
    >>> round(claim.value, 5), round(claim.sound, 2), claim.holds
    (3.4368, 4.43, False)
    """
    values, mu, s = setting.support, setting.truth, setting.answered
    keep = keep_probability(setting.epsilon, len(values))
    other = keep * math.exp(-setting.epsilon)
    density = np.exp(-np.square((values - mu) / setting.sigma) / 2) / (
        setting.sigma * math.sqrt(2 * math.pi)
    )
    answered = density @ np.abs(mu - (values.sum() * other + values * (keep - other)))
    value = (1 - s) * abs(mu - float(values.sum()) * other) + s * float(answered)
    sound = null_response_error(setting).most
    note = "It counts a NULL report as the value 0, although the estimate leaves it out."
    return Published(value=value, sound=sound, holds=value >= sound, source="P4 Thm. 3", note=note)


def published_factorization_error(
    tasks: int, dimensions: int, values: int, epsilon: float, *, share: float = 1.0
) -> Published:
    """q̃m (√(2/π) + d|Γ| / (nε)) (P4 Thm. 5), with `share` for q̃m, the greatest quality times m.

    >>> claim = published_factorization_error(1_000, 100, 10, 1.0)
    >>> round(claim.value, 5), claim.sound
    (1.79788, inf)
    """
    check_whole(tasks=tasks, dimensions=dimensions, values=values)
    check_positive(epsilon=epsilon, share=share)
    value = share * (math.sqrt(2 / math.pi) + dimensions * values / (tasks * epsilon))
    note = (
        "No bound of this form holds: a worker with fewer answers than dimensions has no "
        "minimum, and the part that the public factors cannot represent is lost even if every "
        "cell is answered (factorization_error)."
    )
    return Published(value=value, sound=math.inf, holds=False, source="P4 Thm. 5", note=note)
