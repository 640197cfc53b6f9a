"""The command `sottovoce reproduce` and its output.

It prints the list of studies, each study when it is done, and all verdicts at the end.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.options import ForceOption, output_option
from sottovoce.errors import Stopped, UsageError
from sottovoce.planning.trial_runner import default_jobs
from sottovoce_studies.catalogue import STUDIES, study_named
from sottovoce_studies.cells import Kept, Recomputed, Remembered, Results, results_file
from sottovoce_studies.report import check_folder, write_files
from sottovoce_studies.rulings import ASPECTS
from sottovoce_studies.study import Outcome, Study
from sottovoce_studies.verdicts import (
    PAPERS,
    Done,
    Run,
    by_paper,
    counts,
    tally,
    unrepeated,
    verdict_words,
)

__all__ = ["print_list", "reproduce"]


ROOMY = 120
"""The terminal width from which the list has one column for each property of a study."""


def print_list(studies: Sequence[Study]) -> None:
    """Print each paper's studies: what they cover, their claims and recorded verdicts."""
    roomy = not sys.stdout.isatty() or shutil.get_terminal_size().columns >= ROOMY
    for paper, group in by_paper(studies).items():
        _print(*(_roomy(group) if roomy else _narrow(group)), title=PAPERS[paper])
    console.say("Name a table or figure as p2-figure-3, p4-table-ii or p1-7.3-users.")


def _roomy(studies: Sequence[Study]) -> tuple[list[str], list[list[str]]]:
    rows = [
        [study.name, "\n".join(study.items), study.claim, *map(_short, study.recorded)]
        for study in studies
    ]
    return ["study", "tables and figures", "claim", *ASPECTS], rows


def _narrow(studies: Sequence[Study]) -> tuple[list[str], list[list[str]]]:
    """Two columns for narrow terminals, because claims need the width."""
    rows = [
        ["\n".join((study.name, *study.items, "")), f"{study.claim}\n{_verdicts(study)}\n"]
        for study in studies
    ]
    return ["study", "claim and verdicts"], rows


def _verdicts(study: Study) -> str:
    pairs = zip(ASPECTS, study.recorded, strict=True)
    return "\n".join(f"{aspect}: {verdict}" for aspect, verdict in pairs)


def _short(verdict: str) -> str:
    """A verdict in a column of its own, where nothing claimed is a dash."""
    return "–" if verdict == "not claimed" else verdict


def print_study(study: Study, outcome: Outcome, run: Run) -> None:
    """Print the claim, the tables and the verdict of a finished study."""
    covered = f" ({', '.join(study.items)})" if study.items else ""
    console.say(f"{study.name}{covered}: {study.claim}.")
    for table in outcome.tables():
        console.print_table(table.columns, unrepeated(table), title=table.caption)
    console.say(verdict_words(study, outcome, run.size))
    console.say("")


def print_verdicts(done: Done) -> None:
    """Print all verdicts, and the number of each."""
    rows = [
        [study.name, ", ".join(study.items), *map(_short, outcome.rulings.verdicts)]
        for study, outcome in done
    ]
    _print(["study", "tables and figures", *ASPECTS], rows, title="Verdicts")
    for aspect in ASPECTS:
        console.say(f"{aspect.capitalize()}: {counts(tally(done, aspect))}.")


def _print(columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str) -> None:
    """Print a table without its empty columns."""
    shown = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    cells = [[row[i] for i in shown] for row in rows]
    console.print_table([columns[i] for i in shown], cells, title=title)


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STUDY...",
            help="Studies by name, or by a table or figure such as p2-figure-3. Default: all.",
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Run the cited size, which takes minutes or hours.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed. Default: the cited seed of each study.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(help="Processes to use; 0 means one per core, or one in quick runs.")
    ] = 0,
    output: Annotated[
        Path | None,
        output_option(
            "Write a report with all tables and figures to this folder, with the verdicts as JSON, "
            "a CSV file per study and an SVG file per figure.",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ignore cached results and recompute.")
    ] = False,
    list_: Annotated[
        bool,
        typer.Option("--list", help="List the studies and their verdicts without running them."),
    ] = False,
    force: ForceOption = False,
) -> None:
    """Reproduce the papers' tables, figures and claims, with a verdict on each.

    Quick runs take seconds and show less. An interrupted full run resumes.
    """
    chosen = list({study.name: study for study in map(study_named, names or STUDIES)}.values())
    if list_:
        print_list(chosen)
        return
    _check(seed, jobs)
    run = Run("full" if full else "quick", seed, f"{datetime.now(UTC):%Y-%m-%d}")
    if output is not None:
        check_folder(output, chosen, force=force)
    done = _done(chosen, run, jobs, fresh=fresh)
    if len(done) > 1:
        print_verdicts(done)
    if output is not None:
        with console.passes("drawing figures", visible=True):
            count = write_files(output, done, run, force=force)
        console.note(f"wrote {count} files in {output}")


def _check(seed: int | None, jobs: int) -> None:
    if seed is not None and seed < 0:
        raise UsageError(f"--seed takes an integer of at least 0, not {seed}")
    if jobs < 0:
        raise UsageError(f"--jobs takes an integer of at least 0, not {jobs}")


def _done(studies: list[Study], run: Run, jobs: int, *, fresh: bool) -> list[tuple[Study, Outcome]]:
    """Run one study after the other, and print each as soon as it is done."""
    # Starting processes takes longer than a quick run.
    jobs = jobs or (default_jobs() if run.size == "full" else 1)
    kept = _kept(run, fresh=fresh)
    done = []
    try:
        for number, study in enumerate(studies, 1):
            start, which = time.monotonic(), f"{number} of {len(studies)}, {study.name}"
            with console.progress_bar(which) as progress:
                outcome = study.run(run.size, run.seed, jobs=jobs, progress=progress, kept=kept)
            console.note(f"{which}: {time.monotonic() - start:.1f} s")
            print_study(study, outcome, run)
            done.append((study, outcome))
    except KeyboardInterrupt:
        raise _stopped(run, fresh=fresh) from None
    return done


def _kept(run: Run, *, fresh: bool) -> Results:
    """Results for all studies of the command, which share some; a full run keeps them on disk."""
    if run.size == "quick":
        return Remembered()
    return Recomputed(results_file()) if fresh else Kept(results_file())


def _stopped(run: Run, *, fresh: bool) -> Stopped:
    if run.size == "quick":
        return Stopped("stopped; nothing was written")
    again = "the same command without --fresh" if fresh else "the same command"
    return Stopped(f"stopped; results so far are cached, and {again} resumes")
