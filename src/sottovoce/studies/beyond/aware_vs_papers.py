"""Study `aware-vs-papers`: at the same guarantee, a smaller error than the papers' pipelines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from sottovoce.figures import Chart, Level, Series
from sottovoce.planning.spreads import Spread
from sottovoce.studies.beyond.settings import Setting, settings
from sottovoce.studies.contests import CONSTANT, spreads
from sottovoce.studies.study import Outcome, Row, Size, Study, Verdict, Work

__all__ = ["SKIPPED", "STUDY", "is_met"]

TRIALS: Mapping[Size, int] = {"quick": 3, "full": 20}

SKIPPED = "skipped: dataset not in the cache"


def plan(size: Size, seed: int) -> Work:
    """Every trial of every row; quick runs have fewer rows and trials."""
    rows = [setting for setting in settings() if setting.quick or size == "full"]
    there = [setting.contest for setting in rows if setting.contest is not None]
    cells = [cell for contest in there for cell in contest.cells(TRIALS[size], seed)]
    return Work(cells, lambda results: judge(rows, results, TRIALS[size]))


def judge(rows: Sequence[Setting], results: Sequence[Any], trials: int) -> Outcome:
    """A figure is met when mean - 2 standard errors is at most the figure."""
    rest = iter(results)
    found = [
        None if setting.contest is None else spreads([next(rest) for _ in range(trials)])
        for setting in rows
    ]
    table = tuple(_row(setting, seen) for setting, seen in zip(rows, found, strict=True))
    missed = [
        f"{row['setting']} at epsilon {row['epsilon']:g}" for row in table if row["met"] == "no"
    ]
    met = sum(row["met"] == "yes" for row in table)
    skipped = sum(row["met"] == SKIPPED for row in table)
    verdict: Verdict = "fails" if missed else "holds" if met else "cannot be checked"
    reason = (
        f"{len(missed)} figures not reached" if missed else "" if met else "no dataset in the cache"
    )
    words = f"{met} of {met + len(missed)} figures met, {trials} trials each"
    words += f"; not met: {'; '.join(missed)}" if missed else ""
    words += f"; {skipped} skipped, whose datasets are not in the cache" if skipped else ""
    return Outcome(table, verdict, reason, f"{words}.", tuple(_charts(rows, found)))


def is_met(spread: Spread, figure: float) -> bool:
    """Whether the mean is at most the figure, allowing for two standard errors."""
    return spread.mean - 2 * spread.standard_error <= figure


def _row(setting: Setting, seen: Mapping[str, Spread] | None) -> Row:
    row: dict[str, Any] = {
        "part": setting.part,
        "setting": setting.name,
        "epsilon": setting.epsilon,
        "figure": setting.figure,
        "our pair": setting.ours.name,
    }
    if seen is None:
        return {**row, "met": SKIPPED}
    ours = seen[setting.ours.name]
    others = {name: seen[name].mean for name in (CONSTANT, *seen) if name != setting.ours.name}
    return {
        **row,
        "ours": ours.mean,
        "s.e.": ours.standard_error,
        "difference": ours.mean - setting.figure,
        "met": "yes" if is_met(ours, setting.figure) else "no",
        "trials": ours.trials,
        **others,
    }


def _charts(
    rows: Sequence[Setting], found: Sequence[Mapping[str, Spread] | None]
) -> Iterator[Chart]:
    """One chart for each setting: ours, theirs and the figures to reach, by epsilon."""
    pairs = [(setting, seen) for setting, seen in zip(rows, found, strict=True) if seen is not None]
    for (part, name), group in groupby(pairs, lambda pair: (pair[0].part, pair[0].name)):
        yield _chart(part, name, list(group))


def _chart(part: str, name: str, group: list[tuple[Setting, Mapping[str, Spread]]]) -> Chart:
    epsilons = tuple(float(setting.epsilon) for setting, _ in group)
    ours = [seen[setting.ours.name] for setting, seen in group]
    names = [name for name in group[0][1] if name not in (group[0][0].ours.name, CONSTANT)]
    series = [_series("ours", epsilons, ours, ours=True)]
    series += [_series(other, epsilons, [seen[other] for _, seen in group]) for other in names]
    figures = tuple(setting.figure for setting, _ in group)
    series.append(Series("to reach", epsilons, figures, role="reference"))
    constant = sum(seen[CONSTANT].mean for _, seen in group) / len(group)
    pairs = "; ".join(f"{setting.epsilon:g}: {setting.ours.name}" for setting, _ in group)
    return Chart(
        f"{part}: {name}", "epsilon per answer", "error", tuple(series),
        (Level(CONSTANT, constant),), f"Ours at epsilon {pairs}.", better="lower",
    )  # fmt: skip


def _series(
    name: str, epsilons: tuple[float, ...], seen: Sequence[Spread], *, ours: bool = False
) -> Series:
    return Series(
        name, epsilons,
        tuple(spread.mean for spread in seen),
        tuple(spread.low for spread in seen),
        tuple(spread.high for spread in seen),
        "ours" if ours else "theirs",
    )  # fmt: skip


STUDY = Study(
    "aware-vs-papers",
    "Inference that knows the noise reaches the figures set for it, below the papers' pipelines "
    "on the same answers with the same guarantee",
    "P1 Def. 5.1 and §7 (labels), P3 §V (numbers), P4 §VI (private NULLs)",
    "crowds of labels, of numbers and of sparse ones, and three datasets; which pair is ours is "
    "fixed for each row, and a figure is met when the mean less two standard errors is at most "
    "the figure; ties of votes are broken at random",
    plan,
    "some of the rows, 3 trials each instead of 20",
    recorded="holds",
)
