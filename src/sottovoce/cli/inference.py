"""`sottovoce infer`.

`sottovoce infer --engine chunked|spark`: truths of large tables into a folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import sottovoce
from sottovoce.cli import console
from sottovoce.cli.console import print_truths
from sottovoce.cli.options import (
    AnswersArgument,
    BadRows,
    BadRowsOption,
    ColumnsOption,
    ConfOption,
    DomainOption,
    ForceOption,
    FormatOption,
    GoldColumnsOption,
    GoldOption,
    JsonOption,
    MasterOption,
    Repeats,
    RepeatsOption,
    output_option,
    pairs,
    parameters,
    reading,
    spark_settings,
)
from sottovoce.errors import UsageError
from sottovoce.tables import check_path, write_tables

if TYPE_CHECKING:
    from sottovoce.api.infer_into import Inferred, LargeEngineName
    from sottovoce.model import Result, Score
    from sottovoce.model.result import TableName

__all__ = ["infer"]


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(|K|M|G|Ki|Mi|Gi)B?", re.ASCII)


class Limits(NamedTuple):
    """Where a large table is worked on, and with how much memory."""

    master: str | None
    settings: Mapping[str, str]
    checkpoint: str | None
    memory: str | None


def infer_large(
    source: str,
    output: str | None,
    method: str,
    engine: LargeEngineName,
    limits: Limits,
    parameters: Mapping[str, Any],
    policy: Path | None,
    reading: Mapping[str, Any],
    beside: Mapping[str, object],
    *,
    json: bool,
    force: bool,
) -> None:
    """Infer into a folder, and say what was found; `beside` are options that do not go with it."""
    for option, given in beside.items():
        if given is not None:
            raise UsageError(f"--{option} does not go with --engine {engine}: drop it")
    if output is None:
        raise UsageError(f"--engine {engine} writes a folder: say which, --output FOLDER")
    kept = sottovoce.read_policy(policy) if policy is not None else None
    with console.passes("inferring", visible=True) as progress:
        found = sottovoce.infer_into(
            source,
            output,
            method,
            engine=engine,
            parameters=parameters,
            policy=kept,
            master=limits.master,
            settings=limits.settings,
            checkpoint=limits.checkpoint,
            memory=None if limits.memory is None else bytes_of(limits.memory),
            progress=progress,
            force=force,
            **reading,
        )
    console.notes_of(found.result.provenance.reading)
    console.note_of_simulation(found.result.provenance.simulated)
    if json:
        console.print_json(found.summary())
        return
    console.note(f"wrote {found.folder}/truths, {found.folder}/workers")
    console.note(_large_words(found))


def bytes_of(text: str) -> int:
    """An amount of memory, as 2GB or 512 MiB.

    >>> bytes_of("2GB"), bytes_of("1.5 GiB")
    (2000000000, 1610612736)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--memory is an amount such as 2GB or 512MiB, not {text!r}")
    return int(float(found[1]) * _UNITS[found[2]])


def _large_words(found: Inferred) -> str:
    result = found.result
    end = "converged" if result.converged else "stopped at the round limit"
    rounds = f"{result.rounds} round{'s' if result.rounds != 1 else ''}"
    return (
        f"{result.provenance.method}: {found.tasks:,} tasks, {len(result.workers):,} workers, "
        f"{found.answers:,} answers, {rounds}, {end}"
    )


class Ties(StrEnum):
    """Which of several equally likely labels is chosen."""

    first = "first"
    random = "random"


class EngineName(StrEnum):
    """Where sums over the answers are made."""

    local = "local"
    chunked = "chunked"
    spark = "spark"


LARGE: dict[EngineName, LargeEngineName]
LARGE = {EngineName.chunked: "chunked", EngineName.spark: "spark"}
LONG = 1_000_000


