"""How much noise a promise takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sottovoce.errors import UsageError
from sottovoce.inference.private_em.weighted import MOST_SCALE, SMOOTHING, Moves
from sottovoce.mechanisms.laws.discrete_gaussian import MOST_VARIANCE
from sottovoce.mechanisms.laws.polya import FLATTEST
from sottovoce.model import Unit
from sottovoce.model.policy import check_target
from sottovoce.privacy.calibration import smallest_integer
from sottovoce.privacy.concentrated_privacy import largest_rho
from sottovoce.securesum.em.guaranteeing import guarantee
from sottovoce.securesum.em.slots import Slots
from sottovoce.securesum.em.terms import (
    MOST_NOISED,
    EMTerms,
    Law,
    Mode,
    NoiseTerms,
    RoundNoise,
)

__all__ = ["calibrated"]

FIRST = Fraction(1, 3)
"""The share of the budget that the counts get where weighted rounds follow: by measured error."""

CLOSE = Fraction(1, 10**9)
"""How far below what was asked for a simpler fraction may be, as a share of it."""

PARTS = 10**6
"""Sizes of Laplace noise are rounded up to so many parts of a step."""

COARSEST, SMOOTHEST = 64, 8
"""The fewest steps of a weight, and the least deviation of a Gaussian share in steps."""

MOST_PROPOSALS = 1 << 23
"""Draws of Laplace shares that need more proposals than this take too long."""

LEAST_EPSILON, MOST_EPSILON = 1e-4, 1000

FINEST = 1024
"""In so many parts of itself noise is made smaller."""

NEARLY = 1 << 12
"""Steps of a weight at which the size of the noise is tried first."""

NOTHING = 1e-20
"""A delta that may be spent where none is asked for: what the reach of noise costs is far below."""


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
    the counts get a third of ε; the rest is for Laplace noise in all weighted rounds alike, or for
    Gaussian noise, whichever has the smaller variance. `law` asks for one of them, in all rounds
    and in the counts too. The scale is so fine that steps hardly matter: a Gaussian share has a
    deviation of 8 steps or more. The guarantee counts on `honest` workers (`default_honest`).

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
        raise UsageError(f"weighted_rounds is from 0 to {MOST_NOISED - 1}, not {weighted_rounds}")
    # A little of delta is for the reach.
    asked = _Asked(
        tuple(tasks), tuple(labels), _at_most(epsilon), _at_most(delta * (1 - 1e-4)), honest,
        weighted_rounds,
    )  # fmt: skip
    found = [_least(asked, laws, epsilon, delta) for laws in _laws(asked, law)]
    fitting = [terms for terms in found if terms is not None]
    if not fitting:
        raise UsageError(
            f"noise for epsilon {epsilon:g} and delta {delta:g} over {len(tasks):,} tasks is too "
            "wide to draw: allow a delta, a larger epsilon or fewer rounds"
        )
    return min(fitting, key=lambda terms: float(Slots(terms).variances(honest)[-1]))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What noise is calibrated for."""

    tasks: tuple[str, ...]
    labels: tuple[str, ...]
    epsilon: Fraction
    delta: Fraction
    honest: int
    weighted: int

    @property
    def first(self) -> Fraction:
        """The share of the budget that the counts get."""
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
    """The least noise of such laws; None if it cannot be drawn.

    Each round gets noise for its part of the budget. Parts that were added up cost less together
    than apart, so all noise is then made smaller as far as the guarantee holds.
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
    slots = Slots(asked.terms(scale, blank))
    moves = [slots.moves(number, 1, Unit.ANSWER) for number in range(len(every))]
    parts = [asked.first] + [(1 - asked.first) / max(asked.weighted, 1)] * asked.weighted
    pure = sum(part for law, part in zip(every, parts, strict=True) if law is Law.LAPLACE)
    rho = 0.0
    if pure < 1:
        rho = largest_rho(float(asked.epsilon * (1 - pure)), float(asked.delta)) / float(1 - pure)
    return [
        _laplace_size(move, asked.epsilon * part, factor)
        if law is Law.LAPLACE
        else _gaussian_size(move, rho * float(part), asked.honest, factor)
        for law, move, part in zip(every, moves, parts, strict=True)
    ]


def _laplace_size(moves: Moves, epsilon: Fraction, factor: Fraction) -> Fraction:
    return Fraction(math.ceil(moves.absolute / epsilon * factor * PARTS), PARTS)


def _gaussian_size(moves: Moves, rho: float, honest: int, factor: Fraction) -> Fraction:
    size = Fraction(moves.squared / (2 * rho * honest) * (1 + 1e-6))
    return Fraction(math.ceil(size * factor**2))


def _proposals(terms: EMTerms) -> float:
    """About how many draws the Laplace shares of a round take at most."""
    slots = Slots(terms)
    return max(
        float(slots.values(number) * each.size) if each.law is Law.LAPLACE else 0.0
        for number, each in enumerate(slots.noise.rounds)
    )


def _is_drawn(law: Law, size: Fraction) -> bool:
    """Whether there is a sampler for it."""
    return size <= MOST_VARIANCE if law is Law.GAUSSIAN else 1 / size >= FLATTEST


def _at_most(value: float) -> Fraction:
    """A fraction of integers up to 10¹² that is not above: as simple as the value itself is."""
    exact = Fraction(value)
    near = exact.limit_denominator(10**6)
    if near <= exact and exact - near <= exact * CLOSE:
        return near
    parts = 10**12 // math.ceil(exact)
    return Fraction(math.floor(exact * parts), parts)
