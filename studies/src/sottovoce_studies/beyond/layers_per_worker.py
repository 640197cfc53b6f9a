"""Study `layers-per-worker`: shared and independent noise at the same true epsilon per worker.

P1's idea is noise that all answers of a worker share. It is calibrated to an exact epsilon per
worker, and compared with independent noise on all answers and on a sample, which determines the
verdict. Two layers as published follow, with one layer at their true epsilon per worker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.figures import Chart
from sottovoce.model import Unit
from sottovoce_studies.beyond.layer_duels import (
    RULE,
    Case,
    Duel,
    Seen,
    cases,
    counted,
    duel_rows,
    duels_of,
    paired,
    published_charts,
    ruling,
)
from sottovoce_studies.beyond.layer_trials import (
    ALL,
    BOTH,
    FORMS,
    LEVELS,
    READERS,
    SAMPLE,
    UNIFORM,
    Grid,
    calibrated_trials,
    published,
)
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import LabelCrowd
from sottovoce_studies.paper_tables import curve, spread_by
from sottovoce_studies.rulings import Rulings
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["SETTINGS", "STUDY", "Found", "Setting", "judge"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A crowd with an epsilon per worker; quick runs have those marked."""

    name: str
    source: LabelCrowd
    epsilon: float
    quick: bool = False

    def __str__(self) -> str:
        return f"{self.name}, epsilon {self.epsilon:g}"


Found = tuple[Setting, Mapping[str, Any]]
"""A setting with the mechanism chosen of each form, and their trials."""

MIXED = LabelCrowd(200, 300, 100, 2, "heterogeneous")
ABLE = LabelCrowd(200, 300, 100, 2, "able")
FEW_MIXED = LabelCrowd(300, 300, 20, 2, "heterogeneous")
FEW_ABLE = LabelCrowd(300, 300, 20, 2, "able")

SETTINGS = (
    Setting("40 % good, k 100", MIXED, 8.0),
    Setting("40 % good, k 100", MIXED, 20.0),
    Setting("40 % good, k 100", MIXED, 50.0),
    Setting("all able, k 100", ABLE, 20.0),
    Setting("all able, 60 workers, k 100", LabelCrowd(60, 300, 100, 2, "able"), 50.0, quick=True),
    Setting("40 % good, k 20", FEW_MIXED, 4.0),
    Setting("40 % good, k 20", FEW_MIXED, 10.0),
    Setting("all able, k 20", FEW_ABLE, 10.0, quick=True),
)

GRIDS: Mapping[Size, Grid] = {
    "quick": Grid((0.46, 1.0, 1.6), (0.4,), (0.1,)),
    "full": Grid(
        (0.3, 0.46, 0.65, 0.8, 1.0, 1.3, 1.6, 2.0), (0.2, 0.4, 0.6, 0.8), (0.02, 0.05, 0.1, 0.2)
    ),
}
SIZES: Mapping[Size, tuple[int, int]] = {"quick": (2, 4), "full": (8, 20)}
"""Trials to choose the mechanisms with, and trials of those chosen."""

SHARED, INDEPENDENT = (UNIFORM, LEVELS, BOTH), (ALL, SAMPLE)

PUBLISHED = ("per worker", "sampled")
CURVES: Mapping[str, str] = {
    "two-layer": "two-layer",
    "per worker": "one-layer, equal epsilon",
    "sampled": "one-layer on a sample, equal epsilon",
}


def plan(size: Size, seed: int) -> Work:
    """Every setting, then two layers as published, which quick runs leave out."""
    chosen = [setting for setting in SETTINGS if size == "full" or setting.quick]
    cells = [
        Cell(
            calibrated_trials,
            (each.source, each.epsilon, each.source.answers, GRIDS[size], SIZES[size], seed),
        )
        for each in chosen
    ]
    whole = cases(size) if size == "full" else []
    cells += [cell for case in whole for cell in case.cells(seed)]

    def judged(results: Sequence[Any]) -> Outcome:
        found = list(zip(chosen, results[: len(chosen)], strict=True))
        rest = iter(results[len(chosen) :])
        return judge(found, [(case, [next(rest) for _ in range(case.trials)]) for case in whole])

    return Work(cells, judged)


def duels(found: Sequence[Found], two: str, one: str, reader: str = "TD") -> list[Duel]:
    """One form against another in every setting."""
    return [paired(one, reader, seen["errors"], two, one) for _, seen in found]


def judge(found: Sequence[Found], pairs: Sequence[Seen] = ()) -> Outcome:
    """Judge every form of shared noise against every form of independent noise, with TD."""
    met = {(two, one): duels(found, two, one) for two in SHARED for one in INDEPENDENT}
    rulings = Rulings(shape=ruling([duel for each in met.values() for duel in each]))
    rows = [row for each in found for row in _rows(*each)]
    rows += [row for pair in pairs for row in duel_rows(pair, PUBLISHED)]
    parts = [f"{two} against {one}: {counted(each)}" for (two, one), each in met.items()]
    words = [
        "Errors of TD at the same exact epsilon per worker, calibrated on other answers: "
        f"{'; '.join(parts)}",
        _example(found),
        *(_behind(found, met[two, SAMPLE], two) for two in SHARED),
        _answer_words(found),
        *([_published_words(pairs)] if pairs else []),
        "Per answer the result is another: study layers-per-answer",
    ]
    charts = (*_charts(found), *published_charts(pairs, CURVES, "worker"))
    return Outcome(tuple(rows), rulings, f"{'. '.join(words)}.", charts)


