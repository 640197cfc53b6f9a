"""Study `p4-examples`: the bounds of P4's theorems 2, 3 and 5 in its worked examples.

The privacy of LP, RR and MF, which theorems 1 and 4 and equation 8 state, is checked as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from sottovoce.figures import Chart, Level, Series
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.planning.pipelines import Pipeline, true_guarantee
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.choices import Choice, best
from sottovoce_studies.contests import CONSTANT, Contest
from sottovoce_studies.p4.crowds import AlikeCrowd, errors, factored_errors
from sottovoce_studies.p4.factorization import OPEN as OPEN_OF_MF
from sottovoce_studies.p4.factorization import Factorization
from sottovoce_studies.p4.sparse_trials import Method, policy_at
from sottovoce_studies.paper_tables import compared_row, curve, printed
from sottovoce_studies.rulings import Ruling, Rulings, Statement, Verdict, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Value, Work
from sottovoce_studies.theorems.sparse_numbers import (
    SparseSetting,
    keep_probability,
    laplace_error,
    null_response_error,
    published_factorization_error,
    published_laplace_error,
    published_null_response_error,
)

__all__ = ["LP", "MF", "OURS", "RR", "STUDY", "Case", "cases", "formulas", "judge"]


LP = Pipeline("LP", "laplace", "mean", published=True)
RR = Pipeline("RR", "null-randomized-response", "mean")
OURS = Pipeline("threshold + aware", "threshold")
THEOREMS: Mapping[str, str] = {"LP": "Theorem 2", "RR": "Theorem 3", "MF": "Theorem 5"}

GAMMA, EPSILON, TASKS, DIMENSIONS = 10, 1.0, 1_000, 100
"""Values of the examples: Γ = 0 … 9, ε = 1; n and d of the third."""
MF: tuple[Factorization, ...] = tuple(
    Factorization(DIMENSIONS, ridge, profiles)
    for profiles in ("-1 to 1", "0 to 1")
    for ridge in (0.0, 0.01)
)
"""MF with the dimension of the example, at its minimum, with every choice of what is open."""
OPEN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {point: OPEN_OF_MF[point] for point in ("ridge", "entries of V")}
)
FAR = (0, 100)
"""Two values that are far from each other."""
WORKED = 0.9
"""The sparsity of the first two examples; in the third it does not matter."""
LARGE = (GAMMA - 1) / 4
"""The error, a quarter of the range, above which an error counts as large: our choice."""
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
MF_TRUTHS: Mapping[Size, tuple[int, ...]] = {"quick": (7,), "full": (0, 7)}
MF_WORKERS: Mapping[Size, int] = {"quick": 10, "full": 300}
TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}
MF_TRIALS: Mapping[Size, int] = {"quick": 2, "full": 5}

Seen: TypeAlias = Mapping[str, Spread]
"""The simulated errors of a case, by pair."""

WORDS, SIMULATED = "Numbers of the examples", "Simulated errors in the same settings"

WHY: Mapping[tuple[str, bool], str] = {
    ("LP", False): "it adds up noise that averages out in a crowd, so it is far from sharp",
    ("RR", True): "it counts a report NULL as the value 0, but the estimate ignores NULLs",
    ("MF", True): "a worker with fewer answers than dimensions has no minimum, or a far one with "
    "a ridge, and profiles of both signs cannot represent a truth that all tasks share",
}
"""Reasons why a bound is loose or false."""


@dataclass(frozen=True, slots=True)
class Case:
    """A crowd of the examples, the pairs or variants of MF to run on it, and the trials."""

    crowd: AlikeCrowd
    pairs: tuple[Method, ...]
    trials: int

    def cells(self, seed: int) -> list[Cell]:
        """One cell per trial and kind of pairs."""
        factored = tuple(pair for pair in self.pairs if isinstance(pair, Factorization))
        if factored:
            return [
                Cell(factored_errors, (self.crowd, EPSILON, factored, trial, seed))
                for trial in range(self.trials)
            ]
        others = tuple(pair for pair in self.pairs if isinstance(pair, Pipeline))
        contest = Contest(self.crowd, EPSILON, others, hide_participation=True)
        return [Cell(errors, (contest, trial, seed)) for trial in range(self.trials)]


def cases(size: Size) -> list[Case]:
    """Truths of 0 under LP and RR, truths of 0 and of 7 under MF, at several sparsities."""
    first = [
        Case(AlikeCrowd(*CROWD[size], 0, sparsity), (LP, RR, OURS), TRIALS[size])
        for sparsity in SPARSITIES[size]
    ]
    return first + [
        Case(AlikeCrowd(MF_WORKERS[size], TASKS, truth, sparsity), MF, MF_TRIALS[size])
        for truth in MF_TRUTHS[size]
        for sparsity in MF_SPARSITIES[size]
    ]


def formulas(sparsity: float = WORKED, truth: float = 0.0) -> dict[str, float]:
    """The bounds of Theorems 2, 3 and 5 in the examples' settings, from their formulas.

    >>> {name: round(bound, 5) for name, bound in formulas().items()}
    {'LP': 14.12979, 'RR': 3.4368, 'MF': 1.79788}
    """
    setting = _setting(sparsity, truth)
    return {
        "LP": published_laplace_error(setting).value,
        "RR": published_null_response_error(setting).value,
        "MF": published_factorization_error(TASKS, DIMENSIONS, GAMMA, EPSILON).value,
    }


def _setting(sparsity: float, truth: float) -> SparseSetting:
    values = tuple(range(GAMMA))
    return SparseSetting(values=values, truth=truth, answered=1 - sparsity, epsilon=EPSILON)


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
    for pair in case.pairs:
        place: dict[str, Value] = {
            "part": SIMULATED,
            "pair": pair.name,
            "truth": crowd.truth,
            "sparsity": crowd.sparsity,
        }
        theorem = "MF" if isinstance(pair, Factorization) else pair.name
        if pair.name not in seen:
            yield {**place, "bound": printed_bound(theorem), "bound holds": "refused"}
            continue
        error = seen[pair.name]
        row = {**compared_row(place, error), CONSTANT: seen[CONSTANT].mean}
        if theorem == "MF" or (theorem in THEOREMS and crowd.sparsity == WORKED):
            above = is_above(error, printed_bound(theorem))
            row |= {"bound": printed_bound(theorem), "bound holds": "no" if above else "yes"}
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
    yield _factorization([(case, seen) for case, seen in found if case.pairs == MF])


def _factorization(found: Sequence[tuple[Case, Seen]]) -> Chart:
    series = []
    for variant in MF:
        for truth in sorted({case.crowd.truth for case, _ in found}):
            of = [
                (case.crowd.sparsity, seen[variant.name].mean)
                for case, seen in found
                if case.crowd.truth == truth and variant.name in seen
            ]
            if of:
                places, means = zip(*of, strict=True)
                series.append(Series(f"{variant.name}, truths {truth}", places, means))
    return Chart(
        "Errors of MF and their bound (P4 Theorem 5)",
        "sparsity",
        "MAE",
        tuple(series),
        (Level("Theorem 5", printed_bound("MF")),),
        note=f"P4 §V: with {TASKS:,} tasks, {DIMENSIONS} dimensions and epsilon 1 the error of MF "
        f"is at most {printed_bound('MF'):g} at any sparsity. A point that is missing is refused: "
        "some workers have no minimum.",
        better="lower",
        y_scale="log",
    )


def plan(size: Size, seed: int) -> Work:
    """Every trial of every case."""
    every = cases(size)
    cells = [cell for case in every for cell in case.cells(seed)]

    def judged(results: Sequence[Any]) -> Outcome:
        rest = iter(results)
        return judge([(case, _spreads([next(rest) for _ in range(case.trials)])) for case in every])

    return Work(cells, judged)


def _spreads(trials: Sequence[Mapping[str, float]]) -> dict[str, Spread]:
    """The errors that every trial has: a refused variant has none."""
    common = [name for name in trials[0] if all(name in trial for trial in trials)]
    return {name: Spread.of([trial[name] for trial in trials]) for name in common}


def judge(found: Sequence[tuple[Case, Seen]]) -> Outcome:
    """Printed numbers against their formulas, bounds against simulated errors, and guarantees."""
    worked = next(seen for case, seen in found if case.crowd.sparsity == WORKED and "LP" in seen)
    said = {
        variant: [
            *(_bounded(name, worked[name]) for name in ("LP", "RR")),
            _factored(variant, found),
        ]
        for variant in MF
    }
    choices = tuple(
        Choice(
            {point: variant.values[point] for point in OPEN},
            sum(each.true for each in statements),
            len(statements),
        )
        for variant, statements in said.items()
    )
    chosen = MF[choices.index(best(choices))]
    arithmetic = list(worked_rows())
    agreed = sum(row["agree"] == "yes" for row in arithmetic)
    unlike = ", ".join(str(row["what"]) for row in arithmetic if row["agree"] == "no")
    kept = _guarantees()
    rulings = Rulings(
        Ruling(
            "holds" if not unlike else "partly" if 2 * agreed >= len(arithmetic) else "fails",
            f"{agreed} of {len(arithmetic)} follow from their formulas"
            + (f"; not {unlike}" if unlike else ""),
        ),
        ruling_on(said[chosen]),
        ruling_on(list(kept.values())),
    )
    sentences = [_sentence(each, name) for each, name in zip(said[chosen], THEOREMS, strict=True)]
    sentences += [*_complete(found), _beside_ours(found), _whose_guarantee(kept)]
    simulated = [row for case, seen in found for row in simulated_rows(case, seen)]
    charts = tuple(example_charts(found))
    claims = _claims(said[chosen], kept, worked)
    words = f"{'. '.join(sentences)}."
    return Outcome((*arithmetic, *simulated), rulings, words, charts, (), claims, choices)


def _bounded(name: str, error: Spread) -> Statement:
    bound = printed_bound(name)
    seen = f"error {error.mean:.3g}, bound {bound:g}"
    return Statement(f"the bound of {THEOREMS[name]} holds", not is_above(error, bound), seen)


def _factored(variant: Factorization, found: Sequence[tuple[Case, Seen]]) -> Statement:
    """Whether the error of MF is within the bound in all settings, where it has a minimum."""
    text, bound = f"the bound of {THEOREMS['MF']} holds", printed_bound("MF")
    of = [(case, seen) for case, seen in found if case.pairs == MF]
    run = [(case, seen[variant.name]) for case, seen in of if variant.name in seen]
    refused = sorted({case.crowd.sparsity for case, seen in of if variant.name not in seen})
    case, worst = max(run, key=lambda one: one[1].mean - ERRORS * one[1].standard_error)
    seen = (
        f"{variant.name}: error {worst.mean:.3g} at sparsity {case.crowd.sparsity:g} with truths "
        f"of {case.crowd.truth} and {case.crowd.workers:,} workers, bound {bound:g}"
    )
    if refused:
        seen += f"; no minimum at sparsity {refused[0]:g}"
    return Statement(text, not refused and not is_above(worst, bound), seen)


def _guarantees() -> dict[str, Statement]:
    """Thm. 1, Eq. 8 and Thm. 4: whether LP, RR and MF keep their epsilon per answer."""
    ten = Domain.ordinal(range(GAMMA))
    # Between two values a and b the loss is |a - b| / scale, and NULL is sent as some value.
    lp = tuple((max(gamma) - min(gamma)) * EPSILON / len(gamma) for gamma in (range(GAMMA), FAR))
    rr, mf = _true_epsilon(RR, ten), _true_epsilon(replace(MF[0], dimension=10), ten)
    return {
        "LP": Statement(
            "LP with scale |Γ| / epsilon keeps epsilon for any values (Thm. 1)",
            max(lp) <= EPSILON + 1e-9,
            f"true for consecutive integers, as in all of P4 ({lp[0]:g} at epsilon 1 for 0 to 9); "
            f"false in general: {lp[1]:g} for the values 0 and 100",
        ),
        "RR": Statement(
            "RR with NULL keeps epsilon (Eq. 8)", rr <= EPSILON + 1e-9, f"{rr:.6f} at epsilon 1"
        ),
        "MF": Statement(
            "MF keeps epsilon, NULL included (Thm. 4)",
            mf <= EPSILON + 1e-9,
            "between NULL and a value the privacy loss has no bound"
            if math.isinf(mf)
            else f"{mf:.3g} at epsilon 1",
        ),
    }


def _claims(
    said: Sequence[Statement], kept: Mapping[str, Statement], worked: Seen
) -> dict[str, Ruling]:
    lp, rr, mf = said
    values = formulas()
    single = published_laplace_error(replace(_setting(WORKED, 4.5), workers=1))
    general = (
        Ruling("holds", lp.seen)
        if lp.true and single.holds
        else Ruling("partly" if lp.true else "fails", f"{lp.seen}; false for one worker, truth 4.5")
    )
    return {
        "P4-IV.A-1": Ruling("holds" if kept["LP"].true else "partly", kept["LP"].seen),
        "P4-IV.A-3": general,
        "P4-IV.A-6": _printed_ruling("LP", values["LP"], lp),
        "P4-IV.B-1": kept["RR"].ruling,
        "P4-IV.B-2": rr.ruling,
        "P4-IV.B-4": _printed_ruling("RR", values["RR"], rr),
        "P4-V-4": kept["MF"].ruling,
        "P4-V-7": mf.ruling,
        "P4-V-8": _insensitive(mf),
        "P4-V-9": _printed_ruling("MF", values["MF"], mf),
        "P4-slides-3": _slide("LP", {1.0: "as written"}),
        "P4-slides-4": _slide("RR", {0.0: "as written", 1.0: "as explained"}),
        "P4-slides-7": _printed_ruling("MF", values["MF"], mf),
        "P4-slides-15": _large({name: worked[name].mean for name in ("LP", "RR")}),
    }


def _insensitive(bound: Statement) -> Ruling:
    """The bound of MF has no sparsity in its formula; it is an advantage if it is true."""
    if bound.true:
        return bound.ruling
    words = f"the formula has no sparsity in it, but the bound is false: {bound.seen}"
    return Ruling("partly", words)


def _printed_ruling(name: str, value: float, bound: Statement) -> Ruling:
    """A printed example holds if its number follows from the formula, and the bound is true."""
    true = (agrees(printed_bound(name), value), bound.true)
    words = f"the formula gives {value:.5f}; {bound.seen}"
    return Ruling("holds" if all(true) else "partly" if any(true) else "fails", words)


def _slide(name: str, truths: Mapping[float, str]) -> Ruling:
    """A slide's truths: whether the formula gives the printed number there, and the bound holds."""
    true, words = list[bool](), list[str]()
    for truth, how in truths.items():
        value = formulas(truth=truth)[name]
        error = _computed_error(name, truth)
        true += [agrees(printed_bound(name), value), error <= printed_bound(name)]
        words.append(
            f"with truths of {truth:g}, {how}, the formula gives {value:.5f} and the error is "
            f"{error:.2f}"
        )
    verdict: Verdict = "holds" if all(true) else "partly" if any(true) else "fails"
    return Ruling(verdict, f"{'; '.join(words)}, bound {printed_bound(name):g}")


