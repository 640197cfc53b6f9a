"""What a rehearsal of a private EM is: how sums are sealed, and who falls silent when."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sottovoce.errors import UsageError
from sottovoce.securesum.em.terms import EMTerms

__all__ = ["STARS", "SUITES", "Dropouts", "Rehearsal", "Suite"]

Suite: TypeAlias = Literal["masked", "damgard_jurik", "committee", "plain"]
SUITES: tuple[Suite, ...] = ("masked", "damgard_jurik", "committee", "plain")
"""How sums are sealed; plain: not at all, which is what all others must come to."""

STARS: tuple[Suite, ...] = ("masked", "damgard_jurik")
"""Suites in which workers are online, and some may fall silent."""

Dropouts: TypeAlias = Mapping[tuple[int, str], Collection[int]]
"""Who falls silent from a round and phase on, by number from 1."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One session in memory: how it is sealed, and what a star needs to know beside that."""

    terms: EMTerms
    suite: Suite
    threshold: int | None = None
    bits: int = 2048
    s: int = 1
    dropouts: Dropouts = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.suite not in SUITES:
            raise UsageError(f"a suite is one of {', '.join(SUITES)}, not {self.suite!r}")
        if self.suite not in STARS and (self.dropouts or self.threshold is not None):
            raise UsageError(
                f"the suite {self.suite} has no threshold, and nobody falls silent in it: "
                f"{' and '.join(STARS)} have one"
            )
