"""Study `worker-private-em`: the private EM equals the plain one, except for rounding.

Its tables and charts follow P2 §6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sottovoce.figures import Chart, Level, Series
from sottovoce.planning.trials import Spread, trial_seed
from sottovoce_studies.cells import Cell
from sottovoce_studies.p2.crowds import GoldTasks, PaperCrowd
from sottovoce_studies.p2.em_trials import EXPONENTS, PARAMETERS, trial
from sottovoce_studies.paper_tables import compared_row, printed
from sottovoce_studies.study import Outcome, Row, Size, Study, Verdict, Work

__all__ = ["DRAWN", "DUCHENNE", "STUDY", "falls", "judge"]


ENOUGH = 7
"""P2 Figure 3: the exponent from which on rounds equal the plain EM's."""

DUCHENNE, DRAWN = "Duchenne", "drawn"
GENUINE = {DUCHENNE: 1, DRAWN: 0}
"""The label of smiles that are genuine: 58 of P2's gold."""

Trial: TypeAlias = Mapping[str, Any]
Found: TypeAlias = Mapping[str, Sequence[Trial]]

TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}

FLOOR = 1e-11
"""The smallest error, because parameters are rounded to 40 bits in every round."""

LATER = 3
"""Errors are compared over a factor of 1,000, because different numbers of rounds change them."""

DIGITS = 5e-4
"""Half of the last printed digit of P2's accuracies."""

SKIPPED = f"{DUCHENNE} is skipped: the dataset is not in the cache"


def power(exponent: int) -> str:
    """A scale as text: 1, 10, 10^2."""
    return str(10**exponent) if exponent < 2 else f"10^{exponent}"


def settled_from(trials: Sequence[Trial], column: str, wanted: int) -> int:
    """The exponent from which on a column has the wanted value in every trial; 15 if never."""
    last = [
        exponent
        for each in trials
        for exponent, row in zip(EXPONENTS, each["scales"], strict=True)
        if row[column] != wanted
    ]
    return max(last, default=-1) + 1


def rounds_from(trials: Sequence[Trial]) -> int:
    """The exponent from which on rounds equal the plain EM's in every trial."""
    return max(settled_from([each], "rounds", each["rounds"]) for each in trials)


def errors_of(trials: Sequence[Trial], parameter: str) -> list[float]:
    """The geometric mean over trials at each scale; exact values count as the last bit."""
    table = np.array([[row[parameter] for row in each["scales"]] for each in trials])
    means = np.log(np.maximum(table, 2.0**-52)).mean(axis=0)
    return [float(error) for error in np.exp(means)]


def rows(found: Found) -> Iterator[Row]:
    """Rows of Table 1, of the data, and of Figures 2 and 3."""
    for table in (table_1, _data, _scales):
        for name, trials in found.items():
            yield from table(name, trials)


def table_1(name: str, trials: Sequence[Trial]) -> Iterator[Row]:
    """Accuracies; P2's are compared only with those on the public part of its data."""
    table, methods = printed("P2 Table 1"), ("majority vote", "plain EM")
    place = {"part": "P2 Table 1: accuracy", "data": name}
    for method in methods if trials else ():
        [paper] = table.column(method) if name == DUCHENNE else [None]
        yield compared_row({**place, "what": method}, mean(trials, method), paper)
    for k in (0, 1, ENOUGH, EXPONENTS[-1]) if trials else ():
        seen = Spread.of([each["scales"][k]["accuracy"] for each in trials])
        [paper] = table.column("private EM") if name == DUCHENNE else [None]
        yield compared_row({**place, "what": f"private EM, L = {power(k)}"}, seen, paper)


def mean(trials: Sequence[Trial], what: str) -> Spread:
    """The spread of one of their numbers over trials."""
    return Spread.of([each[what] for each in trials])