def _rows(setting: Setting, seen: Mapping[str, Any]) -> Iterator[Row]:
    spread = spread_by(seen["errors"])
    for form in FORMS:
        apart = {one: paired(one, "TD", seen["errors"], form, one) for one in INDEPENDENT}
        lower = {
            f"lower than {one}": {"two": "yes", "one": "no"}.get(duel.lower, "neither")
            for one, duel in apart.items()
        }
        yield {
            "part": f"Error rate at the same epsilon per worker, {setting.name}",
            "epsilon": setting.epsilon,
            "noise": form,
            "chosen": seen["chosen"][form],
            "per answer": seen["per answer"][form],
            **{reader: spread[f"{form} {reader}"].mean for reader in READERS},
            "s.e.": spread[f"{form} TD"].standard_error,
            **(dict.fromkeys(lower) if form in INDEPENDENT else lower),
            CONSTANT: spread[CONSTANT].mean,
            "tried": seen["tried"],
            "trials": len(seen["errors"]),
        }


def _example(found: Sequence[Found]) -> str:
    """The setting with the largest gain over a sample."""
    gains = [paired(SAMPLE, "TD", seen["errors"], LEVELS, SAMPLE) for _, seen in found]
    place = min(range(len(found)), key=lambda i: gains[i].apart.mean)
    setting, seen = found[place]
    spread = spread_by(seen["errors"])
    errors = ", ".join(f"{spread[f'{form} TD'].mean:.3f} ({form})" for form in FORMS)
    return f"The largest gain: {errors} in {setting}"


def _behind(found: Sequence[Found], own: Sequence[Duel], two: str) -> str:
    """The settings in which a form of shared noise does not beat a sample."""
    names = [
        str(setting) for (setting, _), duel in zip(found, own, strict=True) if not duel.two_better
    ]
    where = "; ".join(names) or "none"
    return f"Not smaller beyond two standard errors, {two} against {SAMPLE}: {where}"


def _answer_words(found: Sequence[Found]) -> str:
    """The epsilons per answer, from the smallest to the largest over the settings."""
    ranges = []
    for form in FORMS:
        seen = [each["per answer"][form] for _, each in found]
        ranges.append(f"{min(seen):.2g} to {max(seen):.2g} ({form})")
    return f"The epsilon per answer of those chosen is {', '.join(ranges)}"


def _published_words(pairs: Sequence[Seen]) -> str:
    """The result of two layers as published, and their epsilons per worker."""
    all_answers, sample = (counted(duels_of(pairs, kind)) for kind in PUBLISHED)
    first: Case = pairs[0][0]
    nominal = sorted({case.epsilon for case, _ in pairs})
    two = [published(e).guarantee(first.answers, Unit.WORKER).epsilon for e in nominal]
    one = [first.answers * e for e in nominal]  # independent noise for every answer
    return (
        f"Not judged, as published with U(0, b): {all_answers}; with one layer on a sample "
        f"{sample}. Its true epsilon per worker is {_listed(two)} for {first.answers} answers at "
        f"nominal epsilon {_listed(nominal)}, and that of one layer {_listed(one)}"
    )


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _charts(found: Sequence[Found]) -> Iterator[Chart]:
    """One chart: the error of every form by setting."""
    places = [float(place) for place in range(1, len(found) + 1)]
    spreads = [spread_by(seen["errors"]) for _, seen in found]
    series = tuple(
        curve(
            form,
            places,
            [spread[f"{form} TD"] for spread in spreads],
            "theirs" if form in SHARED else "ours",
        )
        for form in FORMS
    )
    constant = curve(CONSTANT, places, [spread[CONSTANT] for spread in spreads], "reference")
    names = "; ".join(f"{place}: {setting}" for place, (setting, _) in enumerate(found, 1))
    yield Chart(
        "Shared and independent noise at the same epsilon per worker",
        "setting",
        "error rate of TD",
        (*series, constant),
        note="P1's idea: the answers of a worker share one flip probability. Settings: "
        f"{names}. Whiskers are two standard errors.",
        better="lower",
        style="bars",
    )


STUDY = Study(
    "layers-per-worker",
    "With the same privacy guarantee per worker, a flip probability that a worker's answers share "
    "delivers better utility than independent noise",
    "P1's idea (§1, §6.3; other hyper distributions: §7.3), at equal true guarantees per worker",
    "drawn binary crowds on 300 tasks with 200 workers (k 100) or 300 (k 20): 40 % right with "
    "U(0.8, 0.95) and the others with U(0.45, 0.6), or all with U(0.7, 0.9); shared noise is U(a, "
    "b), or two levels: a flip probability p that is 1/2 for some workers; both units means that "
    "epsilon per answer is no larger than that of one layer on a sample either; independent noise "
    "is one layer; each on all answers or on a random sample, with the exact epsilon per worker, "
    "in the form with the smallest error of TD on other crowds of the same kind (numbers of "
    "answers sent, widths and shares from a grid); judged with TD: "
    f"{RULE}; ties are broken at random",
    plan,
    "two of eight settings, a small grid, 4 trials instead of 20, nothing as published",
    recorded=("not claimed", "holds", "not claimed"),
)
