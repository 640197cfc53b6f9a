"""Composition: the joint guarantee of several reports or campaigns of one worker.

Reports that each have fresh noise with their own pure ε, and the guarantees and calibration of
mechanisms made of them; and the sum of several guarantees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import nextafter
from typing import Protocol, TypeVar

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray, Guarantee, Unit, UnitName
from sottovoce.model.guarantee import check_answer_count, check_delta, check_epsilon
from sottovoce.model.policy import check_target
from sottovoce.privacy.calibration import smallest_number

ASSUMPTIONS = (
    "campaigns have independent noise",
    "a campaign may be chosen depending on earlier reports",
)


def composed(guarantees: Sequence[Guarantee]) -> Guarantee:
    """One guarantee for campaigns that each keep one: ε and δ add up, and so do the answers.

        P(S | a) ≤ exp(Σ εᵢ) P(S | a') + Σ δᵢ

    Dwork & Roth 2014, thm. B.1: by induction over the campaigns, each conditioned on the reports
    before it, so later policies may depend on earlier reports. It is an upper bound. For the unit
    answer it covers the same answer being asked for in every campaign.

    >>> from sottovoce.model import Unit, UnitName
    >>> print(composed([Guarantee(Unit.WORKER, 3, 1.0), Guarantee(Unit.WORKER, 2, 0.5, 1e-6)]))
    epsilon 1.5, delta 1e-06 per worker
    """
    if not guarantees:
        raise UsageError("there is no guarantee to compose")
    if len(guarantees) == 1:
        return guarantees[0]
    units = sorted({guarantee.unit for guarantee in guarantees})
    if len(units) > 1:
        raise UsageError(
            f"guarantees per {' and per '.join(units)} do not add up: state all in one unit"
        )
    stated = (line for guarantee in guarantees for line in guarantee.assumptions)
    return Guarantee(
        units[0],
        sum(guarantee.answers for guarantee in guarantees),
        math.fsum(guarantee.epsilon for guarantee in guarantees),
        min(math.fsum(guarantee.delta for guarantee in guarantees), 1.0),
        exact=False,
        assumptions=tuple(dict.fromkeys((*stated, *ASSUMPTIONS))),
        source="upper bound: basic composition (Dwork & Roth 2014, thm. B.1)",
    )


INDEPENDENT = "answers have independent noise"
THREE_POINTS = "exact: the losses of independent reports add up"
DOMINATED = "upper bound: Kairouz, Oh & Viswanath 2015, k binary randomised responses dominate"

TAIL = 1e-30
"""Tilted mass that may lie outside the window; it is added to delta in full."""


def repeated_guarantee(
    cell_epsilon: float,
    plus: float,
    answers: int,
    unit: UnitName,
    delta: float = 0.0,
    *,
    exact: bool = True,
    assumptions: tuple[str, ...] = (INDEPENDENT,),
    source: str = THREE_POINTS,
) -> Guarantee:
    """The smallest ε at delta for `answers` independent reports.

    A report's privacy loss under the worst pair of answers is +ε₀ with probability `plus`, -ε₀ with
    plus · exp(-ε₀), else 0. At delta 0 it is k ε₀ per worker and ε₀ per answer.

    >>> print(repeated_guarantee(0.1, 0.52497918747894, 1000, Unit.WORKER, 1e-6))
    epsilon 19.35, delta 1e-06 per worker
    """
    check_delta(delta)
    rounds = _rounds(cell_epsilon, plus, answers, unit)
    epsilon = rounds * cell_epsilon
    if delta > 0:
        # One margin here, two in `repeated_delta`: parameters that were calibrated by the latter
        # hold here at every larger ε too, despite any rounding of the last digits.
        within = delta / (1 + _margin(rounds))
        epsilon = smallest_number(
            lambda e: _delta(e, cell_epsilon, plus, rounds) <= within, 0.0, epsilon
        )
    return Guarantee(Unit(unit), answers, epsilon, delta, exact, assumptions, source)


def repeated_delta(
    epsilon: float, cell_epsilon: float, plus: float, answers: int, unit: UnitName
) -> float:
    """The smallest δ at ε: E[(1 - exp(ε - loss))₊] for the sum of the reports' losses.

    Rounded up by (answers + 1000) 2⁻⁴⁹ of itself, which exceeds the rounding error, save for the
    last digit of ε and of the losses themselves.

    >>> round(repeated_delta(1.0, 0.5, 0.6, 4, Unit.WORKER), 6)
    0.094189
    """
    check_epsilon(epsilon)
    rounds = _rounds(cell_epsilon, plus, answers, unit)
    return min(_delta(epsilon, cell_epsilon, plus, rounds) * (1 + 2 * _margin(rounds)), 1.0)


def pure_guarantee(
    cell_epsilon: float,
    answers: int,
    unit: UnitName,
    delta: float = 0.0,
    *,
    assumptions: tuple[str, ...] = (INDEPENDENT,),
    source: str = DOMINATED,
) -> Guarantee:
    """An upper bound for reports of which only the pure ε₀ of each is known.

    At delta 0 it is k ε₀ per worker, ε₀ per answer; with delta see `pure_delta`.

    >>> print(pure_guarantee(0.1, 1000, Unit.WORKER, 1e-6))
    epsilon 19.35, delta 1e-06 per worker
    """
    return repeated_guarantee(
        cell_epsilon,
        _binary(cell_epsilon),
        answers,
        unit,
        delta,
        exact=False,
        assumptions=assumptions,
        source=source,
    )


def pure_delta(epsilon: float, cell_epsilon: float, answers: int, unit: UnitName) -> float:
    """An upper bound on δ at ε for any reports with pure ε₀ each.

    Every pair of laws with |loss| ≤ ε₀ is a post-processing of the two laws of binary randomised
    response, whose loss is +ε₀ with exp(ε₀) / (1 + exp(ε₀)) and -ε₀ else; k reports are then a
    post-processing of k of those, also when later ones are chosen depending on earlier ones
    (Kairouz, Oh & Viswanath 2015).
    """
    return repeated_delta(epsilon, cell_epsilon, _binary(cell_epsilon), answers, unit)


def _binary(cell_epsilon: float) -> float:
    return 1 / (1 + math.exp(-cell_epsilon))


def _margin(rounds: int) -> float:
    """A bound on the relative error of `_delta`: each report adds some units in the last place."""
    return (rounds + 1000) * 2.0**-50


def _rounds(cell_epsilon: float, plus: float, answers: int, unit: UnitName) -> int:
    """The number of reports in which two neighbouring submissions may differ."""
    check_answer_count(answers)
    if not 0 <= cell_epsilon < math.inf:
        raise UsageError(f"an answer's epsilon must be a number from 0 up, not {cell_epsilon:g}")
    if not 0 < plus * (1 + math.exp(-cell_epsilon)) <= 1 + 1e-9:
        raise UsageError(f"no loss of {cell_epsilon:g} has the probability {plus:g}")
    return answers if Unit(unit) is Unit.WORKER else 1


def _delta(epsilon: float, cell_epsilon: float, plus: float, rounds: int) -> float:
    """Σᵢ P(i) (1 - exp(ε - (k - i) ε₀))₊, where i counts 1 for every loss of 0 and 2 for -ε₀.

    The law of i is tilted by y⁻ⁱ so that its mean lies where the sum begins; then its tail is not
    lost in rounding:

        P(i) = c^k yⁱ Q(i),   c = a + z/y + b/y²,   Q the law of k steps (a, z/y, b/y²) / c.
    """
    if epsilon >= rounds * cell_epsilon:
        return 0.0
    if rounds == 1:
        return plus * -math.expm1(epsilon - cell_epsilon)
    minus = plus * math.exp(-cell_epsilon)
    zero = max(1 - plus - minus, 0.0)
    last = rounds - math.floor(epsilon / cell_epsilon)
    tilt = _tilt(plus, zero, minus, (rounds - last + 0.5) / (rounds + 1))
    one, two = zero * math.exp(-tilt), minus * math.exp(-2 * tilt)
    log_scale = rounds * math.log1p(zero * math.expm1(-tilt) + minus * math.expm1(-2 * tilt))
    steps = plus + one + two
    first, law = _law(one / steps, two / steps, rounds)
    index = np.arange(first, min(first + len(law), last + 1))
    gain = -np.expm1(np.minimum(epsilon - (rounds - index) * cell_epsilon, 0.0))
    value = np.sum(law[: len(index)] * gain * np.exp(log_scale + tilt * index))
    outside = TAIL * math.exp(log_scale + tilt * last)
    # Below the smallest float the mass is still positive: it must not become 0.
    return float(value) + outside + 5e-324


def _tilt(plus: float, zero: float, minus: float, mean: float) -> float:
    """ln y ≥ 0 at which the steps +1, 0, -1 with weights a y, z, b / y have this mean."""
    root = math.hypot(mean * zero, 2 * math.sqrt(plus * minus * (1 - mean) * (1 + mean)))
    if mean < 0 or mean <= plus - minus:
        return 0.0
    return max(math.log((mean * zero + root) / (2 * plus * (1 - mean))), 0.0)


def _law(one: float, two: float, rounds: int) -> tuple[int, FloatArray]:
    """The law of a sum of steps that are 1 with probability `one`, 2 with `two`, else 0.

    From its characteristic function φᵏ by a Fourier transform over a window around the mean. By
    Bernstein's inequality no more than TAIL lies outside; the transform folds that into the window.
    """
    mean, variance = one + 2 * two, one + 4 * two - (one + 2 * two) ** 2
    need = math.log(2 / TAIL)
    reach = math.ceil(2 * need / 3 + math.sqrt((2 * need / 3) ** 2 + 2 * need * rounds * variance))
    first, end = max(round(rounds * mean) - reach - 1, 0), round(rounds * mean) + reach + 2
    end = min(end, 2 * rounds + 1)
    size = 1 << (end - first).bit_length()
    angle = np.arange(size // 2 + 1) * (2 * math.pi / size)
    # φ - 1 and |φ|² - 1 without cancellation: a k-th power multiplies every error by k.
    real = -2 * (one * np.sin(angle / 2) ** 2 + two * np.sin(angle) ** 2)
    imaginary = one * np.sin(angle) + two * np.sin(2 * angle)
    with np.errstate(divide="ignore"):
        log_size = 0.5 * rounds * np.log1p(np.maximum(real * (2 + real) + imaginary**2, -1.0))
    turn = rounds * np.arctan2(imaginary, 1 + real) - first * angle
    # The transform has exp(+i angle j); φ was written with the same sign, so it is conjugated.
    law = np.fft.irfft(np.exp(log_size) * np.exp(-1j * turn), size)[: end - first]
    return first, np.maximum(law, 0.0)


TOLERANCE = 1e-7
"""How far below a target calibration aims, and the precision of its search."""

LARGEST = 45.0
"""Above ln 2⁶⁴ no integer law has an ε; a search need not go there."""


class PureCell(Protocol):
    """The law of one report: its exact ε, and δ at a smaller one."""

    @property
    def cell_epsilon(self) -> float:
        """max ln P(report | answer) / P(report | another answer): attained."""
        ...

    def cell_delta(self, epsilon: float) -> float:
        """At least max Σ [P(report | answer) - exp(ε) P(report | another answer)]₊."""
        ...


Cell = TypeVar("Cell", bound=PureCell)


def cells_guarantee(
    cell: PureCell, answers: int, unit: UnitName, delta: float, *, exact: bool
) -> Guarantee:
    """The guarantee of `answers` independent reports; `exact` is that of the cell's curve.

    At delta 0 it is exact: a worker's loss is the sum of its reports', and each can reach ε₀.
    Per worker with a delta it is the bound of `pure_delta`.
    """
    pure = pure_guarantee(cell.cell_epsilon, answers, unit, delta)
    if delta == 0:
        return replace(pure, exact=True, source="exact: the losses of independent reports add up")
    if not _single(answers, unit):
        return pure
    epsilon = smallest_number(lambda e: cell.cell_delta(e) <= delta, 0.0, cell.cell_epsilon)
    return replace(
        pure, epsilon=epsilon, exact=exact, source="the hockey-stick divergence of one report"
    )


def cells_delta(cell: PureCell, epsilon: float, answers: int, unit: UnitName) -> float:
    """The inverse on the same curve."""
    bound = pure_delta(epsilon, cell.cell_epsilon, answers, unit)
    return min(cell.cell_delta(epsilon), bound) if _single(answers, unit) else bound


def calibrated_cell(
    make: Callable[[float, float], Cell],
    epsilon: float,
    *,
    unit: UnitName,
    delta: float,
    answers: int,
) -> Cell:
    """The least noise within the target.

    `make(ε₀, tolerance)` is the law whose cell ε is at most ε₀, and less by at most the tolerance
    where integers allow.
    """
    check_target(epsilon, delta, answers)
    rounds = answers if Unit(unit) is Unit.WORKER else 1
    fine = TOLERANCE / rounds
    if delta == 0:
        # One step down, so that `rounds` times it does not round to more than the target.
        return make(epsilon if rounds == 1 else nextafter(epsilon / rounds, 0.0), fine)
    aim = epsilon * (1 - min(TOLERANCE, TOLERANCE / epsilon))

    def holds(cell_epsilon: float) -> bool:
        if rounds == 1:
            return make(cell_epsilon, fine).cell_delta(aim) <= delta
        return pure_delta(aim, cell_epsilon, answers, unit) <= delta

    return make(_largest(holds, aim / rounds, fine), fine)


def _single(answers: int, unit: UnitName) -> bool:
    return Unit(unit) is Unit.ANSWER or answers == 1


def _largest(holds: Callable[[float], bool], low: float, fine: float) -> float:
    """The largest number that holds, if `low` does and all between them."""
    if holds(LARGEST):
        return LARGEST
    high = low
    while holds(high):
        low, high = high, min(2 * high, LARGEST)
    while high - low > fine:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
