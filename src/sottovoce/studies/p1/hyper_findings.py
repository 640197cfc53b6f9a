"""What hyper distributions keep and are good for: which betray less, which help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sottovoce.planning.trials import Spread
from sottovoce.studies.comparing import BAND
from sottovoce.studies.p1.hyper_laws import LAWS, NONE, UNIFORM

__all__ = ["ANSWERS", "Kept", "Seen", "more_private", "true_epsilon", "useful"]

ANSWERS = (1, 10, 100)
"""k; the crowd has the last."""
SAME = 1e-3
"""Nominal epsilons that differ by less are the same: levels round the mean."""

Seen: TypeAlias = Mapping[float, Sequence[Mapping[str, float]]]
"""Trials by their nominal epsilon."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One law at one nominal epsilon: what it keeps for each k of `ANSWERS`."""

    law: str
    epsilon: float
    claimed: float
    answer: tuple[float, ...]
    worker: tuple[float, ...]
    delta: tuple[float, ...]


def more_private(kept: Sequence[Kept]) -> set[str]:
    """The laws that claim what the uniform claims, and betray less of k > 1 answers at every ε."""
    uniform = {each.epsilon: each for each in kept if each.law == UNIFORM}

    def less(each: Kept) -> bool:
        other = uniform[each.epsilon]
        pairs = zip(each.answer, other.answer, ANSWERS, strict=True)
        same = abs(each.claimed - other.claimed) < SAME
        return same and all(own < its for own, its, k in pairs if k > 1)

    return {law for law in LAWS if law != UNIFORM
            and all(less(each) for each in kept if each.law == law)}  # fmt: skip


def useful(seen: Seen, epsilons: Sequence[float]) -> list[str]:
    """The laws under which TD errs less than under one layer at some nominal epsilon."""
    return [
        law for law in LAWS
        if law != NONE and any(_better(_apart(seen[e], law)) for e in epsilons)
    ]  # fmt: skip


def _better(apart: Spread) -> bool:
    return apart.mean < -BAND * apart.standard_error


def _apart(trials: Sequence[Mapping[str, float]], law: str) -> Spread:
    # Trials share answers and noise words, so that differences vary less than errors do.
    return Spread.of([trial[f"{law} TD"] - trial[f"{NONE} TD"] for trial in trials])


def true_epsilon(kept: Sequence[Kept], law: str, epsilon: float) -> float:
    """The true epsilon per answer of a law for the largest k."""
    found = [each for each in kept if each.law == law and each.epsilon == epsilon]
    return found[0].answer[-1] if found else epsilon  # one layer keeps what it says
