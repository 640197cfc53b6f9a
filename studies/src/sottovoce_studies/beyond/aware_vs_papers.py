"""Study `aware-vs-papers`: at the same guarantee, a smaller error than the papers' pipelines.

Each setting has a source of answers, our pair, and the figure to reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.datasets import NumericCrowd, SparseCrowd
from sottovoce.figures import Chart
from sottovoce.model import Domain, Kind
from sottovoce.planning.pipelines import Pipeline, papers
from sottovoce.planning.trials import Spread
from sottovoce_studies.contests import CONSTANT, Contest, spreads
from sottovoce_studies.crowds import Dataset, LabelCrowd, Simulated, Source
from sottovoce_studies.paper_tables import BAND, curve
from sottovoce_studies.rulings import Ruling, Rulings
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["SKIPPED", "STUDY", "is_met", "settings"]


RESPONSE = Pipeline("randomised response + aware", "randomized-response")
SUBSETS = Pipeline("subset selection + aware", "subset-selection")
BINS = Pipeline(
    "subset selection over 10 bins + aware", "subset-selection", parameters={"bins": 10}
)
THRESHOLD = Pipeline("threshold + aware", "threshold")
BEYOND = Pipeline(
    "subset selection + aware", "subset-selection", "aware-numbers", settings={"beyond": 0.35}
)
"""Half of P4's truths are below the smallest answer, so the grid of truths extends beyond it."""

VOTE = papers(Domain.categorical("ab"))[:1]
GAUSSIAN_AND_LAPLACE = tuple(pair for pair in papers(Domain.numeric(0, 1)) if pair.method == "crh")
P4 = papers(Domain.ordinal("ab"), hide_participation=True)

LABELS, NUMBERS = "Labels, error rate", "Numbers (P3's setting), MAE"
SPARSE, REAL = (
    "Sparse with private NULLs (m 2,000, n 200, labels 0..9), MAE",
    "Real data, error rate",
)

TRIALS: Mapping[Size, int] = {"quick": 3, "full": 20}

SKIPPED = "skipped: dataset not in the cache"

FIGURE = "figure to reach"


@dataclass(frozen=True, slots=True)
class Setting:
    """One row: a comparison of our pair with the papers', and the error that ours should reach.

    `contest` is None if its dataset is not in the cache. `quick` rows are those of quick runs.
    """

    part: str
    name: str
    epsilon: float
    figure: float
    ours: Pipeline
    contest: Contest | None
    quick: bool = False


def settings() -> list[Setting]:
    """Every row of the study, with datasets from the cache."""
    return [*_labels(), *_numbers(), *_sparse(), *_real()]


def _labels() -> list[Setting]:
    def row(
        name: str,
        crowd: LabelCrowd,
        epsilon: float,
        figure: float,
        ours: Pipeline,
        quick: bool = False,
    ) -> Setting:
        return _setting(LABELS, name, crowd, epsilon, figure, ours, VOTE, quick=quick)

    few = LabelCrowd(100, 300, 60, 5, "heterogeneous")
    alike = LabelCrowd(200, 300, 60, 20, "homogeneous")
    many = LabelCrowd(200, 300, 60, 20, "heterogeneous")
    return [
        row("m 100, n 300, k 60, s 5, heterogeneous", few, 2, 0.092, RESPONSE, quick=True),
        row("m 100, n 300, k 60, s 5, heterogeneous", few, 3, 0.018, RESPONSE),
        row("m 200, n 300, k 60, s 20, homogeneous", alike, 1, 0.43, SUBSETS),
        row("m 200, n 300, k 60, s 20, heterogeneous", many, 2, 0.10, SUBSETS, quick=True),
    ]


def _numbers() -> list[Setting]:
    crowd = Simulated(NumericCrowd(workers=150, tasks=30, inset=1.0, clip=True))
    name = "m 150, n 30, truths U(1, 9), range 0..10"
    return [
        _setting(NUMBERS, name, crowd, epsilon, figure, BINS, GAUSSIAN_AND_LAPLACE, quick=quick)
        for epsilon, figure, quick in ((1, 0.36, False), (2, 0.15, True), (4, 0.08, False))
    ]


