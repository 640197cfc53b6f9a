"""Study `p3-figure-5`: floorplans, on a stand-in and on real crowds of other sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sottovoce.figures import Chart
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.choices import Choice, grid
from sottovoce_studies.crowds import Dataset
from sottovoce_studies.dataset_searches import search
from sottovoce_studies.p3.crowds import Floorplan
from sottovoce_studies.p3.epsilon_sweep import TENTH, Seen, Sweep, falls
from sottovoce_studies.p3.figure_1 import ERRORS
from sottovoce_studies.p3.guarantees import PRIVATE, guarantee, unchecked
from sottovoce_studies.p3.pipeline import (
    MOST,
    epsilon_of_noise,
    published,
    true_epsilon,
)
from sottovoce_studies.paper_tables import spread_by
from sottovoce_studies.rulings import Ruling, Rulings, Statement
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["OPEN", "STUDY", "judge", "statements"]

NEAR_ONE = round(epsilon_of_noise(1.0, 50.0), 1)
"""The nominal epsilon at which the mean noise is 1 metre."""
EPSILONS: Mapping[Size, tuple[float, ...]] = {
    "quick": (100.0, NEAR_ONE),
    "full": (1.0, 10.0, 100.0, 1000.0, NEAR_ONE),
}
TRIALS: Mapping[Size, tuple[int, int]] = {"quick": (2, 1), "full": (20, 5)}

REAL: Mapping[str, tuple[float, float]] = {
    "emotion": (-100.0, 100.0),
    "calories": (0.0, 5000.0),  # kcal have no upper bound: a round number above any plate
}
REAL_EPSILONS: Mapping[Size, tuple[float, ...]] = {
    "quick": (10.0, 1000.0),
    "full": (1.0, 10.0, 100.0, 1000.0),
}
STAND_IN = "stand-in"
OPEN: Mapping[str, tuple[str, ...]] = {"errors of walkers": ("5 %", "15 %")}
"""P3 prints nothing on them: of the step size, and the mean share of miscounted steps."""
FEW: Mapping[Size, int] = {"quick": 1, "full": 5}

Tried: TypeAlias = tuple[Mapping[str, str], Mapping[str, Spread]]
"""A setting of the open points, with its spreads at noise 1."""


def plan(size: Size, seed: int) -> Work:
    """The stand-in, and every real dataset in the cache."""
    trials, ours = TRIALS[size]
    floors = Floorplan()
    epsilons = EPSILONS[size]
    read = epsilons if size == "full" else epsilons[:1]
    sweeps = [Sweep(STAND_IN, floors, "crh", floors.tasks, epsilons, trials, read, ours)]
    sweeps += [
        _real(name, dataset, size)
        for name, limits in REAL.items()
        if (dataset := Dataset.of(name, limits)) is not None
    ]
    cells = [each.cells(seed) for each in sweeps]
    settings = list(grid(OPEN))
    tried = [
        Cell(published, (floorplan(values), "crh", NEAR_ONE, FEW[size], seed))
        for values in settings
    ]

    looked = search(floors.workers, floors.tasks)

    def judged(results: Sequence[Any]) -> Outcome:
        rest = iter(results)
        taken = [[next(rest) for _ in each] for each in cells]
        seen = [each.seen(found) for each, found in zip(sweeps, taken, strict=True)]
        return judge(seen, [(values, spread_by(next(rest))) for values in settings], next(rest))

    return Work([*(cell for each in cells for cell in each), *tried, looked], judged)


def floorplan(values: Mapping[str, str]) -> Floorplan:
    """The stand-in of a setting of the open points."""
    error = float(values["errors of walkers"].removesuffix(" %")) / 100
    return Floorplan(bias=error, miscount=error)


def _real(name: str, dataset: Dataset, size: Size) -> Sweep:
    answers, _ = dataset.draw(0)
    most = int(np.bincount(answers.worker).max())
    trials, ours = TRIALS[size]
    epsilons = REAL_EPSILONS[size]
    return Sweep(
        name, dataset, "crh", most, epsilons, trials, epsilons if size == "full" else (), ours
    )


def statements(seen: Seen) -> list[Statement]:
    """Figure 1's pattern: the loss falls as epsilon grows, and is below a tenth of the noise."""
    share = max(seen.shares())
    return [
        Statement("the noise falls as epsilon grows", falls(seen.of("noise"))),
        Statement("the loss falls as epsilon grows", falls(seen.of("change"))),
        Statement("the loss is below a tenth of the noise", share < TENTH, f"{share:.3f}"),
    ]


def judge(found: Sequence[Seen], tried: Sequence[Tried] = (), searched: str = "") -> Outcome:
    """Judge the guarantee; numbers and shape of P3's own users cannot be checked.

    The reason has what was seen on the stand-in, which has P3's sizes, and on real crowds.
    """
    floors, *real = found
    shape = unchecked(statements(floors))
    if real:
        others = (
            f"{seen.sweep.name} {max(seen.shares()):.2f} with {_per_task(seen):.0f}"
            for seen in real
        )
        shape = Ruling(
            shape.verdict,
            f"{shape.reason} with {_per_task(floors):.0f} answers a task (real "
            f"{', '.join(others)})",
        )
    rows = tuple(row for seen in found for row in seen.rows("5"))
    charts = (
        *floors.charts("P3 Figure 5", " (metres)", _notes(floors)),
        *(chart for seen in real for chart in _real_charts(seen)),
    )
    return Outcome(
        (*_sorted(rows), *_tried_rows(tried)),
        Rulings(
            Ruling("cannot be checked", "; ".join(filter(None, (PRIVATE, searched)))),
            shape,
            guarantee(floors.sweep.answers),
        ),
        _words(floors, real),
        charts,
        claims={"P3-V.B-1": shape},
        choices=tuple(
            Choice(values, int(at["change"].mean < TENTH * at["noise"].mean), 1)
            for values, at in tried
        ),
    )


