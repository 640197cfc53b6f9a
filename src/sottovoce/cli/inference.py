"""`sottovoce infer`: truths of a table; with `--engine chunked` or `spark`, of a large one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import sottovoce
from sottovoce.cli import console, options
from sottovoce.errors import UsageError
from sottovoce.model import Result, Score
from sottovoce.model.result import TableName
from sottovoce.tables import check_path, write_tables

if TYPE_CHECKING:
    from sottovoce.api.infer_into import LargeEngineName


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(|K|M|G|Ki|Mi|Gi)B?", re.ASCII)


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
    answers: options.AnswersArgument,
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
    gold: options.GoldOption = None,
    output: Annotated[
        str | None,  # hdfs://… is none of pathlib's paths
        options.output_option(
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
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
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
    columns: options.ColumnsOption = None,
    gold_columns: options.GoldColumnsOption = None,
    domain: options.DomainOption = None,
    repeats: options.RepeatsOption = options.Repeats.first,
    bad_rows: options.BadRowsOption = options.BadRows.error,
    format: options.FormatOption = None,
    json: options.JsonOption = False,
    force: options.ForceOption = False,
) -> None:
    """Print the truth of every task in ANSWERS, a table of worker, task and answer.

    On a terminal the first tasks are shown as a table; into a pipe all of them go as CSV.
    """
    if engine is not EngineName.local:
        local_only = {
            "gold": gold,
            "gold-columns": gold_columns,
            "workers": workers,
            "posterior": posterior,
            "confusions": confusions,
            "seed": seed,
            "format": format,
            "ties": None if ties is Ties.first else ties,
        }
        large_only = {
            "parameters": options.parameters(setting),
            "master": master,
            "settings": options.spark_settings(conf),
            "checkpoint": checkpoint,
            "force": force,
            **options.reading(columns, domain, repeats, bad_rows, None),
        }
        options.refuse_given(local_only, f"does not go with --engine {engine}: drop it")
        _infer_large(answers, output, method, LARGE[engine], policy, memory, large_only, json=json)
        return
    large = {"master": master, "conf": conf, "checkpoint": checkpoint, "memory": memory}
    given = {option: value for option, value in large.items() if value}
    options.refuse_given(given, "is for --engine chunked or spark")
    files: dict[TableName, Path | None]
    truths = None if output is None else Path(output)
    files = {"truths": truths, "workers": workers, "posterior": posterior, "confusions": confusions}
    wanted = {table: path for table, path in files.items() if path is not None}
    console.check_outputs([(path, check_path) for path in wanted.values()], force=force)
    keywords = options.reading(columns, domain, repeats, bad_rows, format)
    kept = sottovoce.read_policy(policy) if policy is not None else None
    with console.reading(answers):
        table = (
            sottovoce.read(answers, **keywords)
            if kept is None
            else sottovoce.read_under(answers, kept, **keywords)
        )
    with console.passes("inferring", visible=len(table) >= LONG) as progress:
        result = sottovoce.infer(
            table,
            method,
            parameters=options.parameters(setting),
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
        console.print_truths(result)
    for path in wanted.values():
        console.note(f"wrote {path}")
    console.note(_report_words(result))
    if score is not None:
        console.note(console.score_words(score))


def _infer_large(
    source: str,
    output: str | None,
    method: str,
    engine: LargeEngineName,
    policy: Path | None,
    memory: str | None,
    how: Mapping[str, Any],
    *,
    json: bool,
) -> None:
    """Infer into a folder, and say what was found; `how` has further keywords of `infer_into`."""
    if output is None:
        raise UsageError(f"--engine {engine} writes a folder: say which, --output FOLDER")
    kept = sottovoce.read_policy(policy) if policy is not None else None
    limit = None if memory is None else bytes_of(memory)
    with console.passes("inferring", visible=True) as progress:
        found = sottovoce.infer_into(
            source,
            output,
            method,
            engine=engine,
            policy=kept,
            memory=limit,
            progress=progress,
            **how,
        )
    result = found.result
    console.notes_of(result.provenance.reading)
    console.note_of_simulation(result.provenance.simulated)
    if json:
        console.print_json(found.summary())
        return
    console.note(f"wrote {found.folder}/truths, {found.folder}/workers")
    console.note(_words(result, found.tasks, f"{found.answers:,} answers"))


def bytes_of(text: str) -> int:
    """An amount of memory, as 2GB or 512 MiB.

    >>> bytes_of("2GB"), bytes_of("1.5 GiB")
    (2000000000, 1610612736)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--memory is an amount such as 2GB or 512MiB, not {text!r}")
    return int(float(found[1]) * _UNITS[found[2]])


def _score(result: Result, gold: str | None, columns: str | None) -> Score | None:
    if gold is None:
        return None
    return sottovoce.score(result, gold, columns=options.pairs(columns, "--gold-columns"))


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


def _report_words(result: Result) -> str:
    made = result.provenance
    # Methods that know no noise take what they get for answers, and a set of labels for several.
    knows = made.policy_hash is not None and made.method in sottovoce.AWARE_METHODS
    rows = f"{int(result.answers.sum()):,} {'reports' if knows else 'answers'}"
    return _words(result, len(result.tasks), rows) + _belief(
        made.parameters.get("confusion_share", 0.0)
    )


def _words(result: Result, tasks: int, rows: str) -> str:
    end = "converged" if result.converged else "stopped at the round limit"
    return (
        f"{result.provenance.method}: {tasks:,} tasks, {len(result.workers):,} workers, {rows}, "
        f"{result.rounds} round{'s' if result.rounds != 1 else ''}, {end}"
    )


def _belief(confusion_share: float) -> str:
    """How far a method for labels went from one accuracy a worker to a confusion matrix."""
    percent = round(100 * confusion_share)
    return f"; workers' own confusions were believed to {percent} %" if percent else ""