def _computed_error(name: str, truth: float) -> float:
    """The expected error of LP or RR at the examples' sparsity, with the workers of a full run."""
    setting = replace(_setting(WORKED, truth), workers=CROWD["full"][0])
    if name == "LP":
        return laplace_error(setting, GAMMA / EPSILON).estimate
    return null_response_error(setting).estimate


def _large(seen: Mapping[str, float]) -> Ruling:
    """Whether the errors of the examples are large."""
    large = [error > LARGE for error in seen.values()]
    words = " and ".join(f"{error:.2f} ({name})" for name, error in seen.items())
    verdict: Verdict = "holds" if all(large) else "partly" if any(large) else "fails"
    reason = f"in the examples {words} on a scale of {GAMMA - 1}; large means above {LARGE:g}"
    return Ruling(verdict, reason)


def _sentence(bound: Statement, name: str) -> str:
    words = (
        f"{THEOREMS[name]} ({name}) prints {printed_bound(name):g} and its formula gives "
        f"{formulas()[name]:.5f}; {bound.seen}: the bound {'holds' if bound.true else 'is false'}"
    )
    why = WHY.get((name, not bound.true))
    return f"{words}, since {why}" if why else words


def _complete(found: Sequence[tuple[Case, Seen]]) -> Iterator[str]:
    """Text on the error of MF without missing answers, which sparsity cannot explain."""
    for case, seen in found:
        if case.pairs == MF and case.crowd.sparsity == 0 and case.crowd.truth:
            words = " and ".join(
                f"{seen[variant.name].mean:.3g} ({variant.name})"
                for variant in MF
                if variant.name in seen and not variant.ridge
            )
            yield (
                f"With truths of {case.crowd.truth} and {case.crowd.workers:,} workers the error "
                f"of MF is {words} even if every worker answers every task"
            )


