"""Numbers through a known channel: truths on a grid, workers by their deviation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aware.grids import (
    FINEST,
    NumberChannel,
    check_channel,
    grid_model,
    span,
    truth_grid,
)
from sottovoce.inference.aware.mean_field import check_symbols, fit_grid
from sottovoce.inference.aware.participation import participation_rate
from sottovoce.inference.aware.pooling import bell_curves, pooled_prior
from sottovoce.inference.kinds import ANY
from sottovoce.inference.outcome import number_result
from sottovoce.inference.parameters import check_parameters
from sottovoce.inference.steps.grids import GridTruths
from sottovoce.model import Domain, FloatArray, Kind, PointChannel, Result
from sottovoce.seams import Engine

__all__ = ["AwareNumbers"]

FAR = 0.1
"""So likely a truth is anywhere in the range, rather than from the bell curve of the others."""
ROUNDED = 0.4
"""A deviation below this share of the distance between points is hidden by rounding."""


@dataclass(frozen=True, slots=True)
class AwareNumbers:
    """Truths that are numbers, from reports whose noise has a known law.

    A worker's answer is N(truth, σ²), rounded to the channel's points and clipped to the range;
    the channel says how likely a report is given it. With a grid of `points` truths (fewer where
    there are very many symbols) and one of deviations σ, mean-field rounds (`fit_grid`) find how
    likely each is. The prior of truths is the bell curve that fits them best, mixed with 10 % of
    anywhere; at first it is what all reports together say (`pooled_prior`). Where those on one task
    say nothing, its truth is the mean of the others and its error their spread.

    Truth and standard error are the posterior's mean and deviation, between the points of the grid
    where it is narrow (`GridTruths`). A worker's weight is the mean worker's expected variance
    E σ² divided by its own; under noise of a private variance, that of its reports.

    `beyond` is how far outside the public range truths may lie, as a share of it: answers clipped
    to the range say that a truth is beyond. `participation` is the share of cells that were
    answered, where that is private; 0 has it estimated. `channel` and `domain` say what symbols
    mean and where answers lie.
    """

    channel: NumberChannel = field(repr=False)
    domain: Domain = field(repr=False)
    max_rounds: int = field(default=60, kw_only=True)
    tolerance: float = field(default=1e-4, kw_only=True)
    points: int = field(default=200, kw_only=True)
    beyond: float = field(default=0.0, kw_only=True)
    participation: float = field(default=0.0, kw_only=True)

    name: ClassVar[str] = "aware-numbers"
    takes: ClassVar[frozenset[Kind]] = ANY

    def __post_init__(self) -> None:
        check_parameters(self)
        check_channel(self.channel)
        span(self.domain)
        if self.points < 3:
            raise UsageError(f"points must be at least 3, not {self.points}")
        if not 0 <= self.beyond <= 10:
            raise UsageError(f"beyond is 0 to 10 times the range, not {self.beyond:g}")
        if not 0 <= self.participation <= 1:
            raise UsageError(f"participation is a share, 0 to 1, not {self.participation:g}")

    def fit(self, engine: Engine) -> Result:
        low, high = span(self.domain)
        room = self.beyond * (high - low)
        grid = truth_grid(self.channel, low - room, high + room, self.points)
        finest, density = FINEST, 1.0
        if isinstance(self.channel, PointChannel):
            finest = max(FINEST, ROUNDED / (len(self.channel.points) - 1))
            if self.channel.null:
                density = self.participation or participation_rate(self.channel, engine)
        model = grid_model(self.channel, grid, finest, density)
        check_symbols(engine, model)
        bells = bell_curves(grid)
        first = _anywhere(pooled_prior(engine, model, bells))
        found = fit_grid(self, engine, model, partial(_bell, bells), first)
        rows = engine.map(GridTruths(model.logs, found.shares, found.log_prior, grid))
        return number_result(
            self,
            engine,
            np.clip(rows[:, 0], grid[0], grid[-1]),
            found.settled,
            standard_error=rows[:, 1],
            domain=self._range(),
        )

    def _range(self) -> Domain:
        """Where truths lie: the public range, and beyond."""
        if self.domain.is_numeric and self.beyond == 0:
            return self.domain
        low, high = span(self.domain)
        room = self.beyond * (high - low)
        return Domain.numeric(low - room, high + room)


def _anywhere(bell: FloatArray) -> FloatArray:
    """A prior of which 10 % are spread over the whole grid."""
    return np.asarray((1 - FAR) * bell / bell.sum() + FAR / len(bell))


def _bell(bells: FloatArray, sums: FloatArray, before: FloatArray) -> FloatArray:
    """The prior of truths: the bell curve that makes Σⱼ τⱼ most likely, and 10 % of anywhere.

    What may have come from anywhere is left out (EM for the mixture), and bells end where the grid
    does: with mean and variance alone, a prior that reports do not touch would creep to the middle
    of the range and narrow, a little in every round.
    """
    own = sums * np.maximum(1 - FAR / len(before) / before, 0.0)
    return _anywhere(bells[np.argmax(np.log(bells) @ own)])
