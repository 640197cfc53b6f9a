"""Studies as people see them in a terminal: the list, a study that is done, all verdicts."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from sottovoce.cli import console
from sottovoce.studies import Outcome, Study
from sottovoce.studies.reporting import (
    PAPERS,
    Done,
    Run,
    by_paper,
    count_words,
    tally,
    unrepeated,
    verdict_words,
)

__all__ = ["print_list", "print_study", "print_verdicts"]

ROOMY = 120
"""From so many columns on, everything about a study has a column of its own."""


def print_list(studies: Sequence[Study]) -> None:
    """Each paper's studies: what they cover, what is claimed, and the verdict on record."""
    roomy = not sys.stdout.isatty() or shutil.get_terminal_size().columns >= ROOMY
    for paper, group in by_paper(studies).items():
        _print(*(_roomy(group) if roomy else _narrow(group)), title=PAPERS[paper])
    console.say("A table or figure is named as p2-figure-3, p4-table-ii or p1-7.3-users.")


def _roomy(studies: Sequence[Study]) -> tuple[list[str], list[list[str]]]:
    rows = [[study.name, "\n".join(study.items), study.claim, study.recorded] for study in studies]
    return ["study", "tables and figures", "claim", "verdict"], rows


def _narrow(studies: Sequence[Study]) -> tuple[list[str], list[list[str]]]:
    """A claim needs the width; what belongs together stands below each other."""
    rows = [
        ["\n".join((study.name, *study.items, "")), f"{study.claim}\nverdict: {study.recorded}\n"]
        for study in studies
    ]
    return ["study", "claim and verdict"], rows


def print_study(study: Study, outcome: Outcome, run: Run) -> None:
    """The claim, the tables and the verdict of a study that is done."""
    covered = f" ({', '.join(study.items)})" if study.items else ""
    console.say(f"{study.name}{covered}: {study.claim}.")
    for table in outcome.tables():
        console.print_table(table.columns, unrepeated(table), title=table.caption)
    console.say(verdict_words(study, outcome, run.size))
    console.say("")


def print_verdicts(done: Done) -> None:
    """All verdicts below each other, and how many there are of each."""
    rows = [
        [study.name, ", ".join(study.items), outcome.verdict, outcome.reason]
        for study, outcome in done
    ]
    _print(["study", "tables and figures", "verdict", "why"], rows, title="Verdicts")
    counts = ", ".join(count_words(verdict, count) for verdict, count in tally(done).items())
    console.say(f"{len(done)} claims: {counts}.")


def _print(columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str) -> None:
    """A table without the columns that are empty in every row."""
    shown = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    cells = [[row[i] for i in shown] for row in rows]
    console.print_table([columns[i] for i in shown], cells, title=title)
