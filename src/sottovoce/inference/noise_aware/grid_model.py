"""Truths on a grid seen through a known channel: the model, its rounds, and private participation.

The model gives the likelihood of a symbol at each point of the grid, for each kind of worker.
Rounds alternate between truths and workers' states, each given the other's probabilities. If
participation is private, the share of answered cells is estimated first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy  # its parts are imported on first use

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import Limits, Settled
from sottovoce.inference.steps.arithmetic import steady
from sottovoce.inference.steps.grid_posteriors import Grids
from sottovoce.inference.steps.votes import LabelCounts, softmax
from sottovoce.model import Domain, FloatArray, NoisyChannel, PointChannel
from sottovoce.seams import Engine

NumberChannel: TypeAlias = PointChannel | NoisyChannel

FINEST, COARSEST = 0.01, 0.8
"""The range of workers' deviations, as shares of the range."""
STATES, NOISY_STATES = 10, 12
"""The number of deviations: of answers, and of answers with noise of a private variance."""
SLIP = 1e-6
"""The probability that an answer is a slip to a random cell: no answer is impossible."""
UNBIASED = 1e4
"""The weight of a squared bias against a variance, for the numbers of symbols."""

FEWEST = 25
"""The fewest points of a grid of truths, even with very many symbols."""

_KEPT = 1 << 20
"""A table of at most this many numbers, 8 MB, is cached for the next fit."""
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
    """The public range of the numbers, or of the points of the labels."""
    low, high = domain.low, domain.high
    if not domain.is_numeric:
        low, high = float(domain.scale.min()), float(domain.scale.max())
    if not (np.isfinite([low, high]).all() and low < high):
        raise UsageError(f"inference on a grid needs a public range, and {domain} has none")
    return low, high


def check_channel(channel: NumberChannel) -> None:
    """Refuse a channel that is not a law of numbers."""
    if isinstance(channel, PointChannel):
        line, laws = channel.points, channel.likelihood
        whole = laws.ndim == 2 and laws.any(axis=1).all()
    elif isinstance(channel, NoisyChannel):
        line, laws = channel.edges, channel.prior
        whole = laws.shape == channel.variances.shape and (channel.variances >= 0).all()
        whole = whole and laws.any() and np.isfinite(channel.variances).all()
    else:
        raise UsageError(f"a {type(channel).__name__} is not a channel of numbers on a grid")
    if not (len(line) > 1 and np.isfinite(line).all() and (np.diff(line) > 0).all()):
        raise UsageError("the points or edges of a channel must be at least two increasing numbers")
    if not (whole and np.isfinite(laws).all() and (laws >= 0).all()):
        raise UsageError(
            "the law of a channel must have probabilities that are not negative, nor all zero"
        )


def truth_grid(channel: NumberChannel, low: float, high: float, points: int) -> FloatArray:
    """Equally spaced points from low to high; fewer if there are very many symbols."""
    fitting = _CELLS // (channel.symbols * NOISY_STATES)
    return np.linspace(low, high, max(min(points, fitting), min(points, FEWEST)))


def grid_model(
    channel: NumberChannel,
    grid: FloatArray,
    finest: float,
    density: float = 1.0,
    guesses: float = SLIP,
    *,
    unbiased: bool = False,
) -> GridModel:
    """The law of symbols given truths on the grid and deviations of workers (flat prior).

        P(symbol | t, σ) = density Σ_x P(x | t, σ) P(symbol | x) + (1 - density) P(symbol | NULL)

    where the answer x is N(t, σ²) rounded to the channel's points and clipped, or with probability
    `guesses` any point. With `unbiased`, the normal distribution is moved so that the mean of these
    answers is t, which clipping would change. `finest` is the smallest deviation as a share of the
    range; `density` is the share of cells that were answered.
    """
    states = NOISY_STATES if isinstance(channel, NoisyChannel) else STATES
    if channel.symbols * states * len(grid) <= _KEPT:
        return _kept_model(channel, grid.tobytes(), finest, density, guesses, unbiased)
    return _model(channel, grid, finest, density, guesses, unbiased)


@lru_cache(maxsize=4)
def _kept_model(
    channel: NumberChannel,
    grid: bytes,
    finest: float,
    density: float,
    guesses: float,
    unbiased: bool,
) -> GridModel:
    # Cached, because a simulation has the same channel in every trial.
    return _model(channel, np.frombuffer(grid), finest, density, guesses, unbiased)