def _beside_ours(found: Sequence[tuple[Case, Seen]]) -> str:
    parts = [
        f"{seen[OURS.name].mean:.3g} compared with {seen['LP'].mean:.3g} (LP) and "
        f"{seen['RR'].mean:.3g} (RR) at sparsity {case.crowd.sparsity:g}"
        for case, seen in found
        if OURS.name in seen and case.crowd.sparsity == WORKED
    ]
    return (
        f"The error of ours is {'; '.join(parts)}. The error of the best constant is 0 in every "
        "example, because all truths are equal; inference that learns the spread of truths "
        "benefits from this"
    )


def _whose_guarantee(kept: Mapping[str, Statement]) -> str:
    words = "; ".join(f"{each.text}: {each.seen}" for each in kept.values())
    return f"Guarantees per answer, NULL included: {words}"


def _true_epsilon(pair: Method, domain: Domain) -> float:
    target = Target(EPSILON, answers=TASKS, hide_participation=True)
    return true_guarantee(policy_at(pair, domain, EPSILON, TASKS), target).epsilon


STUDY = Study(
    "p4-examples",
    "At epsilon 1 with ten values and truths of 0, the error of LP is at most 14.13 and that of "
    "RR at most 3.551 at sparsity .9, and that of MF at most 1.8 with 1,000 tasks and 100 "
    "dimensions, at any sparsity; LP, RR and MF keep epsilon per answer, NULL included",
    "P4 §IV-A, §IV-B and §V: Theorems 1 to 5 and Equation 8, with their examples",
    "crowds drawn as in the examples: answers are truth + N(0, 1) rounded to 0 … 9, all workers "
    "of one quality, so estimates are plain means; our choices are the numbers of workers (500, "
    "for MF 300), and truths of 7 in addition to 0 for MF, whose theorem does not mention truths; "
    "MF is at its minimum, and refused where a worker has none; its ridge and the law of V's "
    "entries, which P4 does not print, are open; noise as published, epsilon nominal; an error "
    f"above {LARGE:g}, a quarter of the range, is large (our choice); no ties",
    plan,
    "2 trials of smaller crowds instead of 20 (MF: 10 workers, truths of 7, 2 trials instead of "
    "300 and 5)",
    recorded=("partly", "partly", "partly"),
    items=("P4 examples",),
    open=OPEN,
)
