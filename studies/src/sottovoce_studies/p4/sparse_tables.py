"""Tables, charts, statements and choices shared by P4's figures 2 to 5.

A place in the synthetic experiments is a size, a sparsity and an epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from sottovoce.figures import Chart, Level, Role
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Unit
from sottovoce.planning.pipelines import true_guarantee
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.choices import Choice, best
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.factorization import (
    DESCENTS,
    MAIN,
    MF,
    VARIANTS,
    Factorization,
    limits,
    variant_named,
)
from sottovoce_studies.p4.sparse_trials import (
    CLEAN,
    LP,
    RR,
    Method,
    Truths,
    crowd,
    maes,
    ours,
    policy_at,
)
from sottovoce_studies.paper_tables import curve
from sottovoce_studies.rulings import Ruling, Statement
from sottovoce_studies.study import Row, Size, Value
from sottovoce_studies.theorems.privacy_claims import published_factorization_privacy

__all__ = [
    "GRID_TEXT",
    "OURS",
    "THREE",
    "VALUES",
    "Curves",
    "Found",
    "Judged",
    "Place",
    "Trials",
    "along_epsilon",
    "along_sparsity",
    "apart",
    "changes",
    "chart",
    "errors",
    "gathered",
    "guarantee_rows",
    "is_above",
    "judged_choice",
    "mae_rows",
    "methods",
    "not_better",
    "refused",
    "same_guarantee",
    "statement_rows",
    "step_rows",
    "step_sentence",
    "tried_in",
    "with_grid",
    "words_of",
]


ERRORS = 3.0
"""The number of standard errors by which a mean must exceed a figure to count as above."""
OURS = "ours"
THREE = (LP, RR, MF[2])
"""The three mechanisms that P4 compares; the true epsilon of MF is the same in all variants."""
GRID_IN = 2
"""Full runs try all choices of MF in this number of trials, and the main ones in all trials."""
GRID_TEXT = (
    "P4 prints neither the law of V's entries nor a number of gradient steps, and MF's dimension "
    "only in an example (100, for 1,000 tasks): 12 choices at the minimum of its loss, where "
    "gradient descent ends, and 6 with 200 or 400 steps; without a ridge, which P4 does not have, "
    "a worker with fewer answers than dimensions has no minimum, and the choice is refused; "
    "dimension 100 is not run, since with 200 tasks a worker has 100 answers on average at "
    "sparsity 0.5 and 20 at 0.9"
)

CHANGE, ERROR = "change of the MAE", "MAE to the truth"

Trials: TypeAlias = Sequence[Mapping[str, float]]
Curves: TypeAlias = Mapping[float, Trials]
"""The trials at each epsilon, or at each sparsity."""

VALUES = 10
"""|Γ|: answers are 0, …, 9 (P4 §VI-A)."""

QUICK_FROM = 3.0
"""Quick runs skip ours below this epsilon, where it takes as long as all others together."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The choice of MF under which a figure is judged, with its statements, and all choices."""

    variant: Factorization
    statements: tuple[Statement, ...]
    choices: tuple[Choice, ...]

    @property
    def name(self) -> str:
        """The name of the variant."""
        return self.variant.name

    def of(self, text: str) -> Statement:
        """The statement that begins with a text."""
        return next(each for each in self.statements if each.text.startswith(text))


Found: TypeAlias = "Mapping[Place, Trials]"


def judged_choice(found: Found, said: Callable[[Found, str], Sequence[Statement]]) -> Judged:
    """The variant of MF with which most statements are true; of several the first is judged.

    `said` gives the statements with a variant. Choices are compared on the trials that have them
    all, and the judged one is run on all trials.
    """
    variants = [variant_named(name) for name in tried_in(list(found.values()))]
    alike = {place: with_grid(trials) for place, trials in found.items()}
    choices = []
    for each in variants:
        statements = said(alike, each.name)
        choices.append(Choice(each.values, sum(one.true for one in statements), len(statements)))
    chosen = variants[choices.index(best(choices))]
    return Judged(chosen, tuple(said(found, chosen.name)), tuple(choices))


