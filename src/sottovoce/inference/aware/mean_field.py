"""Rounds between truths on a grid and what workers are, each given the other's probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aware.grids import GridModel
from sottovoce.inference.iterating import Limits, Settled
from sottovoce.inference.rounding import steady
from sottovoce.inference.steps.grids import Grids
from sottovoce.inference.steps.votes import softmax
from sottovoce.model import FloatArray
from sottovoce.seams import Engine

__all__ = ["GridFit", "check_symbols", "fit_grid"]

SHRINKAGE = 0.25
"""The prior of workers' states counts as so many workers for each there is."""
_LEAST = 1e-12
"""A state less likely than this is left out."""


class GridFit(NamedTuple):
    """Where the rounds ended: workers' states, the prior of truths, and weights."""

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
    """Mean-field rounds until no truth moves by more than `tolerance` of the grid's extent.

        τⱼ(t) ∝ prior(t) exp Σᵢ Σ_q rᵢ(q) ln P(symbolᵢⱼ | t, q)
        rᵢ(q) ∝ w(q) exp Σⱼ Σ_t τⱼ(t) ln P(symbolᵢⱼ | t, q)
        w     = ( Σᵢ rᵢ + w₀ workers / 4 ) / ( 5/4 workers )

    `prior_of` makes the prior of truths from Σⱼ τⱼ and the prior that gave it. It starts at
    `first`, or flat, and r at w₀.
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
            f"the channel has {len(model.logs):,} symbols and the table {engine.domain.size:,}"
        )


def _shares(evidence: FloatArray, states: FloatArray) -> FloatArray:
    """How likely each worker is in each state."""
    scores = evidence + np.log(np.maximum(states, np.finfo(float).tiny))
    shares = softmax(scores)
    shares[shares < _LEAST] = 0.0
    return steady(shares)


def _weights(shares: FloatArray, deviations: FloatArray) -> FloatArray:
    """The mean worker's expected variance, divided by each worker's own."""
    variances = shares @ np.square(deviations)
    return steady(variances.mean() / variances)
