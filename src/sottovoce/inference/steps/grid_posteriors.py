"""Posteriors of truths on a grid, given the workers' states: one pass over reports.

A report is a symbol. `logs[symbol, state, point]` = ln P(symbol | truth = grid[point], state of the
worker), and `shares[worker, state]` is the probability of each state of the worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sottovoce.inference.steps.arithmetic import column_sum, compiled, grouped_sums
from sottovoce.inference.steps.votes import softmax
from sottovoce.model import FloatArray, LabelPart, Part, labels_of
from sottovoce.seams import Kernel

NEGLIGIBLE = 1e-9
"""Points of smaller posterior probability are ignored in the sums over workers."""
NARROW = 1.5
"""A posterior whose deviation is at most this many grid steps is refined by a parabola."""

_CELLS = 2_000_000
"""The most numbers in one array of a chunk of tasks: 16 MB."""

_NONE = np.empty((0, 0))


@dataclass(frozen=True, slots=True)
class GridSums:
    """The sums of one pass, as views of one array of workers · states + points + tasks numbers.

    `workers[worker, state]` = Σ over the worker's reports of E ln P(symbol | truth, state),
    `points` = Σ over tasks of the posterior, `truths[task]` = the mean of the task's posterior.
    """

    array: FloatArray
    states: int
    grid: int
    tasks: int

    @property
    def workers(self) -> FloatArray:
        """The expected log-likelihood of each worker's reports, for each state."""
        return self.array[: -self.grid - self.tasks].reshape(-1, self.states)

    @property
    def points(self) -> FloatArray:
        """The expected number of truths at each point."""
        return self.array[-self.grid - self.tasks : -self.tasks]

    @property
    def truths(self) -> FloatArray:
        """The posterior mean of each task."""
        return self.array[-self.tasks :]


@dataclass(frozen=True, slots=True)
class Grids:
    """The posterior of every task, then the sums for the workers' states and the prior.

        τⱼ(t) ∝ exp( ln prior(t) + Σᵢ Σ_q rᵢ(q) ln P(symbolᵢⱼ | t, q) )

    summed into `GridSums`. Points with τ below 1e-9 are left out of the sums over workers. Opens
    how well each worker agrees with the crowd, and the current truths.
    """

    logs: FloatArray
    shares: FloatArray
    log_prior: FloatArray
    grid: FloatArray
    tasks: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.shares.size + len(self.grid) + self.tasks,)

    def views(self, array: FloatArray) -> GridSums:
        """The sums by name."""
        return GridSums(array, self.shares.shape[1], len(self.grid), self.tasks)

    def __call__(self, part: Part) -> FloatArray:
        sums = self.views(np.zeros(self.shape))
        for chunk in _chunks(labels_of(part), len(self.grid)):
            pairs = _pairs(chunk)
            posterior = softmax(_scores(chunk, pairs, self.logs, self.shares, self.log_prior))
            kept = np.where(posterior > NEGLIGIBLE, posterior, 0.0)[pairs.task]
            expected = _by_symbol(pairs, kept, self.logs.transpose(0, 2, 1))[pairs.inverse]
            for state in range(sums.states):
                column = np.ascontiguousarray(expected[:, state])
                sums.workers[:, state] += grouped_sums(pairs.worker, column, len(self.shares))
            sums.points[:] += column_sum(posterior)
            sums.truths[chunk.first : chunk.first + chunk.tasks] = posterior @ self.grid
        return sums.array

    def kernel(self) -> Kernel:
        run = _grid_kernel()

        def add(part: Part, out: FloatArray) -> None:
            part, sums = labels_of(part), self.views(out)
            truths = sums.truths[part.first : part.first + part.tasks]
            tables = self.logs, self.shares, self.log_prior, self.grid
            run(part.starts, part.coded, *tables, _NONE, sums.workers, sums.points, truths)

        return add


