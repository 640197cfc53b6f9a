"""Numbers and ordinal labels through a known channel: truths on a grid, workers by their deviation.

An ordinal truth is the label nearest to an answer on the scale.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import ANY, check_parameters, label_result, number_result
from sottovoce.inference.noise_aware.grid_model import (
    FINEST,
    NumberChannel,
    check_channel,
    check_symbols,
    fit_grid,
    grid_model,
    participation_rate,
    span,
    truth_grid,
    unbiased_numbers,
)
from sottovoce.inference.steps.grid_posteriors import (
    GridPosteriors,
    GridTruths,
    LeftOut,
    NumberMoments,
)
from sottovoce.inference.steps.votes import softmax
from sottovoce.model import Domain, FloatArray, Kind, PointChannel, Result
from sottovoce.seams import Engine

FAR = 0.01
"""The prior probability that a truth is uniform over the range and not from the bell curve."""
NARROWEST = 0.01
"""The least deviation of that bell curve, as a share of the grid's width."""
TRUST = 50.0
"""The model's share starts at 1, with a standard error of 1 / √TRUST."""
FEW, WIDER = 3, 24.0
"""The fewest tasks that show how truths spread, and how much wider few tasks leave that."""
CLEAR = 2.0
"""Truths differ clearly if their spread is this many standard errors; fully at one more."""
ROUNDED = 0.4
"""Deviations below this share of the distance between points are hidden by rounding."""


@dataclass(frozen=True, slots=True)
class AwareNumbers:
    """Truths that are numbers, from reports whose noise has a known law.

    A worker's answer is N(truth, σ²), rounded to the channel's points and clipped to the range; the
    channel gives the likelihood of a report. With a grid of `points` truths (fewer if there are
    very many symbols) and one of deviations σ, mean-field rounds (`fit_grid`) find the probability
    of each. The prior of truths is a bell curve, and 1 % uniform, with the mean of all reports as
    unbiased numbers and the spread of the tasks' means beyond their noise (`_Moments`).

    Answers are seldom normal, so the model can be worse than a mean. The truth is therefore
    a · model + (1 − a) · the task's mean of unbiased numbers, pulled towards the mean of all; a
    predicts left-out reports best (`LeftOut`). With private participation, or `beyond`, a is 1.

    The model's truth and standard error are the posterior's mean and deviation, refined between the
    points of the grid if it is narrow (`GridTruths`). A worker's weight is the mean worker's
    expected variance E σ² divided by its own; under noise of a private variance, that of its
    reports.

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
        numbers, widest = unbiased_numbers(self.channel), float(np.var(grid))
        crowd = _Moments.of(engine.map(NumberMoments(numbers)), widest)
        if self.beyond or density < 1:  # the mean of numbers is not that of truths
            crowd = crowd._replace(mean=float(grid.mean()), within=0.0, spread=4 * widest)
        prior = _bell(grid, crowd.mean, crowd.spread)
        learn = partial(_learnt, grid) if self.beyond else lambda *_: prior
        found = fit_grid(self, engine, model, learn, prior)
        tables = model.logs, found.shares, found.log_prior, grid
        rows = engine.map(GridTruths(*tables))
        if crowd.within > 0:
            cross, apart = engine.total(LeftOut(*tables, numbers, crowd.mean, crowd.ratio))
            trust = TRUST * crowd.within
            rows = _blended(rows, crowd, float(np.clip((cross + trust) / (apart + trust), 0, 1)))
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


class _Moments(NamedTuple):
    """Unbiased numbers: how many on each task, their means, and the mean of all.

    `within` is their variance on a task, and `between` that of the tasks' means beyond what follows
    from it, with standard error `doubt` if truths are equal. `spread` is the variance that truths
    are given: 0 unless they differ clearly, and far more than `between` if they differ by more than
    the means err, so that the mean of all hardly pulls then.
    """

    counts: FloatArray
    means: FloatArray
    mean: float
    within: float
    between: float
    doubt: float
    spread: float

    @classmethod
    def of(cls, rows: FloatArray, widest: float) -> _Moments:
        counts, sums, squares = rows.T
        reports, tasks = float(counts.sum()), int((counts > 0).sum())
        means = sums / np.maximum(counts, 1)
        mean = float(sums.sum()) / max(reports, 1)
        within = max(float(np.sum(squares - sums * means)), 0.0) / max(reports - tasks, 1)
        if within == 0 or tasks < FEW:
            return cls(counts, means, mean, 0.0, widest, 0.0, widest)
        apart = float(counts @ np.square(means - mean)) - (tasks - 1) * within
        between = min(max(apart / (reports - float(counts @ counts) / reports), 0.0), widest)
        error = within * tasks / reports
        doubt = error * (2 / (tasks - 1)) ** 0.5
        clear = min(max(between / doubt - CLEAR, 0.0), 1.0)
        spread = clear * min(between + WIDER * error / (tasks - 1), widest)
        spread = min(spread * max(1.0, spread / error) ** 2, widest)
        return cls(counts, means, mean, within, between, min(doubt, widest), spread)

    @property
    def ratio(self) -> float:
        """The variance of truths over that of a report."""
        return self.spread / self.within


def _blended(rows: FloatArray, crowd: _Moments, share: float) -> FloatArray:
    """Truths and errors: this share of the model's, and the rest of shrunken means of tasks."""
    left = 1 / (crowd.counts * crowd.ratio + 1)
    means = crowd.means + left * (crowd.mean - crowd.means)
    variance = share * np.square(rows[:, 1]) + (1 - share) * left * crowd.spread
    variance += np.square(left) * (max(crowd.between - crowd.spread, 0.0) + crowd.doubt)
    return np.stack([share * rows[:, 0] + (1 - share) * means, np.sqrt(variance)], axis=1)


def _bell(grid: FloatArray, mean: float, spread: float) -> FloatArray:
    """The prior of truths: a bell curve of this spread, with this mean on the grid.

    1 % is uniform if truths differ.
    """
    far, extent = FAR if spread > 0 else 0.0, float(np.ptp(grid))
    deviation = max(spread**0.5, NARROWEST * extent)
    centres = np.linspace(grid[0] - 2 * extent, grid[-1] + 2 * extent, 1001)[:, np.newaxis]
    means = softmax(-np.square((grid - centres) / deviation) / 2) @ grid
    centre = np.interp((mean - far * grid.mean()) / (1 - far), means, centres[:, 0])
    bell = softmax(-np.square((grid - centre) / deviation)[np.newaxis] / 2)[0]
    return np.asarray((1 - far) * np.maximum(bell, np.finfo(float).tiny) + far / len(grid))


def _learnt(grid: FloatArray, sums: FloatArray, _: FloatArray) -> FloatArray:
    """The bell curve with the mean and variance of Σⱼ τⱼ."""
    shares = sums / sums.sum()
    mean = float(shares @ grid)
    return _bell(grid, mean, float(shares @ np.square(grid - mean)))


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
