"""Crowds for P3: synthetic users, and a stand-in for its floorplans, which are not public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.datasets import NumericCrowd
from sottovoce.errors import UsageError
from sottovoce.model import Domain, Reports
from sottovoce_studies.crowds import Simulated

__all__ = ["Floorplan", "crowd"]


def crowd(workers: int = 150, lambda1: float = 1.0, margin: float = 0.0) -> Simulated:
    """P3's synthetic users on 30 objects; truths U(1, 9), answers clipped to the range 0..10.

    `margin` widens the range at both ends, so that fewer answers are clipped. The range of the
    truths itself does not matter: all methods here follow a shift of a task's answers.
    """
    return Simulated(
        NumericCrowd(
            workers=workers,
            lambda1=lambda1,
            low=-margin,
            high=10.0 + margin,
            clip=True,
            inset=1.0 + margin,
        )
    )


@dataclass(frozen=True, slots=True)
class Floorplan:
    """Walkers who measure hallways by steps: distance = step size · step count (P3 §V-B).

        length ~ U(4, 40) metres;   step ~ N(0.7, 0.06) metres
        stated step = step · (1 + N(0, bias²)), once per walker
        count = round( length / step · (1 + N(0, cₛ²)) ),   cₛ ~ Exp(mean miscount) per walker

    P3 publishes its 247 users, its 129 segments and how a distance is measured; everything else is
    ours. A walker's relative error is the same on every segment, so errors grow with the length,
    unlike the Gaussian errors of P3's theory. Distances are clipped to the public range 0..50
    metres.
    """

    workers: int = 247
    tasks: int = 129
    bias: float = 0.05
    miscount: float = 0.05

    def __post_init__(self) -> None:
        if not (self.workers >= 1 and self.tasks >= 1 and self.bias >= 0 and self.miscount >= 0):
            raise UsageError("a floorplan needs walkers, segments, and errors of at least 0")

    @property
    def domain(self) -> Domain:
        """The range of distances, in metres."""
        return Domain.numeric(0, 50)

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        """Every walker's distance for every segment, and the lengths."""
        rng = np.random.default_rng(seed)
        lengths = rng.uniform(4, 40, self.tasks)
        step = rng.normal(0.7, 0.06, (self.workers, 1))
        stated = step * (1 + self.bias * rng.standard_normal((self.workers, 1)))
        quality = rng.exponential(self.miscount, (self.workers, 1))
        error = quality * rng.standard_normal((self.workers, self.tasks))
        distance = stated * np.rint(lengths / step * (1 + error))
        value = np.clip(distance, self.domain.low, self.domain.high).ravel()
        worker = np.repeat(np.arange(self.workers), self.tasks)
        task = np.tile(np.arange(self.tasks), self.workers)
        return Reports.of(worker, task, value, domain=self.domain), lengths
