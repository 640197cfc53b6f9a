"""Tables, charts and significance tests shared by P4's figures 2 to 5.

A place in the synthetic experiments is a size, a sparsity and an epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sottovoce.figures import Chart, Level, Role
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.planning.pipelines import Pipeline, true_guarantee
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.sparse_trials import CLEAN, PAPERS, Truths, crowd, maes, ours, policy_at
from sottovoce_studies.paper_tables import curve
from sottovoce_studies.study import Row, Size, Value

__all__ = [
    "OURS",
    "VALUES",
    "Curves",
    "Finding",
    "Found",
    "Place",
    "Trials",
    "along_epsilon",
    "along_sparsity",
    "apart",
    "broken",
    "changes",
    "chart",
    "errors",
    "finding_rows",
    "gathered",
    "guarantee_rows",
    "is_above",
    "mae_rows",
    "not_better",
    "with_which",
]


ERRORS = 3.0
"""The number of standard errors by which a mean must exceed a figure to count as above."""
OURS = "ours"

CHANGE, ERROR = "change of the MAE", "MAE to the truth"

Trials: TypeAlias = Sequence[Mapping[str, float]]
Curves: TypeAlias = Mapping[float, Trials]
"""The trials at each epsilon, or at each sparsity."""

VALUES = 10
"""|Γ|: answers are 0, …, 9 (P4 §VI-A)."""

QUICK_FROM = 3.0
"""Quick runs skip ours below this epsilon, where it takes as long as all others together."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement about curves, whether it holds, and the numbers; `of` is a variant of MF."""

    says: str
    holds: bool
    seen: str
    of: str = ""


def errors(trials: Trials) -> dict[str, Spread]:
    """The MAE of everything, over the trials that have it."""
    return {name: Spread.of([t[name] for t in trials if name in t]) for name in trials[0]}


def changes(trials: Trials) -> dict[str, Spread]:
    """MAE_P - MAE_O of everything, on the same answers (P4 §VI-A)."""
    return errors(
        [{n: mae - trial[CLEAN] for n, mae in trial.items() if n != CLEAN} for trial in trials]
    )


def apart(trials: Trials, one: str, other: str) -> Spread:
    """The excess of one MAE over the other, by trial."""
    return Spread.of([trial[one] - trial[other] for trial in trials])


def is_above(spread: Spread, figure: float) -> bool:
    """Whether a mean is above a figure beyond chance, or for one trial simply above."""
    error = 0.0 if math.isnan(spread.standard_error) else spread.standard_error
    return spread.mean - ERRORS * error > figure


def broken(findings: Sequence[Finding], of: str = "") -> list[Finding]:
    """The statements that fail, for all methods and for one variant of MF."""
    return [each for each in findings if not each.holds and each.of in ("", of)]


def with_which(findings: Sequence[Finding], variants: Sequence[str]) -> str:
    """The variants of MF with which all statements hold, and those with which some fail."""
    good = [each for each in variants if not broken(findings, each)]
    bad = [each for each in variants if each not in good]
    words = [f"this holds with {' and '.join(good)}"] if good else []
    words += [f"this fails with {' and '.join(bad)}"] if bad else []
    return ", ".join(words)


def finding_rows(part: str, findings: Sequence[Finding]) -> Iterator[Row]:
    """Each statement of the paper with our result."""
    for each in findings:
        row: dict[str, Value] = {"part": part, "the text says": each.says, "with": each.of or None}
        yield {**row, "holds": "yes" if each.holds else "no", "seen": each.seen}


def mae_rows(part: str, axis: str, curves: Curves) -> Iterator[Row]:
    """Two tables: the paper's changes, and errors to the truth."""
    for x, trials in curves.items():
        yield _row(f"{part}, {CHANGE}", axis, x, changes(trials))
    for x, trials in curves.items():
        yield _row(f"{part}, {ERROR}", axis, x, errors(trials))