def _model(
    channel: NumberChannel,
    grid: FloatArray,
    finest: float,
    density: float,
    guesses: float,
    unbiased: bool,
) -> GridModel:
    states = NOISY_STATES if isinstance(channel, NoisyChannel) else STATES
    if channel.symbols * states * len(grid) > _CELLS:
        raise UsageError(
            f"{channel.symbols:,} different reports are too many for a table of {len(grid):,} "
            "truths: use a method for labels"
        )
    logs = np.empty((channel.symbols, states, len(grid)))
    if isinstance(channel, NoisyChannel):
        deviations, prior = _noisy_states(channel)
    else:
        extent = float(channel.points[-1] - channel.points[0])
        deviations = extent * np.geomspace(finest, max(COARSEST, 2 * finest), states)
        prior = np.full(states, 1 / states)
    for state, deviation in enumerate(deviations):
        law = _symbol_law(channel, grid, float(deviation), density, guesses, unbiased)
        # A symbol that no answer can give has the same tiny probability everywhere: it has no
        # effect.
        logs[:, state] = np.log(np.maximum(law, np.finfo(float).tiny)).T
    return GridModel(grid, deviations, prior, logs)


def cell_masses(
    edges: FloatArray, grid: FloatArray, deviation: float, guesses: float = SLIP
) -> FloatArray:
    """P(cell | t) of N(t, deviation²) at [t, cell]; the end cells include the tails.

    With probability `guesses` the cell is uniformly random.
    """
    below = scipy.special.ndtr((edges - grid[:, np.newaxis]) / deviation)
    cells = len(edges) + 1
    law = np.diff(np.pad(below, ((0, 0), (1, 0))), axis=1, append=1.0)
    return np.asarray((1 - guesses) * law + guesses / cells)


def _symbol_law(
    channel: NumberChannel,
    grid: FloatArray,
    deviation: float,
    density: float,
    guesses: float,
    unbiased: bool,
) -> FloatArray:
    """P(symbol | t) at [t, symbol] for a worker of this deviation."""
    if isinstance(channel, NoisyChannel):
        return cell_masses(channel.edges, grid, deviation)
    points = channel.points
    edges = (points[1:] + points[:-1]) / 2
    centres = _unbiased(points, edges, grid, deviation) if unbiased else grid
    answers = cell_masses(edges, centres, deviation, guesses)
    law = answers @ channel.likelihood[: len(points)]
    return density * law + (1 - density) * channel.likelihood[-1] if channel.null else law


def _unbiased(
    points: FloatArray, edges: FloatArray, grid: FloatArray, deviation: float
) -> FloatArray:
    """The centres at which clipped answers have the mean `grid`.

    Otherwise a truth near an end of the range is inferred beyond the mean of the answers, by an
    amount that depends on their assumed spread, and noisy reports hardly show that.
    """
    reach = 4 * deviation + (points[-1] - points[0])
    tried = np.linspace(points[0] - reach, points[-1] + reach, 1001)
    means = cell_masses(edges, tried, deviation) @ points
    return np.asarray(np.interp(grid, means, tried))


def unbiased_numbers(channel: NumberChannel) -> FloatArray:
    """A number u for each symbol, whose mean over the reports of an answer x is x, nearly.

    u has the least variance for answers that are equally frequent, where a squared bias counts
    `UNBIASED` times: u ∝ M⁻¹ Lᵀ (L M⁻¹ Lᵀ + I points / UNBIASED)⁻¹ x, with L = P(symbol | x) and M
    the diagonal matrix of the mean of L over x. It is scaled so that the bias that is left has no
    part that is linear in x.
    """
    if isinstance(channel, NoisyChannel):
        edges = channel.edges
        return np.concatenate([edges[:1], (edges[1:] + edges[:-1]) / 2, edges[-1:]])
    law, centre = channel.likelihood[: len(channel.points)], float(channel.points.mean())
    wanted, mean = channel.points - centre, law.mean(axis=0)
    scaled = law / np.maximum(mean, np.finfo(float).tiny)
    penalty = np.eye(len(law)) * len(law) / UNBIASED
    number = np.linalg.solve(scaled @ law.T + penalty, wanted) @ scaled
    number = number - mean @ number
    found = law @ number
    return np.asarray(centre + number * (found @ wanted) / (found @ found))


def _noisy_states(channel: NoisyChannel) -> tuple[FloatArray, FloatArray]:
    """Deviations ρ of reports, ρ² = σ² + V, and their prior.

    It follows from the priors of σ (flat) and V. The mass of each pair (σ, V) is shared between the
    two nearest ρ, by their distance in ln ρ.
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


SHRINKAGE = 0.25
"""The prior of workers' states counts as this many workers per worker."""
_LEAST = 1e-12
"""States less likely than this are left out."""


class GridFit(NamedTuple):
    """The end of the rounds: workers' states, the prior of truths, and weights."""

    shares: FloatArray
    log_prior: FloatArray
    settled: Settled


