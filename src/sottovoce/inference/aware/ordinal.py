"""Ordinal labels through a known channel: the label that an answer on the scale points to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aware.grids import FINEST, NumberChannel, check_channel, grid_model, span
from sottovoce.inference.aware.mean_field import fit_grid
from sottovoce.inference.aware.participation import participation_rate
from sottovoce.inference.kinds import ANY
from sottovoce.inference.outcome import label_result
from sottovoce.inference.parameters import check_parameters
from sottovoce.inference.steps.grids import GridPosteriors
from sottovoce.model import Domain, FloatArray, Kind, PointChannel, Result
from sottovoce.seams import Engine

__all__ = ["AwareOrdinal"]

EVEN = 2.0
"""For each task, so many more are taken to be spread evenly over the labels."""
GUESSES = 0.1
"""So many answers have nothing to do with the scale: people who know it still misread a task."""
ROUNDED = 0.2
"""The smallest deviation, as a share of the distance between labels: 1 % of answers err."""


@dataclass(frozen=True, slots=True)
class AwareOrdinal:
    """Truths that are labels on a scale, from reports whose noise has a known law.

    As `AwareNumbers`, but a truth is one of the points that labels stand for, and one answer in
    ten is a guess, any label as likely. The prior of labels is their share of the tasks, each task
    counting for one and two more spread evenly. A truth is the most probable label, and confidence
    its probability.
    """

    channel: NumberChannel = field(repr=False)
    domain: Domain = field(repr=False)
    max_rounds: int = field(default=60, kw_only=True)
    tolerance: float = field(default=1e-4, kw_only=True)
    participation: float = field(default=0.0, kw_only=True)

    name: ClassVar[str] = "aware-ordinal"
    takes: ClassVar[frozenset[Kind]] = ANY

    def __post_init__(self) -> None:
        check_parameters(self)
        check_channel(self.channel)
        span(self.domain)
        if self.domain.is_numeric:
            raise UsageError("aware-ordinal finds labels: use aware-numbers for numbers")
        if not 0 <= self.participation <= 1:
            raise UsageError(f"participation is a share, 0 to 1, not {self.participation:g}")

    def fit(self, engine: Engine) -> Result:
        grid, finest, density = self.domain.scale, FINEST, 1.0
        if isinstance(self.channel, PointChannel):
            finest = ROUNDED / (len(self.channel.points) - 1)
            if self.channel.null:
                density = self.participation or participation_rate(self.channel, engine)
        model = grid_model(self.channel, grid, finest, density, GUESSES)
        found = fit_grid(self, engine, model, _shares)
        posterior = engine.map(GridPosteriors(model.logs, found.shares, found.log_prior))
        prior = np.exp(found.log_prior)
        return label_result(self, engine, posterior, found.settled, prior=prior, domain=self.domain)


def _shares(sums: FloatArray, _: FloatArray) -> FloatArray:
    """The prior of labels: their shares of the tasks, drawn towards even."""
    tasks = sums.sum()
    return np.asarray((sums + EVEN * tasks / len(sums)) / ((1 + EVEN) * tasks))
