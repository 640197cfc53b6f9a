"""Two layers as published against one layer with the same guarantee, and the verdict on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sottovoce.planning.trials import Spread
from sottovoce.studies.beyond.equal_layers import KINDS, READERS
from sottovoce.studies.beyond.layer_cases import Case
from sottovoce.studies.comparing import BAND, spread_by
from sottovoce.studies.study import Verdict

__all__ = ["Duel", "duels_of", "ruling"]

ERRORS = 3.0
"""So many standard errors against it refute a claim."""


@dataclass(frozen=True, slots=True)
class Duel:
    """Two layers as published against one layer with the same guarantee of a kind."""

    case: Case
    kind: str
    reader: str
    two: Spread
    one: Spread
    apart: Spread

    @property
    def two_better(self) -> bool:
        """Whether two layers err less, by two standard errors."""
        return self.apart.mean < -BAND * self.apart.standard_error

    @property
    def one_better(self) -> bool:
        """Whether one layer errs less, by two standard errors."""
        return self.apart.mean > BAND * self.apart.standard_error

    @property
    def refutes(self) -> bool:
        """Whether one layer errs less, by three."""
        return self.apart.mean > ERRORS * self.apart.standard_error


def duels_of(case: Case, seen: Sequence[Mapping[str, float]]) -> Iterator[Duel]:
    """Every kind of guarantee held equal, and the nominal epsilon only, with every reader."""
    spread = spread_by(seen)
    for kind in (*KINDS, "nominal"):
        for reader in READERS:
            two, one = f"two-layer {reader}", f"{kind} {reader}"
            # Trials share answers and noise words, so that differences vary less than errors do.
            apart = Spread.of([trial[two] - trial[one] for trial in seen])
            yield Duel(case, kind, reader, spread[two], spread[one], apart)


def ruling(duels: Sequence[Duel]) -> tuple[Verdict, str]:
    """Better always, more often than not without one defeat, or not."""
    better = sum(duel.two_better for duel in duels)
    lost = sum(duel.refutes for duel in duels)
    if lost or 2 * better <= len(duels):
        ahead = sum(duel.one_better for duel in duels)
        return "fails", (
            f"at the same true guarantee one layer errs less in {ahead} of {len(duels)} cases"
        )
    if better == len(duels):
        return "holds", ""
    return "holds in shape", f"two layers err less in {better} of {len(duels)} cases"