def with_grid(trials: Trials) -> Trials:
    """The trials with every choice of MF; all of them if no trial has more than others."""
    return [trial for trial in trials if DESCENTS[0].name in trial] or trials


def tried_in(places: Sequence[Trials]) -> list[str]:
    """The variants of MF that were run, or refused, at these places."""
    seen = {name for trials in places for trial in trials for name in trial}
    whole = any(each.name in seen for each in DESCENTS)
    return [each.name for each in ((*VARIANTS, *DESCENTS) if whole else MAIN)]


def refused(text: str, name: str) -> Statement:
    """A statement about a variant that has no minimum somewhere."""
    dimension = variant_named(name).dimension
    return Statement(text, False, f"refused: some workers have fewer than {dimension} answers")


def errors(trials: Trials) -> dict[str, Spread]:
    """The MAE of everything, over the trials that have it."""
    return {name: Spread.of([t[name] for t in trials if name in t]) for name in trials[0]}


def changes(trials: Trials) -> dict[str, Spread]:
    """MAE_P - MAE_O of everything, on the same answers (P4 §VI-A)."""
    return errors(
        [{n: mae - trial[CLEAN] for n, mae in trial.items() if n != CLEAN} for trial in trials]
    )


def apart(trials: Trials, one: str, other: str) -> Spread:
    """The excess of one MAE over the other, by trial with both."""
    both = [trial for trial in trials if one in trial and other in trial]
    return Spread.of([trial[one] - trial[other] for trial in both])


def is_above(spread: Spread, figure: float) -> bool:
    """Whether a mean is above a figure beyond chance, or for one trial simply above."""
    error = 0.0 if math.isnan(spread.standard_error) else spread.standard_error
    return spread.mean - ERRORS * error > figure


def statement_rows(part: str, judged: Judged) -> Iterator[Row]:
    """Each statement of the paper with our result."""
    for each in judged.statements:
        row: dict[str, Value] = {"part": part, "the text says": each.text}
        yield {**row, "true": "yes" if each.true else "no", "seen": each.seen, "MF": judged.name}


def words_of(judged: Judged) -> Iterator[str]:
    """Each statement in a sentence, and the choice that is judged."""
    said = "; ".join(
        f"{'true' if each.true else 'false'}: {each.text} ({each.seen})"
        for each in judged.statements
    )
    same = sum(choice.met == best(judged.choices).met for choice in judged.choices)
    yield (
        f"Judged with {judged.name}, one of {same} choices of {len(judged.choices)} with which "
        f"most statements are true. {said[0].upper()}{said[1:]}."
    )


def mae_rows(part: str, axis: str, curves: Curves, judged: str) -> Iterator[Row]:
    """Two tables: the paper's changes, and errors to the truth."""
    for x, trials in curves.items():
        yield _row(f"{part}, {CHANGE}", axis, x, _shown(changes(trials), judged))
    for x, trials in curves.items():
        yield _row(f"{part}, {ERROR}", axis, x, _shown(errors(trials), judged))


def _shown(seen: Mapping[str, Spread], judged: str) -> dict[str, Spread]:
    """Without the variants of MF that are neither judged nor main ones."""
    hidden = (
        {each.name for each in (*VARIANTS, *DESCENTS)} - {each.name for each in MAIN} - {judged}
    )
    return {name: spread for name, spread in seen.items() if name not in hidden}


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


def true_epsilon(pair: Method, values: int, tasks: int, unit: Unit = Unit.ANSWER) -> float:
    """The true epsilon at a claimed one of 1 and delta 0; NULL is also an answer."""
    target = Target(1.0, unit, answers=tasks)
    policy = policy_at(pair, Domain.ordinal(range(values)), target.epsilon, tasks)
    return true_guarantee(policy, target).epsilon


def guarantee_rows(pairs: Sequence[Method], values: int, tasks: int) -> Iterator[Row]:
    """True epsilons per answer and per worker at a claimed epsilon of 1."""
    for pair in pairs:
        name = "MF" if isinstance(pair, Factorization) else pair.name
        row: dict[str, Value] = {"part": "True epsilon at a claimed 1", "method": name}
        for unit in Unit:
            held = true_epsilon(pair, values, tasks, unit)
            row[f"per {unit}"] = held if math.isfinite(held) else "not finite"
        yield row