@dataclass(frozen=True, slots=True)
class GridPosteriors:
    """The posterior of each task over the points of the grid."""

    logs: FloatArray
    shares: FloatArray
    log_prior: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.log_prior),)

    def __call__(self, part: Part) -> FloatArray:
        chunks = _chunks(labels_of(part), len(self.log_prior))
        tables = self.logs, self.shares, self.log_prior
        return np.concatenate([softmax(_scores(c, _pairs(c), *tables)) for c in chunks])

    def kernel(self) -> Kernel:
        scores = _score_kernel(self.logs, self.shares, self.log_prior)

        def fill(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            for chunk in _chunks(part, len(self.log_prior)):
                begin = chunk.first - part.first
                out[begin : begin + chunk.tasks] = softmax(scores(chunk))

        return fill


@dataclass(frozen=True, slots=True)
class GridTruths:
    """Each task's truth and its standard error: mean and deviation of the posterior.

    If the deviation is at most 1.5 grid steps, the parabola through the log posterior at its
    maximum and the two neighbouring points gives both: its vertex and its curvature. So a truth can
    lie between points. The grid has equal steps. Rows are (truth, standard error).
    """

    logs: FloatArray
    shares: FloatArray
    log_prior: FloatArray
    grid: FloatArray

    shape: ClassVar[tuple[int, ...]] = (2,)

    def __call__(self, part: Part) -> FloatArray:
        chunks = _chunks(labels_of(part), len(self.grid))
        tables = self.logs, self.shares, self.log_prior
        return np.concatenate([_refined(_scores(c, _pairs(c), *tables), self.grid) for c in chunks])

    def kernel(self) -> Kernel:
        scores = _score_kernel(self.logs, self.shares, self.log_prior)

        def fill(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            for chunk in _chunks(part, len(self.grid)):
                begin = chunk.first - part.first
                out[begin : begin + chunk.tasks] = _refined(scores(chunk), self.grid)

        return fill


@dataclass(frozen=True, slots=True)
class NumberMoments:
    """For each task the number of reports, and the sums of their numbers and of the squares.

    `numbers[symbol]` is an unbiased number for the symbol.
    """

    numbers: FloatArray

    shape: ClassVar[tuple[int, ...]] = (3,)

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        number = self.numbers[part.report % part.labels]
        sums = (grouped_sums(part.task, each, part.tasks) for each in (number, number**2))
        return np.stack([np.diff(part.starts), *sums], axis=1)

    def kernel(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How two estimates of a truth, each without one report, predict the number u of that report.

    g is the mean of the posterior; l = c + n r / (n r + 1) (mean of the n numbers - c), where c is
    `centre` and r `ratio`. The sums over all reports are Σ (u - l)(g - l) and Σ (g - l)².
    """

    logs: FloatArray
    shares: FloatArray
    log_prior: FloatArray
    grid: FloatArray
    numbers: FloatArray
    centre: float
    ratio: float

    shape: ClassVar[tuple[int, ...]] = (2,)

    def __call__(self, part: Part) -> FloatArray:
        sums = np.zeros(2)
        for chunk in _chunks(labels_of(part), len(self.grid)):
            pairs, task = _pairs(chunk), chunk.task
            scores = _scores(chunk, pairs, self.logs, self.shares, self.log_prior)
            each = _Pairs(pairs.task, pairs.symbol[pairs.inverse], pairs.inverse, pairs.worker)
            own = _by_symbol(each, self.shares[pairs.worker], self.logs)
            mean = softmax(scores[task] - own) @ self.grid
            number = self.numbers[each.symbol] - self.centre
            rest = grouped_sums(task, number, chunk.tasks)[task] - number
            others = np.diff(chunk.starts)[task] - 1
            linear = rest * self.ratio / (others * self.ratio + 1)
            apart = mean - self.centre - linear
            sums += column_sum(np.stack([(number - linear) * apart, apart**2], axis=1))
        return sums

    def kernel(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The distinct (task, symbol) pairs of a part, by task; each report's pair and worker."""

    task: npt.NDArray[np.int64]
    symbol: npt.NDArray[np.int64]
    inverse: npt.NDArray[np.int64]
    worker: npt.NDArray[np.int64]


def _chunks(part: LabelPart, width: int) -> Iterator[LabelPart]:
    """Some tasks at a time, so that `width` numbers per task and per pair fit into memory."""
    most, begin = max(_CELLS // width, 1), 0
    while begin < part.tasks:
        reach = np.searchsorted(part.starts, part.starts[begin] + most, side="right") - 1
        end = max(min(int(reach), begin + most), begin + 1)
        yield LabelPart(part.first + begin, part.starts[begin : end + 1], part.coded, part.labels)
        begin = end


def _pairs(part: LabelPart) -> _Pairs:
    worker, symbol = np.divmod(part.report.astype(np.int64), part.labels)
    keys, inverse = np.unique(part.task * np.int64(part.labels) + symbol, return_inverse=True)
    task, distinct = np.divmod(keys, part.labels)
    return _Pairs(task, distinct, inverse, worker)


def _scores(
    part: LabelPart, pairs: _Pairs, logs: FloatArray, shares: FloatArray, log_prior: FloatArray
) -> FloatArray:
    """ln prior + Σ Σ r ln P for each task and point: the log posterior up to a constant."""
    weights = np.empty((len(pairs.task), shares.shape[1]))
    for state in range(shares.shape[1]):
        column = shares[pairs.worker, state]
        weights[:, state] = grouped_sums(pairs.inverse, column, len(pairs.task))
    scores = np.tile(log_prior, (part.tasks, 1))
    if len(pairs.task):
        # Pairs are in the order of symbols, so the order of reports does not change the sums.
        tasks, firsts = np.unique(pairs.task, return_index=True)
        scores[tasks] += np.add.reduceat(_by_symbol(pairs, weights, logs), firsts, axis=0)
    return scores


def _by_symbol(pairs: _Pairs, rows: FloatArray, tables: FloatArray) -> FloatArray:
    """rows[pair] @ tables[symbol of the pair], one matrix product for each symbol."""
    out = np.empty((len(rows), tables.shape[2]))
    order = np.argsort(pairs.symbol, kind="stable")
    symbols, firsts = np.unique(pairs.symbol[order], return_index=True)
    for symbol, (first, last) in zip(symbols, pairwise([*firsts, len(order)]), strict=True):
        own = order[first:last]
        out[own] = rows[own] @ tables[symbol]
    return out


def _refined(scores: FloatArray, grid: FloatArray) -> FloatArray:
    """(truth, standard error) of each row of log posteriors."""
    posterior, step = softmax(scores), grid[1] - grid[0]
    mean = posterior @ grid
    variance = np.einsum("tg,tg->t", posterior, np.square(grid - mean[:, np.newaxis]))
    tasks, peak = np.arange(len(scores)), np.argmax(scores, axis=1)
    inner = np.clip(peak, 1, len(grid) - 2)
    left, top, right = (scores[tasks, inner + shift] for shift in (-1, 0, 1))
    bend = np.minimum(left - 2 * top + right, -NEGLIGIBLE)
    narrow = (variance <= (NARROW * step) ** 2) & (peak == inner)
    vertex = grid[inner] + 0.5 * step * np.clip((left - right) / bend, -1, 1)
    # A truth at an end of the grid is known only to be in that cell.
    error = np.where(narrow, step / np.sqrt(-bend), np.sqrt(variance + step**2 / 12))
    return np.stack([np.where(narrow, vertex, mean), error], axis=1)


def _score_kernel(
    logs: FloatArray, shares: FloatArray, log_prior: FloatArray
) -> Callable[[LabelPart], FloatArray]:
    """The compiled version of `_scores`."""
    run = _grid_kernel()

    def scores(part: LabelPart) -> FloatArray:
        rows = np.empty((part.tasks, len(log_prior)))
        empty = np.empty(0)
        run(part.starts, part.coded, logs, shares, log_prior, log_prior, rows, _NONE, empty, empty)
        return rows

    return scores


@cache
def _grid_kernel() -> Callable[..., None]:
    return compiled(_grid_pass)


def _grid_pass(starts, coded, logs, shares, log_prior, grid, rows, workers, points, truths):  # type: ignore[no-untyped-def]
    """Each task's log posterior, then its row (if there are rows) or the sums of a round.

    Reports of a task that share a symbol are combined: `place[symbol]` is the symbol's row among
    those of the task, and its workers' values are added up there first.
    """
    symbols, states, size = logs.shape
    longest = 0
    for task in range(len(starts) - 1):
        longest = max(longest, starts[task + 1] - starts[task])
    most = min(longest, symbols)
    place = np.full(symbols, -1, np.int64)
    distinct = np.empty(most, np.int64)
    weight = np.empty((most, states), np.float64)
    posterior = np.empty(size, np.float64)
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        found = 0
        for i in range(first, last):
            worker = coded[i] // symbols
            symbol = coded[i] - worker * symbols
            row = place[symbol]
            if row < 0:
                row = found
                place[symbol], distinct[row] = row, symbol
                found += 1
                for state in range(states):
                    weight[row, state] = 0.0
            for state in range(states):
                weight[row, state] += shares[worker, state]
        for point in range(size):
            posterior[point] = log_prior[point]
        for row in range(found):
            for state in range(states):
                share = weight[row, state]
                if share > 0.0:
                    law = logs[distinct[row], state]
                    for point in range(size):
                        posterior[point] += share * law[point]
        if len(rows) > 0:
            for point in range(size):
                rows[task, point] = posterior[point]
            for row in range(found):
                place[distinct[row]] = -1
            continue
        top = posterior[0]
        for point in range(1, size):
            top = max(top, posterior[point])
        mass = 0.0
        for point in range(size):
            posterior[point] = np.exp(posterior[point] - top)
            mass += posterior[point]
        mean, low, high = 0.0, size, 0
        for point in range(size):
            posterior[point] /= mass
            mean += posterior[point] * grid[point]
            points[point] += posterior[point]
            if posterior[point] > NEGLIGIBLE:
                low, high = min(low, point), point + 1
            else:
                posterior[point] = 0.0
        truths[task] += mean
        for row in range(found):
            for state in range(states):
                law = logs[distinct[row], state]
                even, odd = 0.0, 0.0  # two sums, so that one need not wait for the other
                for point in range(low, high - 1, 2):
                    even += posterior[point] * law[point]
                    odd += posterior[point + 1] * law[point + 1]
                if (high - low) % 2 == 1:
                    even += posterior[high - 1] * law[high - 1]
                weight[row, state] = even + odd
        for i in range(first, last):
            worker = coded[i] // symbols
            row = place[coded[i] - worker * symbols]
            for state in range(states):
                workers[worker, state] += weight[row, state]
        for row in range(found):
            place[distinct[row]] = -1
