"""The signal of a table: agreement of reports beyond what each worker's habits explain."""

from __future__ import annotations

import math

import numpy as np
import scipy  # its parts are imported on first use

from sottovoce.inference.steps.label_sets import Sets
from sottovoce.inference.steps.residuals import (
    LabelResiduals,
    NumberResiduals,
    WorkerLabels,
    WorkerMoments,
)
from sottovoce.inference.steps.votes import LabelCounts
from sottovoce.model import FloatArray, SetChannel, Signal
from sottovoce.model.signal import RIGHT
from sottovoce.seams import Engine

CROWD = 4.0
"""The number of answers that the crowd's habits count as next to a worker's own."""


def signal(engine: Engine, channel: SetChannel | None = None) -> Signal:
    """Whether reports to one task agree more than chance, from sums over reports.

        S = Σ e·e' over pairs of reports to one task,   z = S / √(pairs tr C²)

    e is a report, as 0 and 1 for each label, minus the frequencies with which its worker names the
    labels, shrunk towards the crowd's; C is the covariance of e. If reports do not depend on the
    task, the terms are uncorrelated with mean 0 and variance tr C². With a channel, reports are its
    symbols. For numbers, e is the standardised difference from the worker's mean.
    """
    if engine.domain.is_numeric:
        return _of_numbers(engine)
    labels = engine.domain.size if channel is None else channel.labels
    sets = named_labels(labels, channel)
    counts = engine.total(WorkerLabels(len(engine.workers), labels, sets))
    named, reports = counts[:, :-1], counts[:, -1:]
    habits = (named + CROWD * named.sum(axis=0) / max(reports.sum(), 1.0)) / (reports + CROWD)
    symbols = named.sum(axis=0)
    if channel is not None:
        symbols = engine.total(LabelCounts(len(sets.starts) - 1))
    agreement, pairs, tasks = engine.total(LabelResiduals(habits, sets)).tolist()
    spread = _second_moments(sets, symbols, labels) - (habits * reports).T @ habits
    variance = float(np.sum(np.square(spread / max(reports.sum(), 1.0))))
    expected = math.sqrt(pairs) * _per_pair(labels, sets, symbols, channel)
    return _signal(agreement, pairs * variance, tasks, pairs, expected)


def named_labels(labels: int, channel: SetChannel | None = None) -> Sets:
    """The labels that each symbol names; without a channel, a label names itself."""
    if channel is not None:
        return Sets(channel.starts, channel.members, np.zeros(channel.symbols, np.int32), 1)
    members = np.arange(labels, dtype=np.int32)
    return Sets(np.arange(labels + 1), members, np.zeros(labels, np.int32), 1)


def _signal(
    agreement: float, variance: float, tasks: float, pairs: float, expected: float
) -> Signal:
    # Rounding leaves a trace of variance where all answers are equal.
    z = agreement / math.sqrt(variance) if variance > 1e-12 * max(pairs, 1.0) else 0.0
    return Signal(z, int(tasks), int(pairs), expected)


def _second_moments(sets: Sets, symbols: FloatArray, labels: int) -> FloatArray:
    """How many reports name both of two labels."""
    if np.array_equal(sets.members, np.arange(labels)) and len(symbols) == labels:
        return np.diag(symbols)  # clean labels: small tables load no SciPy
    shape = len(symbols), labels
    held = scipy.sparse.csr_array((np.ones(len(sets.members)), sets.members, sets.starts), shape)
    counted = scipy.sparse.diags_array(symbols) @ held
    return np.asarray((held.T @ counted).toarray())


def _per_pair(labels: int, sets: Sets, symbols: FloatArray, channel: SetChannel | None) -> float:
    """The expected z of one pair if answers were right `RIGHT` above chance and labels even.

    With K labels and sets of s of them, the labels' indicators have variance v = s/K (1 − s/K), and
    z = RIGHT² κ² / (v √(K − 1)), where κ is how much likelier a set holds the answer than another
    label; without a channel κ = 1.
    """
    sizes = np.diff(sets.starts)
    named = float(symbols[sizes > 0].sum())
    size = float(symbols @ sizes) / max(named, 1.0)
    variance = size / max(labels, 1) * (1 - size / max(labels, 1))
    if not named or labels < 2 or variance < 1e-12:
        return 0.0
    kept = 1.0 if channel is None else _kept(channel, symbols) * symbols.sum() / named
    return float((RIGHT * kept) ** 2 / (variance * math.sqrt(labels - 1)))


def _kept(channel: SetChannel, symbols: FloatArray) -> float:
    """P(answer in the set) − P(another label in it), times the share of reports that are answers.

    That share is 1 unless NULL is reported like a label; it then follows from the share of NULL.
    """
    elements = channel.labels + channel.hides_participation
    null = channel.null if channel.hides_participation else np.zeros(channel.symbols)
    size = float(symbols @ (channel.sizes + null)) / float(symbols.sum())
    odds = float(channel.prior @ channel.inside) / max(
        float(channel.prior @ channel.outside), 1e-300
    )
    inside = size * odds / (size * odds + elements - size)
    other = (size - inside) / max(elements - 1, 1)
    if not channel.hides_participation or inside <= other:
        return inside - other
    nulls = float(symbols @ null) / float(symbols.sum())
    return (inside - other) * min(max((inside - nulls) / (inside - other), 0.0), 1.0)


def _of_numbers(engine: Engine) -> Signal:
    workers = len(engine.workers)
    answers, added, _ = engine.total(WorkerMoments(workers, 0.0)).sum(axis=0).tolist()
    centre = added / max(answers, 1.0)
    count, sums, squares = engine.total(WorkerMoments(workers, centre)).T
    means = sums / (count + CROWD)
    around = squares - 2 * means * sums + count * np.square(means)
    variances = (around + CROWD * squares.sum() / max(answers, 1.0)) / (count + CROWD)
    deviations = np.sqrt(np.where(variances > 0, variances, 1.0))
    step = NumberResiduals(centre + means, deviations)
    agreement, pairs, tasks, own = engine.total(step).tolist()
    variance = pairs * (own / max(answers, 1.0)) ** 2
    # As for two even labels, whose answers then have a correlation of 4 RIGHT².
    return _signal(agreement, variance, tasks, pairs, math.sqrt(pairs) * 4 * RIGHT**2)
