"""Study `p1-important-users`: the effect of important workers under two layers of noise.

Each panel has an increasing number of important workers; the verdict is about the numbers at which
TD without noise is right, which P1's derivation assumes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sottovoce.figures import Chart, Level, Series
from sottovoce.model import WORDS, Domain, Unit
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p1.crowds import ImportantCrowd, errors_of
from sottovoce_studies.p1.layers import two_layer
from sottovoce_studies.paper_tables import curve, spread_by
from sottovoce_studies.rulings import Rulings, Statement
from sottovoce_studies.study import Outcome, Row, Size, Study, Work
from sottovoce_studies.theorems.weighted_vote import DeltaLaw

__all__ = ["STUDY", "Panel", "expected_change", "falls", "judge", "rises", "statement"]


WORKERS, TASKS = 50, 200
ERRORS = 3.0
"""The number of standard errors that counts as a rise or a fall."""
BINARY = Domain.categorical((0, 1))

Seen: TypeAlias = Mapping[int, Sequence[Mapping[str, float]]]
"""Trials by the number of important workers, with `change two-layer` in each."""

NUMBERS: Mapping[Size, tuple[int, ...]] = {
    "quick": (0, 2, 24),
    "full": (0, 1, 2, 4, 8, 12, 16, 24),
}

TRIALS: Mapping[Size, int] = {"quick": 8, "full": 30}

SOLVED = 0.05
"""The largest error of TD without noise at which P1's Δ, which assumes almost none, applies."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One kind of crowd at one nominal epsilon, with an increasing number of important workers."""

    epsilon: float
    turned: float
    numbers: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name in tables and charts."""
        return f"nominal epsilon {self.epsilon:g}" + (", a quarter inverted" if self.turned else "")

    def crowd(self, number: int) -> ImportantCrowd:
        """The crowd with this number of important workers."""
        return ImportantCrowd(WORKERS, TASKS, number, self.turned)


def falls(seen: Seen, numbers: Sequence[int]) -> bool:
    """Whether the change is lower at the last number than at the first, and rises at no step."""
    if len(numbers) < 2:
        return False
    whole = _step(seen, numbers[0], numbers[-1])
    return whole.mean < -ERRORS * whole.standard_error and not rises(seen, numbers)


def rises(seen: Seen, numbers: Sequence[int]) -> list[int]:
    """The numbers after which the change rises by more than three standard errors."""
    steps = itertools.pairwise(numbers)
    found = [(number, _step(seen, number, after)) for number, after in steps]
    return [number for number, step in found if step.mean > ERRORS * step.standard_error]


def expected_change(epsilon: float, number: int) -> float:
    """P1's mean Δ, (b / 2)ⁿ, which is the same for one layer (P1 §6.2.3 and §6.3)."""
    high = 2 * float(two_layer(BINARY, epsilon).hyper.mean / WORDS)  # a = 0
    return DeltaLaw(high, number).mean if number else 1.0


def _step(seen: Seen, first: int, after: int) -> Spread:
    # Trials share tasks, other workers and noise words, so differences vary less.
    pairs = zip(seen[first], seen[after], strict=True)
    return Spread.of([b["change two-layer"] - a["change two-layer"] for a, b in pairs])


def plan(size: Size, seed: int) -> Work:
    """One cell for each trial of each crowd."""
    numbers = NUMBERS[size]
    panels = [Panel(1.0, 0.0, numbers)]
    if size == "full":
        panels += [Panel(0.5, 0.0, numbers), Panel(1.0, 0.25, numbers)]
    cells = [
        Cell(errors_of, (panel.crowd(number), panel.epsilon, trial, seed))
        for panel in panels
        for number in panel.numbers
        for trial in range(TRIALS[size])
    ]
    return Work(cells, lambda results: judge(panels, results, TRIALS[size]))


def judge(panels: Sequence[Panel], results: Sequence[Any], trials: int) -> Outcome:
    """Judge whether the change falls once TD without noise is right."""
    rest = iter(results)
    found = [
        {number: [_with_changes(next(rest)) for _ in range(trials)] for number in panel.numbers}
        for panel in panels
    ]
    solved = [
        [n for n in panel.numbers if _mean(seen[n], "clean TD") <= SOLVED]
        for panel, seen in zip(panels, found, strict=True)
    ]
    rulings = Rulings(shape=statement(panels, found, solved).ruling)
    rows = tuple(
        _row(panel, number, found[place][number])
        for place, panel in enumerate(panels)
        for number in panel.numbers
    )
    words = _words(panels[0], found[0], solved[0])
    charts = tuple(
        chart for panel, seen in zip(panels, found, strict=True) for chart in _charts(panel, seen)
    )
    return Outcome(rows, rulings, words, charts, claims={"P1-7.3-1": rulings.shape})


def statement(
    panels: Sequence[Panel], found: Sequence[Seen], solved: Sequence[Sequence[int]]
) -> Statement:
    """P1 §6.2.3: more important users can lead to better utility; read as a fall in every panel.

    P1 derives it for users who are nearly always right or wrong, so that the error without noise is
    small, so it is judged from there on. Rises before are named; P1 does not exclude them.
    """
    pairs = list(zip(panels, found, solved, strict=True))
    true = all(falls(seen, numbers) for _, seen, numbers in pairs)
    words = (
        f"the change falls with their number in {sum(falls(s, n) for _, s, n in pairs)} of "
        f"{len(pairs)} panels once TD without noise is right"
    )
    up = sorted({n for panel, seen, _ in pairs for n in rises(seen, panel.numbers)})
    if up:
        words += f"; in some it rises after {' and '.join(map(str, up))} important users"
    return Statement("the change falls once TD without noise is right", true, words)


