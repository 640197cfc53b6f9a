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
from sottovoce_studies.choices import Choice, best, distances, grid
from sottovoce_studies.dataset_searches import search
from sottovoce_studies.p2.crowds import GoldTasks, PaperCrowd, Repeats
from sottovoce_studies.p2.em_trials import CLIP, EXPONENTS, PARAMETERS, TIES, trial
from sottovoce_studies.paper_tables import compared_row, printed
from sottovoce_studies.rulings import Ruling, Rulings, Statement
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["DRAWN", "OPEN", "STUDY", "falls", "judge", "name_of", "statements"]


ENOUGH = 7
"""P2 Figure 3: the exponent from which on rounds equal the plain EM's."""

DRAWN = "drawn"
REPEATS: Mapping[str, Repeats] = {"kept": "keep", "first answer": "first"}
CLIPS: Mapping[str, int] = {"1e-6": CLIP, "1e-3": 10**3}
OPEN: Mapping[str, tuple[str, ...]] = {
    "repeats": tuple(REPEATS),
    "tied votes": TIES,
    "probabilities at least": tuple(CLIPS),
}
"""P2 states none of them; its 3,513 labels exceed 159 x 20, so it kept repeats."""

Trial: TypeAlias = Mapping[str, Any]
Found: TypeAlias = Mapping[str, Sequence[Trial]]

TRIALS: Mapping[Size, int] = {"quick": 1, "full": 20}
FIXED: Mapping[Size, tuple[int, ...]] = {"quick": (4, 6), "full": tuple(range(ENOUGH))}
"""Exponents below 10^7 at which mu is also measured with the plain EM's rounds."""

FLOOR = 1e-11
"""The smallest error, because parameters are rounded to 40 bits in every round."""

LATER = 3
"""Errors are compared over a factor of 1,000, because different numbers of rounds change them."""

SLOW = 100
"""A fall of mu's error by less than this factor over 10^6 counts as hardly any."""

UNIT = 0.001
"""The last printed digit of P2's accuracies."""

ABSENT = "Duchenne is not in the cache"
PRIVATE = "P2's 3,513 labels of 20 workers are not public (1,950 of 17 workers are)"
CLAIMS = (
    "P2-abstract-1",
    "P2-6-1",
    "P2-6.1-1",
    *(f"P2-6.2.2-{number}" for number in range(1, 8)),
)


def name_of(repeats: str, clip: str) -> str:
    """The name of the public data under a choice.

    >>> name_of("kept", "1e-6"), name_of("first answer", "1e-3")
    ('Duchenne, repeats kept', 'Duchenne, first answer, at least 1e-3')
    """
    words = "repeats kept" if repeats == "kept" else repeats
    return f"Duchenne, {words}" + ("" if clip == "1e-6" else f", at least {clip}")


MAIN = name_of("kept", "1e-6")


def genuine(name: str) -> int:
    """The label of smiles that are genuine: 58 of P2's gold."""
    return 0 if name == DRAWN else 1


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
    """Accuracies; P2's are compared only with those on the public answers to its images."""
    table, own = printed("P2 Table 1"), name != DRAWN
    place = {"part": "P2 Table 1: accuracy", "data": name}
    for rule in TIES:
        [paper] = table.column("majority vote") if own else [None]
        seen = Spread.of([each["votes"][rule] for each in trials])
        yield compared_row({**place, "what": f"majority vote, ties: {rule}"}, seen, paper)
    [paper] = table.column("plain EM") if own else [None]
    yield compared_row({**place, "what": "plain EM"}, mean(trials, "plain EM"), paper)
    for k in (0, 1, ENOUGH, EXPONENTS[-1]):
        seen = Spread.of([each["scales"][k]["accuracy"] for each in trials])
        [paper] = table.column("private EM") if own else [None]
        yield compared_row({**place, "what": f"private EM, L = {power(k)}"}, seen, paper)


def mean(trials: Sequence[Trial], what: str) -> Spread:
    """The spread of one of their numbers over trials."""
    return Spread.of([each[what] for each in trials])


