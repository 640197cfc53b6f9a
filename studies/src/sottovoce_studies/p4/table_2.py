"""Study `p4-table-2`: P4's statistics of two datasets, their consistency, and the public data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sottovoce.figures import Chart, Level, Series
from sottovoce_studies.cells import Cell
from sottovoce_studies.p4.crowds import DATASETS, PLACES, public, search_words, summary
from sottovoce_studies.paper_tables import PrintedTable, printed
from sottovoce_studies.rulings import Ruling, Rulings, Statement, Verdict, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["STUDY", "contradicts", "counted_sparsity", "judge", "meant_answers"]

COUNTS = ("workers", "tasks", "answers")
SPARSITIES = ("maximum sparsity", "minimum sparsity", "average sparsity")
ROUNDED = 5e-7
"""Sparsities are printed to six places."""

ITSELF, PUBLIC = "Table II: consistency", "Table II: comparison with the public data"
ABSENT = "the dataset is not in the cache"
SEARCHED = "Web"
"""The dataset under whose name another one is known, so that it must be found by its sizes."""
VERY_SPARSE, EXTREME = 0.5, 0.99
"""Averages above which data count as very and as extremely sparse; P4 prints the second."""
CLAIMED = ("P4-VI.A-2", "P4-VI.A-3", "P4-VI.A-5", "P4-VI.B-1")

Found = Mapping[str, Mapping[str, Any]]


def plan(size: Size, seed: int) -> Work:
    """One summary of each public dataset; nothing is drawn."""
    there = public()
    cells = [Cell(summary, (dataset,)) for dataset in there.values()]

    def judged(results: Sequence[Any]) -> Outcome:
        table = printed("P4 Table II")
        found = dict(zip(there, results, strict=True))
        return judge(table, found, list(_searches(table, found)))

    return Work(cells, judged)


def _searches(table: PrintedTable, found: Found) -> Iterator[str]:
    """Searches for datasets by their sizes."""
    for name in table.column("dataset"):
        if name == SEARCHED or name not in found:
            sizes = (int(table.number(column, name)) for column in COUNTS[:2])
            yield f"{name}: {search_words(*sizes)}"


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


def judge(table: PrintedTable, found: Found, searches: Sequence[str] = ()) -> Outcome:
    """Count the printed statistics that the datasets have; a misprint is one that others refute."""
    names = table.column("dataset")
    sentences = [_itself(table, name) for name in names]
    sentences += [_beside(table, name, found[name]) for name in found]
    sentences += [f"{name}: {ABSENT}" for name in names if name not in found]
    sentences += searches
    sentences.append(
        "An earlier version of this study took another dataset, web, for Web, and said that P4's "
        "is not public"
    )
    rows = (*_own_rows(table), *_public_rows(table, found))
    charts = tuple(_charts(table, found)) or (_printed_chart(table),)
    rulings, claims = _rulings(table, found)
    return Outcome(rows, rulings, f"{'. '.join(sentences)}.", charts, claims=claims)


def _rulings(table: PrintedTable, found: Found) -> tuple[Rulings, dict[str, Ruling]]:
    if set(found) != set(table.column("dataset")):
        missing = [name for name in table.column("dataset") if name not in found]
        reason = f"{ABSENT}: {', '.join(DATASETS[name] for name in missing)}"
        unchecked = Ruling("cannot be checked", reason)
        return Rulings(unchecked, unchecked), dict.fromkeys(CLAIMED, unchecked)
    each = {name: _met(table, name, found[name]) for name in found}
    met, of = (sum(len(one[place]) for one in each.values()) for place in (0, 1))
    words = "; ".join(_count_words(table, name, found[name]) for name in found)
    verdict: Verdict = "holds" if met == of else "partly" if 2 * met >= of else "fails"
    sparse = _sparse(found)
    rulings = Rulings(Ruling(verdict, words), Ruling(ruling_on(sparse).verdict, _texts(sparse)))
    claims = (
        *(_of_dataset(table, name, found) for name in found),
        _gold(found),
        Ruling(ruling_on(sparse).verdict, _texts(sparse)),
    )
    return rulings, dict(zip(CLAIMED, claims, strict=True))


def _met(
    table: PrintedTable, name: str, seen: Mapping[str, Any]
) -> tuple[list[str], tuple[str, ...]]:
    """The statistics that the data have, as printed or as the other printed ones imply, and all."""
    every = (*COUNTS, *SPARSITIES)
    differs = list(_apart(table, name, seen))
    if differs == ["answers"] and seen["answers"] == meant_answers(table, name):
        differs = []
    return [column for column in every if column not in differs], every


def _count_words(table: PrintedTable, name: str, seen: Mapping[str, Any]) -> str:
    met, every = _met(table, name, seen)
    differs = list(_apart(table, name, seen))
    words = f"{name} {len(met)} of {len(every)}"
    if differs and len(met) == len(every):
        printed_count = int(table.number("answers", name))
        return f"{words} ({printed_count:,} answers is a misprint of {seen['answers']:,})"
    return f"{words} ({' and '.join(differs)} differ)" if differs else words


def _of_dataset(table: PrintedTable, name: str, found: Found) -> Ruling:
    met, every = _met(table, name, found[name])
    verdict: Verdict = "holds" if len(met) == len(every) else "partly"
    return Ruling(verdict, _count_words(table, name, found[name]))


def _sparse(found: Found) -> list[Statement]:
    """P4 §VI-B: both are very sparse, and AdultContent extremely, with workers of one answer."""
    averages = {name: seen["average sparsity"] for name, seen in found.items()}
    adult = found["AdultContent"]
    one = round((1 - adult["maximum sparsity"]) * adult["tasks"])
    return [
        Statement(
            "both are very sparse",
            min(averages.values()) > VERY_SPARSE,
            ", ".join(f"{name} {average:.3f}" for name, average in averages.items()),
        ),
        Statement(
            "AdultContent's average exceeds 0.99, and some worker has one answer",
            averages["AdultContent"] > EXTREME and one == 1,
            f"{averages['AdultContent']:.6f}, {one} answer",
        ),
    ]


def _texts(statements: Sequence[Statement]) -> str:
    return "; ".join(map(str, statements))


def _gold(found: Found) -> Ruling:
    whole = [name for name, seen in found.items() if seen["truths"] == seen["tasks"]]
    words = ", ".join(
        f"{name} {seen['truths']:,} of {seen['tasks']:,} tasks" for name, seen in found.items()
    )
    verdict: Verdict = "holds" if len(whole) == len(found) else "partly" if whole else "fails"
    return Ruling(verdict, f"public truths: {words}")


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
        f"{name} ({DATASETS[name]}) has {seen['workers']:,} workers, {seen['tasks']:,} tasks and "
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
    "has 825 workers, 11,040 tasks and 89,796 answers at .993666; both are very sparse",
    "P4 §I, §VI-B, Table II",
    "the sparsity of a worker is the share of tasks it does not answer; printed numbers are "
    "compared with the word-sense data of Snow et al. 2008 (wsd), which P4 calls Web, and with the "
    "public AdultContent (adult2; of repeated pairs the first answer counts); a printed count that "
    "the printed mean sparsity refutes is a misprint of the implied one; very sparse means that "
    "most cells are NULL; nothing is drawn and there are no votes",
    plan,
    "nothing",
    recorded=("partly", "holds", "not claimed"),
    items=("P4 Table II",),
)
