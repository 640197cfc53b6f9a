"""The joint guarantee of reports that share a noise level drawn once per worker.

A flip probability p comes once per worker from a hyper distribution; each of k answers, one of s
symbols, is then replaced with probability p by one of the others. With m reports that differ from
their answers

    P(reports | answers) = g(m) = (s - 1)⁻ᵐ M(m),   M(m) = E[pᵐ (1 - p)ᵏ⁻ᵐ].

ln g is convex in m (Hölder), so the worst submissions are easy to find.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray, Guarantee, Unit, UnitName
from sottovoce.model.guarantee import check_answer_count, check_delta, check_epsilon
from sottovoce.privacy.calibration import smallest_number
from sottovoce.privacy.composition import repeated_delta
from sottovoce.privacy.hyper_distribution import Hyper

SECRET = ("each worker's flip probability is drawn once and never leaves the device",)


def mixture_guarantee(
    hyper: Hyper, symbols: int, answers: int, unit: UnitName, delta: float = 0.0
) -> Guarantee:
    """The smallest ε at delta; a proven bound for workers with a delta, else exact."""
    _check(symbols, answers)
    check_delta(delta)
    pure = worker_epsilon if Unit(unit) is Unit.WORKER else answer_epsilon
    epsilon = pure(hyper, symbols, answers)
    if delta > 0:
        epsilon = smallest_number(
            lambda e: mixture_delta(hyper, symbols, answers, unit, e) <= delta, 0.0, epsilon
        )
    exact = delta == 0 or Unit(unit) is Unit.ANSWER or answers == 1
    source = "P1 Alg. 1, all reports jointly"
    return Guarantee(Unit(unit), answers, epsilon, delta, exact, SECRET, source)


def mixture_delta(
    hyper: Hyper, symbols: int, answers: int, unit: UnitName, epsilon: float
) -> float:
    """The smallest δ at ε; a proven bound for workers with more than one answer."""
    _check(symbols, answers)
    check_epsilon(epsilon)
    if Unit(unit) is Unit.ANSWER or answers == 1:
        return answer_delta(hyper, symbols, answers, epsilon)
    return worker_delta_bound(hyper, symbols, answers, epsilon)


def answer_epsilon(hyper: Hyper, symbols: int, answers: int) -> float:
    """The exact pure ε per answer when all k reports are seen.

        ε = max( ln (s - 1) E₀[1 - p] / E₀[p],  ln Eₖ₋₁[p] / ((s - 1) Eₖ₋₁[1 - p]) )

    where Eₘ is the mean under a density ∝ pᵐ (1 - p)ᵏ⁻¹⁻ᵐ: a report that equals its answer, with m
    mismatches elsewhere, is (s - 1) Eₘ[1 - p] / Eₘ[p] times as likely as under another answer, and
    Eₘ[p] rises with m (monotone likelihood ratio). For k = 1 it is |P1 Thm. 6.3|.

    >>> from sottovoce.privacy.hyper_distribution import UniformHyper
    >>> round(math.exp(answer_epsilon(UniformHyper(0, 1), symbols=2, answers=50)), 9)
    50.0
    """
    flip, keep = hyper.given_matches(answers - 1)
    mirrored_keep, mirrored_flip = hyper.mirrored().given_matches(answers - 1)
    return max(
        _log_ratio((symbols - 1) * keep, flip),
        _log_ratio(mirrored_flip, (symbols - 1) * mirrored_keep),
    )


def worker_epsilon(hyper: Hyper, symbols: int, answers: int) -> float:
    """The exact pure ε per worker: max ln g - min ln g, because every pair of m can occur.

    The maximum of a convex function is at an end; its minimum is searched between.

    >>> from sottovoce.privacy.hyper_distribution import UniformHyper
    >>> round(math.exp(worker_epsilon(UniformHyper(0, 1), symbols=2, answers=10)), 6)  # C(10, 5)
    252.0
    """
    first, last = 0, answers
    while True:
        m = np.unique(np.linspace(first, last, 65).astype(np.int64))
        values = log_submission(hyper, symbols, m, answers)
        if (first, last) == (0, answers):
            most = float(max(values[0], values[-1]))
        best = int(np.argmin(values))
        if last - first <= 64:
            return most - float(values[best])
        first, last = int(m[max(best - 1, 0)]), int(m[min(best + 1, len(m) - 1)])


def answer_delta(hyper: Hyper, symbols: int, answers: int, epsilon: float) -> float:
    """The exact δ at ε per answer when all k reports are seen.

        δ = Σₘ C(k - 1, m) { [M(m) - e^ε M(m + 1) / (s - 1)]₊ + [M(m + 1) / (s - 1) - e^ε M(m)]₊ }

    M(m) / M(m + 1) falls with m, so the first bracket is positive up to some m₁ and the sum is
    E[((1 - p) - e^ε p / (s - 1)) P(Bin(k - 1, p) ≤ m₁)]; the second is the first of the law of 1 -
    p. This costs as much for 100,000 answers as for ten.
    """
    if epsilon >= answer_epsilon(hyper, symbols, answers):
        return 0.0
    spread = math.log(symbols - 1)
    kept = _half(hyper, answers, epsilon - spread)
    return min(1.0, kept + _half(hyper.mirrored(), answers, epsilon + spread) / (symbols - 1))


def worker_delta_bound(hyper: Hyper, symbols: int, answers: int, epsilon: float) -> float:
    """A δ that holds at ε per worker, even if p were published.

    Hiding p is post-processing, so δ ≤ E[δₚ], δₚ the exact curve of k independent reports.
    Symmetric channels compose: a p closer to 1 - 1/s is a post-processing of one further away, so
    δₚ falls until there and rises after, and its mean is bounded by its values at the ends of
    cells. At the exact pure ε and beyond, δ is 0.
    """
    if epsilon >= worker_epsilon(hyper, symbols, answers):
        return 0.0

    def published(flip: float, keep: float) -> float:
        other = flip / (symbols - 1)
        more, less = max(keep, other), min(keep, other)
        if less == 0:
            return 1.0
        return repeated_delta(epsilon, _log_ratio(more, less), more, answers, Unit.WORKER)

    return min(1.0, hyper.mean_at_most(published, cells=max(32, min(96, (1 << 20) // answers))))


def log_submission(
    hyper: Hyper, symbols: int, mismatches: npt.ArrayLike, answers: npt.ArrayLike
) -> FloatArray:
    """ln P(reports | answers) of workers with these numbers of mismatches and answers."""
    moved = np.asarray(mismatches, np.float64)
    return hyper.log_moments(moved, answers) - moved * math.log(symbols - 1)


def _half(hyper: Hyper, answers: int, log_ratio: float) -> float:
    """Σₘ C(k - 1, m) [M(m) - exp(log_ratio) M(m + 1)]₊."""
    flip, keep = hyper.given_matches(answers - 1)
    if log_ratio >= _log_ratio(keep, flip):  # the ratio of M(0) to M(1) is already too small
        return 0.0
    last = max(0, _last_above(hyper, answers, log_ratio))
    # A ratio beyond exp(700) is above M(m) / M(m + 1) unless p is 0 there, and then it is unused.
    return max(0.0, hyper.mean_below(answers - 1, last, math.exp(min(log_ratio, 700.0))))


def _last_above(hyper: Hyper, answers: int, log_ratio: float) -> int:
    """The last m below k with ln M(m) - ln M(m + 1) ≥ log_ratio, or -1."""
    holds, fails = -1, answers
    while fails - holds > 1:
        m = np.unique(np.linspace(holds + 1, fails - 1, 32).astype(np.int64))
        with np.errstate(invalid="ignore"):  # submissions that cannot occur: -∞ + ∞
            fall = hyper.log_moments(m, answers) - hyper.log_moments(m + 1, answers)
        above = int(np.argmin(np.append(fall >= log_ratio, False)))
        holds, fails = (
            int(m[above - 1]) if above else holds,
            int(m[above]) if above < len(m) else fails,
        )
    return holds


def _log_ratio(above: float, below: float) -> float:
    """ln(above / below), accurate where the two are close."""
    if above == 0 or below == 0:
        return math.inf if above > 0 else -math.inf
    if above < below / 2:
        return math.log(above) - math.log(below)
    return math.log1p((above - below) / below)


def _check(symbols: int, answers: int) -> None:
    if symbols < 2:
        raise UsageError(f"symbols must be at least 2, not {symbols}")
    check_answer_count(answers)
