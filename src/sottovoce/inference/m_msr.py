"""Robust rank-one completion of the workers' agreements (M-MSR)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from sottovoce.inference.aggregator import LABELS, Settled, check_parameters, label_result
from sottovoce.inference.steps.arithmetic import segment_sums, steady
from sottovoce.inference.steps.listing import list_answers
from sottovoce.inference.steps.votes import Votes, softmax
from sottovoce.model import Codes, FloatArray, Kind, Result
from sottovoce.seams import Engine


class Pairs(NamedTuple):
    """Every ordered pair of workers with tasks in common, by the first of them.

    `agreement` is s / (s − 1) times the share of equal answers, minus 1 / (s − 1): 0 by chance.
    """

    worker: Codes
    other: Codes
    agreement: FloatArray
    partners: Codes

    @classmethod
    def among(cls, task: Codes, worker: Codes, label: Codes, workers: int, labels: int) -> Pairs:
        """The pairs in a table; the last answer counts if a worker answered a task again."""
        from scipy import sparse  # not before it is used

        tasks = int(task.max()) + 1
        keys = worker.astype(np.int64) * tasks + task
        last = len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1]
        task, worker, label = task[last], worker[last], label[last]

        def together(mine: npt.NDArray[np.bool_]) -> Any:
            ones = np.ones(int(mine.sum()))
            answers = sparse.csr_array((ones, (worker[mine], task[mine])), (workers, tasks))
            return answers @ answers.T

        common = sparse.triu(together(np.ones(len(task), np.bool_)), 1).tocoo()
        equal = sum(together(label == each) for each in np.unique(label))
        share = np.asarray(equal[common.row, common.col]).ravel() / common.data
        corrected = (share * labels - 1) / max(labels - 1, 1)
        first = np.concatenate([common.row, common.col])
        second = np.concatenate([common.col, common.row])
        order = np.lexsort((second, first))
        partners = np.bincount(first, minlength=workers).astype(np.int32)
        return cls(first[order], second[order], np.tile(corrected, 2)[order], partners)

    def trimmed(self, factor: FloatArray, own: FloatArray, trim: int, least: float) -> FloatArray:
        """Each worker's trimmed mean of |agreement| / the partner's factor; `own` if none is left.

        `least` stands for a mean of 0. A negative `trim` leaves the largest ratio only.
        """
        ratio = np.abs(self.agreement) / factor[self.other]
        ratio = ratio[np.lexsort((ratio, self.worker))]
        starts = np.concatenate([[0], np.cumsum(self.partners)])
        below = segment_sums((ratio < own[self.worker]).astype(float), starts)
        above = segment_sums((ratio > own[self.worker]).astype(float), starts)
        low = np.minimum(below, trim) if trim >= 0 else np.maximum(self.partners - 1, 0)
        high = self.partners - np.minimum(above, max(trim, 0))
        rank = np.arange(len(ratio)) - starts[self.worker]
        kept = (rank >= low[self.worker]) & (rank < high[self.worker])
        sums = segment_sums(np.where(kept, ratio, 0.0), starts)
        mean = sums / np.maximum(high - low, 1)
        mean = np.clip(np.where(mean > 0, mean, least), 1 / LARGEST, LARGEST)
        return np.where(high > low, mean, own)


class Factors(NamedTuple):
    """|agreement| ≈ u vᵀ, and by how much u vᵀ moved in each round (Frobenius norm)."""

    u: FloatArray
    v: FloatArray
    moved: tuple[float, ...]
    converged: bool

    @property
    def skill(self) -> FloatArray:
        """|q| of each worker."""
        return np.asarray(self.u * ((self.v @ self.v) / (self.u @ self.u)) ** 0.25)


@dataclass(frozen=True, slots=True)
class MMSR:
    """Skills by robust rank-one completion of the matrix of agreements (Ma & Olshevsky 2020).

    If worker k is right with probability pₖ and errs uniformly among s labels, the agreement of two
    workers, corrected for chance, is qₖ qₗ with qₖ = (s pₖ − 1) / (s − 1). Alternates between both
    factors of |agreement| ≈ u vᵀ, each entry the mean of its ratios without the F largest above
    it and the F smallest below it:

        vₗ = trimmed mean over k of |Cₖₗ| / uₖ,   uₖ = trimmed mean over l of |Cₖₗ| / vₗ
        weight wₖ = ln( pₖ (s − 1) / (1 − pₖ) ),   truth = argmax of the weighted vote

    F is half the number of partners of the worker with the fewest, less one. The sign of q is that
    of the worker's agreement with the others, weighted by their q, starting from all positive:
    most workers are taken to be better than chance. Workers without partners get the mean q. The
    paper starts from random factors; here they start at 1, so that the result depends neither on a
    seed nor on names. Stops when u vᵀ moves by less than `tolerance` (Frobenius norm). Confidence
    is the softmax of the weighted votes.

    It needs the agreement of every pair of workers: all answers must be in memory.
    """

    max_rounds: int = 1000
    tolerance: float = 1e-6

    name: ClassVar[str] = "m-msr"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)

    def fit(self, engine: Engine) -> Result:
        workers, labels = len(engine.workers), engine.domain.size
        pairs = Pairs.among(*list_answers(engine), workers, labels)
        paired = pairs.partners > 0
        trim = max(int(pairs.partners[paired].min(initial=0)) // 2 - 1, 0)
        margin = 1 / np.sqrt(engine.task_count + 1)
        ended = self.complete(pairs, np.ones(workers), np.ones(workers), trim, margin)
        q = _signed(pairs, ended.skill)
        q[~paired] = q[paired].mean() if paired.any() else 1.0
        weights = skill_weights(q, labels, margin)
        posterior = softmax(engine.map(Votes(weights, labels)))
        settled = Settled(weights, len(ended.moved), ended.converged)
        return label_result(self, engine, posterior, settled)

    def complete(
        self, pairs: Pairs, u: FloatArray, v: FloatArray, trim: int, least: float
    ) -> Factors:
        """Both factors in turn, until their product settles or the rounds are used up."""
        moved: list[float] = []
        for _ in range(self.max_rounds):
            new_v = pairs.trimmed(u, v, trim, least)
            new_u = pairs.trimmed(new_v, u, trim, least)
            moved.append(_distance(u, v, new_u, new_v))
            u, v = new_u, new_v
            if moved[-1] < self.tolerance:
                return Factors(u, v, tuple(moved), converged=True)
        return Factors(u, v, tuple(moved), converged=False)


def skill_weights(q: FloatArray, labels: int, margin: float) -> FloatArray:
    """ln(p (s − 1) / (1 − p)) with p = (1 + (s − 1) q) / s and q at least `margin` off its ends."""
    others = max(labels - 1, 1)
    bounded = np.maximum(np.minimum(q, 1 - margin), margin - 1 / others)
    right = (bounded * others + 1) / (others + 1)
    return steady(np.log(right * others / (1 - right)))


def _signed(pairs: Pairs, skill: FloatArray) -> FloatArray:
    """The skills with the sign of the worker's agreement with the others, settled by rounds."""
    starts = np.concatenate([[0], np.cumsum(pairs.partners)])
    signed = skill
    for _ in range(SIGN_ROUNDS):
        support = segment_sums(pairs.agreement * signed[pairs.other], starts)
        before, signed = signed, np.where(support < 0, -skill, skill)
        if (before == signed).all():
            break
    return np.array(signed)


def _distance(u: FloatArray, v: FloatArray, new_u: FloatArray, new_v: FloatArray) -> float:
    """‖u vᵀ − u′ v′ᵀ‖, without the matrices."""
    du, dv = new_u - u, new_v - v
    square = (du @ du) * (new_v @ new_v) + (u @ u) * (dv @ dv) + 2 * (du @ u) * (new_v @ dv)
    return math.sqrt(max(float(square), 0.0))


LARGEST = 1e12
"""The largest factor: some agreements have no factors, and an entry would grow without end."""
SIGN_ROUNDS = 20
"""At most this many rounds decide the signs."""
