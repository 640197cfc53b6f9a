"""Crowds in which some workers are important in P1's sense, and the others know next to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model import Domain, FloatArray, Reports
from sottovoce.studies.p1.layers import errors_at

__all__ = ["ImportantCrowd", "errors_of"]

GOOD = (0.9, 0.98)
REST = (0.45, 0.6)


@dataclass(frozen=True, slots=True)
class ImportantCrowd:
    """Every worker answers every task; so many of the workers are important.

        P(answer of u is the truth) = a_u,   a_u ~ U(0.9, 0.98) for the important ones,
                                             a_u ~ U(0.45, 0.6) for the others

    Of the important ones, the share `turned` has 1 - a_u instead: P1 §6.2.1 takes a worker who is
    nearly always wrong for as good as one who is nearly always right. With the same seed a crowd
    with more important workers is the same crowd, with some of the others replaced.
    """

    workers: int
    tasks: int
    important: int
    turned: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.important <= self.workers:
            raise UsageError(f"{self.important} of {self.workers} workers cannot be important")
        if not 0 <= self.turned < 0.5:
            raise UsageError("fewer than half of the important workers may be turned")

    def accuracies(self, seed: int) -> FloatArray:
        """How often each worker is right: important workers come first, and every n-th is turned.

        Accuracies do not depend on how many are important, but for which of both laws counts.
        """
        place = np.random.default_rng([seed, 1]).random(self.workers)
        good, rest = (low + (high - low) * place for low, high in (GOOD, REST))
        number = np.arange(self.workers)
        turned = np.floor((number + 1) * self.turned) > np.floor(number * self.turned)
        return np.where(number < self.important, np.where(turned, 1 - good, good), rest)

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        rng = np.random.default_rng([seed, 0])
        truths = rng.integers(2, size=self.tasks)
        wrong = rng.random((self.workers, self.tasks)) >= self.accuracies(seed)[:, None]
        worker, task = (axis.ravel() for axis in np.indices(wrong.shape))
        value = truths[task] ^ wrong.ravel()
        tasks = np.arange(self.tasks)
        return Reports.of(worker, task, value, domain=_BINARY, tasks=tasks), truths


def errors_of(crowd: ImportantCrowd, epsilon: float, trial: int, seed: int) -> dict[str, float]:
    """One trial of P1's methods and ours on such a crowd (`layers.errors_at`)."""
    return errors_at(crowd, epsilon, trial, seed)


_BINARY = Domain.categorical((0, 1))