def _with_changes(errors: Mapping[str, float]) -> dict[str, float]:
    changes = {
        f"change {layer}": errors[f"{layer} TD"] - errors["clean TD"]
        for layer in ("one-layer", "two-layer")
    }
    return {**errors, **changes}


def _mean(trials: Sequence[Mapping[str, float]], name: str) -> float:
    return float(np.mean([trial[name] for trial in trials]))


def _row(panel: Panel, number: int, trials: Sequence[Mapping[str, float]]) -> Row:
    spread = spread_by(trials)
    change = spread["change two-layer"]
    return {
        "part": panel.name[0].upper() + panel.name[1:],
        "n": number,
        "no noise": spread["clean TD"].mean,
        "one-layer": spread["one-layer TD"].mean,
        "two-layer": spread["two-layer TD"].mean,
        "two-layer aware": spread["two-layer aware"].mean,
        "one-layer equal": spread["equal TD"].mean,
        "change": change.mean,
        "s.e.": change.standard_error,
        "P1's Δ": expected_change(panel.epsilon, number) if number else None,
        CONSTANT: spread[CONSTANT].mean,
        "trials": len(trials),
    }


def _words(panel: Panel, seen: Seen, solved: Sequence[int]) -> str:
    change = {n: _mean(seen[n], "change two-layer") for n in panel.numbers}
    most = max(panel.numbers, key=lambda n: change[n])
    last = panel.numbers[-1]
    mechanism = two_layer(BINARY, panel.epsilon)
    held = mechanism.guarantee(TASKS, Unit.ANSWER).epsilon
    words = (
        f"At {panel.name} the change of TD's error under two layers is {change[0]:.3f} without "
        f"important users, {change[most]:.3f} with {most} and {change[last]:.3f} with {last}"
    )
    if rises(seen, panel.numbers):
        words += (
            "; with few of them TD is often wrong even without noise "
            f"({_mean(seen[0], 'clean TD'):.2f} with none), so noise changes less"
        )
    if solved:
        first = solved[0]
        law = expected_change(panel.epsilon, first) if first else 1.0
        words += (
            f". With {first}, the first number at which the error of TD without noise is at most "
            f"{SOLVED:g}, the change is {change[first]:.3f}, and the mean of P1's leading term is "
            f"{law:.3f}"
        )
    return (
        f"{words}. One layer changes it by {_mean(seen[last], 'change one-layer'):.3f} with "
        f"{last} at the same nominal epsilon; but the true epsilon of two layers for {TASKS} "
        f"answers is {held:.2f} per answer, and at the same true epsilon and delta the error is "
        f"{_mean(seen[last], 'equal TD'):.3f} with one layer and "
        f"{_mean(seen[last], 'two-layer TD'):.3f} with two."
    )


def _seen(panel: Panel, seen: Seen) -> str:
    up = rises(seen, panel.numbers)
    if not up:
        return "Here this is true at every step."
    after = panel.numbers[panel.numbers.index(up[-1]) + 1]
    return (
        f"Here the change rises up to {after} of them, because with fewer TD is wrong even "
        "without noise."
    )


def _charts(panel: Panel, seen: Seen) -> list[Chart]:
    spreads = {number: spread_by(trials) for number, trials in seen.items()}
    xs = panel.numbers

    def line(name: str, column: str, role: Any = "theirs") -> Series:
        return curve(name, xs, [spreads[number][column] for number in xs], role)

    law = tuple(expected_change(panel.epsilon, number) for number in xs if number)
    reference = Series("P1's mean Δ", tuple(float(n) for n in xs if n), law, role="reference")
    label = "important users n"
    changed = Chart(
        f"Change of TD's error with n important users, {panel.name} (P1 §7.3)",
        label,
        "change of the error rate",
        (line("two-layer", "change two-layer"), line("one-layer", "change one-layer"), reference),
        note=f"P1 §6.2.3: more important users can lead to better utility. {_seen(panel, seen)}",
        better="lower",
    )
    errors = Chart(
        f"Error of TD with n important users, {panel.name}",
        label,
        "error rate",
        (
            line("two-layer", "two-layer TD"),
            line("one-layer", "one-layer TD"),
            line("one-layer, equal guarantee", "equal TD", "ours"),
            line("no noise", "clean TD", "reference"),
        ),
        (Level(CONSTANT, spreads[xs[0]][CONSTANT].mean),),
        note="P1 §6.2.3 considers only the change. The error itself falls with every important "
        "user, with noise and without.",
        better="lower",
    )
    return [changed, errors]


STUDY = Study(
    "p1-important-users",
    "More important users can lead to better utility: the change of the error under two layers "
    "falls with their number",
    "P1 §6.2.3, Figure 1b, §7.3",
    f"P1 prints no details, so all are ours: {WORKERS} workers answer {TASKS} binary questions; n "
    "of them are right with U(0.9, 0.98), which is an importance of at least 7 (P1 Eq. 6), the "
    "others with U(0.45, 0.6), at most 1.3; in one panel one in four of the n is wrong as often "
    "instead; U(0, b) as published at nominal epsilon, TD; `equal` is one layer at the true "
    "epsilon and delta per answer of two layers; the shape is judged from "
    f"the number on at which the error without noise is at most {SOLVED:g}, because P1 derives the "
    "claim for a small one; a rise or fall is more than 3 standard errors; "
    "ties go to label 0 and TD makes 20 rounds, as in study p1-table-3",
    plan,
    "one panel of three, three numbers of important users instead of eight, 8 trials instead of 30",
    recorded=("not claimed", "holds", "not claimed"),
    items=("P1 §7.3 users",),
)
