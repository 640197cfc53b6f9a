"""`sottovoce reproduce`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli import screen
from sottovoce.cli.options import ForceOption
from sottovoce.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.studies import Outcome, Size, Study

__all__ = ["reproduce"]

REPORT = "report.html"


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STUDY ...]", help="Studies by name; all if none is given."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="The size that is cited, which takes minutes or hours.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Another seed than the one a study is cited with.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(help="Processes to use; 0 is one for each core, and one in quick runs.")
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR",
            help="Write a CSV for each study and one page with all tables and figures here.",
        ),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Compute also what a full run before has left.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the studies, and run none.")] = False,
    force: ForceOption = False,
) -> None:  # fmt: skip
    """Check what Sottovoce claims about itself and the papers, and print ours beside the figures.

    Quick runs take seconds and show less. A full run that was stopped goes on where it was.
    """
    from sottovoce.studies import STUDIES, study_named

    chosen = [study_named(name) for name in dict.fromkeys(names or STUDIES)]
    if list_:
        screen.print_table(["study", "claim"], [[study.name, study.claim] for study in chosen])
        return
    size: Size = "full" if full else "quick"
    files = _files(output, chosen, force=force)
    done = [(study, _run(study, size, seed, jobs, anew=anew)) for study in chosen]
    for study, outcome in done:
        _print(study, outcome, size)
    if output is not None:
        _write(done, size, files, force=force)
        screen.note(f"wrote {len(files)} files in {output}")


def _files(output: Path | None, studies: list[Study], *, force: bool) -> dict[str, Path]:
    """Where each study's rows and the report go, checked before the work."""
    from sottovoce.figures import check_page
    from sottovoce.stores import check_path

    if output is None:
        return {}
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is a file: name a folder")
    output.mkdir(parents=True, exist_ok=True)
    files = {study.name: output / f"{study.name}.csv" for study in studies}
    for file in files.values():
        check_path(file, force=force)
    check_page(output / REPORT, force=force)
    return {**files, REPORT: output / REPORT}


def _run(study: Study, size: Size, seed: int | None, jobs: int, *, anew: bool) -> Outcome:
    from sottovoce.planning.running import default_jobs
    from sottovoce.studies import Kept, studies_folder

    # Starting processes takes longer than a quick run.
    jobs = jobs or (default_jobs() if size == "full" else 1)
    keeps = size == "full" and not anew
    kept = Kept(studies_folder() / f"{study.name}.jsonl") if keeps else None
    with screen.counted(study.name) as progress:
        return study.run(size, seed, jobs=jobs, progress=progress, kept=kept)


def _print(study: Study, outcome: Outcome, size: Size) -> None:
    from sottovoce.studies.reporting import verdict_words

    screen.say(f"{study.name}: {study.claim}.")
    for table in outcome.tables():
        rows = [[str(cell) for cell in row] for row in table.rows]
        screen.print_table(table.columns, rows, title=table.caption)
    screen.say(verdict_words(study, outcome, size))
    screen.say("")


def _write(
    done: list[tuple[Study, Outcome]], size: Size, files: dict[str, Path], *, force: bool
) -> None:
    from sottovoce.figures import page
    from sottovoce.stores.saving import write_tables
    from sottovoce.stores.writing import new_file
    from sottovoce.studies.reporting import TITLE, blocks, csv_columns

    with ExitStack() as stack:
        # All files or none: the report is the last that could fail.
        report = stack.enter_context(new_file(files[REPORT], force=force))
        report.write_text(page(TITLE, blocks(done, size)), encoding="utf-8")
        write_tables(
            {files[study.name]: csv_columns(outcome) for study, outcome in done}, force=force
        )
