"""The guarantee of noised rounds, and the noise that a target needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.discrete_gaussian import MOST_VARIANCE
from sottovoce.mechanisms.laws.polya import FLATTEST
from sottovoce.model import Guarantee, Unit, UnitName
from sottovoce.model.guarantee import check_count
from sottovoce.model.policy import check_target
from sottovoce.privacy.calibration import smallest_integer
from sottovoce.privacy.concentrated_privacy import concentrated_epsilon, largest_rho, summed_rho
from sottovoce.securesum.em.sensitivity import NoisedSlots
from sottovoce.securesum.em.terms import MOST_NOISED, EMTerms, Law, Mode, NoiseTerms, RoundNoise
from sottovoce.securesum.em.weights import MOST_SCALE, SMOOTHING, Moves

REACHED = 1e-39
"""The cost of the noise's finite reach, in each slot and for each share (see `guarantee`)."""

SOURCE = (
    "upper bound: discrete Laplace noise, and sums of discrete Gaussians (Kairouz, Liu & Steinke "
    "2021, prop. 14; Canonne, Kamath & Steinke 2020, prop. 12)"
)


@dataclass(frozen=True, slots=True)
class _Spent:
    """The cost of one round: ε if its noise is Laplace, and ρ in any case."""

    pure: float | None
    rho: float


def guarantee(terms: EMTerms, answers: int, unit: UnitName) -> Guarantee:
    """(ε, δ) for a worker with up to `answers` answers, against an observer of every opened sum.

    Neighbours differ in one answer among {none, labels}; for the unit worker, in all of them: up to
    `answers` answers to any tasks against up to as many to any others. In round r a vector moves by
    Σ|move| = Δ₁ and Σ move² = Δ₂² at most (`counted_moves`, `answer_moves`), every slot has
    independent noise, and of its shares those of `honest` workers count: the others' shares are
    post-processing. So round r keeps

        Laplace, size b:     ε = Δ₁ / b,  and ρ = Δ₂² / 2b²: a slot that moves by m keeps ε = m/b,
                             hence ρ = ε²/2 (Bun & Steinke 2016, prop. 1.4), and slots add up
        Gaussian, size σ²:   ρ of a sum of discrete Gaussians (`summed_rho`)

    Rounds may depend on earlier openings; ρ adds up, and so do ε and δ. Two bounds hold, and the
    smaller one is stated: ε of the Laplace rounds plus that of the others' ρ at δ; or that of the ρ
    of all.

    δ is that of the conversion, which is in the terms, plus the cost of the noise's reach: noise
    beyond it is drawn again. In one slot this happens to any of n honest shares with probability n
    10⁻¹⁰⁰ at most (`TAIL`). Let an output be usual if their noise is nowhere farther out than is
    seen with probability 10⁻⁵⁰. Up to there every value has probability 10⁻⁶⁰ or more (for b and √n
    σ up to 10⁶), which drawing again changes by a factor within 1 ± n 10⁻⁴⁰. So on usual outputs
    everything above holds up to these factors, and others cost their own probability: slots · n ·
    10⁻³⁹ exceeds both, for any ε. Without Gaussian rounds there may be no other δ.
    """
    unit = Unit(unit)
    check_count("answers", answers)
    slots, tasks = NoisedSlots(terms), len(terms.tasks)
    if not 1 <= answers <= tasks:
        raise UsageError(f"answers must be from 1 to the {tasks:,} tasks, not {answers:,}")
    rounds = range(len(slots.noise.rounds))
    spent = [_spent(slots, number, slots.moves(number, answers, unit)) for number in rounds]
    beyond = slots.noise.honest * REACHED * sum(slots.values(number) for number in rounds)
    epsilon, delta = _converted(spent, float(slots.noise.delta), beyond)
    return Guarantee(unit, answers, epsilon, delta, False, _assumptions(slots.noise), SOURCE)