def infer(
    answers: AnswersArgument,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="For answers: {methods}; auto is {label_method} for labels and {number_method} "
            "for numbers. For reports, with --policy: {aware_methods}, which know the noise; auto "
            "is the one that fits. The others then take reports for answers.",
        ),
    ] = "auto",
    gold: GoldOption = None,
    output: Annotated[
        str | None,  # hdfs://… is none of pathlib's paths
        output_option(
            "Write truths here: .csv, .tsv, .jsonl or .parquet; a folder with --engine.",
            metavar="PATH",
        ),
    ] = None,
    workers: Annotated[Path | None, typer.Option(help="Write workers' weights here.")] = None,
    posterior: Annotated[
        Path | None, typer.Option(help="Write every label's probability here.")
    ] = None,
    confusions: Annotated[
        Path | None, typer.Option(help="Write workers' confusion matrices here.")
    ] = None,
    setting: Annotated[
        str | None,
        typer.Option("--set", help="The method's parameters, as max_rounds=50,tolerance=1e-8."),
    ] = None,
    ties: Annotated[
        Ties, typer.Option(help="Which of several equally likely labels is chosen.")
    ] = Ties.first,
    seed: Annotated[int | None, typer.Option(help="Seed for random ties.")] = None,
    policy: Annotated[
        Path | None, typer.Option(help="The policy under which ANSWERS, then reports, were made.")
    ] = None,
    engine: Annotated[
        EngineName,
        typer.Option(
            help="Where the work is done: local in memory; chunked on a disk, for Parquet tables "
            "larger than memory; spark on a Spark cluster. With the last two, --output names a "
            "new folder."
        ),
    ] = EngineName.local,
    master: MasterOption = None,
    conf: ConfOption = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            help="A folder from which an interrupted run with --engine chunked or spark goes on; "
            "all of a cluster must reach it."
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(help="Memory for sorting with --engine chunked, as 2GB; else 2 GiB at most."),
    ] = None,
    columns: ColumnsOption = None,
    gold_columns: GoldColumnsOption = None,
    domain: DomainOption = None,
    repeats: RepeatsOption = Repeats.first,
    bad_rows: BadRowsOption = BadRows.error,
    format: FormatOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Print the truth of every task in ANSWERS, a table of worker, task and answer.

    On a terminal the first tasks are shown as a table; into a pipe all of them go as CSV.
    """
    if engine is not EngineName.local:
        beside = {
            "gold": gold,
            "gold-columns": gold_columns,
            "workers": workers,
            "posterior": posterior,
            "confusions": confusions,
            "seed": seed,
            "format": format,
            "ties": None if ties is Ties.first else ties,
        }
        limits = Limits(master, spark_settings(conf), checkpoint, memory)
        infer_large(
            answers,
            output,
            method,
            LARGE[engine],
            limits,
            parameters(setting),
            policy,
            reading(columns, domain, repeats, bad_rows, None),
            beside,
            json=json,
            force=force,
        )
        return
    large = {"master": master, "conf": conf, "checkpoint": checkpoint, "memory": memory}
    for option, given in large.items():
        if given:
            raise UsageError(f"--{option} is for --engine chunked or spark")
    files: dict[TableName, Path | None]
    truths = None if output is None else Path(output)
    files = {"truths": truths, "workers": workers, "posterior": posterior, "confusions": confusions}
    wanted = {table: path for table, path in files.items() if path is not None}
    _check_outputs(list(wanted.values()), force=force)
    options = reading(columns, domain, repeats, bad_rows, format)
    kept = sottovoce.read_policy(policy) if policy is not None else None
    with console.reading(answers):
        table = (
            sottovoce.read(answers, **options)
            if kept is None
            else sottovoce.read_under(answers, kept, **options)
        )
    with console.passes("inferring", visible=len(table) >= LONG) as progress:
        result = sottovoce.infer(
            table,
            method,
            parameters=parameters(setting),
            ties=ties.value,
            seed=seed,
            progress=progress,
            policy=kept,
        )
    score = _score(result, gold, gold_columns)
    write_tables({path: result.table(name) for name, path in wanted.items()}, force=force)
    console.notes_of(result.provenance.reading)
    console.note_of_simulation(result.provenance.simulated)
    if json:
        console.print_json(_summary(result, len(table), score))
        return
    if output is None:
        print_truths(result)
    for path in wanted.values():
        console.note(f"wrote {path}")
    console.note(_words(result))
    if score is not None:
        console.note(console.score_words(score))


def _check_outputs(paths: list[Path], *, force: bool) -> None:
    """Refuse before the work, not after it."""
    if len({path.resolve() for path in paths}) != len(paths):
        raise UsageError("two outputs have the same name")
    for path in paths:
        check_path(path, force=force)


def _score(result: Result, gold: str | None, columns: str | None) -> Score | None:
    if gold is None:
        return None
    return sottovoce.score(result, gold, columns=pairs(columns, "--gold-columns"))


def _summary(result: Result, answers: int, score: Score | None) -> dict[str, Any]:
    made = result.provenance
    return {
        "method": made.method,
        "tasks": len(result.tasks),
        "workers": len(result.workers),
        "answers": answers,
        "rounds": result.rounds,
        "converged": result.converged,
        "parameters": dict(made.parameters),
        "score": score.as_dict() if score is not None else None,
        **(
            {"policy_hash": made.policy_hash, "simulated": made.simulated}
            if made.policy_hash
            else {}
        ),
    }


def _words(result: Result) -> str:
    made = result.provenance
    end = "converged" if result.converged else "stopped at the round limit"
    rounds = f"{result.rounds} round{'s' if result.rounds != 1 else ''}"
    # Methods that know no noise take what they get for answers, and a set of labels for several.
    knows = made.policy_hash is not None and made.method in sottovoce.AWARE_METHODS
    rows = f"{int(result.answers.sum()):,} {'reports' if knows else 'answers'}"
    return (
        f"{made.method}: {len(result.tasks):,} tasks, {len(result.workers):,} workers, {rows}, "
        f"{rounds}, {end}{_belief(made.parameters.get('confusion_share', 0.0))}"
    )


def _belief(confusion_share: float) -> str:
    """How far a method for labels went from one accuracy a worker to a confusion matrix."""
    percent = round(100 * confusion_share)
    return f"; workers' own confusions were believed to {percent} %" if percent else ""
