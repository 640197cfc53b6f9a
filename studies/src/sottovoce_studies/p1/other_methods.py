"""Study `p1-other-methods`: two layers against one under other truth discovery methods.

A case is one source at one nominal epsilon, used by all methods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.figures import Chart, Level, Series
from sottovoce.model import Domain, Unit
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Dataset, LabelCrowd, Source
from sottovoce_studies.p1.layers import most_answers, two_layer
from sottovoce_studies.p1.method_trials import READERS, clean_trial, noisy_trial
from sottovoce_studies.paper_tables import BAND, spread_by
from sottovoce_studies.rulings import Ruling, Rulings, Statement, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["OTHERS", "STUDY", "Case", "Seen", "guarantee", "judge", "statements"]


OTHERS = ("CRH", "CATD", "Dawid-Skene", "one-coin", "latent-label")
"""The truth discovery methods other than P1's."""
ERRORS = 3.0
"""The number of standard errors by which two layers count as worse than one."""
EXCESS = 1.01
"""A true epsilon above this multiple of the nominal one exceeds it."""
_BINARY = Domain.categorical((0, 1))

EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (0.5,), "full": (0.5, 1.0)}

TRIALS: Mapping[Size, int] = {"quick": 8, "full": 30}

CROWD = LabelCrowd(64, 500, 100, 2, "heterogeneous")

CROWD_NAME, DUCHENNE = "drawn crowd", "Duchenne smiles"


@dataclass(frozen=True, slots=True)
class Case:
    """One source at one nominal epsilon; a dataset's answers are the same in every trial."""

    name: str
    source: Source
    epsilon: float
    trials: int

    def cells(self, seed: int) -> list[Cell]:
        """The trials with noise, and those without."""
        noisy = [
            Cell(noisy_trial, (self.source, self.epsilon, trial, seed))
            for trial in range(self.trials)
        ]
        clean = [Cell(clean_trial, (self.source, trial, seed)) for trial in range(self.fresh)]
        return [*noisy, *clean]

    @property
    def fresh(self) -> int:
        """The number of trials without noise."""
        return 1 if isinstance(self.source, Dataset) else self.trials

    @property
    def true_epsilon(self) -> float:
        """The true epsilon per answer of two layers for the worker with most answers."""
        answers, _ = self.source.draw(0)
        mechanism = two_layer(_BINARY, self.epsilon)
        return mechanism.guarantee(most_answers(answers), Unit.ANSWER).epsilon


@dataclass(frozen=True, slots=True)
class Seen:
    """One method in one case: its errors, and the difference of two layers and one, by trial."""

    case: Case
    method: str
    clean: float
    constant: float
    layers: Mapping[str, Spread]
    apart: Spread

    @property
    def judged(self) -> bool:
        """False if the method learns nothing even without noise: noise then changes nothing."""
        return self.method in OTHERS and self.clean < self.constant

    @property
    def better(self) -> bool:
        """Whether the error of two layers is smaller, by two standard errors."""
        return self.apart.mean < -BAND * self.apart.standard_error

    @property
    def worse(self) -> bool:
        """Whether the error of two layers is larger, by three standard errors."""
        return self.apart.mean > ERRORS * self.apart.standard_error


def statements(judged: Sequence[Seen]) -> list[Statement]:
    """One statement for each method: two layers are better in most of its cases, worse in none."""
    found = []
    for method in OTHERS:
        cases = [each for each in judged if each.method == method]
        if cases:
            better, worse = sum(e.better for e in cases), sum(e.worse for e in cases)
            words = f"better in {better}, worse in {worse} of {len(cases)}"
            true = not worse and 2 * better > len(cases)
            found.append(Statement(f"two layers better with {method}", true, words))
    return found


def guarantee(cases: Sequence[Case]) -> Ruling:
    """Whether two layers have their nominal epsilon per answer, with the most answers."""
    case = max(cases, key=lambda each: each.true_epsilon - each.epsilon)
    if case.true_epsilon <= EXCESS * case.epsilon:
        return Ruling("holds")
    answers, _ = case.source.draw(0)
    words = f"epsilon {case.true_epsilon:.1f} per answer for {most_answers(answers):,} answers"
    return Ruling("fails", f"{words}, not {case.epsilon:g}")


def plan(size: Size, seed: int) -> Work:
    """Every method in every trial; quick runs skip the dataset."""
    sources: dict[str, Source | None] = {CROWD_NAME: CROWD}
    if size == "full":
        sources[DUCHENNE] = Dataset.of("duchenne")
    cases = [
        Case(name, source, epsilon, TRIALS[size])
        for name, source in sources.items()
        if source is not None
        for epsilon in EPSILONS[size]
    ]
    absent = [name for name, source in sources.items() if source is None]
    cells = [cell for case in cases for cell in case.cells(seed)]
    return Work(cells, lambda results: judge(cases, results, absent))


def judge(cases: Sequence[Case], results: Sequence[Any], absent: Sequence[str] = ()) -> Outcome:
    """Shape by methods at nominal epsilon; the guarantee apart."""
    rest = iter(results)
    seen = [each for case in cases for each in _seen(case, rest)]
    judged = [each for each in seen if each.judged]
    rulings = Rulings(shape=ruling_on(statements(judged)), guarantee=guarantee(cases))
    words = _words(seen, judged)
    words += "".join(f" {name} was skipped: the dataset is not in the cache." for name in absent)
    charts = tuple(_chart(case, [each for each in seen if each.case is case]) for case in cases)
    claims = {"P1-7.3-2": rulings.shape}
    return Outcome(tuple(map(_row, seen)), rulings, words, charts, claims=claims)


