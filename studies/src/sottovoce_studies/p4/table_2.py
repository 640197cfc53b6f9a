"""Study `p4-table-2`: P4's statistics of two datasets, their consistency, and the public data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sottovoce.figures import Chart, Level, Series
from sottovoce_studies.cells import Cell
from sottovoce_studies.p4.crowds import PLACES, public, summary
from sottovoce_studies.paper_tables import PrintedTable, printed
from sottovoce_studies.study import Outcome, Row, Size, Study, Verdict, Work

__all__ = ["STUDY", "contradicts", "counted_sparsity", "judge", "meant_answers"]

COUNTS = ("workers", "tasks", "answers")
SPARSITIES = ("maximum sparsity", "minimum sparsity", "average sparsity")
ROUNDED = 5e-7
"""Sparsities are printed to six places."""

ITSELF, PUBLIC = "Table II: consistency", "Table II: comparison with the public data"
CONTRADICTED = "the printed averages contradict the printed counts"
ABSENT = "the dataset is not in the cache"

Found = Mapping[str, Mapping[str, Any]]


def plan(size: Size, seed: int) -> Work:
    """One summary of each public dataset; nothing is drawn."""
    there = public()
    cells = [Cell(summary, (dataset,)) for dataset in there.values()]

    def judged(results: Sequence[Any]) -> Outcome:
        return judge(printed("P4 Table II"), dict(zip(there, results, strict=True)))

    return Work(cells, judged)


def counted_sparsity(table: PrintedTable, dataset: str) -> float:
    """The workers' mean sparsity, 1 - answers / (workers · tasks).

    >>> round(counted_sparsity(printed("P4 Table II"), "AdultContent"), 6)
    0.990141
    """
    workers, tasks, answers = (table.number(column, dataset) for column in COUNTS)
    return 1 - answers / (workers * tasks)


def meant_answers(table: PrintedTable, dataset: str) -> int:
    """The number of answers that the printed mean sparsity implies.

    >>> meant_answers(printed("P4 Table II"), "Web")
    1770
    """
    workers, tasks = (table.number(column, dataset) for column in COUNTS[:2])
    return round((1 - table.number("average sparsity", dataset)) * workers * tasks)


def contradicts(table: PrintedTable, dataset: str) -> bool:
    """Whether the printed mean differs from that of the printed counts by more than rounding."""
    apart = table.number("average sparsity", dataset) - counted_sparsity(table, dataset)
    return abs(apart) > ROUNDED


def judge(table: PrintedTable, found: Found) -> Outcome:
    """Fails if a printed mean contradicts its counts; holds if the public data are as printed."""
    wrong = [name for name in table.column("dataset") if contradicts(table, name)]
    differs = [name for name in found if any(_apart(table, name, found[name]))]
    verdict, reason = _ruling(table, wrong, differs, found)
    sentences = [_itself(table, name) for name in table.column("dataset")]
    sentences += [_beside(table, name, found[name]) for name in found]
    sentences += [f"{name}: {ABSENT}" for name in table.column("dataset") if name not in found]
    rows = (*_own_rows(table), *_public_rows(table, found))
    charts = tuple(_charts(table, found)) or (_printed_chart(table),)
    return Outcome(rows, verdict, reason, f"{'. '.join(sentences)}.", charts)


def _ruling(
    table: PrintedTable, wrong: Sequence[str], differs: Sequence[str], found: Found
) -> tuple[Verdict, str]:
    if len(wrong) == len(table.rows):
        return "fails", CONTRADICTED
    if wrong:
        return "fails", f"the printed average of {wrong[0]} contradicts the printed counts"
    if len(found) < len(table.rows):
        return "cannot be checked", ABSENT
    if differs:
        return "holds in shape", f"the public data of {' and '.join(differs)} differ"
    return "holds", ""


def _apart(table: PrintedTable, name: str, seen: Mapping[str, Any]) -> Iterator[str]:
    """The columns in which the public data differ from the printed ones."""
    for column in (*COUNTS, *SPARSITIES):
        allowed = ROUNDED if column in SPARSITIES else 0
        if abs(seen[column] - table.number(column, name)) > allowed:
            yield column


def _itself(table: PrintedTable, name: str) -> str:
    workers, tasks, answers = (int(table.number(column, name)) for column in COUNTS)
    mean, means = table.number("average sparsity", name), meant_answers(table, name)
    return (
        f"{name}: {answers:,} answers of {workers:,} workers to {tasks:,} tasks give a sparsity "
        f"of {counted_sparsity(table, name):.6f}; the printed {mean:g} implies {means:,} answers, "
        f"{means / workers:.0f} per worker"
    )


def _beside(table: PrintedTable, name: str, seen: Mapping[str, Any]) -> str:
    differ = list(_apart(table, name, seen))
    same = [column for column in (*COUNTS, *SPARSITIES) if column not in differ]
    words = (
        f"The public {name} has {seen['workers']:,} workers, {seen['tasks']:,} tasks and "
        f"{seen['answers']:,} answers, {seen['answers'] / seen['workers']:.0f} per worker, at a "
        f"mean sparsity of {seen['average sparsity']:.6f}"
    )
    if not same:
        return f"{words}: no number is as printed"
    return f"{words}; as printed: {', '.join(same)}"


def _own_rows(table: PrintedTable) -> Iterator[Row]:
    for name in table.column("dataset"):
        yield {
            "part": ITSELF,
            "dataset": name,
            "printed answers": int(table.number("answers", name)),
            "their sparsity": f"{counted_sparsity(table, name):.6f}",
            "printed sparsity": f"{table.number('average sparsity', name):.6f}",
            "its answers": meant_answers(table, name),
            "agree": "no" if contradicts(table, name) else "yes",
        }


def _public_rows(table: PrintedTable, found: Found) -> Iterator[Row]:
    for name in table.column("dataset"):
        for column in (*COUNTS, *SPARSITIES):
            paper = table.number(column, name)
            row: Row = {"part": PUBLIC, "dataset": name, "what": column}
            ours = found[name][column] if name in found else None
            text = _number if column in SPARSITIES else _count
            yield {
                **row,
                "public": ABSENT if ours is None else text(ours),
                "paper": text(paper),
                "difference": None if ours is None else text(ours - paper),
            }


def _number(value: float) -> str:
    return f"{value:z.6f}"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _charts(table: PrintedTable, found: Found) -> Iterator[Chart]:
    """Each worker's share of tasks answered, in increasing order."""
    for name, seen in found.items():
        places = tuple(place / PLACES for place in range(PLACES + 1))
        mean, counted = table.number("average sparsity", name), counted_sparsity(table, name)
        yield Chart(
            f"Share of {name} that each worker answers (P4 Table II)",
            "workers by number of answers, as shares of all",
            "share of tasks answered",
            (Series("public data", places, tuple(seen["answered"]), role="ours"),),
            (
                Level("mean, as printed", 1 - mean),
                Level("mean, by counts", 1 - counted),
            ),
            note=f"P4 Table II prints a mean sparsity (share of tasks not answered) of {mean:g}. "
            f"From the counts in the table it is {counted:.6f}, on the public data "
            f"{seen['average sparsity']:.6f}.",
            better="neither",
            y_scale="log",
        )


