"""How able workers are, as far as a plan has to assume it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray

__all__ = ["Ability", "Assumption", "LabelAbility", "NumberAbility"]

Assumption: TypeAlias = Literal["mixed", "able", "expert"]
"""Crowds that have a name: many weak workers among able ones, all fairly able, all very able."""

ABLE_SHARE = 0.4
"""The share of able workers in a mixed crowd."""

MEAN_VARIANCE = 0.01
"""The mean variance of a mixed crowd's errors, as a share of the squared range."""

_ACCURACIES: dict[str, tuple[float, float]] = {"able": (0.55, 0.8), "expert": (0.85, 0.98)}
_DEVIATIONS: dict[str, tuple[float, float]] = {"able": (0.05, 0.1), "expert": (0.01, 0.05)}


@dataclass(frozen=True, slots=True)
class LabelAbility:
    """How often each worker is right: an assumption by name, or accuracies to resample from.

    - mixed: 40 % of the workers U(0.8, 0.95), the others U(1/s - 0.05, 0.6), for s labels;
    - able: U(0.55, 0.8);
    - expert: U(0.85, 0.98).

    >>> LabelAbility((0.5, 0.75)).draw(np.random.default_rng(1), 3, labels=2).tolist()
    [0.75, 0.5, 0.5]
    """

    accuracies: Assumption | tuple[float, ...] = "mixed"

    def __post_init__(self) -> None:
        _check("accuracies", self.accuracies)

    def draw(self, rng: np.random.Generator, workers: int, labels: int) -> FloatArray:
        """How often each of so many workers is right; the first of them whatever their number."""
        draws = rng.random((workers, 2))
        if not isinstance(self.accuracies, str):
            return _resampled(self.accuracies, draws[:, 0])
        if self.accuracies != "mixed":
            return _between(draws[:, 0], *_ACCURACIES[self.accuracies])
        able = draws[:, 1] < ABLE_SHARE
        return np.where(
            able, _between(draws[:, 0], 0.8, 0.95), _between(draws[:, 0], _weakest(labels), 0.6)
        )

    def sentence(self, labels: int) -> str:
        """The assumption in words."""
        if not isinstance(self.accuracies, str):
            return _resampled_words(self.accuracies, "accuracies")
        if self.accuracies != "mixed":
            low, high = _ACCURACIES[self.accuracies]
            return f"assumed crowd ({self.accuracies}): workers are right {_percent(low, high)}"
        return (
            "assumed crowd (mixed): 4 in 10 workers are right 80 to 95 % of the time, the others "
            f"{_percent(_weakest(labels), 0.6)}"
        )


@dataclass(frozen=True, slots=True)
class NumberAbility:
    """The standard deviation of each worker's errors, as a share of the range.

    By name, or as deviations to resample from:

    - mixed: variances ~ Exp with mean 1 % of the squared range (P3 §V-A with a range of 10);
    - able: deviations U(0.05, 0.1);
    - expert: deviations U(0.01, 0.05).
    """

    deviations: Assumption | tuple[float, ...] = "mixed"

    def __post_init__(self) -> None:
        _check("deviations", self.deviations)

    def draw(self, rng: np.random.Generator, workers: int) -> FloatArray:
        """Each worker's deviation, as a share of the range."""
        draws = rng.random(workers)
        if not isinstance(self.deviations, str):
            return _resampled(self.deviations, draws)
        if self.deviations == "mixed":
            return np.sqrt(-MEAN_VARIANCE * np.log1p(-draws))
        return _between(draws, *_DEVIATIONS[self.deviations])

    def sentence(self, labels: int = 0) -> str:
        """The assumption in words; there are no labels to speak of."""
        if not isinstance(self.deviations, str):
            return _resampled_words(self.deviations, "deviations")
        if self.deviations == "mixed":
            return (
                "assumed crowd (mixed): workers err with a variance that is exponential with mean "
                "1 % of the squared range"
            )
        low, high = _DEVIATIONS[self.deviations]
        return (
            f"assumed crowd ({self.deviations}): workers err with a standard deviation of "
            f"{100 * low:g} to {100 * high:g} % of the range"
        )


Ability: TypeAlias = LabelAbility | NumberAbility


def _check(field: str, given: str | tuple[float, ...]) -> None:
    if isinstance(given, str):
        if given not in get_args(Assumption):
            named = ", ".join(get_args(Assumption))
            raise UsageError(f"ability is one of {named}, not {given!r}")
    elif not given or not all(0 <= value <= 1 for value in given):
        raise UsageError(f"{field} to resample from are one or more numbers from 0 to 1")


def _between(draws: FloatArray, low: float, high: float) -> FloatArray:
    return low + (high - low) * draws


def _resampled(sample: tuple[float, ...], draws: FloatArray) -> FloatArray:
    return np.array(sample)[(draws * len(sample)).astype(np.int64)]


def _weakest(labels: int) -> float:
    return max(0.0, 1 / labels - 0.05)


def _percent(low: float, high: float) -> str:
    return f"{100 * low:.0f} to {100 * high:.0f} % of the time"


def _resampled_words(sample: tuple[float, ...], what: str) -> str:
    middle = f"{100 * float(np.median(sample)):.3g} %"
    of = "" if what == "accuracies" else " of the range"
    crowd = f"crowd as in the pilot: {what} of {len(sample):,} workers"
    return f"{crowd}, half of them below {middle}{of}"