def _data(name: str, trials: Sequence[Trial]) -> Iterator[Row]:
    """The numbers of P2 §6.1 compared with those of the answers here."""
    label = genuine(name)
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
    """Every scale, on the public answers to P2's images and on crowds of its size.

    Clipping at 1e-3 is left to full runs.
    """
    clips = dict(list(CLIPS.items())[: 2 if size == "full" else 1])
    cells = {}
    for repeats, clip in ((each, clip) for each in REPEATS for clip in clips):
        if (real := GoldTasks.of("duchenne", REPEATS[repeats])) is not None:
            name = name_of(repeats, clip)
            fixed = FIXED[size] if name == MAIN else ()
            cells[name] = [Cell(trial, (real, 0, clips[clip], fixed))]
    seeds = [trial_seed(seed, 0, number) for number in range(TRIALS[size])]
    cells[DRAWN] = [Cell(trial, (PaperCrowd(), each)) for each in seeds]

    sizes = (int(printed("P2 data").column(name)[0]) for name in ("workers", "tasks"))

    def judged(results: Sequence[Any]) -> Outcome:
        rest = iter(results)
        found = {name: [next(rest) for _ in own] for name, own in cells.items()}
        return judge(found, next(rest))

    return Work([*(cell for own in cells.values() for cell in own), search(*sizes)], judged)


def judge(found: Found, searched: str = "") -> Outcome:
    """Judge the public data under the choice that is nearest to P2; drawn crowds are shown.

    Numbers: Table 1 within its rounding, under one choice. As the public answers are not P2's, a
    difference cannot be told from one of the data. Shape: P2's text on Figures 2 and 3 and Table 1;
    what is different on the public answers cannot be checked.
    """
    choices, names = _choices(found)
    words = [_sentence(name, trials) for name, trials in found.items()]
    tables = tuple(rows(found))
    drawn = tuple(
        chart
        for name, trials in found.items()
        if name in (MAIN, DRAWN)
        for chart in charts(name, trials)
    )
    if not choices:
        unchecked = Ruling("cannot be checked", ABSENT)
        return Outcome(
            tables,
            Rulings(unchecked, unchecked),
            f"{ABSENT}. {' '.join(words)}",
            drawn,
            claims=dict.fromkeys(CLAIMS, unchecked),
        )
    chosen = names[str(best(choices))]
    [own] = found[chosen]
    said, numbers = statements(own), _numbers(choices, found, searched)
    return Outcome(
        tables,
        Rulings(numbers, _shape(said)),
        f"Judged on {chosen}, the public answers to the same images. {' '.join(words)}",
        drawn,
        claims=_claims(own, said, numbers, searched),
        choices=tuple(choices),
    )


def _choices(found: Found) -> tuple[list[Choice], dict[str, str]]:
    """Every choice tried with its distance from Table 1, and the name of its data."""
    choices, names = [], {}
    for values in grid(OPEN):
        repeats, ties, clip = values.values()
        name = name_of(repeats, clip)
        if name not in found:
            continue
        [own] = found[name]
        near = distances(values, list(_pairs(own, ties)), paper_trials=1, unit=UNIT)
        said = statements(own)
        met, of = near.met + sum(each.true for each in said), near.of + len(said)
        choices.append(Choice(values, met, of, near.distance))
        names[str(choices[-1])] = name
    return choices, names


def _pairs(own: Trial, ties: str) -> Iterator[tuple[Spread, float]]:
    """Our accuracies with the printed ones; the private EM's at the largest L."""
    ours = (own["votes"][ties], own["plain EM"], own["scales"][-1]["accuracy"])
    for seen, column in zip(ours, ("majority vote", "plain EM", "private EM"), strict=True):
        yield Spread.of([seen]), float(printed("P2 Table 1").column(column)[0])


