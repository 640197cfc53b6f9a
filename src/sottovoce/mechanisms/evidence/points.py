"""Reports of numbers as symbols of a finite law, coarsened where they are too many.

Forgetting digits of a report is post-processing: the law of a coarse report is the sum of the laws
of the reports it stands for, and stays exact. So is that of a side under one of several thresholds,
each of which was as likely.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.laplace import Laplace
from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.subset_selection import SubsetSelection, check_sets
from sottovoce.mechanisms.threshold import Threshold
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import NULL, Cells, Domain, FloatArray, Grid, PointChannel

__all__ = ["answer_points", "binned_reports", "listed_reports", "threshold_reports"]

MOST_POINTS = 1024
"""Answers on a finer grid are taken to lie on so many of its points."""
BINS = 256
"""Into so many cells reports that are numbers are put."""
THRESHOLDS = 64
"""Into so many groups thresholds are put."""
SUMMED = 64
"""So many reports of a cell stand for all of it where there are more."""

Symbols = npt.NDArray[np.integer]


def answer_points(domain: Domain) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Codes of answers, at most `MOST_POINTS` of them evenly spaced, and their numbers."""
    grid = Grid.over(domain)
    count = min(grid.steps + 1, MOST_POINTS)
    codes = np.rint(np.linspace(0, grid.steps, count)).astype(np.int64)
    return codes, grid.values(codes)


def listed_reports(
    cells: Cells,
    mechanism: RandomizedResponse | NullRandomizedResponse | TwoLayer | SubsetSelection | Duchi,
    domain: Domain,
) -> tuple[Symbols, PointChannel]:
    """Each report that occurs is a symbol."""
    if isinstance(mechanism, SubsetSelection):
        check_sets(cells, mechanism)
    reports, symbols = np.unique(cells.code, return_inverse=True)
    codes, points = answer_points(domain)
    rows = _with_null(codes, null=mechanism.hides_participation)
    likelihood = np.exp(mechanism.log_likelihood(reports[None, :], rows[:, None]))
    return symbols, PointChannel(points, likelihood, mechanism.hides_participation)


def binned_reports(
    cells: Cells, mechanism: Piecewise | Laplace, domain: Domain
) -> tuple[Symbols, PointChannel]:
    """Neighbouring reports are one symbol."""
    first, count = -mechanism.beyond, mechanism.steps + 1 + 2 * mechanism.beyond
    # Cell b is edges[b] … edges[b + 1] - 1; the ends, where reports are clamped, are their own.
    inner = np.linspace(1, count - 1, min(BINS, count - 2) + 1)
    edges = np.concatenate([[0], np.rint(inner).astype(np.int64), [count]])
    bins = len(edges) - 1
    codes, points = answer_points(domain)
    rows = _with_null(codes, null=mechanism.hides_participation)
    likelihood = np.empty((len(rows), bins))
    for cell in range(bins):
        size = int(edges[cell + 1] - edges[cell])
        some = edges[cell] + np.arange(min(size, SUMMED)) * size // min(size, SUMMED)
        law = np.exp(mechanism.log_likelihood(first + some[None, :], rows[:, None]))
        likelihood[:, cell] = law.mean(axis=1) * size
    likelihood /= likelihood.sum(axis=1, keepdims=True)
    symbols = np.searchsorted(edges, cells.code - first, side="right") - 1
    return symbols, PointChannel(points, likelihood, mechanism.hides_participation)


def threshold_reports(
    cells: Cells, mechanism: Threshold, domain: Domain
) -> tuple[Symbols, PointChannel]:
    """A symbol is a side, or NULL, with the group of thresholds that was asked about."""
    steps, sides = mechanism.steps, mechanism.symbols
    groups = min(steps, THRESHOLDS)
    asked = np.arange(1, steps + 1)
    group = (asked - 1) * groups // steps
    codes, points = answer_points(domain)
    # Of each group's thresholds, the share that an answer is not below.
    reached = np.searchsorted(asked, codes, side="right")
    begin = np.searchsorted(group, np.arange(groups + 1))
    share = np.clip(reached[:, None] - begin[:-1], 0, np.diff(begin)) / np.diff(begin)
    law = mechanism.channel().matrix()
    above = share[:, :, None]
    likelihood = (1 - above) * law[0] + above * law[1]
    if mechanism.null:
        unanswered = np.broadcast_to(law[-1], (1, groups, sides))
        likelihood = np.concatenate([likelihood, unanswered])
    # Which thresholds are asked about depends on no answer: their chance only scales the law.
    likelihood = likelihood * (np.diff(begin) / steps)[:, None]
    thresholds = mechanism.thresholds(cells)
    symbols = group[thresholds - 1] * sides + cells.code.astype(np.int64)
    return symbols, PointChannel(
        points, likelihood.reshape(-1, groups * sides), mechanism.hides_participation
    )


def _with_null(codes: npt.NDArray[np.int64], *, null: bool) -> npt.NDArray[np.int64]:
    return np.append(codes, NULL) if null else codes
