"""What the trials of `worker-private-em` say, as tables and charts of P2 §6."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sottovoce.figures import Chart, Level, Series
from sottovoce.planning.trials import Spread
from sottovoce.studies.comparing import beside
from sottovoce.studies.p2.em_trials import EXPONENTS, PARAMETERS
from sottovoce.studies.printed import printed
from sottovoce.studies.study import Row

__all__ = [
    "DRAWN",
    "DUCHENNE",
    "ENOUGH",
    "Found",
    "Trial",
    "charts",
    "errors_of",
    "mean",
    "power",
    "rounds_from",
    "rows",
    "settled_from",
    "table_1",
]

ENOUGH = 7
"""P2 Figure 3: from L = 10^7 on as many rounds as the plain EM."""

DUCHENNE, DRAWN = "Duchenne", "drawn"
GENUINE = {DUCHENNE: 1, DRAWN: 0}
"""The label of smiles that are genuine: 58 of P2's gold."""

Trial: TypeAlias = Mapping[str, Any]
Found: TypeAlias = Mapping[str, Sequence[Trial]]


def power(exponent: int) -> str:
    """A scale in words: 1, 10, 10^2."""
    return str(10**exponent) if exponent < 2 else f"10^{exponent}"


def settled_from(trials: Sequence[Trial], column: str, wanted: int) -> int:
    """The exponent from which on a column is as wanted in every trial; 15 if never."""
    last = [
        exponent
        for each in trials
        for exponent, row in zip(EXPONENTS, each["scales"], strict=True)
        if row[column] != wanted
    ]
    return max(last, default=-1) + 1


def rounds_from(trials: Sequence[Trial]) -> int:
    """The exponent from which on rounds are the plain EM's in every trial."""
    return max(settled_from([each], "rounds", each["rounds"]) for each in trials)


def errors_of(trials: Sequence[Trial], parameter: str) -> list[float]:
    """The geometric mean over trials, scale by scale; what is exact counts as the last bit."""
    table = np.array([[row[parameter] for row in each["scales"]] for each in trials])
    means = np.log(np.maximum(table, 2.0**-52)).mean(axis=0)
    return [float(error) for error in np.exp(means)]


def rows(found: Found) -> Iterator[Row]:
    """Table 1, the data, and what Figures 2 and 3 show."""
    for table in (table_1, _data, _scales):
        for name, trials in found.items():
            yield from table(name, trials)


def table_1(name: str, trials: Sequence[Trial]) -> Iterator[Row]:
    """Accuracies; P2's stand beside those of the public part of its data alone."""
    table, methods = printed("P2 Table 1"), ("majority vote", "plain EM")
    place = {"part": "P2 Table 1: accuracy", "data": name}
    for method in methods if trials else ():
        [paper] = table.column(method) if name == DUCHENNE else [None]
        yield beside({**place, "what": method}, mean(trials, method), paper)
    for k in (0, 1, ENOUGH, EXPONENTS[-1]) if trials else ():
        seen = Spread.of([each["scales"][k]["accuracy"] for each in trials])
        [paper] = table.column("private EM") if name == DUCHENNE else [None]
        yield beside({**place, "what": f"private EM, L = {power(k)}"}, seen, paper)


def mean(trials: Sequence[Trial], what: str) -> Spread:
    """The spread of one of their numbers over trials."""
    return Spread.of([each[what] for each in trials])


def _data(name: str, trials: Sequence[Trial]) -> Iterator[Row]:
    """The numbers of P2 §6.1 beside those of the answers here."""
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
        yield beside(place, seen, paper)


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
        "scale L", "relative error of logarithms",
        tuple(Series(each, scales, errors[each]) for each in PARAMETERS),
        note="P2 §6.2.2: errors fall as L grows, that of mu hardly up to L = 10^7. Here that of mu "
        f"is {errors['mu'][0]:.2g} at L = 1, {errors['mu'][ENOUGH]:.2g} at 10^7 and "
        f"{errors['mu'][-1]:.2g} at 10^14; what is exact is drawn at 2^-52",
        better="lower", x_scale="log", y_scale="log",
    )  # fmt: skip
    rounds = tuple(
        float(np.mean([each["scales"][k]["rounds"] for each in trials])) for k in EXPONENTS
    )
    yield Chart(
        f"Rounds of the private EM, {name} (P2 Figure 3)", "scale L", "rounds",
        (Series("private EM", scales, rounds),),
        (Level("plain EM", mean(trials, "rounds").mean),),
        note="P2 §6.2.2: below L = 10^7 rounds are not as many as the plain EM's. Here they are "
        f"as many from L = {power(rounds_from(trials))} on",
        better="neither", x_scale="log",
    )  # fmt: skip
