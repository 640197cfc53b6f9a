"""Study `forecast-coverage`: forecasts from a pilot of a public dataset come true.

Bands are judged on real outcomes: how many they hold, how far the forecast is off, and how wide
they are compared with what the sampling of tasks and the noise alone would make. Also campaigns
with devices at their default budget, on answers of public datasets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sottovoce.figures import Chart, Role, Series
from sottovoce_studies.beyond.forecast_trials import NO_FORECAST, Way, alone, campaign, coverage
from sottovoce_studies.beyond.public_sets import (
    LABEL_SETS,
    NUMBER_SETS,
    RANGES,
    TUNING,
    TUNING_NUMBERS,
    found_sets,
)
from sottovoce_studies.cells import Cell
from sottovoce_studies.rulings import Ruling, Rulings, Statement, explained, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["HELD_OUT_COMMIT", "STUDY", "judge"]

INSIDE, FAR, WIDE = 0.85, 0.06, 1.3
HELD, CAMPAIGNS = 34, 40

HELD_OUT_COMMIT = ""
"""The commit at which the held-out sets were run; empty before that run."""

SETS: Mapping[Size, tuple[str, ...]] = {
    "quick": ("bluebirds",),
    "full": (*LABEL_SETS["full"], *NUMBER_SETS["full"]),
}
DRAWS: Mapping[Size, int] = {"quick": 2, "full": 10}
EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (2.0,), "full": (1.0, 2.0, 4.0)}

SETTINGS: tuple[tuple[str, int, int, float], ...] = (
    ("bluebirds", 39, 54, 1.0),
    ("bluebirds", 39, 54, 2.0),
    ("rte", 120, 20, 1.0),
    ("rte", 40, 40, 2.0),
    ("dog", 60, 30, 2.0),
    ("dog", 80, 30, 4.0),
    ("duchenne", 15, 60, 1.0),
    ("duchenne", 15, 40, 2.0),
)
"""Dataset, workers, tasks for each, epsilon; devices cut most of them short."""
CUT: Mapping[Size, int] = {"quick": 1, "full": len(SETTINGS)}
EACH: Mapping[Size, int] = {"quick": 2, "full": CAMPAIGNS // len(SETTINGS)}

SUMMARY, COVERAGE, DEVICES = "Summary", "Bands by dataset", "Campaigns with default devices"
GOLD, NONE, NAMED = "with gold", "without gold", "no pilot"
PILOTS = (GOLD, NONE)

Forecast: TypeAlias = Mapping[str, float]
Key: TypeAlias = tuple[str, str, str, float]
"""Dataset, pilot, way and epsilon (0 for clean answers)."""


def plan(size: Size, seed: int) -> Work:
    """Forecasts by dataset, pilot, way and epsilon, widths to compare with, and campaigns."""
    work = [*_forecasts(size, seed), *_widths(size, seed), *_campaigns(size, seed)]
    absent = found_sets(SETS[size]).absent

    def judged(results: Sequence[Any]) -> Outcome:
        found: dict[str, dict[Any, list[Any]]] = {COVERAGE: {}, SUMMARY: {}, DEVICES: {}}
        for (part, key, _), result in zip(work, results, strict=True):
            found[part].setdefault(key, []).append(result)
        widths = {key: values[0] for key, values in found[SUMMARY].items()}
        return judge(found[COVERAGE], widths, found[DEVICES], absent)

    return Work([cell for _, _, cell in work], judged)


def _ways(name: str, size: Size) -> Iterator[tuple[Way, float]]:
    yield "clean", 0.0
    for epsilon in EPSILONS[size]:
        yield "local", epsilon
        if name not in RANGES:
            yield "sealed", epsilon


def _forecasts(size: Size, seed: int) -> Iterator[tuple[str, Key, Cell]]:
    for dataset in found_sets(SETS[size], ranged=True).there:
        for way, epsilon in _ways(dataset.name, size):
            for pilot in PILOTS:
                for draw in range(DRAWS[size]):
                    arguments = (dataset, pilot == GOLD, way, epsilon, draw, seed)
                    yield COVERAGE, (dataset.name, pilot, way, epsilon), Cell(coverage, arguments)


def _widths(size: Size, seed: int) -> Iterator[tuple[str, Any, Cell]]:
    for dataset in found_sets(SETS[size], ranged=True).there:
        for way, epsilon in _ways(dataset.name, size):
            key = (dataset.name, way, epsilon)
            yield SUMMARY, key, Cell(alone, (dataset, way, epsilon, seed))


def _campaigns(size: Size, seed: int) -> Iterator[tuple[str, Any, Cell]]:
    for setting in SETTINGS[: CUT[size]]:
        name, *rest = setting
        for dataset in found_sets([name]).there:
            for named in (False, True):
                for draw in range(EACH[size]):
                    cell = Cell(campaign, (dataset, *rest, draw, seed, named))
                    yield DEVICES, (setting, NAMED if named else GOLD), cell


def judge(
    found: Mapping[Key, Sequence[Forecast]],
    widths: Mapping[tuple[str, str, float], float],
    devices: Mapping[Any, Sequence[Forecast]],
    absent: Sequence[str] = (),
) -> Outcome:
    """Numbers hold if all figures are met; the set is the unit of sampling."""
    if not found:
        return Outcome((), Rulings.unchecked("no dataset in the cache"), "No dataset was found.")
    rows = [_row(key, each, widths) for key, each in found.items()]
    campaigns = [_devices_row(key, each) for key, each in devices.items()]
    summary = [*_summary(rows)]
    figures = [*_figures(summary), *_device_figures(campaigns)]
    words = [_provenance(sorted({str(row["dataset"]) for row in rows}))]
    words += [f"not in the cache: {', '.join(absent)}"] if absent else []
    rulings = Rulings(ruling_on(figures) if figures else Ruling("cannot be checked", "no cells"))
    charts = (_chart(rows),)
    return Outcome((*summary, *rows, *campaigns), rulings, explained(figures, *words), charts)


def _row(
    key: Key, forecasts: Sequence[Forecast], widths: Mapping[tuple[str, str, float], float]
) -> Row:
    name, pilot, way, epsilon = key
    told = [each for each in forecasts if each != NO_FORECAST]
    low, high = RANGES.get(name, (0.0, 1.0))
    off = [(each["expected"] - each["outcome"]) / (high - low) for each in told]
    width = [each["high"] - each["low"] for each in told]
    by_sampling = widths[name, way, epsilon]
    return {
        "part": COVERAGE,
        "dataset": name,
        "tuning": "yes" if name in {*TUNING, *TUNING_NUMBERS} else "no",
        "pilot": pilot,
        "way": way,
        "epsilon": epsilon or None,
        "forecasts": len(told),
        "cannot tell": len(forecasts) - len(told),
        "inside": float(np.mean([_inside(each) for each in told])) if told else None,
        "outcome": float(np.mean([each["outcome"] for each in told])) if told else None,
        "bias": float(np.mean(off)) if told else None,
        "off": float(np.mean(np.abs(off))) if told else None,
        "width": float(np.mean(width)) if told else None,
        "by sampling": by_sampling,
        "ratio": float(np.mean(width)) / by_sampling if told else None,
    }


def _chart(rows: Sequence[Row]) -> Chart:
    """The share of outcomes inside their bands, by dataset and pilot."""
    names = list(dict.fromkeys(str(row["dataset"]) for row in rows))
    places = tuple(float(place) for place in range(1, len(names) + 1))
    roles: dict[str, Role] = {GOLD: "ours", PILOTS[-1]: "theirs"}

    def shares(pilot: str) -> tuple[float, ...]:
        held = [
            [
                _number(row, "inside")
                for row in rows
                if (row["dataset"], row["pilot"]) == key and row["inside"] is not None
            ]
            for key in ((name, pilot) for name in names)
        ]
        return tuple(sum(each) / max(len(each), 1) for each in held)

    series = tuple(Series(pilot, places, shares(pilot), role=role) for pilot, role in roles.items())
    sets = "; ".join(f"{place:g}: {name}" for place, name in zip(places, names, strict=True))
    return Chart(
        "Outcomes inside the 90 % band of their forecast",
        "dataset",
        "share inside",
        series,
        note=f"All ways and epsilons together. Datasets: {sets}.",
        style="bars",
    )


def _inside(each: Forecast) -> bool:
    return each["low"] <= each["outcome"] <= each["high"]


def _summary(rows: Sequence[Row]) -> Iterator[Row]:
    """Means over datasets of their means, by pilot: of all sets, and of the held-out ones."""
    for sets in ("all", "held out"):
        chosen = [row for row in rows if sets == "all" or row["tuning"] == "no"]
        for ways in (("clean", "local"), ("sealed",)):
            for pilot in PILOTS:
                part = [
                    row
                    for row in chosen
                    if row["pilot"] == pilot and row["way"] in ways and row["inside"] is not None
                ]
                names = dict.fromkeys(row["dataset"] for row in part)
                if not names:
                    continue
                yield {
                    "part": SUMMARY,
                    "sets": sets,
                    "number": len(names),
                    "pilot": pilot,
                    "ways": " and ".join(ways),
                    **{
                        column: float(
                            np.mean(
                                [
                                    np.mean(
                                        [
                                            _number(row, column)
                                            for row in part
                                            if row["dataset"] == name
                                        ]
                                    )
                                    for name in names
                                ]
                            )
                        )
                        for column in ("inside", "off", "ratio")
                    },
                }


def _figures(summary: Sequence[Row]) -> Iterator[Statement]:
    for row in summary:
        if row["sets"] != "all":
            continue
        what = f"{row['pilot']}, {row['ways']}"
        inside, off, ratio = (_number(row, column) for column in ("inside", "off", "ratio"))
        yield Statement(
            f"{what}: at least {100 * INSIDE:g} % of outcomes are inside the 90 % band",
            inside >= INSIDE, f"{100 * inside:.1f} %",
        )  # fmt: skip
        if row["pilot"] == GOLD:
            text = f"{what}: forecasts are off by at most {FAR:g} in the mean"
            yield Statement(text, off <= FAR, f"{off:.3f}")
        text = f"{what}: bands are at most {WIDE:g} times as wide as sampling makes them"
        yield Statement(text, ratio <= WIDE, f"{ratio:.2f}")


def _devices_row(key: Any, forecasts: Sequence[Forecast]) -> Row:
    (name, workers, each, epsilon), pilot = key
    return {
        "part": DEVICES,
        "dataset": name,
        "pilot": pilot,
        "workers": workers,
        "tasks each": each,
        "epsilon": epsilon,
        "campaigns": len(forecasts),
        "held": sum(map(_inside, forecasts)),
        "outcome": float(np.mean([one["outcome"] for one in forecasts])),
        "forecast": float(np.mean([one["expected"] for one in forecasts])),
        "width": float(np.mean([one["high"] - one["low"] for one in forecasts])),
    }


def _device_figures(rows: Sequence[Row]) -> Iterator[Statement]:
    for pilot in (GOLD, NAMED):
        chosen = [row for row in rows if row["pilot"] == pilot]
        if not chosen:
            continue
        held, of = (
            sum(int(row[column] or 0) for row in chosen) for column in ("held", "campaigns")
        )
        text = f"campaigns with default devices, {pilot}: {HELD} of {CAMPAIGNS} are in their bands"
        yield Statement(text, held * CAMPAIGNS >= HELD * of, f"{held} of {of}")


def _number(row: Row, column: str) -> float:
    return float(row[column] or 0.0)


def _provenance(names: Sequence[str]) -> str:
    tuned = [name for name in names if name in {*TUNING, *TUNING_NUMBERS}]
    held = [name for name in names if name not in tuned]
    words = f"Used for tuning: {', '.join(tuned) or 'none'}"
    if held:
        run = f"run once, at commit {HELD_OUT_COMMIT}" if HELD_OUT_COMMIT else "not recorded yet"
        words += f"; held out ({run}): {', '.join(held)}"
    return words


STUDY = Study(
    "forecast-coverage",
    f"At least {100 * INSIDE:g} % of outcomes on public datasets are inside the 90 % band of a "
    f"forecast from a pilot of 60 tasks, forecasts with gold are off by at most {FAR:g} in the "
    f"mean, and bands are at most {WIDE:g} times as wide as the sampling of tasks and the noise "
    f"make them; {HELD} of {CAMPAIGNS} campaigns with default devices are in their bands",
    "`plan` with a pilot on the public datasets with gold",
    "random pilots of 60 tasks with gold (half of them where there are fewer than 120) with their "
    "real answers, the rest is the campaign; clean, randomised response or Laplace noise, and "
    "sealed sums; 29 simulated campaigns for each band, of at most 4,000 reports (numbers 1,200); "
    "errors of numbers are shares of the range; means over datasets of their means. Campaigns: "
    "each worker of a dataset gets tasks that it answered, and its device takes the least covered "
    "ones that the default budget allows. They use tuning sets only, which the named crowd "
    "describes, so they are no test on unseen data. Constants were chosen on simulated crowds and "
    "on the tuning sets; the other sets are held out",
    plan,
    "one dataset, one epsilon, 2 pilots instead of 10, and 2 campaigns of one setting",
    recorded=("partly", "not claimed", "not claimed"),
)
