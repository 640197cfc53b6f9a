"""Study `p4-examples`: the example bounds of P4's Theorems 2, 3 and 5, computed and simulated.

P4's printed bounds are compared with those of their formulas and with errors on drawn crowds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sottovoce.figures import Chart, Level, Series
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.planning.pipelines import Pipeline, true_guarantee
from sottovoce.planning.theorems.sparse_numbers import (
    SparseSetting,
    keep_probability,
    published_factorization_error,
    published_laplace_error,
    published_null_response_error,
)
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT, Contest
from sottovoce_studies.p4.crowds import AlikeCrowd, errors
from sottovoce_studies.paper_tables import compared_row, curve, printed, spread_by
from sottovoce_studies.study import Outcome, Row, Size, Study, Value, Verdict, Work

__all__ = ["LP", "MF", "OURS", "RR", "STUDY", "Case", "cases", "formulas", "judge"]


LP = Pipeline("LP", "laplace", "mean", published=True)
RR = Pipeline("RR", "null-randomized-response", "mean")
MF = Pipeline(
    "MF", "matrix-factorization", "mean", {"dimension": 100, "ridge": 1e-9}, published=True
)
OURS = Pipeline("threshold + aware", "threshold")
THEOREMS: Mapping[str, str] = {"LP": "Theorem 2", "RR": "Theorem 3", "MF": "Theorem 5"}

GAMMA, EPSILON, TASKS, DIMENSIONS = 10, 1.0, 1_000, 100
"""Values of the examples: Γ = 0 … 9, ε = 1; n and d of the third."""
WORKED = 0.9
"""The sparsity of the first two examples; in the third it does not matter."""
ERRORS = 3.0
"""The number of standard errors by which a simulated error must exceed a bound to refute it."""

SPARSITIES: Mapping[Size, tuple[float, ...]] = {
    "quick": (0.0, WORKED),
    "full": (0.0, 0.25, 0.5, 0.75, WORKED),
}
MF_SPARSITIES: Mapping[Size, tuple[float, ...]] = {
    "quick": (0.0, WORKED),
    "full": (0.0, 0.5, WORKED),
}
CROWD: Mapping[Size, tuple[int, int]] = {"quick": (300, 30), "full": (500, 100)}
MF_WORKERS: Mapping[Size, int] = {"quick": 10, "full": 300}
TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}
MF_TRIALS: Mapping[Size, int] = {"quick": 2, "full": 5}

Seen: TypeAlias = Mapping[str, Spread]
"""The simulated errors of a case, by pair."""

WORDS, SIMULATED = "Numbers of the examples", "Simulated errors in the same settings"

WHY: Mapping[tuple[str, bool], str] = {
    ("LP", False): "it adds up noise that averages out in a crowd, so it is far from sharp",
    ("RR", True): "it counts a report NULL as the value 0, but the estimate ignores NULLs",
    ("MF", True): "a worker with fewer answers than dimensions has no minimum, and random "
    "profiles cannot represent a truth that all tasks share, so estimates shrink "
    "to 0",
}
"""Reasons why a bound is loose or false."""


@dataclass(frozen=True, slots=True)
class Case:
    """A crowd of the examples, the pairs to run on it, and the number of trials."""

    crowd: AlikeCrowd
    pairs: tuple[Pipeline, ...]
    trials: int

    @property
    def contest(self) -> Contest:
        """The comparison, with participation hidden as in P4."""
        return Contest(self.crowd, EPSILON, self.pairs, hide_participation=True)


def cases(size: Size) -> list[Case]:
    """Truths of 0 under LP and RR, truths of 0 and of 7 under MF, at several sparsities."""
    first = [
        Case(AlikeCrowd(*CROWD[size], 0, sparsity), (LP, RR, OURS), TRIALS[size])
        for sparsity in SPARSITIES[size]
    ]
    pairs = (MF,) if size == "quick" else (MF, OURS)
    return first + [
        Case(AlikeCrowd(MF_WORKERS[size], TASKS, truth, sparsity), pairs, MF_TRIALS[size])
        for truth in (0, 7)
        for sparsity in MF_SPARSITIES[size]
    ]


def formulas(sparsity: float = WORKED) -> dict[str, float]:
    """The bounds of Theorems 2, 3 and 5 in the examples' settings, from their formulas.

    >>> {name: round(bound, 5) for name, bound in formulas().items()}
    {'LP': 14.12979, 'RR': 3.4368, 'MF': 1.79788}
    """
    setting = SparseSetting(
        values=tuple(range(GAMMA)), truth=0, answered=1 - sparsity, epsilon=EPSILON
    )
    return {
        "LP": published_laplace_error(setting).value,
        "RR": published_null_response_error(setting).value,
        "MF": published_factorization_error(TASKS, DIMENSIONS, GAMMA, EPSILON).value,
    }


def printed_bound(name: str) -> float:
    """The bound that P4 prints for a mechanism."""
    return printed("P4 examples").number("bound", THEOREMS[name])


def is_above(error: Spread, bound: float) -> bool:
    """Whether a simulated error is above a bound beyond chance."""
    return error.mean - ERRORS * error.standard_error > bound


def agrees(paper: float, value: float) -> bool:
    """Whether a number equals the printed one, rounded to its number of places."""
    places = len(str(paper).partition(".")[2])
    return round(value, places) == paper


def worked_rows() -> Iterator[Row]:
    """The printed numbers compared with those of their formulas."""
    for name, value in formulas().items():
        yield _arithmetic(f"{THEOREMS[name]} ({name})", printed_bound(name), value)
    share = printed("P4 claims").number(
        "figure", "share of NULLs that RR keeps at epsilon 3, about"
    )
    yield _arithmetic("RR keeps a NULL, epsilon 3, 5 values", share, keep_probability(3, 5))


def _arithmetic(what: str, paper: float, value: float) -> dict[str, Value]:
    return {
        "part": WORDS,
        "what": what,
        "paper": paper,
        "formula": f"{value:.6g}",
        "agree": "yes" if agrees(paper, value) else "no",
    }


def simulated_rows(case: Case, seen: Seen) -> Iterator[Row]:
    """Each pair's error in a case, with the bound if the example has one."""
    crowd = case.crowd
    for name, error in seen.items():
        if name == CONSTANT:
            continue
        place: dict[str, Value] = {
            "part": SIMULATED,
            "pair": name,
            "truth": crowd.truth,
            "sparsity": crowd.sparsity,
        }
        row = {**compared_row(place, error), CONSTANT: seen[CONSTANT].mean}
        if name == "MF" or (name in THEOREMS and crowd.sparsity == WORKED):
            broken = is_above(error, printed_bound(name))
            row |= {"bound": printed_bound(name), "bound holds": "no" if broken else "yes"}
        yield row


