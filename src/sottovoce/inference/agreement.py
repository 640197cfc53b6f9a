"""Agreement of workers: Krippendorff's alpha, Fleiss' and Cohen's kappa, and each worker's own.

Intervals are percentiles of a bootstrap over tasks. Every statistic is a function of sums over
tasks, so a resample is a product of weights and sums; the sums of more than `GROUPS` tasks are
added up in as many random groups first, and groups are resampled. Resamples keep the ranks of the
whole table. The cost is linear in answers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy  # its parts are imported on first use

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray, Kind, Reports
from sottovoce.model.agreement import Agreement, Estimate, Metric, PairAgreement

GROUPS, RESAMPLES, WORKER_RESAMPLES = 1000, 1000, 200
MOST_WORKERS, MOST_COLUMNS = 12, 4000
"""Cohen's kappa compares at most this many workers, fewer if their tables have many labels."""
FEWEST_SHARED = 5
"""Workers who share fewer tasks have no kappa of their own: it would be 0 or nothing by chance."""

_METRICS: dict[Kind, Metric] = {
    Kind.CATEGORICAL: "nominal",
    Kind.ORDINAL: "ordinal",
    Kind.NUMERIC: "interval",
}
_ALONE = "no task has two answers"
_EQUAL = "all answers are equal, so chance explains the agreement"
_NUMBERS = "it is defined for labels, and the answers are numbers"

Codes64 = npt.NDArray[np.int64]


class _Resampled(NamedTuple):
    """The group of each task, and how often each resample contains each group."""

    group: Codes64
    weights: FloatArray
    confidence: float

    def sums(self, rows: FloatArray) -> FloatArray:
        """Σ rows of each group's tasks."""
        groups = self.weights.shape[1]
        columns = (np.bincount(self.group, column, groups) for column in rows.T)
        return np.stack(list(columns), axis=1)

    def estimate(
        self, rows: FloatArray, statistic: Callable[[FloatArray], FloatArray], why: str
    ) -> Estimate:
        """A statistic of column sums over tasks, and its interval."""
        sums = self.sums(rows)
        return self.interval(statistic(sums.sum(axis=0)), statistic(self.weights @ sums), why)

    def interval(self, value: FloatArray, drawn: FloatArray, why: str) -> Estimate:
        """Percentiles of the resamples that have a value; never without the estimate."""
        if not np.isfinite(value):
            return Estimate(why=why)
        found = np.append(drawn[np.isfinite(drawn)], value)
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(found, [tail, 1 - tail]).tolist()
        known = float(value)
        return Estimate(known, min(low, known), max(high, known))