def _sparse() -> list[Setting]:
    def row(
        sparsity: float,
        epsilon: float,
        figure: float,
        ours: Pipeline,
        *,
        uniform: bool,
        quick: bool = False,
    ) -> Setting:
        truths = (1.0, 8.0) if uniform else None
        crowd = SparseCrowd(sparsity=sparsity, kind=Kind.ORDINAL, truths=truths)
        name = f"truths {'U(1, 8)' if uniform else 'N(0, 1)'}, sparsity {sparsity:g}"
        source = Simulated(crowd)
        return _setting(SPARSE, name, source, epsilon, figure, ours, P4, hide=True, quick=quick)

    return [
        row(0.9, 2, 0.62, THRESHOLD, uniform=True),
        row(0.9, 4, 0.20, SUBSETS, uniform=True, quick=True),
        row(0.5, 1, 0.34, SUBSETS, uniform=True),
        row(0.5, 1, 0.40, BEYOND, uniform=False),
        row(0.9, 4, 0.26, BEYOND, uniform=False),
    ]


def _real() -> list[Setting]:
    rows = (("rte", 1, 0.22), ("rte", 2, 0.107), ("bluebirds", 2, 0.145), ("duchenne", 1, 0.35))
    return [
        _setting(
            REAL, name, Dataset.of(name), epsilon, figure, RESPONSE, VOTE, quick=name == "bluebirds"
        )
        for name, epsilon, figure in rows
    ]


def _setting(
    part: str,
    name: str,
    source: Source | None,
    epsilon: float,
    figure: float,
    ours: Pipeline,
    theirs: tuple[Pipeline, ...],
    *,
    hide: bool = False,
    quick: bool = False,
) -> Setting:
    contest = None if source is None else Contest(source, epsilon, (ours, *theirs), hide)
    return Setting(part, name, epsilon, figure, ours, contest, quick)


def plan(size: Size, seed: int) -> Work:
    """Every trial of every row; quick runs have fewer rows and trials."""
    rows = [setting for setting in settings() if setting.quick or size == "full"]
    there = [setting.contest for setting in rows if setting.contest is not None]
    cells = [cell for contest in there for cell in contest.cells(TRIALS[size], seed)]
    return Work(cells, lambda results: judge(rows, results, TRIALS[size]))


def judge(rows: Sequence[Setting], results: Sequence[Any], trials: int) -> Outcome:
    """Numbers hold if every figure is met, shape if no pipeline of the papers errs less."""
    rest = iter(results)
    found = [
        None if setting.contest is None else spreads([next(rest) for _ in range(trials)])
        for setting in rows
    ]
    table = tuple(_row(setting, seen) for setting, seen in zip(rows, found, strict=True))
    missed = [_named(row) for row in table if row["met"] == "no"]
    above = [_named(row) for row in table if row.get("theirs are above") == "no"]
    met = sum(row["met"] == "yes" for row in table)
    skipped = sum(row["met"] == SKIPPED for row in table)
    words = f"{met} of {met + len(missed)} figures met, {trials} trials each"
    words += f"; not met: {'; '.join(missed)}" if missed else ""
    words += (
        f"; the papers' pipelines have a smaller error in: {'; '.join(above)}"
        if above
        else "; all of the papers' pipelines have a larger error in every row"
    )
    words += f"; {skipped} skipped, because their datasets are not in the cache" if skipped else ""
    rulings = _rulings(met, missed, above)
    return Outcome(table, rulings, f"{words}.", tuple(_charts(rows, found)))