def fit_grid(
    limits: Limits,
    engine: Engine,
    model: GridModel,
    prior_of: Callable[[FloatArray, FloatArray], FloatArray],
    first: FloatArray | None = None,
) -> GridFit:
    """Mean-field rounds until no truth moves by more than `tolerance` of the grid's width.

        τⱼ(t) ∝ prior(t) exp Σᵢ Σ_q rᵢ(q) ln P(symbolᵢⱼ | t, q)
        rᵢ(q) ∝ w(q) exp Σⱼ Σ_t τⱼ(t) ln P(symbolᵢⱼ | t, q)
        w     = ( Σᵢ rᵢ + w₀ workers / 4 ) / ( 5/4 workers )

    `prior_of` computes the prior of truths from Σⱼ τⱼ and the previous prior. It starts at `first`,
    or flat, and r at w₀.
    """
    check_symbols(engine, model)
    shares = np.tile(model.prior, (len(engine.workers), 1))
    even = np.full(len(model.grid), 1 / len(model.grid))
    log_prior = np.log(even if first is None else steady(first))
    states, truths = model.prior, np.full(len(engine.tasks), np.inf)
    bar = limits.tolerance * np.ptp(model.grid)
    for rounds in range(1, limits.max_rounds + 1):
        step = Grids(model.logs, shares, log_prior, model.grid, len(engine.tasks))
        sums = step.views(engine.total(step))
        if np.abs(sums.truths - truths).max() <= bar:
            settled = Settled(_weights(shares, model.deviations), rounds, converged=True)
            return GridFit(shares, log_prior, settled)
        truths, shares = sums.truths, _shares(sums.workers, states)
        states = steady((shares.mean(axis=0) + SHRINKAGE * model.prior) / (1 + SHRINKAGE))
        log_prior = np.log(steady(prior_of(sums.points, np.exp(log_prior))))
    settled = Settled(_weights(shares, model.deviations), limits.max_rounds, converged=False)
    return GridFit(shares, log_prior, settled)


def check_symbols(engine: Engine, model: GridModel) -> None:
    """Refuse a table that does not hold the channel's symbols."""
    if engine.domain.size != len(model.logs):
        raise UsageError(
            f"the channel has {len(model.logs):,} symbols, but the table has {engine.domain.size:,}"
        )


def _shares(evidence: FloatArray, states: FloatArray) -> FloatArray:
    """The probability of each state for each worker."""
    scores = evidence + np.log(np.maximum(states, np.finfo(float).tiny))
    shares = softmax(scores)
    shares[shares < _LEAST] = 0.0
    return steady(shares)


def _weights(shares: FloatArray, deviations: FloatArray) -> FloatArray:
    """The mean worker's expected variance, divided by each worker's own."""
    variances = shares @ np.square(deviations)
    return steady(variances.mean() / variances)


GROUPS = 12
"""Points are pooled into this many groups: enough for the shape of the answers, fast to fit."""
ROUNDS = 20_000
"""EM converges slowly if most is hidden by noise; a round takes microseconds."""
SETTLED = 1e-8
SPREAD = (0.2, 0.5)
"""The spread of answers around truths if only that distinguishes them from NULL (range shares)."""


def participation_rate(channel: PointChannel, engine: Engine) -> float:
    """The share of answered cells, from the frequency of each symbol in all reports.

    The pooled symbols come from a mixture of the channel's rows, answers and NULL, whose weights
    are fitted by EM: weight[x] ∝ weight[x] Σ_y share[y] P(y | x) / P(y). It is 1 − weight[NULL].
    """
    counts = engine.total(LabelCounts(channel.symbols))
    rows = np.concatenate([_answer_rows(channel), channel.likelihood[-1:]])
    seen = (counts > 0) & rows.any(axis=0)
    return 1 - float(_mixture(rows[:, seen], counts[seen] / counts[seen].sum())[-1])


def _answer_rows(channel: PointChannel) -> FloatArray:
    """Laws of symbols whose mixture is the law of pooled answers.

    These are the laws of groups of points. If NULL is sent as one of the answers, a peak there
    could be either one: then answers are assumed to spread by a fifth of the range or more around
    any truth.
    """
    points, likelihood = channel.points, channel.likelihood[:-1]
    if not np.isclose(likelihood, channel.likelihood[-1], rtol=1e-6).all(axis=1).any():
        groups = np.array_split(likelihood, min(GROUPS, len(points)))
        return np.stack([group.mean(axis=0) for group in groups])
    between, extent = (points[1:] + points[:-1]) / 2, float(points[-1] - points[0])
    truths = np.linspace(points[0] - extent / 4, points[-1] + extent / 4, GROUPS)
    answers = [cell_masses(between, truths, share * extent) for share in SPREAD]
    return np.concatenate(answers) @ likelihood


def _mixture(rows: FloatArray, shares: FloatArray) -> FloatArray:
    """The maximum-likelihood weights of the rows; NULL starts with one half."""
    weights = np.append(np.full(len(rows) - 1, 0.5 / (len(rows) - 1)), 0.5)
    for _ in range(ROUNDS):
        before = weights
        weights = weights * (rows @ (shares / (weights @ rows)))
        weights /= weights.sum()
        if np.abs(weights - before).max() < SETTLED:
            break
    return weights