def example_charts(found: Sequence[tuple[Case, Seen]]) -> Iterator[Chart]:
    """Errors and bounds by sparsity, for LP and RR and for MF."""
    first = [(case.crowd.sparsity, seen) for case, seen in found if "LP" in seen]
    places = [sparsity for sparsity, _ in first]
    bounds = [formulas(sparsity) for sparsity in places]
    worked = dict(first)[WORKED]
    simulated = [
        curve(
            name,
            places,
            [seen[name] for _, seen in first],
            "ours" if name == OURS.name else "theirs",
        )
        for name in ("LP", "RR", OURS.name)
    ]
    stated = [
        Series(
            f"{THEOREMS[name]} ({name})",
            tuple(places),
            tuple(at[name] for at in bounds),
            role="reference",
        )
        for name in ("LP", "RR")
    ]
    yield Chart(
        "Errors of LP and RR and their bounds (P4 Theorems 2, 3)",
        "sparsity",
        "MAE",
        (*simulated, *stated),
        (Level(CONSTANT, 0.0),),
        note=f"P4 §IV: at sparsity {WORKED:g} the error of LP is at most {printed_bound('LP'):g} "
        f"and that of RR at most {printed_bound('RR'):g}. Here it is {worked['LP'].mean:.3g} "
        f"with LP and {worked['RR'].mean:.3g} with RR.",
        better="lower",
    )
    yield _factorization([(case, seen) for case, seen in found if "MF" in seen])


def _factorization(found: Sequence[tuple[Case, Seen]]) -> Chart:
    series = []
    for name in ("MF", OURS.name):
        for truth in (0, 7):
            of = [
                (case.crowd.sparsity, seen[name])
                for case, seen in found
                if case.crowd.truth == truth and name in seen
            ]
            if of:
                series.append(
                    Series(
                        f"{name}, truths {truth}",
                        tuple(place for place, _ in of),
                        tuple(error.mean for _, error in of),
                        role="ours" if name == OURS.name else "theirs",
                    )
                )
    broken = sum(is_above(seen["MF"], printed_bound("MF")) for _, seen in found)
    return Chart(
        "Errors of MF and their bound (P4 Theorem 5)",
        "sparsity",
        "MAE",
        tuple(series),
        (Level("Theorem 5", printed_bound("MF")),),
        note=f"P4 §V: with {TASKS:,} tasks, {DIMENSIONS} dimensions and epsilon 1 the error of MF "
        f"is at most {printed_bound('MF'):g} at any sparsity. Here it is larger in {broken} "
        f"of {len(found)} settings.",
        better="lower",
        y_scale="log",
    )


def plan(size: Size, seed: int) -> Work:
    """Every trial of every case."""
    every = cases(size)
    cells = [
        Cell(errors, (case.contest, trial, seed)) for case in every for trial in range(case.trials)
    ]

    def judged(results: Sequence[Any]) -> Outcome:
        rest = iter(results)
        return judge(
            [(case, spread_by([next(rest) for _ in range(case.trials)])) for case in every]
        )

    return Work(cells, judged)


