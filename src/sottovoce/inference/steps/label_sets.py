"""One-coin EM on reports that are sets of labels: the E step and the sums of its M step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from sottovoce.inference.steps.arithmetic import column_sum, compiled, grouped_sums
from sottovoce.inference.steps.confusions import RUN
from sottovoce.inference.steps.votes import normalized
from sottovoce.model import Codes, FloatArray, LabelPart, Part, StartsArray, labels_of
from sottovoce.seams import Kernel


class Sets(NamedTuple):
    """The labels of each symbol, members[starts[y] : starts[y + 1]], and its kind.

    Symbols of one kind have the same law except for the labels they contain.
    """

    starts: StartsArray
    members: Codes
    kind: Codes
    kinds: int


@dataclass(frozen=True, slots=True)
class SetCoinSums:
    """The sums of one pass, as views of one array of length workers · kinds + labels + 1."""

    array: FloatArray
    labels: int
    kinds: int

    @property
    def agreement(self) -> FloatArray:
        """Σ posterior of the labels in a worker's sets, for each worker and kind of set."""
        return self.array[: -self.labels - 1].reshape(-1, self.kinds)

    @property
    def tasks(self) -> FloatArray:
        """Σ posterior of each label over tasks."""
        return self.array[-self.labels - 1 : -1]

    @property
    def log_mass(self) -> float:
        """Σ ln of the posteriors' normalising constants."""
        return float(self.array[-1])


@dataclass(frozen=True, slots=True)
class SetCoins:
    """E step of the one-coin model on sets, then the sums of its M step.

        posterior(truth) = prior(truth) Π odds[worker, kind] over the sets that hold truth / mass

    summed into `SetCoinSums`. Opens each worker's expected agreement with the truth.
    """

    odds: FloatArray
    prior: FloatArray
    sets: Sets

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.odds.size + len(self.prior) + 1,)

    def __call__(self, part: Part) -> FloatArray:
        part = labels_of(part)
        posterior, log_mass = _expected(part, self.odds, self.prior, self.sets)
        sums = SetCoinSums(np.zeros(self.shape), len(self.prior), self.sets.kinds)
        rows, member = members_of(part, self.sets)
        place = _places(part, self.sets)[rows]
        agreement = grouped_sums(place, posterior[part.task[rows], member], self.odds.size)
        sums.agreement[:] = agreement.reshape(self.odds.shape)
        sums.tasks[:] = column_sum(posterior)
        sums.array[-1] = log_mass.sum()
        return sums.array

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, odds=self.odds[workers])

    def kernel(self) -> Kernel:
        run = _pass_kernel()

        def add(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            rows = np.empty((0, len(self.prior)))
            run(part.starts, part.coded, part.labels, *self.sets, self.odds, self.prior, rows, out)

        return add


@dataclass(frozen=True, slots=True)
class SetPosteriors:
    """The posterior over labels of each task, given workers' odds and the prior."""

    odds: FloatArray
    prior: FloatArray
    sets: Sets

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.prior),)

    def __call__(self, part: Part) -> FloatArray:
        return _expected(labels_of(part), self.odds, self.prior, self.sets)[0]

    def kernel(self) -> Kernel:
        run = _pass_kernel()

        def fill(part: Part, out: FloatArray) -> None:
            part = labels_of(part)
            sums = np.zeros(self.odds.size + len(self.prior) + 1)
            run(part.starts, part.coded, part.labels, *self.sets, self.odds, self.prior, out, sums)

        return fill


@dataclass(frozen=True, slots=True)
class KindCounts:
    """The number of sets of each kind that each worker reported. Opens who took part how much."""

    workers: int
    sets: Sets

    @property
    def shape(self) -> tuple[int, ...]:
        return self.workers, self.sets.kinds

    def __call__(self, part: Part) -> FloatArray:
        size = self.workers * self.sets.kinds
        counts = np.bincount(_places(labels_of(part), self.sets), minlength=size)
        return counts.astype(np.float64).reshape(self.shape)

    def among(self, workers: Codes, count: int) -> Self:
        return replace(self, workers=len(workers))

    def kernel(self) -> None:
        return None