def _printed_chart(table: PrintedTable) -> Chart:
    """The chart without a dataset: the printed means and those of the printed counts."""
    names = table.column("dataset")
    places = tuple(float(place) for place in range(1, len(names) + 1))
    means = tuple(table.number("average sparsity", name) for name in names)
    counted = tuple(counted_sparsity(table, name) for name in names)
    return Chart(
        "Mean sparsity as printed and as counted (P4 Table II)",
        "row of the table",
        "mean sparsity",
        (
            Series("as printed", places, means, role="reference"),
            Series("by counts", places, counted),
        ),
        note=f"P4 Table II prints both. {ABSENT.capitalize()}, so nothing else is shown.",
        better="neither",
    )


STUDY = Study(
    "p4-table-2",
    "Web has 34 workers, 177 tasks and 770 answers at a mean sparsity of .705882; AdultContent "
    "has 825 workers, 11,040 tasks and 89,796 answers at .993666, 70 per worker",
    "P4 §I, §VI-B, Table II",
    "the sparsity of a worker is the share of tasks it does not answer; the printed means are "
    "compared with the printed counts, and all with the public Web (where 177 is the number of "
    "workers; the paper's part of it is not public) and the public AdultContent (of repeated "
    "pairs the first answer counts); nothing is drawn and there are no votes",
    plan,
    "nothing",
    recorded="fails",
    items=("P4 Table II",),
)