def _data(name: str, trials: Sequence[Trial]) -> Iterator[Row]:
    """The numbers of P2 §6.1 compared with those of the answers here."""
    label = GENUINE[name]
    ours = {
        "tasks": mean(trials, "tasks"),
        "no social smile in gold": Spread.of([each["gold by label"][label] for each in trials]),
        "workers": mean(trials, "workers"),
        "labels": mean(trials, "answers"),
        "no social smile in labels": Spread.of(
            [each["answers by label"][label] for each in trials]
        ),
    }
    for column, seen in ours.items():
        place = {"part": "P2 §6.1: the data", "data": name, "what": column}
        [paper] = printed("P2 data").column(column)
        yield compared_row(place, seen, paper)


def _scales(name: str, trials: Sequence[Trial]) -> Iterator[Row]:
    errors = {parameter: errors_of(trials, parameter) for parameter in PARAMETERS}
    for k in EXPONENTS:
        seen = [each["scales"][k] for each in trials]
        yield {
            "part": f"P2 Figures 2 and 3: relative errors and rounds, {name}",
            "L": power(k),
            **{parameter: errors[parameter][k] for parameter in PARAMETERS},
            "rounds": float(np.mean([row["rounds"] for row in seen])),
            "plain EM's": float(np.mean([each["rounds"] for each in trials])),
            "labels changed": sum(row["changed"] for row in seen),
            "accuracy": float(np.mean([row["accuracy"] for row in seen])),
            "tables": len(trials),
        }


def charts(name: str, trials: Sequence[Trial]) -> Iterator[Chart]:
    """P2 Figures 2 and 3 on one kind of data."""
    scales = tuple(10.0**exponent for exponent in EXPONENTS)
    errors = {parameter: tuple(errors_of(trials, parameter)) for parameter in PARAMETERS}
    yield Chart(
        f"Errors of the private EM's parameters, {name} (P2 Figure 2)",
        "scale L",
        "relative error of logarithms",
        tuple(Series(each, scales, errors[each]) for each in PARAMETERS),
        note="P2 §6.2.2: errors fall as L grows, that of mu hardly up to L = 10^7. Here that of "
        f"mu is {errors['mu'][0]:.2g} at L = 1, {errors['mu'][ENOUGH]:.2g} at 10^7 and "
        f"{errors['mu'][-1]:.2g} at 10^14; exact values are drawn at 2^-52",
        better="lower",
        x_scale="log",
        y_scale="log",
    )
    rounds = tuple(
        float(np.mean([each["scales"][k]["rounds"] for each in trials])) for k in EXPONENTS
    )
    yield Chart(
        f"Rounds of the private EM, {name} (P2 Figure 3)",
        "scale L",
        "rounds",
        (Series("private EM", scales, rounds),),
        (Level("plain EM", mean(trials, "rounds").mean),),
        note="P2 §6.2.2: below L = 10^7 the number of rounds differs from the plain EM's. Here "
        f"it is the same from L = {power(rounds_from(trials))} on",
        better="neither",
        x_scale="log",
    )


def plan(size: Size, seed: int) -> Work:
    """Every scale, on the public part of the paper's data and on crowds of their size."""
    real = GoldTasks.of("duchenne")
    cells = [] if real is None else [Cell(trial, (real, 0))]
    own = len(cells)
    seeds = [trial_seed(seed, 0, number) for number in range(TRIALS[size])]
    cells += [Cell(trial, (PaperCrowd(), each)) for each in seeds]

    def judged(results: Sequence[Trial]) -> Outcome:
        found = {DUCHENNE: results[:own], DRAWN: results[own:]}
        return judge({name: trials for name, trials in found.items() if trials})

    return Work(cells, judged)


def judge(found: Found) -> Outcome:
    """Fails if a curve differs from P2's text; holds if Table 1 is also met at every L.

    The curves: errors fall; from 10^7 on labels, and on the public data also rounds, equal those of
    the plain EM. Table 1: no accuracy changes at any L, and on the public data it equals P2's.
    """
    faults = [fault for name, trials in found.items() for fault in _faults(name, trials)]
    others = list(_others(found))
    verdict: Verdict = "fails" if faults else "holds in shape" if others else "holds"
    words = [f"False: {fault}." for fault in faults]
    words += [_sentence(name, trials) for name, trials in found.items()]
    words += [] if DUCHENNE in found else [f"{SKIPPED}."]
    return Outcome(
        tuple(rows(found)),
        verdict,
        (faults or others or [""])[0],
        " ".join(words),
        tuple(chart for name, trials in found.items() for chart in charts(name, trials)),
    )


