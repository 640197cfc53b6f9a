"""From samples of two inputs to the views in which they may differ."""

from __future__ import annotations

from functools import partial

import numpy as np

from sottovoce.privacy.audit.axes import (
    Axis,
    Bins,
    Column,
    Columns,
    Direction,
    Distance,
    Evidence,
    Usual,
)
from sottovoce.privacy.audit.bounding import log_ratios
from sottovoce.privacy.audit.samples import Matrix, numbers
from sottovoce.privacy.audit.views import Pair, Scored, Single, View, Whole

__all__ = ["views"]

ALONE, PAIRED, WITHIN = 256, 64, 32
"""Bins of an axis that stands alone, of one of a pair, and of a column that is added up."""
DISTINCT = 1 << 14
"""The most submissions that get a cell of their own."""
SUMMED = 64
"""The most columns that are added up: those whose laws differ most."""
TINIEST = 1e-50
"""Spreads below are taken to be this, lest quotients overflow."""
LOOKED_AT = 1 << 22
"""The most numbers from which columns and directions are fitted."""


def views(first: Scored, second: Scored, *, nominal: bool) -> list[View]:
    """The views worth trying, the plainest first; `nominal` codes stand for texts: no sums of them.

    The laws may differ in one column alone, in many independent ones, in the spread along some
    direction, or in how a column goes with the others: then what the worker drew once shows in them
    (two-layer's probability in how many are as usual, a random variance in their distance).
    """
    alone = partial(_single, first=first, second=second, most=ALONE)
    whole = _whole(first.samples, second.samples)
    if first.samples.shape[1] == 1:
        return [alone(Column(0)), *whole]
    rows = max(1, LOOKED_AT // first.samples.shape[1])
    some, others = first.samples[:rows], second.samples[:rows]
    singles, pairs = _plain(some, others, nominal)
    paired = partial(_single, first=first, second=second, most=PAIRED)
    found: list[View] = [alone(axis) for axis in singles]
    found += [Pair(paired(a), paired(b)) for a, b in pairs]
    found += whole
    if not nominal:
        mean, *spreads = _directions(some, others)
        found += [alone(mean), *map(alone, spreads), Pair(*map(paired, spreads))]
        found.append(Pair(paired(mean), paired(singles[-1])))
    return found


def _plain(
    first: Matrix, second: Matrix, nominal: bool
) -> tuple[list[Axis], list[tuple[Axis, Axis]]]:
    """Scores of a vector that stand alone, and those that are looked at together."""
    everything = np.arange(first.shape[1])
    evidence, ranked = _evidence(first, second)
    changed, next_changed = (Column(int(j)) for j in ranked[:2])
    contexts = _contexts(first, second, everything, nominal)
    rest = _contexts(first, second, np.delete(everything, changed.index), nominal)
    pairs: list[tuple[Axis, Axis]] = [(changed, context) for context in rest]
    pairs += [(changed, next_changed)]
    pairs += [(evidence, context) for context in contexts]
    return [changed, next_changed, evidence, *contexts], pairs


def _single(axis: Axis, first: Scored, second: Scored, most: int) -> Single:
    return Single(axis, Bins.fitted(np.concatenate([first.on(axis), second.on(axis)]), most))


def _whole(first: Matrix, second: Matrix) -> list[View]:
    """The submissions themselves, unless nearly all of them are different."""
    view = Whole.fitted(np.concatenate([first, second]), DISTINCT)
    return [view] if view.frequency >= 4 else []


def _evidence(first: Matrix, second: Matrix) -> tuple[Evidence, Columns]:
    """The log ratios of the columns, and the columns from the most to the least different."""
    bins, ratios, differences = [], [], []
    for a, b in zip(first.T, second.T, strict=True):
        cut = Bins.fitted(np.concatenate([a, b]), WITHIN)
        x, y = (np.bincount(cut(part), minlength=len(cut)) for part in (a, b))
        bins.append(cut)
        ratio, error = log_ratios(x, y)
        # Columns that do not differ would add nothing but noise.
        ratios.append(np.where(np.abs(ratio) > 3 * error, ratio, 0.0))
        differences.append(np.abs(x / len(a) - y / len(b)).sum() / 2)
    ranked = np.argsort(-np.array(differences), kind="stable")
    kept = np.sort(ranked[:SUMMED])
    return Evidence(kept, tuple(bins[j] for j in kept), tuple(ratios[j] for j in kept)), ranked


def _contexts(first: Matrix, second: Matrix, columns: Columns, nominal: bool) -> list[Axis]:
    """What many columns show together."""
    found: list[Axis] = []
    values = [np.unique(np.concatenate([first[:, j], second[:, j]]), return_counts=True)
              for j in columns]  # fmt: skip
    if all(len(seen) <= WITHIN for seen, _ in values):
        usual = np.array([seen[np.argmax(times)] for seen, times in values])
        found.append(Usual(columns, usual))
    if not nominal:
        weights = np.zeros(first.shape[1])
        weights[columns] = 1.0
        found += [Direction("the sum", weights), _distance(first, second, columns)]
    return found


def _distance(first: Matrix, second: Matrix, columns: Columns) -> Distance:
    both = numbers(np.concatenate([first[:, columns], second[:, columns]]))
    low, middle, high = np.quantile(both, [0.25, 0.5, 0.75], axis=0)
    spread = np.where(high > low, np.maximum(high - low, TINIEST), 1.0)
    return Distance(columns, middle, spread)


def _directions(first: Matrix, second: Matrix) -> list[Axis]:
    """Where the means differ most, and where the first input's spread is largest and smallest.

    The generalised eigenvectors of the two covariance matrices, after the tails are cut off, which
    would else decide alone.
    """
    a, b = numbers(first), numbers(second)
    both = np.concatenate([a, b])
    low, high = np.quantile(both, [0.005, 0.995], axis=0)
    a, b = np.clip(a, low, high), np.clip(b, low, high)
    ones, others = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    values, vectors = np.linalg.eigh((ones + others) / 2)
    kept = values > 1e-9 * values[-1]
    kept[-1] = True
    whitening = vectors[:, kept] / np.sqrt(np.maximum(values[kept], TINIEST**2))
    _, spreads = np.linalg.eigh(whitening.T @ ones @ whitening)
    mean = whitening @ (whitening.T @ (a.mean(axis=0) - b.mean(axis=0)))
    return [
        Direction("the means", mean),
        Direction("the larger spread", whitening @ spreads[:, -1]),
        Direction("the smaller spread", whitening @ spreads[:, 0]),
    ]
