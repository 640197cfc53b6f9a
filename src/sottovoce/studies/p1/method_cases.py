"""Other truth discovery methods: the cases of the study, and the verdict on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sottovoce.model import Domain, Unit
from sottovoce.planning.trials import Spread
from sottovoce.studies.cells import Cell
from sottovoce.studies.comparing import BAND
from sottovoce.studies.p1.layers import most_answers, two_layer
from sottovoce.studies.p1.method_trials import clean_trial, noisy_trial
from sottovoce.studies.sources import Dataset, Source
from sottovoce.studies.study import Verdict

__all__ = ["OTHERS", "Case", "Seen", "ruling"]

OTHERS = ("CRH", "CATD", "Dawid-Skene", "one-coin", "latent-label")
"""The truth discovery methods beside P1's own."""
ERRORS = 3.0
"""So many standard errors make two layers worse than one."""
_BINARY = Domain.categorical((0, 1))


@dataclass(frozen=True, slots=True)
class Case:
    """One source at one nominal epsilon; a dataset's answers are the same in every trial."""

    name: str
    source: Source
    epsilon: float
    trials: int

    def cells(self, seed: int) -> list[Cell]:
        """The trials with noise, and those without."""
        noisy = [Cell(noisy_trial, (self.source, self.epsilon, trial, seed))
                 for trial in range(self.trials)]  # fmt: skip
        clean = [Cell(clean_trial, (self.source, trial, seed)) for trial in range(self.fresh)]
        return [*noisy, *clean]

    @property
    def fresh(self) -> int:
        """How many trials there are without noise."""
        return 1 if isinstance(self.source, Dataset) else self.trials

    @property
    def true_epsilon(self) -> float:
        """What two layers truly keep for the worker with most answers, per answer."""
        answers, _ = self.source.draw(0)
        mechanism = two_layer(_BINARY, self.epsilon)
        return mechanism.guarantee(most_answers(answers), Unit.ANSWER).epsilon


@dataclass(frozen=True, slots=True)
class Seen:
    """One method in one case: its errors, and how far two layers are from one, by trial."""

    case: Case
    method: str
    clean: float
    constant: float
    layers: Mapping[str, Spread]
    apart: Spread

    @property
    def judged(self) -> bool:
        """Not where the method learns nothing from answers without noise: noise changes nothing."""
        return self.method in OTHERS and self.clean < self.constant

    @property
    def better(self) -> bool:
        """Whether two layers err less, by two standard errors."""
        return self.apart.mean < -BAND * self.apart.standard_error

    @property
    def worse(self) -> bool:
        """Whether two layers err more, by three."""
        return self.apart.mean > ERRORS * self.apart.standard_error


def ruling(judged: Sequence[Seen]) -> tuple[Verdict, str]:
    """The verdict on the methods that are judged, and its reason."""
    better = [each for each in judged if each.better]
    worse = [each for each in judged if each.worse]
    if worse:
        return "fails", f"two layers are worse in {_names(worse)}"
    if len(better) == len(judged):
        return "holds", ""
    if 2 * len(better) > len(judged):
        gained = {each.method for each in better}
        none = [m for m in OTHERS if m in {each.method for each in judged} and m not in gained]
        without = f"; {' and '.join(none)} gains nothing" if none else ""
        return "holds in shape", f"better in {len(better)} of {len(judged)} cases{without}"
    return "fails", f"two layers are better in only {len(better)} of {len(judged)} cases"


def _names(seen: Sequence[Seen]) -> str:
    return ", ".join(f"{each.method} ({each.case.name})" for each in seen)
