"""Where truths lie on the whole, as all reports together show it."""

from __future__ import annotations

import numpy as np

from sottovoce.inference.aware.grids import GridModel
from sottovoce.inference.steps.counts import LabelCounts
from sottovoce.inference.steps.votes import softmax
from sottovoce.model import FloatArray
from sottovoce.seams import Engine

__all__ = ["bell_curves", "pooled_prior"]

CENTRES = 81
SPREADS = np.geomspace(0.01, 2.0, 16)
"""Bell curves that are weighed: so many means, and deviations as shares of the grid's extent."""


def pooled_prior(engine: Engine, model: GridModel, bells: FloatArray) -> FloatArray:
    """The prior of truths from how often each symbol occurs: one pass, whatever the tasks.

        P(symbol | bell) = Σ_t bell(t) Σ_q w₀(q) P(symbol | t, q)
        prior = Σ over bells of bell · P(bell | counts),   each bell as likely before

    Where noise hides every single truth, thousands of reports still show where they centre; and
    where they do not show that either, all bells count, and the prior is wide.
    """
    counts = engine.total(LabelCounts(engine.domain.size))
    law = np.einsum("q,yqt->yt", model.prior, np.exp(model.logs))
    seen = np.log(law @ bells.T)
    weights = softmax((counts @ seen)[np.newaxis])[0]
    return np.asarray(weights @ bells)


def bell_curves(grid: FloatArray) -> FloatArray:
    """Bell curves over the grid, a row each, that sum to one: truths lie on the grid."""
    extent = float(np.ptp(grid))
    centres = np.linspace(grid[0], grid[-1], CENTRES)
    apart = (grid - centres[:, np.newaxis]) / extent
    bells = np.exp(-np.square(apart[:, np.newaxis] / SPREADS[:, np.newaxis]) / 2)
    bells = bells.reshape(-1, len(grid))
    bells = np.maximum(bells, np.finfo(float).tiny)
    return np.asarray(bells / bells.sum(axis=1, keepdims=True))