def falls(errors: Sequence[float]) -> bool:
    """Whether each error is above the one at 1,000 times the scale, down to rounding."""
    later = zip(errors, errors[LATER:], strict=False)
    return all(after < max(before, FLOOR) for before, after in later)


def _faults(name: str, trials: Sequence[Trial]) -> Iterator[str]:
    """Contradictions to Figures 2 and 3."""
    for parameter in PARAMETERS:
        if not falls(errors_of(trials, parameter)):
            yield f"{name}: the error of {parameter} does not fall"
    if settled_from(trials, "changed", 0) > ENOUGH:
        yield f"{name}: labels change at L = 10^{ENOUGH} or above"
    if name == DUCHENNE and rounds_from(trials) > ENOUGH:
        yield f"{name}: rounds differ at L = 10^{ENOUGH} or above"


def _others(found: Found) -> Iterator[str]:
    """Differences from Table 1: a label changed by a scale, or an accuracy on the public data."""
    last = max(settled_from(trials, "changed", 0) for trials in found.values()) - 1
    if last >= 0:
        yield f"labels change {'at' if last == 0 else 'up to'} L = {power(last)}, in P2 at no L"
    for row in table_1(DUCHENNE, found.get(DUCHENNE, ())):
        if abs(float(row["difference"] or 0)) > DIGITS:
            yield f"{row['what']} is right in {row['ours']:.3f}, in P2 {row['paper']:.3f}"


def _changes(trials: Sequence[Trial]) -> str:
    """The number of labels that change at each scale; by P2's Table 1 none do."""
    tasks = sum(each["tasks"] for each in trials)
    totals = [sum(each["scales"][k]["changed"] for each in trials) for k in EXPONENTS]
    parts = [f"{n} of {tasks:,} at L = {power(k)}" for k, n in enumerate(totals) if n]
    return f" ({', '.join(parts)} change; in P2 none at any L)" if parts else ""


def _sentence(name: str, trials: Sequence[Trial]) -> str:
    first, count = trials[0], len(trials)
    same = sum(each["scales"][ENOUGH]["rounds"] == each["rounds"] for each in trials)
    often = f" (at 10^{ENOUGH} in {same} of {count} tables)" if count > 1 else ""
    unit = np.mean([each["scales"][0]["accuracy"] for each in trials])
    return (
        f"{name.capitalize()} ({first['workers']} workers, {first['answers']:,} answers to "
        f"{first['tasks']} tasks): rounds equal the plain EM's from L = "
        f"{power(rounds_from(trials))} on{often}, labels from L = "
        f"{power(settled_from(trials, 'changed', 0))} on{_changes(trials)}; the accuracy is "
        f"{mean(trials, 'plain EM').mean:.3f}, at L = 1 {unit:.3f}."
    )


STUDY = Study(
    "worker-private-em",
    "Errors of the private EM's parameters fall as the scale L grows, from L = 10^7 on it takes "
    "as many rounds as the plain EM, and the accuracy does not change at any L from 10^0 to "
    "10^14: 0.761, as for the plain EM, and 0.752 for the majority vote",
    "P2 §6.2, Table 1, Figures 2 and 3",
    "the 159 images of Duchenne with gold and all public answers to them, repeats too (17 "
    "workers, 1,950 answers; P2 had 20 and 3,513), and drawn crowds of P2's size, in which "
    "workers are right with probabilities U(0.55, 0.85), our choice, which makes them easier "
    "than P2's; probabilities stay within [10^-6, 1 - 10^-6], which P2 does not specify; tied "
    "votes go to the first label, as by P2's rule mu > 0.5 (P2's 0.752 is not a multiple of "
    "1/159: a tie must have counted half)",
    plan,
    f"{TRIALS['quick']} drawn crowds instead of {TRIALS['full']}",
    recorded="holds in shape",
    items=("P2 Table 1", "P2 Figure 2", "P2 Figure 3"),
)