def _seen(case: Case, rest: Iterator[Any]) -> Iterator[Seen]:
    noisy = [next(rest) for _ in range(case.trials)]
    clean = [next(rest) for _ in range(case.fresh)]
    spread = spread_by(noisy)
    for method in READERS:
        apart = [trial[f"two-layer {method}"] - trial[f"one-layer {method}"] for trial in noisy]
        yield Seen(
            case,
            method,
            float(np.mean([trial[method] for trial in clean])),
            spread[CONSTANT].mean,
            {layer: spread[f"{layer} {method}"] for layer in ("one-layer", "two-layer", "equal")},
            Spread.of(apart),
        )


def _row(seen: Seen) -> Row:
    case = seen.case
    says = "two-layer" if seen.better else "one-layer" if seen.worse else "neither"
    return {
        "part": f"Error rate, {case.name}, nominal epsilon {case.epsilon:g}, true epsilon of two "
        f"layers {case.true_epsilon:.2f}",
        "method": seen.method,
        "no noise": seen.clean,
        "one-layer": seen.layers["one-layer"].mean,
        "two-layer": seen.layers["two-layer"].mean,
        "two - one": seen.apart.mean,
        "s.e.": seen.apart.standard_error,
        "better": says,
        "one-layer equal": seen.layers["equal"].mean,
        CONSTANT: seen.constant,
        "judged": "yes" if seen.judged else "no",
        "trials": case.trials,
    }


def _words(seen: Sequence[Seen], judged: Sequence[Seen]) -> str:
    better = sum(each.better for each in judged)
    equal = [each for each in judged if each.layers["equal"].mean < each.layers["two-layer"].mean]
    gain = min(judged, key=lambda each: each.apart.mean)
    words = (
        "At the same nominal epsilon the error of two layers is smaller than that of one in "
        f"{better} of {len(judged)} cases of a method, a source and an epsilon, by most with "
        f"{gain.method} on the {gain.case.name} ({gain.layers['two-layer'].mean:.3f} against "
        f"{gain.layers['one-layer'].mean:.3f}). Methods whose weights hardly differ between "
        "workers improve least"
    )
    left = [each for each in seen if each.method in OTHERS and not each.judged]
    if left:
        names = ", ".join(dict.fromkeys(f"{each.method} ({each.case.name})" for each in left))
        words += f". Not judged: {names}, no better than the best constant without noise"
    return (
        f"{words}. At the true epsilon and delta of two layers, the error of one layer is smaller "
        f"in {len(equal)} of the {len(judged)} cases: the true epsilon of the nominal "
        f"{gain.case.epsilon:g} is {gain.case.true_epsilon:.2f} per answer on the "
        f"{gain.case.name}."
    )


def _chart(case: Case, seen: Sequence[Seen]) -> Chart:
    """Errors by method, in the order of the table."""
    names = [each.method for each in seen]
    places = tuple(float(place) for place in range(1, len(names) + 1))

    def line(name: str, layer: str, role: Any = "theirs") -> Series:
        spreads = [each.layers[layer] for each in seen]
        return Series(
            name,
            places,
            tuple(s.mean for s in spreads),
            tuple(s.mean - BAND * s.standard_error for s in spreads),
            tuple(s.mean + BAND * s.standard_error for s in spreads),
            role,
        )

    clean = Series("no noise", places, tuple(each.clean for each in seen), role="reference")
    key = ", ".join(f"{place} {name}" for place, name in enumerate(names, 1))
    return Chart(
        f"Error of truth discovery methods, {case.name}, nominal epsilon {case.epsilon:g}",
        key,
        "error rate",
        (
            line("two-layer", "two-layer"),
            line("one-layer", "one-layer"),
            line("one-layer, equal guarantee", "equal", "ours"),
            clean,
        ),
        (Level(CONSTANT, seen[0].constant),),
        note="P1 §7.3: two layers are a general framework for truth discovery methods. Here "
        "their error is smaller than with one layer for "
        f"{', '.join(e.method for e in seen if e.better) or 'none'}.",
        better="lower",
        style="bars",
    )


STUDY = Study(
    "p1-other-methods",
    "Two layers are a general framework, which performs well with other truth discovery methods "
    "too (read here as: better utility than one layer at the same epsilon)",
    "P1 §7.3",
    "P1 names no methods: we chose CRH, CATD, Dawid-Skene, its one-coin form and P2's "
    "latent-label model, with majority vote, TD and aware inference for comparison; Duchenne "
    "smiles, public part, and a drawn crowd of 64 workers with 100 binary answers each to 500 "
    "tasks; U(0, b) as published; a case counts where the method beats the best constant without "
    "noise; better is 2 standard errors, worse 3; ties go to label 0 and TD makes 20 rounds, as in "
    "study p1-table-3",
    plan,
    "the drawn crowd at one epsilon, 8 trials instead of 30",
    recorded=("not claimed", "partly", "fails"),
    items=("P1 §7.3 methods",),
)
