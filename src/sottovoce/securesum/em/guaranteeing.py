"""What noised rounds promise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.errors import UsageError
from sottovoce.inference.private_em.weighted import Moves
from sottovoce.model import Guarantee, Unit
from sottovoce.model.guarantee import check_count, check_unit
from sottovoce.privacy.concentrated_privacy import concentrated_epsilon, summed_rho
from sottovoce.securesum.em.slots import Slots
from sottovoce.securesum.em.terms import EMTerms, Law, NoiseTerms

__all__ = ["default_honest", "guarantee"]

REACHED = 1e-39
"""What it costs in each slot, for each share, that noise has an end (see `guarantee`)."""

SOURCE = (
    "upper bound: discrete Laplace noise, and sums of discrete Gaussians (Kairouz, Liu & Steinke "
    "2021, prop. 14; Canonne, Kamath & Steinke 2020, prop. 12)"
)


@dataclass(frozen=True, slots=True)
class _Spent:
    """What one round costs: ε if its noise is Laplace, and ρ in any case."""

    pure: float | None
    rho: float


def guarantee(terms: EMTerms, answers: int, unit: Unit) -> Guarantee:
    """(ε, δ) for a worker with up to so many answers, against whoever sees every opened sum.

    Neighbours differ in one answer among {none, labels}; for the unit worker, in all of them: up
    to `answers` answers to any tasks against up to as many to any others. In round r a vector
    moves by Σ|move| = Δ₁ and Σ move² = Δ₂² at most (`counted_moves`, `answer_moves`), in every
    slot there is noise of its own, and of its shares those of `honest` workers count: what others
    add to it is a change of the output. So round r keeps

        Laplace, size b:     ε = Δ₁ / b,  and ρ = Δ₂² / 2b²: a slot that moves by m keeps ε = m/b,
                             hence ρ = ε²/2 (Bun & Steinke 2016, prop. 1.4), and slots add up
        Gaussian, size σ²:   ρ of a sum of discrete Gaussians (`summed_rho`)

    Rounds may depend on what was opened before; ρ adds up, and so do ε and δ. Two bounds hold, and
    the smaller one is stated: ε of the Laplace rounds and that of the others' ρ at δ; or that of
    the ρ of all.

    δ is that of the conversion, which the terms say, and what the reach of the noise costs: noise
    beyond it is drawn again. In one slot this happens to any of n honest shares with a chance of
    n 10⁻¹⁰⁰ at most (`TAIL`). Let an output be usual if their noise is nowhere farther out than is
    seen with a chance of 10⁻⁵⁰. Up to there every value has a chance of 10⁻⁶⁰ or more (for b and
    √n σ up to 10⁶), which drawing again changes by a factor within 1 ± n 10⁻⁴⁰. So on usual outputs
    all that was said holds but for these factors, and others cost their own chance: slots ·
    n · 10⁻³⁹ is more than both, whatever ε is. Without Gaussian rounds there may be no other δ.
    """
    check_unit(unit)
    check_count("answers", answers)
    slots, tasks = Slots(terms), len(terms.tasks)
    if not 1 <= answers <= tasks:
        raise UsageError(f"answers must be from 1 to the {tasks:,} tasks, not {answers:,}")
    rounds = range(len(slots.noise.rounds))
    spent = [_spent(slots, number, slots.moves(number, answers, unit)) for number in rounds]
    beyond = slots.noise.honest * REACHED * sum(slots.values(number) for number in rounds)
    epsilon, delta = _converted(spent, float(slots.noise.delta), beyond)
    return Guarantee(unit, answers, epsilon, delta, False, _assumptions(slots.noise), SOURCE)


def default_honest(workers: int) -> int:
    """Half of the workers: so many shares have to be there for the guarantee to hold.

    >>> default_honest(20), default_honest(3)
    (10, 2)
    """
    return -(-workers // 2)


def _spent(slots: Slots, number: int, moves: Moves) -> _Spent:
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
        "their noise from the operating system's generator; all others may be in league with the "
        "server",
        "fewer workers are in league with the server than it takes to open the sums of two sets of "
        "workers in one round",
        "nobody breaks the cryptography of the suite",
    )