def default_honest(workers: int) -> int:
    """Half of the workers: this many honest shares are needed for the guarantee.

    >>> default_honest(20), default_honest(3)
    (10, 2)
    """
    return -(-workers // 2)


def _spent(slots: NoisedSlots, number: int, moves: Moves) -> _Spent:
    noise = slots.noise
    each = noise.rounds[number]
    if each.law is Law.GAUSSIAN:
        size = float(each.size)
        return _Spent(None, summed_rho(moves.squared, size, noise.honest, slots.values(number)))
    return _Spent(_up(moves.absolute / each.size), _up(moves.squared / (2 * each.size**2)))


def _converted(spent: Sequence[_Spent], delta: float, beyond: float) -> tuple[float, float]:
    """(ε, δ): see `guarantee`."""
    pure = math.fsum(each.pure for each in spent if each.pure is not None)
    rho = math.fsum(each.rho for each in spent if each.pure is None)
    ways = [(pure, 0.0)] if rho == 0 else []
    if delta > 0:
        every = math.fsum(each.rho for each in spent)
        ways += [
            (pure + concentrated_epsilon(rho, delta), delta),
            (concentrated_epsilon(every, delta), delta),
        ]
    epsilon, delta = min(ways, default=(math.inf, 1.0))
    return epsilon, min(delta + beyond, 1.0)


def _up(exact: Fraction) -> float:
    """The least float that is not below."""
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def _assumptions(noise: NoiseTerms) -> tuple[str, ...]:
    return (
        f"at least {noise.honest} of the workers in every opened set follow the protocol and draw "
        "their noise from the operating system's generator; all others may collude with the "
        "server",
        "fewer workers collude with the server than it takes to open the sums of two sets of "
        "workers in one round",
        "nobody breaks the cryptography of the suite",
    )


FIRST = Fraction(1, 3)
"""The counts' share of the budget if weighted rounds follow: by measured error."""

CLOSE = Fraction(1, 10**9)
"""How far below the target a simpler fraction may be, as a share of it."""

PARTS = 10**6
"""Sizes of Laplace noise are rounded up to this many parts of a step."""

COARSEST, SMOOTHEST = 64, 8
"""The fewest steps of a weight, and the least deviation of a Gaussian share in steps."""

MOST_PROPOSALS = 1 << 23
"""Draws of Laplace shares that need more proposals than this take too long."""

LEAST_EPSILON, MOST_EPSILON = 1e-4, 1000

FINEST = 1024
"""The number of parts of itself by which noise is reduced."""

NEARLY = 1 << 12
"""Steps of a weight at which the size of the noise is tried first."""

NOTHING = 1e-20
"""A delta that may be spent if none is requested: the cost of the noise's reach is far below."""


_Laws: TypeAlias = tuple[Law, Law]
"""The law of the noise in counts, and that in weighted rounds."""


def calibrated(
    tasks: Sequence[str],
    labels: Sequence[str],
    epsilon: float,
    delta: float,
    *,
    honest: int,
    weighted_rounds: int = 0,
    law: Law | None = None,
) -> EMTerms:
    """Noised rounds with the least noise that keeps (epsilon, delta) per answer.

    Without weighted rounds the counts have Laplace noise of ε, and delta is not needed. With them
    the counts get a third of ε; the rest is for Laplace noise in all weighted rounds equally, or
    for Gaussian noise, whichever has the smaller variance. `law` requests one of them, in all
    rounds and in the counts too. The scale is so fine that steps hardly matter: a Gaussian share
    has a deviation of 8 steps or more. The guarantee assumes `honest` workers (`default_honest`).

    >>> terms = calibrated(["q1", "q2"], ["no", "yes"], 1.0, 0.0, honest=10)
    >>> [(str(each.law), each.size) for each in terms.noise.rounds]
    [('laplace', Fraction(2, 1))]
    """
    check_target(epsilon, delta, 1)
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise UsageError(
            f"epsilon must be from {LEAST_EPSILON:g} to {MOST_EPSILON:,}, not {epsilon:g}"
        )
    if not 0 <= weighted_rounds < MOST_NOISED:
        raise UsageError(
            f"weighted_rounds must be from 0 to {MOST_NOISED - 1}, not {weighted_rounds}"
        )
    # A little of delta is for the reach.
    asked = _Asked(
        tuple(tasks),
        tuple(labels),
        _at_most(epsilon),
        _at_most(delta * (1 - 1e-4)),
        honest,
        weighted_rounds,
    )
    found = [_least(asked, laws, epsilon, delta) for laws in _laws(asked, law)]
    fitting = [terms for terms in found if terms is not None]
    if not fitting:
        raise UsageError(
            f"noise for epsilon {epsilon:g} and delta {delta:g} over {len(tasks):,} tasks is too "
            "wide to draw: allow a delta, a larger epsilon or fewer rounds"
        )
    return min(fitting, key=lambda terms: float(NoisedSlots(terms).variances(honest)[-1]))


@dataclass(frozen=True, slots=True)
class _Asked:
    """The target of the calibration."""

    tasks: tuple[str, ...]
    labels: tuple[str, ...]
    epsilon: Fraction
    delta: Fraction
    honest: int
    weighted: int

    @property
    def first(self) -> Fraction:
        """The counts' share of the budget."""
        return FIRST if self.weighted else Fraction(1)

    def laws(self, laws: _Laws) -> list[Law]:
        """The law of every round's noise."""
        return [laws[0]] + [laws[1]] * self.weighted

    def terms(self, scale: int, rounds: Sequence[RoundNoise]) -> EMTerms:
        """The terms with this noise."""
        noise = NoiseTerms(self.epsilon, self.delta, self.honest, tuple(rounds))
        return EMTerms(self.tasks, self.labels, Mode.NOISED, scale, noise=noise)


def _laws(asked: _Asked, law: Law | None) -> list[_Laws]:
    if law is not None:
        return [(law, law)]
    later = (Law.LAPLACE, Law.GAUSSIAN) if asked.weighted else (Law.LAPLACE,)
    return [(Law.LAPLACE, each) for each in later]


def _least(asked: _Asked, laws: _Laws, epsilon: float, delta: float) -> EMTerms | None:
    """The least noise of these laws; None if it cannot be drawn.

    Each round gets noise for its part of the budget. Parts that were added up cost less together
    than apart, so all noise is then reduced as far as the guarantee holds.
    """
    if Law.GAUSSIAN in laws and asked.delta == 0:
        return None
    scale = _scale(asked, laws)
    if scale is None:
        return None

    def noised(fineness: int) -> EMTerms:
        sizes = _sizes(asked, laws, scale, Fraction(fineness, FINEST))
        return asked.terms(scale, list(map(RoundNoise, asked.laws(laws), sizes)))

    def holds(fineness: int) -> bool:
        return guarantee(noised(fineness), 1, Unit.ANSWER).within(epsilon, max(delta, NOTHING))

    drawn = map(_is_drawn, asked.laws(laws), _sizes(asked, laws, scale, Fraction(1)))
    if not all(drawn) or not holds(FINEST):
        return None
    terms = noised(smallest_integer(holds, FINEST // 4, FINEST))
    return terms if _proposals(terms) <= MOST_PROPOSALS else None


def _scale(asked: _Asked, laws: _Laws) -> int | None:
    """Steps of a weight: rounding costs little, and shares of Gaussian noise are smooth.

    An answer moves up to I - 1 other slots by one step for rounding: Δ₁ by I, Δ₂² by I. So 2 I
    steps cost Laplace noise, and 4 √I steps Gaussian noise, little.
    """
    tasks = len(asked.tasks)
    if Law.GAUSSIAN not in laws:
        return min(2 * (tasks + SMOOTHING), MOST_SCALE) if asked.weighted else 1
    sizes = zip(asked.laws(laws), _sizes(asked, laws, NEARLY, Fraction(1)), strict=True)
    gaussian = [math.sqrt(size) / NEARLY for law, size in sizes if law is Law.GAUSSIAN]
    wanted = max(COARSEST, 4 * math.isqrt(tasks) + 4, math.ceil(SMOOTHEST / min(gaussian)))
    scale = min(wanted, math.floor(0.9 * math.sqrt(MOST_VARIANCE) / max(gaussian)), MOST_SCALE)
    return scale if scale * min(gaussian) >= SMOOTHEST else None


def _sizes(asked: _Asked, laws: _Laws, scale: int, factor: Fraction) -> list[Fraction]:
    """b or σ² of every round, for its part of the budget, times `factor` in the deviation."""
    every = asked.laws(laws)
    blank = [RoundNoise(law, Fraction(1)) for law in every]
    slots = NoisedSlots(asked.terms(scale, blank))
    moves = [slots.moves(number, 1, Unit.ANSWER) for number in range(len(every))]
    parts = [asked.first] + [(1 - asked.first) / max(asked.weighted, 1)] * asked.weighted
    pure = sum(part for law, part in zip(every, parts, strict=True) if law is Law.LAPLACE)
    rho = 0.0
    if pure < 1:
        rho = largest_rho(float(asked.epsilon * (1 - pure)), float(asked.delta)) / float(1 - pure)
    return [
        Fraction(math.ceil(move.absolute / (asked.epsilon * part) * factor * PARTS), PARTS)
        if law is Law.LAPLACE
        else _gaussian_size(move, rho * float(part), asked.honest, factor)
        for law, move, part in zip(every, moves, parts, strict=True)
    ]


def _gaussian_size(moves: Moves, rho: float, honest: int, factor: Fraction) -> Fraction:
    size = Fraction(moves.squared / (2 * rho * honest) * (1 + 1e-6))
    return Fraction(math.ceil(size * factor**2))


def _proposals(terms: EMTerms) -> float:
    """The approximate maximum number of draws for the Laplace shares of a round."""
    slots = NoisedSlots(terms)
    return max(
        float(slots.values(number) * each.size) if each.law is Law.LAPLACE else 0.0
        for number, each in enumerate(slots.noise.rounds)
    )


def _is_drawn(law: Law, size: Fraction) -> bool:
    """Whether there is a sampler for it."""
    return size <= MOST_VARIANCE if law is Law.GAUSSIAN else 1 / size >= FLATTEST


def _at_most(value: float) -> Fraction:
    """A fraction of integers up to 10¹² that is not above, as simple as the value itself."""
    exact = Fraction(value)
    near = exact.limit_denominator(10**6)
    if near <= exact and exact - near <= exact * CLOSE:
        return near
    parts = 10**12 // math.ceil(exact)
    return Fraction(math.floor(exact * parts), parts)
