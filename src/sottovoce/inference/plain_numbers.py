"""Truths that are numbers, from plain answers: Student-t errors, and workers of different scale."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np
import scipy  # its parts are imported on first use

from sottovoce.inference.aggregator import (
    NUMBERS,
    Limits,
    Settled,
    check_parameters,
    number_result,
    settle,
)
from sottovoce.inference.steps.arithmetic import steady
from sottovoce.inference.steps.peers import TASK_PRIOR
from sottovoce.inference.steps.tails import (
    Scale,
    ScaleSums,
    TailLikelihood,
    Tails,
    TailSums,
    TailTruths,
)
from sottovoce.inference.steps.votes import AnswersPerWorker
from sottovoce.inference.weights import spread_of
from sottovoce.model import Codes, FloatArray, Kind, Result
from sottovoce.seams import Engine

FREEDOMS = (4.0, 2.0, 16.0, np.inf)
"""Degrees of freedom that are tried; the first also decides between the scales."""
LEAST_WIDTH, WIDTH = 0.1, 2.0
"""The precision of answers when tails are compared: without ties, and if half of them are tied.

In units of (mean √|offset from the task's mean|)². Many crowds answer 0, or a round number, so
often that a density would reward any narrow peak there.
"""
FINEST = 1e-6
"""The least variance of a typical worker, in squared units of the mean absolute deviation."""
SHAPES = np.geomspace(1.0, 100.0, 60)
"""Degrees of freedom of the distribution of workers' variances."""
ENOUGH = 10
"""The fewest tasks from which a prior of truths is learnt."""
KNOWN_PRIOR = 5.0
"""The number of known truths that the default share of shared errors counts as."""


class Prior(NamedTuple):
    """The truths' mean, the precision with which it pulls, and the variance of that mean."""

    mean: float
    precision: float
    doubt: float


class LearntTails(NamedTuple):
    """Errors of workers, their typical square, and the prior: enough for the truth of a task.

    `shared` is the variance of errors that all workers of a task share, over that of their own.
    """

    settled: Settled
    tails: Tails
    typical: float
    shared: float
    prior: Prior

    def among(self, workers: Codes, count: int) -> LearntTails:
        """The same for a subset of the workers."""
        settled, tails = self.settled.among(workers, count), self.tails.among(workers)
        return self._replace(settled=settled, tails=tails)


class _Trial(NamedTuple):
    """Workers' precisions after a few rounds under one tail on one scale, and both evidences."""

    tails: Tails
    by_density: float
    by_cells: float


@dataclass(frozen=True)
class _Few:
    """Rounds that suffice to compare tails and scales."""

    max_rounds: int = 15
    tolerance: float = 1e-2


@dataclass(frozen=True, slots=True)
class PlainNumbers:
    """Truths from plain numbers; `aware-numbers` under a policy is this with the noise's law.

    An answer is yᵢⱼ = xⱼ + σᵢ e, where e has Student's distribution with ν degrees of freedom:

        weight     u = (ν + 1) / (ν + ((y − x)² + V) / σᵢ²)
        truth      xⱼ = Σᵢ u yᵢⱼ/σᵢ² · Vⱼ,   Vⱼ = 1 / Σᵢ u/σᵢ²
        variance   σᵢ² = (a s² + Σⱼ u ((y − x)² + V)) / (a + nᵢ)

    Truths start at medians. s² and a, the typical variance and how much a worker's counts like it,
    are learnt. ν (2, 4, 16 or infinite) is the one under which the answers are likeliest; the more
    answers are tied, the less precisely they count as known (`LEAST_WIDTH`). If all answers are
    positive, the same is tried with y = ln v, and the density of the answers decides (ν = 4).

    Truths are pulled towards their mean m only where answers say little about them: with v the mean
    of V and τ² = var(x) − v, the prior's precision is min(1, (v/τ²)²) / τ².

    Workers err alike on a task, which answers alone cannot show. The standard error assumes that
    the shared error has the variance of one worker's own error on the task; with `known` truths,
    NaN where unknown, it is estimated from them, and so is the crowd's bias. Known truths also
    replace estimates when workers are weighed.
    """

    max_rounds: int = 100
    tolerance: float = 1e-4
    known: FloatArray | None = field(default=None, kw_only=True, compare=False)

    name: ClassVar[str] = "aware-numbers"
    takes: ClassVar[frozenset[Kind]] = NUMBERS

    def __post_init__(self) -> None:
        check_parameters(self)

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> LearntTails:
        scales = self._scales(engine)
        if not scales:
            return _without_comparison(engine)
        counts = engine.total(AnswersPerWorker(len(engine.workers)))
        even = np.ones(len(counts))
        first = [
            _tried(engine, counts, Tails(even, FREEDOMS[0], scale, self.known)) for scale in scales
        ]
        start = max(first, key=lambda trial: trial.by_density)
        rest = [
            _tried(engine, counts, replace(start.tails, freedom=freedom))
            for freedom in FREEDOMS[1:]
        ]
        best = max([start, *rest], key=lambda trial: trial.by_cells)
        settled = _weighed(self, engine, counts, best.tails)
        tails = replace(best.tails, precision=settled.weights)
        sums = engine.total(TailSums(tails))
        answers, *_, tasks = engine.total(ScaleSums(log=False))
        *_, spread, mass = sums
        typical = float(spread / mass * answers / (answers - tasks))
        weights = steady(settled.weights * np.mean(1 / settled.weights))
        tails, settled = replace(tails, known=None), settled._replace(weights=weights)
        return LearntTails(settled, tails, typical, 1.0, _prior(sums, tasks))

    def _scales(self, engine: Engine) -> list[Scale]:
        """The scales to try, standardised; none if no two answers to a task differ."""
        found = []
        for log in (False, True):
            answers, added, away, _, _, improper, compared, *_ = engine.total(ScaleSums(log))
            if log and (improper or (self.known is not None and (self.known <= 0).any())):
                break
            centre = added / answers
            if away > 1e-12 * answers * abs(centre):
                found.append(Scale(log, float(centre), float(away / compared)))
        return found

    def tell(self, engine: Engine, learnt: LearntTails) -> Result:
        scale, prior = learnt.tails.scale, learnt.prior
        location, variance, spread, counts = engine.map(TailTruths(learnt.tails)).T
        others = np.maximum(counts - 1, 0.0)
        own = spread * counts + TASK_PRIOR * learnt.typical
        own = own / (others + TASK_PRIOR)
        variance = variance * own / learnt.typical if learnt.typical > 0 else variance * 0
        pull = variance * prior.precision / (1 + variance * prior.precision)
        location = location + pull * (prior.mean - location)
        variance = variance * (1 - pull) + np.square(pull) * prior.doubt
        shift, shared = 0.0, learnt.shared * own
        given = np.full(len(counts), np.nan) if self.known is None else self.known
        seen = ~np.isnan(given) & (counts > 0)
        if seen.any():
            errors = scale.standard(given[seen]) - location[seen]
            shift, doubt, factor = _shared_errors(errors, variance[seen], own[seen])
            shared = factor * own + doubt
        truths = scale.original(location + shift)
        error = scale.unit * np.sqrt(variance + shared) * (truths if scale.log else 1.0)
        truths = np.where(np.isnan(given), truths, given)
        error = np.where(np.isnan(given), error, 0.0)
        return number_result(
            self, engine, truths, learnt.settled, standard_error=error, log_scale=scale.log
        )


def _weighed(limits: Limits, engine: Engine, counts: FloatArray, tails: Tails) -> Settled:
    """Rounds that learn the workers' precisions."""

    def update(precision: FloatArray) -> FloatArray:
        sums = engine.total(TailSums(replace(tails, precision=precision)))
        return 1 / _variances(sums[: len(counts)], counts)

    return settle(limits, update, tails.precision, counts)


def _tried(engine: Engine, counts: FloatArray, tails: Tails) -> _Trial:
    """A few rounds, and the evidence for this tail and this scale."""
    tails = replace(tails, precision=_weighed(_Few(), engine, counts, tails).weights)
    sums, scale = engine.total(TailSums(tails)), tails.scale
    answers, _, _, roots, logs, _, compared, tied, tasks = engine.total(ScaleSums(scale.log))
    width = LEAST_WIDTH + (WIDTH - LEAST_WIDTH) * min(1.0, 2 * tied / compared)
    width *= (roots / compared) ** 2 / scale.unit
    density, cells, volume, wider = engine.total(TailLikelihood(tails, float(width)))
    workers = _crowd_evidence(sums[: len(counts)], counts, tails.precision)
    units = answers * np.log(scale.unit) + (logs if scale.log else 0.0)
    mean, squares, doubt = sums[-5:-2] / tasks
    truths = tasks / 2 * (np.log(2 * np.pi * (squares - mean**2 + doubt)) + 1)
    by_density = density - units + volume - truths + workers
    return _Trial(tails, float(by_density), float(cells + wider + workers))


def _without_comparison(engine: Engine) -> LearntTails:
    """All weigh alike if no two answers to a task differ; if none has two, errors are unknown.

    Then the spread of all answers bounds the error of each.
    """
    answers, *_, tasks = engine.total(ScaleSums(log=False))
    deviation = spread_of(engine) if answers == tasks else 0.0
    weights = np.ones(len(engine.workers))
    tails = Tails(weights, np.inf, Scale(log=False, unit=deviation or 1.0))
    typical = 1.0 if deviation else 0.0
    return LearntTails(Settled(weights, 1, converged=True), tails, typical, 0.0, Prior(0, 0, 0))


def _crowd(squares: FloatArray, counts: FloatArray) -> tuple[float, float]:
    """(a, s²): each worker's 1/σ² is χ²(a) / (a s²), fitted by EM to Σ u r² and the counts."""
    digamma = scipy.special.digamma
    ratios = digamma(SHAPES / 2) - np.log(SHAPES / 2)
    shape, typical = 4.0, max(float(squares.sum() / counts.sum()), FINEST)
    for _ in range(30):
        freedom, sums = shape + counts, shape * typical + squares
        inverse = float(np.mean(freedom / sums))
        typical = max(1 / inverse, FINEST)
        logs = float(np.mean(digamma(freedom / 2) - np.log(sums / 2)))
        shape = float(np.interp(logs - np.log(inverse), ratios, SHAPES))
    return shape, typical


def _variances(squares: FloatArray, counts: FloatArray) -> FloatArray:
    """Workers' variances, shrunk towards the typical one."""
    active = counts > 0
    shape, typical = _crowd(squares[active], counts[active])
    return np.asarray((shape * typical + squares) / (shape + counts))


def _crowd_evidence(squares: FloatArray, counts: FloatArray, precision: FloatArray) -> float:
    """Σ ln P(σ²) over workers, each with the volume of its posterior (Laplace in ln σ²)."""
    active = counts > 0
    shape, typical = _crowd(squares[active], counts[active])
    half, held = shape / 2, precision[active]
    logs = (
        half * np.log(half * typical * held) - scipy.special.gammaln(half) - half * typical * held
    )
    return float(np.sum(logs + np.log(4 * np.pi / (shape + counts[active])) / 2))


def _prior(sums: FloatArray, tasks: float) -> Prior:
    """A prior that pulls only if truths differ by little more than their errors."""
    mean, squares, noise = sums[-5:-2] / tasks
    if tasks < ENOUGH:
        return Prior(0.0, 0.0, 0.0)
    spread = max(squares - mean**2 - noise, 1e-9 * noise)
    strength = min(1.0, (noise / spread) ** 2) / spread
    return Prior(float(mean), float(strength), float((spread + noise) / tasks))


def _shared_errors(
    errors: FloatArray, variances: FloatArray, own: FloatArray
) -> tuple[float, float, float]:
    """(shift, its variance, variance of shared errors over workers' own), from known truths.

    The shift is the mean error, shrunk by its own noise (James-Stein).
    """
    mean, count = float(errors.mean()), len(errors)
    expected = float(np.mean(variances + own))
    spread = float(np.square(errors - mean).sum() + KNOWN_PRIOR * expected)
    doubt = spread / (count - 1 + KNOWN_PRIOR) / count
    shift = mean * max(0.0, 1 - doubt / mean**2) if mean else 0.0
    left = np.square(errors - shift) - variances
    ratios = np.divide(left, own, out=np.ones_like(left), where=own > 0)
    factor = max(0.0, float(ratios.sum() + KNOWN_PRIOR) / (count + KNOWN_PRIOR))
    return shift, doubt, factor