def _places(part: LabelPart, sets: Sets) -> npt.NDArray[np.int64]:
    """worker · kinds + kind of each report."""
    worker, symbol = np.divmod(part.report, part.labels)
    return worker.astype(np.int64) * sets.kinds + sets.kind[symbol.astype(np.int64)]


def members_of(part: LabelPart, sets: Sets) -> tuple[npt.NDArray[np.int64], Codes]:
    """Every label of every set, and the report of the part to which it belongs."""
    symbol = (part.report % part.labels).astype(np.int64)
    sizes = np.diff(sets.starts)[symbol]
    rows = np.repeat(np.arange(len(symbol)), sizes)
    ends = np.cumsum(sizes)
    within = np.arange(len(rows)) - np.repeat(ends - sizes, sizes)
    return rows, sets.members[sets.starts[symbol][rows] + within]


def _expected(
    part: LabelPart, odds: FloatArray, prior: FloatArray, sets: Sets
) -> tuple[FloatArray, FloatArray]:
    """Each task's posterior and the logarithm of its mass, in log space."""
    rows, member = members_of(part, sets)
    weight = np.log(odds).reshape(-1)[_places(part, sets)][rows]
    cells = part.task[rows].astype(np.int64) * len(prior) + member
    votes = grouped_sums(cells, weight, part.tasks * len(prior))
    return normalized(votes.reshape(part.tasks, len(prior)) + np.log(prior))


@cache
def _pass_kernel() -> Callable[..., None]:
    return compiled(_set_pass)


def _set_pass(starts, coded, symbols, set_starts, members, kind, kinds, odds, prior, rows, out):  # type: ignore[no-untyped-def]
    """The E step of each task, then its row (if there are rows) or the sums of the M step.

    As in `confusions`: products in runs that stay within the range of a float64. One version for
    any number of labels: a report touches those of its set, and there is no loop to unroll.
    """
    labels = len(prior)
    posterior = np.empty(labels, np.float64)
    scores = np.empty(labels, np.float64)
    tasks = out[len(odds) * kinds : len(odds) * kinds + labels]
    product = 1.0
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        for label in range(labels):
            posterior[label] = prior[label]
            scores[label] = 0.0
        shift = 0.0
        for begin in range(first, last, RUN):
            if begin > first:
                for label in range(labels):
                    scores[label] += np.log(posterior[label])
                    posterior[label] = 1.0
            for i in range(begin, min(begin + RUN, last)):
                worker = coded[i] // symbols
                symbol = coded[i] - worker * symbols
                factor = odds[worker, kind[symbol]]
                for j in range(set_starts[symbol], set_starts[symbol + 1]):
                    posterior[members[j]] *= factor
        if last - first > RUN:
            for label in range(labels):
                scores[label] += np.log(posterior[label])
            shift = scores[0]
            for label in range(1, labels):
                shift = max(shift, scores[label])
            for label in range(labels):
                posterior[label] = np.exp(scores[label] - shift)
            out[-1] += shift
        mass = 0.0
        for label in range(labels):
            mass += posterior[label]
        if not 1e-150 < mass < 1e150 or not 1e-150 < product < 1e150:
            out[-1] += np.log(mass) + np.log(product)
            product = 1.0
        else:
            product *= mass
        scale = 1.0 / mass
        for label in range(labels):
            posterior[label] *= scale
        if len(rows) > 0:
            for label in range(labels):
                rows[task, label] = posterior[label]
            continue
        for label in range(labels):
            tasks[label] += posterior[label]
        for i in range(first, last):
            worker = coded[i] // symbols
            symbol = coded[i] - worker * symbols
            held = 0.0
            for j in range(set_starts[symbol], set_starts[symbol + 1]):
                held += posterior[members[j]]
            out[worker * kinds + kind[symbol]] += held
    out[-1] += np.log(product)
