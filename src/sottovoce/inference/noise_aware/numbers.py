"""Numbers and ordinal labels through a known channel: truths on a grid, workers by their deviation.

An ordinal truth is the label nearest to an answer on the scale. The distribution of truths is
estimated from all reports together (`pooled_prior`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import ANY, check_parameters, label_result, number_result
from sottovoce.inference.noise_aware.grid_model import (
    FINEST,
    GridModel,
    NumberChannel,
    check_channel,
    check_symbols,
    fit_grid,
    grid_model,
    participation_rate,
    span,
    truth_grid,
)
from sottovoce.inference.steps.grid_posteriors import GridPosteriors, GridTruths
from sottovoce.inference.steps.votes import LabelCounts, softmax
from sottovoce.model import Domain, FloatArray, Kind, PointChannel, Result
from sottovoce.seams import Engine

CENTRES = 81
SPREADS = np.geomspace(0.01, 2.0, 16)
"""Bell curves of the prior: the number of means, and deviations as shares of the grid's width."""


def pooled_prior(engine: Engine, model: GridModel, bells: FloatArray) -> FloatArray:
    """The prior of truths from the frequency of each symbol: one pass, independent of tasks.

        P(symbol | bell) = Σ_t bell(t) Σ_q w₀(q) P(symbol | t, q)
        prior = Σ over bells of bell · P(bell | counts),   each bell as likely before

    If noise hides every single truth, thousands of reports still show their centre. If they do not
    show that either, all bells count, and the prior is wide.
    """
    counts = engine.total(LabelCounts(engine.domain.size))
    law = np.einsum("q,yqt->yt", model.prior, np.exp(model.logs))
    seen = np.log(law @ bells.T)
    weights = softmax((counts @ seen)[np.newaxis])[0]
    return np.asarray(weights @ bells)


def bell_curves(grid: FloatArray) -> FloatArray:
    """Bell curves over the grid, one per row, each summing to one: truths lie on the grid."""
    extent = float(np.ptp(grid))
    centres = np.linspace(grid[0], grid[-1], CENTRES)
    apart = (grid - centres[:, np.newaxis]) / extent
    bells = np.exp(-np.square(apart[:, np.newaxis] / SPREADS[:, np.newaxis]) / 2)
    bells = bells.reshape(-1, len(grid))
    bells = np.maximum(bells, np.finfo(float).tiny)
    return np.asarray(bells / bells.sum(axis=1, keepdims=True))


FAR = 0.1
"""The prior probability that a truth is uniform over the range and not from the bell curve."""
ROUNDED = 0.4
"""Deviations below this share of the distance between points are hidden by rounding."""