def same_guarantee(pairs: Sequence[Method], values: int, tasks: int) -> Ruling:
    """Whether all methods have the epsilon per answer at which they are compared, or only some."""
    held = {
        "MF" if isinstance(pair, Factorization) else pair.name: true_epsilon(pair, values, tasks)
        for pair in pairs
    }
    kept = [epsilon <= 1 + 1e-9 for epsilon in held.values()]
    between = published_factorization_privacy(range(values), 1.0, null=False).sound
    none = f"{between:.3g} between values, none between NULL and a value (Thm. 4)"
    words = ", ".join(
        f"{name} {f'{epsilon:.3g}' if math.isfinite(epsilon) else none}"
        for name, epsilon in held.items()
    )
    reason = f"true epsilon per answer at a claimed 1, NULL included: {words}"
    return Ruling("holds" if all(kept) else "partly" if any(kept) else "fails", reason)


def step_rows(places: Sequence[Trials]) -> Iterator[Row]:
    """The largest relative move of MF's MAE over all places when gradient steps double."""
    for moves in _moves(places):
        yield {"part": "MF: more gradient steps, largest move of the MAE in %", **moves}


def _moves(places: Sequence[Trials]) -> Iterator[dict[str, Value]]:
    for descents, minimum in limits():
        ways = [*descents, minimum]
        both = [[t for t in trials if all(way.name in t for way in ways)] for trials in places]
        there = [errors(trials) for trials in both if trials]
        if there:
            row: dict[str, Value] = {"MF": minimum.name}
            for few, more in pairwise(ways):
                end = "the minimum" if more is minimum else f"{more.steps} steps"
                moved = max(abs(at[more.name].mean / at[few.name].mean - 1) for at in there)
                row[f"{few.steps} steps to {end}"] = 100 * moved
            yield row


def step_sentence(places: Sequence[Trials]) -> str:
    """The moves in words; none in a quick run."""
    moves = [
        f"{value:.2g} % ({row['MF']}, {key})"
        for row in _moves(places)
        for key, value in row.items()
        if isinstance(value, float)
    ]
    if not moves:
        return "All numbers of MF are at the minimum, which no gradient step moves."
    return (
        "All numbers of MF are at the minimum, which no gradient step moves; descents from a "
        f"random start differ in their MAE by at most {', '.join(moves)}."
    )


def chart(title: str, axis: str, curves: Curves, note: str, judged: str) -> Chart:
    """The change of the MAE of every method over an axis, with the best constant's as a level."""
    seen = {x: _shown(changes(trials), judged) for x, trials in curves.items()}
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

    def cells(
        self, size: Size, trials: int, seed: int, *, with_ours: int, grid_in: int = GRID_IN
    ) -> list[Cell]:
        """One cell per trial: P4's mechanisms, and in the first `with_ours` trials also ours."""
        source = crowd(self.workers, self.tasks, self.sparsity, self.truths)
        own = (ours(beyond=self.truths == "N(0, 1)"),)
        return [
            Cell(
                maes,
                (
                    source,
                    VALUES,
                    self.epsilon,
                    (*methods(size, trial, grid_in), *(own if trial < with_ours else ())),
                    trial,
                    seed,
                ),
            )
            for trial in range(trials)
        ]

    def trials_of_ours(self, size: Size, full: int) -> int:
        """The number of trials with ours: `full` in a full run, one or none in a quick one."""
        return full if size == "full" else int(self.epsilon >= QUICK_FROM)


def methods(size: Size, trial: int, grid_in: int = GRID_IN) -> tuple[Method, ...]:
    """P4's mechanisms in a trial, with every choice of MF in the first ones of a full run."""
    if size == "full" and trial < grid_in:
        return (LP, RR, *VARIANTS, *DESCENTS)
    return (LP, RR, *MAIN)


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