def _tried_rows(tried: Sequence[Tried]) -> Iterator[Row]:
    for values, at in tried:
        yield {
            "part": "Other stand-ins at noise 1: loss",
            **values,
            "mean noise": at["noise"].mean,
            "MAE CRH": at["change"].mean,
            "MAE mean": at["change mean"].mean,
            "trials": at["change"].trials,
        }


def _sorted(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rows of one table together, in the order of the data."""
    parts = list(dict.fromkeys(row["part"] for row in rows))
    return tuple(row for part in parts for row in rows if row["part"] == part)


def _words(floors: Seen, real: Sequence[Seen]) -> str:
    at = floors.theirs[NEAR_ONE]
    kept = true_epsilon(NEAR_ONE, floors.sweep.answers)
    words = (
        f"On the stand-in (247 walkers x 129 segments) a mean noise of {at['noise'].mean:.2f} m "
        f"changes the truths by {at['change'].mean:.3f} m, the plain mean by "
        f"{at['change mean'].mean:.3f} m; the MAE to the true lengths goes from "
        f"{at['clean'].mean:.3f} to {at['error'].mean:.3f} m, best constant "
        f"{at['best constant'].mean:.1f} m. A noise of 1 m has a true epsilon of {kept:.0f} per "
        "answer at delta 0.1 over 0..50 m. P3's figure cannot be checked: its data are not "
        "public"
    )
    if not real:
        return f"{words}, and no real numeric dataset is in the cache."
    parts = [
        f"{seen.sweep.name} {min(seen.shares()):.2f} to {max(seen.shares()):.2f} (about "
        f"{_per_task(seen):.0f} answers per task)"
        for seen in real
    ]
    return (
        f"{words}. The loss per unit of noise is {min(floors.shares()):.3f} to "
        f"{max(floors.shares()):.3f} on the stand-in (247 answers per task), and on real public "
        f"crowds {', '.join(parts)}: the number of answers per task determines the "
        f"loss.{''.join(_beside(seen) for seen in real if seen.ours)}"
    )


def _beside(seen: Seen) -> str:
    """Ours against P3's pipeline on real answers, at both ends."""
    low, high = min(seen.ours), max(seen.ours)
    ends = [
        f"{seen.ours[at].mean:.4g} against {seen.theirs[at]['error'].mean:.4g} at nominal epsilon "
        f"{at:g}"
        for at in (low, high)
    ]
    return (
        f" On {seen.sweep.name} the MAE to the truth of ours, at the true epsilon or {MOST:g} if "
        f"that is less, and of CRH is {' and '.join(ends)}, of the best constant "
        f"{seen.level['best constant'].mean:.4g}, of CRH without noise "
        f"{seen.level['clean'].mean:.4g}."
    )


def _per_task(seen: Seen) -> float:
    answers, _ = seen.sweep.source.draw(0)
    return len(answers) / len(answers.tasks)


def _notes(seen: Seen) -> tuple[str, str, str]:
    return (
        "P3 §V-B: the same pattern as in Figure 1. On this stand-in the loss is "
        f"{min(seen.shares()):.3f} to {max(seen.shares()):.3f} of the noise.",
        f"A noise of 1 metre is a nominal epsilon of {NEAR_ONE:,.0f} over the public range 0..50.",
        ERRORS,
    )


def _real_charts(seen: Seen) -> tuple[Chart, ...]:
    """The charts without that of the noise, which is a share of the range."""
    notes = (
        "P3 §V-B: the same pattern as in Figure 1. On these real answers the loss is "
        f"{min(seen.shares()):.2f} to {max(seen.shares()):.2f} of the noise.",
        "",
        ERRORS,
    )
    lost, _, errors = seen.charts("compare P3 Figure 5", "", notes)
    return lost, errors


STUDY = Study(
    "p3-figure-5",
    "On floorplan data (247 users x 129 hallway segments) utility and noise have the pattern of "
    "Figure 1: even when the noise is quite large, good utility is achieved",
    "P3 §V-B, Figure 5",
    "P3's data are not public: a stand-in of 247 walkers x 129 segments (lengths U(4, 40) m, "
    "each walker's step size wrong by 5 %, steps miscounted by a share with mean 5 %, drawn per "
    "walker), public range 0..50 m, delta 0.1; for comparison emotion (-100..100) and calories "
    "(0..5000). The pattern: the loss falls as epsilon grows, and is below a tenth of the mean "
    "noise, as P3 says of Figure 1; neither the stand-in nor the real data are evidence for P3's "
    "own; CRH as printed by its authors; numbers do not tie",
    plan,
    "2 epsilons instead of 5, 2 trials instead of 20, ours at one epsilon of the stand-in",
    recorded=("cannot be checked", "cannot be checked", "holds"),
    items=("P3 Figure 5",),
    open=OPEN,
)