@dataclass(frozen=True, slots=True)
class AwareNumbers:
    """Truths that are numbers, from reports whose noise has a known law.

    A worker's answer is N(truth, σ²), rounded to the channel's points and clipped to the range; the
    channel gives the likelihood of a report. With a grid of `points` truths (fewer if there are
    very many symbols) and one of deviations σ, mean-field rounds (`fit_grid`) find the probability
    of each. The prior of truths is the best-fitting bell curve, mixed with 10 % uniform; it starts
    from all reports together (`pooled_prior`). If the reports on one task carry no information, its
    truth is the mean of the others and its error their spread.

    Truth and standard error are the posterior's mean and deviation, refined between the points of
    the grid if it is narrow (`GridTruths`). A worker's weight is the mean worker's expected
    variance E σ² divided by its own; under noise of a private variance, that of its reports.

    `beyond` is how far outside the public range truths may lie, as a share of it: answers clipped
    to the range can indicate a truth beyond it. `participation` is the share of cells that were
    answered, if that is private; 0 estimates it. `channel` and `domain` define the meaning of
    symbols and the range of answers.
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
            raise UsageError(f"beyond must be from 0 to 10 times the range, not {self.beyond:g}")
        if not 0 <= self.participation <= 1:
            raise UsageError(f"participation must be from 0 to 1, not {self.participation:g}")

    def fit(self, engine: Engine) -> Result:
        low, high = span(self.domain)
        room = self.beyond * (high - low)
        grid = truth_grid(self.channel, low - room, high + room, self.points)
        finest, density = FINEST, 1.0
        if isinstance(self.channel, PointChannel):
            finest = max(FINEST, ROUNDED / (len(self.channel.points) - 1))
            if self.channel.null:
                density = self.participation or participation_rate(self.channel, engine)
        model = grid_model(self.channel, grid, finest, density, unbiased=self.beyond == 0)
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
            warnings=_drowned(rows),
        )

    def _range(self) -> Domain:
        """The interval of truths: the public range, and beyond."""
        if self.domain.is_numeric and self.beyond == 0:
            return self.domain
        low, high = span(self.domain)
        room = self.beyond * (high - low)
        return Domain.numeric(low - room, high + room)


def _drowned(rows: FloatArray) -> tuple[str, ...]:
    """A warning if truths differ by less than their typical standard error."""
    spread, error = float(rows[:, 0].std()), float(np.sqrt(np.mean(np.square(rows[:, 1]))))
    if len(rows) < 2 or error <= spread:
        return ()
    return (
        f"noise drowns the answers: the standard error of a truth, {error:.3g}, exceeds the spread "
        f"of the truths, {spread:.3g}; declare a narrower range, collect more answers per task or "
        "allow a larger epsilon",
    )


def _anywhere(bell: FloatArray) -> FloatArray:
    """A prior of which 10 % are uniform over the whole grid."""
    return np.asarray((1 - FAR) * bell / bell.sum() + FAR / len(bell))


def _bell(bells: FloatArray, sums: FloatArray, before: FloatArray) -> FloatArray:
    """The prior of truths: the bell curve with the best likelihood for Σⱼ τⱼ, and 10 % uniform.

    The uniform part is left out (EM for the mixture), and bells end where the grid does. With mean
    and variance alone, a prior without evidence would drift to the middle of the range and narrow,
    a little in every round.
    """
    own = sums * np.maximum(1 - FAR / len(before) / before, 0.0)
    return _anywhere(bells[np.argmax(np.log(bells) @ own)])


EVEN = 2.0
"""Pseudo-tasks per task, spread evenly over the labels."""
GUESSES = 0.1
"""The share of answers that are unrelated to the scale: people may misread a task."""
ORDINAL_ROUNDED = 0.2
"""The smallest deviation, as a share of the distance between labels: 1 % of answers err."""


@dataclass(frozen=True, slots=True)
class AwareOrdinal:
    """Truths that are labels on a scale, from reports whose noise has a known law.

    As `AwareNumbers`, but a truth is one of the labels' points, and one answer in ten is a guess,
    uniform over the labels. The prior of labels is their share of the tasks, where each task counts
    as one and two more are spread evenly. A truth is the most probable label, and confidence its
    probability.
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
            raise UsageError(f"participation must be from 0 to 1, not {self.participation:g}")

    def fit(self, engine: Engine) -> Result:
        grid, finest, density = self.domain.scale, FINEST, 1.0
        if isinstance(self.channel, PointChannel):
            finest = ORDINAL_ROUNDED / (len(self.channel.points) - 1)
            if self.channel.null:
                density = self.participation or participation_rate(self.channel, engine)
        model = grid_model(self.channel, grid, finest, density, GUESSES)
        found = fit_grid(self, engine, model, _shares)
        posterior = engine.map(GridPosteriors(model.logs, found.shares, found.log_prior))
        prior = np.exp(found.log_prior)
        return label_result(self, engine, posterior, found.settled, prior=prior, domain=self.domain)


def _shares(sums: FloatArray, _: FloatArray) -> FloatArray:
    """The prior of labels: their shares of the tasks, shrunk towards even."""
    tasks = sums.sum()
    return np.asarray((sums + EVEN * tasks / len(sums)) / ((1 + EVEN) * tasks))