def judge(found: Sequence[tuple[Case, Seen]]) -> Outcome:
    """Fails if a simulated error is above a bound by three standard errors."""
    worst = {name: _worst(name, found) for name in THEOREMS}
    broken = {
        name: (case, seen)
        for name, (case, seen) in worst.items()
        if is_above(seen[name], printed_bound(name))
    }
    unlike = [name for name, value in formulas().items() if not agrees(printed_bound(name), value)]
    verdict, reason = _ruling(broken, unlike)
    sentences = [_sentence(name, worst[name], name in broken) for name in THEOREMS]
    sentences += [*_complete(found), _beside_ours(found), _whose_guarantee()]
    simulated = [row for case, seen in found for row in simulated_rows(case, seen)]
    charts = tuple(example_charts(found))
    words = f"{'. '.join(sentences)}."
    return Outcome((*worked_rows(), *simulated), verdict, reason, words, charts)


def _worst(name: str, found: Sequence[tuple[Case, Seen]]) -> tuple[Case, Seen]:
    """The setting of the example, or for MF, whose bound is for any setting, the worst one."""
    of = [
        (case, seen)
        for case, seen in found
        if name in seen and (name == "MF" or case.crowd.sparsity == WORKED)
    ]
    return max(of, key=lambda one: one[1][name].mean - ERRORS * one[1][name].standard_error)


def _ruling(broken: Mapping[str, tuple[Case, Seen]], unlike: Sequence[str]) -> tuple[Verdict, str]:
    if broken:
        parts = [
            f"{name}'s error is {seen[name].mean:.3g}, the bound {printed_bound(name):g}"
            for name, (_, seen) in broken.items()
        ]
        return "fails", "; ".join(parts)
    if unlike:
        return "holds in shape", f"the formula of {THEOREMS[unlike[0]]} gives another number"
    return "holds", ""


def _sentence(name: str, case: tuple[Case, Seen], broken: bool) -> str:
    crowd, seen = case[0].crowd, case[1][name]
    bound, formula = printed_bound(name), formulas()[name]
    words = (
        f"{THEOREMS[name]} ({name}) prints {bound:g} and its formula gives {formula:.5f}; "
        f"the simulated error is {seen.mean:.3g} at sparsity {crowd.sparsity:g} with truths of "
        f"{crowd.truth} and {crowd.workers:,} workers: the bound "
        f"{'is false' if broken else 'holds'}"
    )
    return f"{words}, since {WHY[name, broken]}" if (name, broken) in WHY else words


def _complete(found: Sequence[tuple[Case, Seen]]) -> Iterator[str]:
    """Text on the error of MF without missing answers, which sparsity cannot explain."""
    for case, seen in found:
        if "MF" in seen and case.crowd.sparsity == 0 and case.crowd.truth:
            yield (
                f"With truths of {case.crowd.truth} the error of MF is {seen['MF'].mean:.3g} even "
                "if every worker answers every task"
            )


def _beside_ours(found: Sequence[tuple[Case, Seen]]) -> str:
    parts = [
        f"{seen[OURS.name].mean:.3g} compared with {_theirs(seen)} at sparsity "
        f"{case.crowd.sparsity:g} with truths of {case.crowd.truth}"
        for case, seen in found
        if OURS.name in seen and case.crowd.sparsity == WORKED
    ]
    return (
        f"The error of ours is {'; '.join(parts)}. The error of the best constant is 0 in every "
        "example, because all truths are equal; inference that learns the spread of truths "
        "benefits from this"
    )


def _theirs(seen: Seen) -> str:
    return " and ".join(f"{seen[name].mean:.3g} ({name})" for name in THEOREMS if name in seen)


def _whose_guarantee() -> str:
    kept = {pair.name: _true_epsilon(pair) for pair in (LP, RR, MF, OURS)}
    words = [
        f"{name} {'none' if math.isinf(epsilon) else f'{epsilon:.2g}'}"
        for name, epsilon in kept.items()
    ]
    return f"The true epsilon per answer, NULL included, at a nominal 1: {', '.join(words)}"


def _true_epsilon(pair: Pipeline) -> float:
    target = Target(EPSILON, answers=TASKS, hide_participation=True)
    policy = pair.policy(Domain.ordinal(range(GAMMA)), target)
    return true_guarantee(policy, target).epsilon


STUDY = Study(
    "p4-examples",
    "At epsilon 1 with ten values and truths of 0, the error of LP is at most 14.13 and that of "
    "RR at most 3.551 at sparsity .9, and that of MF at most 1.8 with 1,000 tasks and 100 "
    "dimensions, at any sparsity",
    "P4 §IV-A, §IV-B and §V: Theorems 2, 3 and 5 with their examples",
    "crowds drawn as in the examples: answers are truth + N(0, 1) rounded to 0 … 9, all workers "
    "of one quality, so estimates are plain means; our choices are the numbers of workers (500, "
    "for MF 300), truths of 7 in addition to 0 for MF, whose theorem does not mention truths, "
    "its 200 gradient steps and a ridge of 1e-9, without which it rejects workers with fewer "
    "than 100 answers; noise as published, epsilon nominal; no ties",
    plan,
    "2 trials of smaller crowds instead of 20 (MF: 10 workers, 2 trials instead of 300 and 5, "
    "without ours)",
    recorded="fails",
    items=("P4 examples",),
)