def _row(part: str, axis: str, x: float, seen: Mapping[str, Spread]) -> Row:
    known = [each.standard_error for each in seen.values() if each.trials > 1]
    row: dict[str, Value] = {"part": part, axis: x}
    row |= {name: spread.mean for name, spread in seen.items()}
    trials = max(each.trials for each in seen.values())
    return {**row, "s.e. up to": max(known, default=None), "trials": trials}


def not_better(curves: Sequence[Curves], names: Sequence[str]) -> bool:
    """Whether these methods are never significantly better than the best constant."""
    places = [trials for each in curves for trials in each.values()]
    return not any(is_above(apart(at, CONSTANT, name), 0.0) for at in places for name in names)


def guarantee_rows(
    pairs: Sequence[Pipeline], values: int, tasks: int, place: Mapping[str, Value] | None = None
) -> Iterator[Row]:
    """True epsilon per answer (NULL is also an answer) at a claimed epsilon of 1 and delta 0."""
    target, domain = Target(1.0, answers=tasks), Domain.ordinal(range(values))
    for pair in pairs:
        held = true_guarantee(policy_at(pair, domain, target.epsilon, tasks), target)
        kept: Value = held.epsilon if math.isfinite(held.epsilon) else "not finite"
        row: dict[str, Value] = {"part": "True epsilon per answer at a claimed 1"}
        yield {**row, **(place or {}), "method": pair.name, "true epsilon": kept}


def chart(title: str, axis: str, curves: Curves, note: str) -> Chart:
    """The change of the MAE of every method over an axis, with the best constant's as a level."""
    seen = {x: changes(trials) for x, trials in curves.items()}
    names = dict.fromkeys(name for at in seen.values() for name in at if name != CONSTANT)
    series = []
    for name in names:
        there = {x: at[name] for x, at in seen.items() if name in at}
        series.append(curve(name, list(there), list(there.values()), _role(name)))
    constant = sum(at[CONSTANT].mean for at in seen.values()) / len(seen)
    return Chart(
        title, axis, CHANGE, tuple(series), (Level(CONSTANT, constant),), note, better="lower"
    )


def _role(name: str) -> Role:
    return "ours" if name == OURS else "theirs"


@dataclass(frozen=True, slots=True)
class Place:
    """A size, a sparsity and an epsilon, with P4's truths or others."""

    workers: int
    tasks: int
    sparsity: float
    epsilon: float
    truths: Truths = "N(0, 1)"

    def cells(self, trials: int, seed: int, *, with_ours: int) -> list[Cell]:
        """One cell per trial: P4's mechanisms, and in the first `with_ours` trials also ours."""
        source = crowd(self.workers, self.tasks, self.sparsity, self.truths)
        both = (*PAPERS, ours(beyond=self.truths == "N(0, 1)"))
        return [
            Cell(
                maes,
                (source, VALUES, self.epsilon, both if trial < with_ours else PAPERS, trial, seed),
            )
            for trial in range(trials)
        ]

    def trials_of_ours(self, size: Size, full: int) -> int:
        """The number of trials with ours: `full` in a full run, one or none in a quick one."""
        return full if size == "full" else int(self.epsilon >= QUICK_FROM)


Found: TypeAlias = Mapping[Place, Trials]


def gathered(places: Sequence[Place], results: Sequence[Mapping[str, float]]) -> Found:
    """The trials of each place, the same number for all."""
    trials = len(results) // len(places)
    return {
        place: results[number * trials : (number + 1) * trials]
        for number, place in enumerate(places)
    }


def along_epsilon(found: Found, sparsity: float) -> Curves:
    """The trials by epsilon, at one sparsity."""
    return {place.epsilon: seen for place, seen in found.items() if place.sparsity == sparsity}


def along_sparsity(found: Found, epsilon: float, truths: Truths = "N(0, 1)") -> Curves:
    """The trials by sparsity, at one epsilon."""
    return {
        place.sparsity: seen
        for place, seen in found.items()
        if (place.epsilon, place.truths) == (epsilon, truths)
    }