def _rulings(met: int, missed: Sequence[str], above: Sequence[str]) -> Rulings:
    if not met + len(missed):
        absent = Ruling("cannot be checked", "no dataset in the cache")
        return Rulings(numbers=absent, shape=absent)
    figures = f"{met} of {met + len(missed)} figures reached"
    numbers = Ruling("fails" if missed else "holds", figures)
    smaller = f"a paper's pipeline has a smaller error in {len(above)} rows"
    return Rulings(numbers, Ruling("fails", smaller) if above else Ruling("holds"))


def is_met(spread: Spread, figure: float) -> bool:
    """Whether the mean is at most the figure, allowing for two standard errors."""
    return spread.mean - BAND * spread.standard_error <= figure


def is_above(theirs: Spread, ours: Spread) -> bool:
    """Whether the mean error of a pipeline is larger than ours."""
    return theirs.mean > ours.mean


def _named(row: Row) -> str:
    return f"{row['setting']} at epsilon {row['epsilon']:g}"


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
    theirs = [seen[name] for name in seen if name not in (setting.ours.name, CONSTANT)]
    others = {name: seen[name].mean for name in (CONSTANT, *seen) if name != setting.ours.name}
    return {
        **row,
        "ours": ours.mean,
        "s.e.": ours.standard_error,
        "difference": ours.mean - setting.figure,
        "met": "yes" if is_met(ours, setting.figure) else "no",
        "theirs are above": "yes" if all(is_above(each, ours) for each in theirs) else "no",
        "trials": ours.trials,
        **others,
    }


def _charts(
    rows: Sequence[Setting], found: Sequence[Mapping[str, Spread] | None]
) -> Iterator[Chart]:
    """One chart per part: ours, theirs and the figures to reach, by row."""
    pairs = [(setting, seen) for setting, seen in zip(rows, found, strict=True) if seen is not None]
    for part in dict.fromkeys(setting.part for setting, _ in pairs):
        yield _chart(part, [pair for pair in pairs if pair[0].part == part])


def _chart(part: str, group: Sequence[tuple[Setting, Mapping[str, Spread]]]) -> Chart:
    places = tuple(float(place) for place in range(1, len(group) + 1))
    names = [name for name in group[0][1] if name not in (group[0][0].ours.name, CONSTANT)]
    figures = [Spread.of([setting.figure]) for setting, _ in group]
    series = (
        curve("ours", places, [seen[setting.ours.name] for setting, seen in group], "ours"),
        *(curve(name, places, [seen[name] for _, seen in group]) for name in names),
        curve(CONSTANT, places, [seen[CONSTANT] for _, seen in group]),
        curve(FIGURE, places, figures, "reference"),
    )
    what, _, unit = part.rpartition(", ")
    rows = "; ".join(
        f"{place:g}: {setting.name}, epsilon {setting.epsilon:g}"
        for place, (setting, _) in zip(places, group, strict=True)
    )
    return Chart(
        f"Ours and the papers' pipelines: {what}",
        "row of the table",
        unit,
        series,
        note="The error of ours is smaller than that of the papers' pipelines on the same "
        f"answers. Rows: {rows}. Whiskers are two standard errors.",
        better="lower",
        style="bars",
    )


STUDY = Study(
    "aware-vs-papers",
    "Noise-aware inference reaches the figures set for it, and its error is smaller than that of "
    "the papers' pipelines on the same answers at the same epsilon per answer",
    "P1 Def. 5.1 and §7 (labels), P3 §V (numbers), P4 §VI (private NULLs)",
    "crowds of labels, of numbers and of sparse numbers, and three datasets; our pair is fixed "
    "for each row, and a figure is met when the mean minus two standard errors is at most the "
    "figure; figures were set by trials before this inference was built; the papers' pipelines "
    "get what they need in addition to epsilon (the Gaussian a delta of 0.1, MF as published no "
    "finite epsilon between answering and not); ties of votes are broken at random",
    plan,
    "some of the rows, 3 trials each instead of 20",
    recorded=("fails", "holds", "not claimed"),
    quick_recorded=("holds", "holds", "not claimed"),
)