def _numbers(choices: Sequence[Choice], found: Found, searched: str) -> Ruling:
    """Whether Table 1 comes out under one choice; else it cannot be checked."""
    met = {}
    for choice in choices:
        repeats, ties, clip = choice.values.values()
        [own] = found[name_of(repeats, clip)]
        near = distances(choice.values, list(_pairs(own, ties)), paper_trials=1, unit=UNIT)
        met[str(choice)] = (near.met, near, [seen.mean for seen, _ in _pairs(own, ties)])
    count, near, ours = max(met.values(), key=lambda each: (each[0], -(each[1].distance or 0)))
    shown = " / ".join(f"{seen:.3f}" for seen in ours)
    if count == near.of:
        return Ruling("holds", f"{shown} with {near}")
    return Ruling(
        "cannot be checked",
        f"{_private(searched)}; on the public ones {count} of {near.of} come out in "
        f"{len(choices)} choices, nearest {shown} with {near}",
    )


def _private(searched: str) -> str:
    return "; ".join(filter(None, (PRIVATE, searched)))


def statements(own: Trial) -> list[Statement]:
    """P2's text on Figure 2 (two), Figure 3 and Table 1."""
    errors = {parameter: errors_of([own], parameter) for parameter in PARAMETERS}
    rising = [parameter for parameter in PARAMETERS if not falls(errors[parameter])]
    before, late = errors["mu"][0], errors["mu"][ENOUGH - 1]
    same = rounds_from([own])
    accuracies = [row["accuracy"] for row in own["scales"]]
    return [
        Statement(
            "errors fall as L grows",
            not rising,
            f"not that of {', '.join(rising)}" if rising else "",
        ),
        Statement(
            "the error of mu hardly falls up to L = 10^7",
            before < SLOW * late,
            f"{before:.2g} at L = 1, {late:.2g} at {power(ENOUGH - 1)}",
        ),
        Statement(
            "rounds are those of the plain EM from L = 10^7 on, and not before",
            same == ENOUGH,
            f"from {power(same)} on",
        ),
        Statement(
            "the accuracy is the same at every L",
            len(set(accuracies)) == 1,
            f"{accuracies[0]:.3f} at L = 1, {accuracies[-1]:.3f} at {power(EXPONENTS[-1])}",
        ),
    ]


def _claims(
    own: Trial, said: Sequence[Statement], numbers: Ruling, searched: str
) -> dict[str, Ruling]:
    fall, slow, rounds, same = said
    first = settled_from([own], "changed", 0)
    errors = {parameter: errors_of([own], parameter)[-1] for parameter in PARAMETERS}
    equal = own["scales"][-1]["accuracy"] == own["plain EM"]
    accuracy = (
        f"the private EM has the labels of the plain one from L = {power(first)} on, accuracy "
        f"{own['plain EM']:.3f}"
    )
    practical = Ruling("holds" if equal and first <= ENOUGH else "fails", accuracy)
    if practical.verdict == "holds":
        practical = Ruling("holds", f"{accuracy}; for the time see P2-6.3.2-2")
    little = Ruling(
        "holds" if first <= 1 and max(errors.values()) < FLOOR else "partly",
        f"labels change only below L = {power(first)}, and errors are at most "
        f"{max(errors.values()):.1g} at {power(EXPONENTS[-1])}",
    )
    return {
        "P2-abstract-1": practical,
        "P2-6-1": practical,
        "P2-6.1-1": _counts(own, searched),
        "P2-6.2.2-1": _public(fall),
        "P2-6.2.2-2": _public(slow),
        "P2-6.2.2-3": _public(rounds),
        "P2-6.2.2-4": _supposed(own),
        "P2-6.2.2-5": numbers,
        "P2-6.2.2-6": _public(same),
        "P2-6.2.2-7": little,
    }


def _public(said: Statement) -> Ruling:
    """The ruling on a statement of P2 about its own data, by the public answers."""
    if said.true:
        return Ruling("holds", f"on the public answers: {said.ruling.reason}")
    return Ruling(
        "cannot be checked",
        f"P2's answers are not public; on the public ones: {said.ruling.reason}",
    )


def _shape(said: Sequence[Statement]) -> Ruling:
    """The ruling on all statements; a false one may be due to the data."""
    false = [str(each) for each in said if not each.true]
    if not false:
        return Ruling("holds", "on the public answers")
    met = len(said) - len(false)
    return Ruling(
        "partly" if met else "cannot be checked",
        f"{met} of {len(said)} statements come out on the public answers, which are not P2's; not "
        f"there: {'; '.join(false)}",
    )


