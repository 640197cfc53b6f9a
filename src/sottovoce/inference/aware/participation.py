"""How many cells were answered, where participation is private."""

from __future__ import annotations

import numpy as np

from sottovoce.inference.aware.grids import cell_masses
from sottovoce.inference.steps.counts import LabelCounts
from sottovoce.model import FloatArray, PointChannel
from sottovoce.seams import Engine

__all__ = ["participation_rate"]

GROUPS = 12
"""Points are pooled into so many groups: enough for the shape of the answers, quick to fit."""
ROUNDS = 20_000
"""Where noise hides most, EM creeps; a round takes microseconds."""
SETTLED = 1e-8
SPREAD = (0.2, 0.5)
"""How far answers lie from truths where only that tells them from NULL, as shares of the range."""


def participation_rate(channel: PointChannel, engine: Engine) -> float:
    """The share of cells that were answered, from how often each symbol occurs in all reports.

    The pooled symbols come from a mixture of the channel's rows, answers and NULL, whose weights
    are fitted by EM: weight[x] ∝ weight[x] Σ_y share[y] P(y | x) / P(y). It is 1 − weight[NULL].
    """
    counts = engine.total(LabelCounts(channel.symbols))
    rows = np.concatenate([_answer_rows(channel), channel.likelihood[-1:]])
    seen = (counts > 0) & rows.any(axis=0)
    return 1 - float(_mixture(rows[:, seen], counts[seen] / counts[seen].sum())[-1])


def _answer_rows(channel: PointChannel) -> FloatArray:
    """Laws of symbols of which that of pooled answers is a mixture.

    Those of groups of points. Where NULL is sent as one of the answers, a peak there could be
    either: then answers are taken to be spread, by a fifth of the range or more around any truth.
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
    """The weights of the rows under which the shares are most likely; half for NULL at first."""
    weights = np.append(np.full(len(rows) - 1, 0.5 / (len(rows) - 1)), 0.5)
    for _ in range(ROUNDS):
        before = weights
        weights = weights * (rows @ (shares / (weights @ rows)))
        weights /= weights.sum()
        if np.abs(weights - before).max() < SETTLED:
            break
    return weights