def agreement_of(
    reports: Reports,
    metric: Metric | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """The agreement of workers in a table; without a metric, the one of the domain's kind."""
    metric = metric or _METRICS[reports.domain.kind]
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must be between 0 and 1, not {confidence:g}")
    if metric not in _METRICS.values():
        raise UsageError(f"metric must be nominal, ordinal or interval, not {metric!r}")
    if reports.domain.is_numeric and metric == "nominal":
        raise UsageError("nominal agreement is for labels, and the answers are numbers")
    resampled = _resampled(reports, confidence, seed)
    count = np.bincount(reports.task, minlength=len(reports.tasks)).astype(np.float64)
    shared = count > 1
    apart, rows = _distances(reports, metric, count)
    alpha = resampled.estimate(rows, _alpha, _EQUAL if shared.any() else _ALONE)
    if reports.domain.is_numeric:
        fleiss = cohen = Estimate(why=_NUMBERS)
        pairs: tuple[PairAgreement, ...] = ()
        # Distances in units of the distance by chance: their mean is 1 − alpha.
        scale = _chance(rows.sum(axis=0))
        shares = 1 - apart / scale if alpha.value is not None else np.zeros_like(apart)
        observed = alpha.value
    else:
        votes = _votes(reports)
        fleiss = resampled.estimate(
            _fleiss_rows(votes, count), _fleiss, _EQUAL if shared.any() else _ALONE
        )
        cohen, pairs = _cohen(reports, resampled)
        others = np.maximum(count[reports.task] - 1, 1.0)
        shares = (votes[reports.task, reports.value.astype(np.int64)] - 1) / others
        compared = shared[reports.task]
        observed = float(shares[compared].mean()) if compared.any() else None
    return Agreement(
        metric,
        confidence,
        int(shared.sum()),
        observed,
        alpha,
        fleiss,
        cohen,
        pairs,
        reports.workers,
        *_workers(reports, np.where(shared[reports.task], shares, 0.0), count, resampled),
    )


def _resampled(reports: Reports, confidence: float, seed: int) -> _Resampled:
    """Groups by the tasks' names, so that the order of rows does not matter."""
    rng = np.random.default_rng(seed)
    tasks = len(reports.tasks)
    groups = min(tasks, GROUPS)
    group = np.empty(tasks, np.int64)
    group[np.argsort(reports.tasks, kind="stable")] = rng.permutation(np.arange(tasks) % groups)
    drawn = rng.integers(0, groups, (RESAMPLES, groups)) + groups * np.arange(RESAMPLES)[:, None]
    weights = np.bincount(drawn.ravel(), minlength=RESAMPLES * groups).reshape(RESAMPLES, groups)
    return _Resampled(group, weights.astype(np.float64), confidence)


def _votes(reports: Reports) -> FloatArray:
    labels = reports.labels
    cells = reports.task.astype(np.int64) * labels + reports.value.astype(np.int64)
    votes = np.bincount(cells, minlength=len(reports.tasks) * labels)
    return votes.reshape(-1, labels).astype(np.float64)


def _distances(
    reports: Reports, metric: Metric, count: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The mean squared distance of each answer from the others' to its task, and alpha's rows.

    Of each task with n > 1 answers x: n, n / (n − 1) Σ |x − mean|², Σ |x|², Σ x. For nominal
    answers x is 1 for its label and 0 for the others; for ordinal answers it is the mean rank of
    its label, which gives Krippendorff's ordinal distance.
    """
    shared = count > 1
    freedom = np.maximum(count - 1, 1.0)
    if metric == "nominal":
        votes = np.where(shared[:, None], _votes(reports), 0.0)
        within = (np.square(count) - np.square(votes).sum(axis=1)) / freedom
        rows = np.column_stack([count, within, count, votes])
        return np.zeros(0), np.where(shared[:, None], rows, 0.0)
    value = _numbers(reports, metric, shared[reports.task])
    task, tasks = reports.task, len(reports.tasks)
    sums = np.bincount(task, value, tasks)
    offset = value - (sums / np.maximum(count, 1.0))[task]
    # Equal answers whose mean is rounded are equal.
    offset[np.abs(offset) < 1e-12 * np.abs(value).max()] = 0.0
    spread = np.bincount(task, np.square(offset), tasks)
    apart = (count[task] * np.square(offset) + spread[task]) / freedom[task]
    squares = np.bincount(task, np.square(value), tasks)
    rows = np.column_stack([count, count * spread / freedom, squares, sums])
    return apart, np.where(shared[:, None], rows, 0.0)


def _numbers(reports: Reports, metric: Metric, counted: npt.NDArray[np.bool_]) -> FloatArray:
    """The answers on the metric's scale, around 0."""
    value = np.asarray(reports.value, np.float64)
    if metric == "ordinal":
        _, code = np.unique(value, return_inverse=True)
        uses = np.bincount(code[counted], minlength=int(code.max()) + 1)
        value = (np.cumsum(uses) - uses / 2)[code]
    elif not reports.domain.is_numeric:
        value = reports.domain.scale[reports.value.astype(np.int64)]
    return np.asarray(value - (value[counted].mean() if counted.any() else 0.0))


def _chance(sums: FloatArray) -> FloatArray:
    """The mean squared distance of two answers to any tasks, from the sums of `_distances`."""
    count, squares = sums[..., 0], sums[..., 2]
    total = squares - np.square(sums[..., 3:]).sum(axis=-1) / np.maximum(count, 1.0)
    total = np.where(total > 1e-12 * squares, total, np.nan)
    return np.asarray(2 * total / np.maximum(count - 1, 1.0))


def _alpha(sums: FloatArray) -> FloatArray:
    """α = 1 − observed / expected distance (Krippendorff 2011)."""
    observed = 2 * sums[..., 1] / np.maximum(sums[..., 0], 1.0)
    return np.asarray(1 - observed / _chance(sums))


def _fleiss_rows(votes: FloatArray, count: FloatArray) -> FloatArray:
    """Of each task: is it shared, its share of equal pairs, is it answered, its labels' shares."""
    pairs = np.maximum(count * (count - 1), 1.0)
    equal = np.where(count > 1, (votes * (votes - 1)).sum(axis=1) / pairs, 0.0)
    shares = votes / np.maximum(count, 1.0)[:, None]
    return np.column_stack([count > 1, equal, count > 0, shares])


def _fleiss(sums: FloatArray) -> FloatArray:
    """κ = (P̄ − Pₑ) / (1 − Pₑ) (Fleiss 1971), for unequal counts as in Gwet (2014).

    Each task has the same weight in P̄ and in the labels' shares, whatever its number of answers.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        equal = sums[..., 1] / sums[..., 0]
        shares = sums[..., 3:] / sums[..., 2, None]
    return _kappa(equal, np.square(shares).sum(axis=-1))


def _kappa(equal: FloatArray, chance: FloatArray) -> FloatArray:
    beyond = np.where(chance < 1 - 1e-12, 1 - chance, np.nan)
    return np.asarray((equal - chance) / beyond)


def _cohen(reports: Reports, resampled: _Resampled) -> tuple[Estimate, tuple[PairAgreement, ...]]:
    """Cohen's kappa of every pair of the workers with the most answers, and their mean."""
    labels = reports.labels
    most = int(np.clip(np.sqrt(MOST_COLUMNS / (labels + 1)), 2, MOST_WORKERS))
    by_name = np.argsort(reports.workers, kind="stable")
    answers = np.bincount(reports.worker, minlength=len(reports.workers))
    chosen = by_name[np.argsort(-answers[by_name], kind="stable")[:most]]
    given = np.full((len(chosen), len(reports.tasks)), -1, np.int32)
    for row, worker in enumerate(chosen):
        own = reports.worker == worker
        given[row, reports.task[own]] = reports.value[own]
    pairs, values, counts = [], [], []
    for first, second in combinations(range(len(chosen)), 2):
        both = np.flatnonzero((given[first] >= 0) & (given[second] >= 0))
        if len(both) < FEWEST_SHARED:
            continue
        sums = _pair_sums(given[first, both], given[second, both], labels, both, resampled)
        value, drawn = _pair_kappa(sums.sum(axis=0)), _pair_kappa(resampled.weights @ sums)
        names = str(reports.workers[chosen[first]]), str(reports.workers[chosen[second]])
        why = "both workers gave one and the same label"
        pairs.append(PairAgreement(*names, len(both), resampled.interval(value, drawn, why)))
        values.append(np.append(drawn, value))
        counts.append(np.append(resampled.weights @ sums[:, 0], len(both)))
    if not pairs:
        return Estimate(why=f"no two of the most active workers share {FEWEST_SHARED} tasks"), ()
    value, shared = np.array(values), np.array(counts)
    shared[~np.isfinite(value)] = 0.0
    with np.errstate(invalid="ignore"):
        mean = np.where(shared > 0, value * shared, 0.0).sum(axis=0) / shared.sum(axis=0)
    return resampled.interval(mean[-1], mean[:-1], _EQUAL), tuple(pairs)


def _pair_sums(
    first: Codes64, second: Codes64, labels: int, tasks: Codes64, resampled: _Resampled
) -> FloatArray:
    """Of each group: shared tasks, equal answers, and how often each worker gave each label."""
    group, groups = resampled.group[tasks], resampled.weights.shape[1]
    ends = [
        np.bincount(group * labels + given, minlength=groups * labels) for given in (first, second)
    ]
    sums = [
        np.bincount(group, minlength=groups)[:, None],
        np.bincount(group, first == second, groups)[:, None],
        *(end.reshape(groups, labels) for end in ends),
    ]
    return np.hstack(sums).astype(np.float64)


def _pair_kappa(sums: FloatArray) -> FloatArray:
    """κ = (pₒ − pₑ) / (1 − pₑ), pₑ the product of both workers' shares of labels (Cohen 1960)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = sums[..., 1:] / sums[..., :1]
    labels = (sums.shape[-1] - 2) // 2
    chance = (shares[..., 1 : labels + 1] * shares[..., labels + 1 :]).sum(axis=-1)
    return _kappa(shares[..., 0], chance)


def _workers(
    reports: Reports, shares: FloatArray, count: FloatArray, resampled: _Resampled
) -> tuple[FloatArray, FloatArray, FloatArray, Codes64]:
    """Each worker's mean share, its interval, and how many of its answers are compared."""
    compared = (count > 1)[reports.task].astype(np.float64)
    shape = len(reports.workers), resampled.weights.shape[1]
    place = reports.worker, resampled.group[reports.task]
    sums, counts = (
        scipy.sparse.coo_array((data, place), shape).tocsr() for data in (shares, compared)
    )
    drawn = np.ascontiguousarray(resampled.weights[:WORKER_RESAMPLES].T)
    ends = np.empty((2, shape[0]))
    tail = (1 - resampled.confidence) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.asarray(sums.sum(axis=1) / counts.sum(axis=1))
        for first in range(0, shape[0], 4096):
            few = slice(first, first + 4096)
            ratio = (sums[few] @ drawn) / (counts[few] @ drawn)
            # A resample without the worker's tasks says nothing about it.
            ratio = np.where(np.isfinite(ratio), ratio, means[few, None])
            ends[:, few] = np.quantile(ratio, [tail, 1 - tail], axis=1)
    low, high = np.minimum(ends[0], means), np.maximum(ends[1], means)
    return means, low, high, np.asarray(counts.sum(axis=1)).astype(np.int64)