def _counts(own: Trial, searched: str) -> Ruling:
    """The printed numbers of P2 §6.1; those that differ are of labels that are not public."""
    [data] = printed("P2 data").rows
    label = 1
    ours = {
        "tasks": own["tasks"],
        "of that kind in gold": own["gold by label"][label],
        "workers": own["workers"],
        "labels": own["answers"],
        "of that kind in labels": own["answers by label"][label],
    }
    shown = {name: f"{count:,} {name}" for name, count in ours.items()}
    printed_too = dict(zip(ours, data, strict=True))
    met = [shown[name] for name in ours if ours[name] == printed_too[name]]
    others = [shown[name] for name in ours if ours[name] != printed_too[name]]
    if not others:
        return Ruling("holds", f"public are {', '.join(met)}")
    private = f"the 20 workers' labels are not public (public: {', '.join(others)})"
    same = f"{' and '.join(met)} are as printed" if met else ""
    words = "; ".join(filter(None, (same, private, searched)))
    return Ruling("partly" if met else "cannot be checked", words)


def _supposed(own: Trial) -> Ruling:
    """Whether mu's error is smaller with the plain EM's rounds, wherever rounds differ."""
    gains = {
        int(each): own["scales"][int(each)]["mu"] / max(error, FLOOR)
        for each, error in own["same rounds"].items()
        if own["scales"][int(each)]["rounds"] != own["rounds"]
    }
    if not gains:
        return Ruling("cannot be checked", "no scale with other rounds was run with equal ones")
    most = max(gains, key=lambda each: gains[each])
    helped = [each for each, gain in gains.items() if gain > 2]
    words = (
        f"with equal rounds mu's error is {gains[most]:.0f} times smaller at L = {power(most)}, "
        f"and less than half at {len(helped)} of {len(gains)} scales where rounds differ"
    )
    if len(helped) == len(gains):
        return Ruling("holds", words)
    return Ruling("partly" if helped else "fails", words)


def falls(errors: Sequence[float]) -> bool:
    """Whether each error is above the one at 1,000 times the scale, down to rounding."""
    later = zip(errors, errors[LATER:], strict=False)
    return all(after < max(before, FLOOR) for before, after in later)


def _changes(trials: Sequence[Trial]) -> str:
    """The number of labels that change at each scale; P2 tells only of the accuracy."""
    tasks = sum(each["tasks"] for each in trials)
    totals = [sum(each["scales"][k]["changed"] for each in trials) for k in EXPONENTS]
    parts = [f"{n} of {tasks:,} at L = {power(k)}" for k, n in enumerate(totals) if n]
    return (
        f" ({', '.join(parts)} change; in P2 the accuracy is the same at every L)" if parts else ""
    )


def _sentence(name: str, trials: Sequence[Trial]) -> str:
    first, count = trials[0], len(trials)
    same = sum(each["scales"][ENOUGH]["rounds"] == each["rounds"] for each in trials)
    often = f" (at 10^{ENOUGH} in {same} of {count} tables)" if count > 1 else ""
    unit = np.mean([each["scales"][0]["accuracy"] for each in trials])
    return (
        f"{name[0].upper()}{name[1:]} ({first['workers']} workers, {first['answers']:,} answers to "
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
    "the 159 images of Duchenne with gold and the public answers to them (17 workers, 1,950 "
    "answers, 1,221 without repeats; P2 had 20 and 3,513), and drawn crowds of P2's size, in "
    "which workers are right with probabilities U(0.55, 0.85), our choice, which makes them "
    "easier than P2's; labels are 1 if mu > 0.5, as in P2, so tied votes go to label 0, but P2's "
    "0.752 is no multiple of 1/159: ties may have counted half, or were broken at random over "
    "several runs",
    plan,
    f"{TRIALS['quick']} drawn crowd instead of {TRIALS['full']}, one clipping",
    recorded=("cannot be checked", "partly", "not claimed"),
    items=("P2 Table 1", "P2 Figure 2", "P2 Figure 3"),
    open=OPEN,
)
