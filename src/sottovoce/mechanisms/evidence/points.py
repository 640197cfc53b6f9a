"""Reports of numbers as symbols of a finite law, coarsened where they are too many.

Forgetting digits of a report is post-processing: the law of a coarse report is the sum of the laws
of the reports it stands for, and stays exact. So is that of a side under one of several thresholds,
each of which was as likely.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

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

MOST_POINTS = 256
"""Answers on a finer grid are taken to lie on so many of its points."""
BINS = 256
"""Into so many cells reports that are numbers are put."""
MOST_SETS = 4096
"""Up to so many sets are listed whether they occur or not."""
THRESHOLDS = 64
"""Into so many groups thresholds are put."""
SUMMED = 64
"""So many reports of a cell stand for all of it where there are more."""

Symbols: TypeAlias = npt.NDArray[np.integer]
ListedMechanism: TypeAlias = (
    RandomizedResponse | NullRandomizedResponse | TwoLayer | SubsetSelection | Duchi
)


def answer_points(domain: Domain) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Codes of answers, at most `MOST_POINTS` of them evenly spaced, and their numbers."""
    grid = Grid.over(domain)
    count = min(grid.steps + 1, MOST_POINTS)
    codes = np.rint(np.linspace(0, grid.steps, count)).astype(np.int64)
    return codes, grid.values(codes)


def listed_reports(
    cells: Cells, mechanism: ListedMechanism, domain: Domain
) -> tuple[Symbols, PointChannel]:
    """Each report is a symbol; of very many sets, each that occurs."""
    if not isinstance(mechanism, SubsetSelection):
        reports = tuple(range(len(mechanism.channel().reports)))
        return cells.code.astype(np.int64), _listed(mechanism, domain, reports)
    check_sets(cells, mechanism)
    sets = mechanism.sets(MOST_SETS)
    if sets is None:
        sets = np.unique(cells.code.astype(np.uint64))
    channel = _listed(mechanism, domain, tuple(sets.tolist()))
    return np.searchsorted(sets, cells.code.astype(np.uint64)), channel


@lru_cache(maxsize=8)
def _listed(mechanism: ListedMechanism, domain: Domain, reports: tuple[int, ...]) -> PointChannel:
    # Kept, as those below: a simulation sees the same channel in every trial.
    codes, points = answer_points(domain)
    rows = _with_null(codes, null=mechanism.hides_participation)
    kind = np.uint64 if isinstance(mechanism, SubsetSelection) else np.int64
    likelihood = np.exp(mechanism.log_likelihood(np.array(reports, kind)[None, :], rows[:, None]))
    return PointChannel(points, likelihood, mechanism.hides_participation)


def binned_reports(
    cells: Cells, mechanism: Piecewise | Laplace, domain: Domain
) -> tuple[Symbols, PointChannel]:
    """Neighbouring reports are one symbol."""
    edges, channel = _binned(mechanism, domain)
    symbols = np.searchsorted(edges, cells.code + mechanism.beyond, side="right") - 1
    return symbols, channel


@lru_cache(maxsize=8)
def _binned(
    mechanism: Piecewise | Laplace, domain: Domain
) -> tuple[npt.NDArray[np.int64], PointChannel]:
    first, count = -mechanism.beyond, mechanism.steps + 1 + 2 * mechanism.beyond
    # Cell b is edges[b] … edges[b + 1] - 1; the ends, where reports are clamped, are their own.
    inner = np.linspace(1, count - 1, min(BINS, count - 2) + 1)
    edges = np.concatenate([[0], np.rint(inner).astype(np.int64), [count]])
    codes, points = answer_points(domain)
    rows = _with_null(codes, null=mechanism.hides_participation)
    likelihood = np.empty((len(rows), len(edges) - 1))
    for cell, size in enumerate(np.diff(edges).tolist()):
        some = edges[cell] + np.arange(min(size, SUMMED)) * size // min(size, SUMMED)
        law = np.exp(mechanism.log_likelihood(first + some[None, :], rows[:, None]))
        likelihood[:, cell] = law.mean(axis=1) * size
    likelihood /= likelihood.sum(axis=1, keepdims=True)
    return edges, PointChannel(points, likelihood, mechanism.hides_participation)


def threshold_reports(
    cells: Cells, mechanism: Threshold, domain: Domain
) -> tuple[Symbols, PointChannel]:
    """A symbol is a side, or NULL, with the group of thresholds that was asked about."""
    group = _threshold_groups(mechanism.steps)
    symbols = group[mechanism.thresholds(cells) - 1] * mechanism.symbols
    return symbols + cells.code.astype(np.int64), _threshold_law(mechanism, domain)


def _threshold_groups(steps: int) -> npt.NDArray[np.int64]:
    """The group of each threshold 1, …, steps."""
    return np.arange(steps) * min(steps, THRESHOLDS) // steps


@lru_cache(maxsize=8)
def _threshold_law(mechanism: Threshold, domain: Domain) -> PointChannel:
    codes, points = answer_points(domain)
    groups = min(mechanism.steps, THRESHOLDS)
    begin = np.searchsorted(_threshold_groups(mechanism.steps), np.arange(groups + 1))
    # Of each group's thresholds, the share that an answer is not below: it reaches 1, …, code.
    share = np.clip(codes[:, None] - begin[:-1], 0, np.diff(begin)) / np.diff(begin)
    law = mechanism.channel().matrix()
    above = share[:, :, None]
    likelihood = (1 - above) * law[0] + above * law[1]
    if mechanism.null:
        unanswered = np.broadcast_to(law[-1], (1, groups, mechanism.symbols))
        likelihood = np.concatenate([likelihood, unanswered])
    # Which thresholds are asked about depends on no answer: their chance only scales the law.
    likelihood = likelihood * (np.diff(begin) / mechanism.steps)[:, None]
    return PointChannel(
        points, likelihood.reshape(len(likelihood), -1), mechanism.hides_participation
    )


def _with_null(codes: npt.NDArray[np.int64], *, null: bool) -> npt.NDArray[np.int64]:
    return np.append(codes, NULL) if null else codes
