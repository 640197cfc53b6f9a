"""How likely a symbol is at each point of a truth grid, for each kind of worker."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import scipy  # its parts are loaded when first used

from sottovoce.errors import UsageError
from sottovoce.model import Domain, FloatArray, NoisyChannel, PointChannel

__all__ = [
    "GridModel",
    "NumberChannel",
    "cell_masses",
    "check_channel",
    "grid_model",
    "span",
    "truth_grid",
]

NumberChannel: TypeAlias = PointChannel | NoisyChannel

FINEST, COARSEST = 0.01, 0.8
"""Deviations of workers go from this to that share of the range."""
STATES, NOISY_STATES = 10, 12
"""So many deviations: of answers, and of answers with Gaussian noise of a private variance."""
SLIP = 1e-6
"""So likely an answer is a slip, any cell as likely: none is impossible under any truth."""

FEWEST = 25
"""A grid of truths has so many points even where there are very many symbols."""

_KEPT = 1 << 20
"""A table of so many numbers, 8 MB, is kept for the next fit."""
_CELLS = 1 << 25
"""The most numbers in a table of log-likelihoods: 256 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class GridModel:
    """`logs[symbol, state, point]` = ln P(symbol | truth = grid[point], worker in that state).

    A worker's state is its deviation, `deviations[state]`, with prior probability `prior[state]`.
    """

    grid: FloatArray
    deviations: FloatArray
    prior: FloatArray
    logs: FloatArray


def span(domain: Domain) -> tuple[float, float]:
    """The public range: that of the numbers, or of the points that labels stand for."""
    low, high = domain.low, domain.high
    if not domain.is_numeric:
        low, high = float(domain.scale.min()), float(domain.scale.max())
    if not (np.isfinite([low, high]).all() and low < high):
        raise UsageError(f"inference on a grid needs a public range, and {domain} has none")
    return low, high


def check_channel(channel: NumberChannel) -> None:
    """Refuse a channel that is no law of numbers."""
    if isinstance(channel, PointChannel):
        line, laws = channel.points, channel.likelihood
        whole = laws.ndim == 2 and laws.any(axis=1).all()
    elif isinstance(channel, NoisyChannel):
        line, laws = channel.edges, channel.prior
        whole = laws.shape == channel.variances.shape and (channel.variances >= 0).all()
        whole = whole and laws.any() and np.isfinite(channel.variances).all()
    else:
        raise UsageError(f"a {type(channel).__name__} says nothing about numbers on a grid")
    if not (len(line) > 1 and np.isfinite(line).all() and (np.diff(line) > 0).all()):
        raise UsageError("the points or edges of a channel are at least two numbers, rising")
    if not (whole and np.isfinite(laws).all() and (laws >= 0).all()):
        raise UsageError("the law of a channel needs chances that are not negative, nor all zero")


def truth_grid(channel: NumberChannel, low: float, high: float, points: int) -> FloatArray:
    """Even points from low to high; fewer than asked for where there are very many symbols."""
    fitting = _CELLS // (channel.symbols * NOISY_STATES)
    return np.linspace(low, high, max(min(points, fitting), min(points, FEWEST)))


def grid_model(
    channel: NumberChannel,
    grid: FloatArray,
    finest: float,
    density: float = 1.0,
    guesses: float = SLIP,
) -> GridModel:
    """The law of symbols given truths on the grid and deviations of workers (flat prior).

        P(symbol | t, σ) = density Σ_x P(x | t, σ) P(symbol | x) + (1 - density) P(symbol | NULL)

    where the answer x is N(t, σ²) rounded to the channel's points and clipped, or with chance
    `guesses` any point. `finest` is the smallest deviation as a share of the range; `density` the
    share of cells that were answered.
    """
    states = NOISY_STATES if isinstance(channel, NoisyChannel) else STATES
    if channel.symbols * states * len(grid) <= _KEPT:
        return _kept_model(channel, grid.tobytes(), finest, density, guesses)
    return _model(channel, grid, finest, density, guesses)


@lru_cache(maxsize=4)
def _kept_model(
    channel: NumberChannel, grid: bytes, finest: float, density: float, guesses: float
) -> GridModel:
    # Kept, since a simulation sees the same channel in every trial.
    return _model(channel, np.frombuffer(grid), finest, density, guesses)


def _model(
    channel: NumberChannel, grid: FloatArray, finest: float, density: float, guesses: float
) -> GridModel:
    states = NOISY_STATES if isinstance(channel, NoisyChannel) else STATES
    if channel.symbols * states * len(grid) > _CELLS:
        raise UsageError(
            f"{channel.symbols:,} different reports are too many for a table of "
            f"{len(grid):,} truths: use a method for labels"
        )
    logs = np.empty((channel.symbols, states, len(grid)))
    if isinstance(channel, NoisyChannel):
        deviations, prior = _noisy_states(channel)
    else:
        extent = float(channel.points[-1] - channel.points[0])
        deviations = extent * np.geomspace(finest, max(COARSEST, 2 * finest), states)
        prior = np.full(states, 1 / states)
    for state, deviation in enumerate(deviations):
        law = _symbol_law(channel, grid, float(deviation), density, guesses)
        # A symbol that no answer gives has the same tiny chance everywhere: it decides nothing.
        logs[:, state] = np.log(np.maximum(law, np.finfo(float).tiny)).T
    return GridModel(grid, deviations, prior, logs)


def cell_masses(
    edges: FloatArray, grid: FloatArray, deviation: float, guesses: float = SLIP
) -> FloatArray:
    """P(cell | t) of N(t, deviation²) at [t, cell]; the cells at the ends take the tails.

    With chance `guesses` any cell is as likely.
    """
    below = scipy.special.ndtr((edges - grid[:, np.newaxis]) / deviation)
    cells = len(edges) + 1
    law = np.diff(np.pad(below, ((0, 0), (1, 0))), axis=1, append=1.0)
    return np.asarray((1 - guesses) * law + guesses / cells)


def _symbol_law(
    channel: NumberChannel, grid: FloatArray, deviation: float, density: float, guesses: float
) -> FloatArray:
    """P(symbol | t) at [t, symbol] for a worker of this deviation."""
    if isinstance(channel, NoisyChannel):
        return cell_masses(channel.edges, grid, deviation)
    points = channel.points
    answers = cell_masses((points[1:] + points[:-1]) / 2, grid, deviation, guesses)
    law = answers @ channel.likelihood[: len(points)]
    return density * law + (1 - density) * channel.likelihood[-1] if channel.null else law


def _noisy_states(channel: NoisyChannel) -> tuple[FloatArray, FloatArray]:
    """Deviations ρ of reports, ρ² = σ² + V, and their prior.

    It is induced by those of σ (flat) and V. The mass of each pair (σ, V) is shared between the
    two nearest ρ, by how near they are in ln ρ.
    """
    sigmas = (channel.high - channel.low) * np.geomspace(FINEST, COARSEST, STATES)
    logs = np.log(np.add.outer(np.square(sigmas), channel.variances)).ravel() / 2
    chances = np.tile(channel.prior / (STATES * channel.prior.sum()), STATES)
    steps = np.linspace(logs.min(), max(logs.max(), logs.min() + 1e-6), NOISY_STATES)
    place = (logs - steps[0]) / (steps[1] - steps[0])
    lower = np.minimum(place.astype(np.int64), NOISY_STATES - 2)
    upper = chances * (place - lower)
    prior = np.bincount(lower, chances - upper, NOISY_STATES)
    prior = prior + np.bincount(lower + 1, upper, NOISY_STATES)
    return np.exp(steps), np.asarray(prior, np.float64)
