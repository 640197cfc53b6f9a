"""`sottovoce infer`: truths of a table, in memory or with `--engine chunked` or `spark`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import sottovoce
from sottovoce.cli import console, options
from sottovoce.errors import UsageError
from sottovoce.model import Domain, Gold, Result, Score
from sottovoce.model.result import TableName
from sottovoce.tables import check_path, write_tables

if TYPE_CHECKING:
    from sottovoce.api.infer_into import LargeEngineName


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(|K|M|G|Ki|Mi|Gi)B?", re.ASCII)


LONG = 1_000_000


def infer(
    answers: options.AnswersArgument,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="For answers: {methods}; auto means {label_method} for labels and {number_method} "
            "for numbers. For reports (with --policy): {aware_methods}, which model the noise; "
            "auto picks the one that fits. The other methods treat reports as answers.",
        ),
    ] = "auto",
    known: Annotated[
        str | None,
        typer.Option(
            "--known",
            metavar="TABLE",
            help="Known truths to learn from and to calibrate confidence on: columns task and "
            "truth. Their tasks are not scored by --gold.",
        ),
    ] = None,
    gold: options.GoldOption = None,
    output: Annotated[
        str | None,  # pathlib does not support hdfs://…
        options.output_option(
            "Write truths to this .csv, .tsv, .jsonl or .parquet file; with --engine chunked or "
            "spark, to this new folder."
        ),
    ] = None,
    weights: Annotated[Path | None, options.file_option("Write the workers' weights here.")] = None,
    posterior: Annotated[
        Path | None, options.file_option("Write the probability of every label here.")
    ] = None,
    confusions: Annotated[
        Path | None, options.file_option("Write the workers' confusion matrices here.")
    ] = None,
    setting: Annotated[
        str | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE,…",
            help="Parameters of the method, such as max_rounds=50.",
        ),
    ] = None,
    ties: Annotated[
        Literal["first", "random"],
        typer.Option(help="How ties between equally likely labels are broken."),
    ] = "first",
    seed: Annotated[int | None, typer.Option(help="Seed for --ties random.")] = None,
    policy: Annotated[
        Path | None,
        options.file_option("ANSWERS are reports that were made under this policy."),
    ] = None,
    engine: Annotated[
        Literal["local", "chunked", "spark"],
        typer.Option(
            help="Where to compute: local in memory; chunked on disk, for Parquet tables larger "
            "than memory; spark on a Spark cluster."
        ),
    ] = "local",
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Save progress of --engine chunked or spark here, and resume an interrupted run. "
            "Every node of a cluster must reach the folder.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory for sorting with --engine chunked, such as 2GB. Default: at most 2 GiB.",
        ),
    ] = None,
    columns: options.ColumnsOption = None,
    known_columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=COLUMN,…",
            help="Column names of the table of known truths, such as task=item,truth=right.",
        ),
    ] = None,
    gold_columns: options.GoldColumnsOption = None,
    domain: options.DomainOption = None,
    repeats: options.RepeatsOption = "first",
    bad_rows: options.BadRowsOption = "error",
    format: options.FormatOption = None,
    json: options.JsonOption = False,
    force: options.ForceOption = False,
) -> None:
    """Infer the truth of every task in ANSWERS, a table of worker, task and answer.

    A terminal shows the first tasks as a table; a pipe gets all tasks as CSV.
    """
    if engine != "local":
        local_only = {
            "known": known,
            "known-columns": known_columns,
            "gold": gold,
            "gold-columns": gold_columns,
            "weights": weights,
            "posterior": posterior,
            "confusions": confusions,
            "seed": seed,
            "format": format,
            "ties": None if ties == "first" else ties,
        }
        large_only = {
            "parameters": options.parameters(setting),
            "master": master,
            "settings": options.spark_settings(conf),
            "checkpoint": checkpoint,
            "force": force,
            **options.reading(columns, domain, repeats, bad_rows, None),
        }
        options.refuse_given(local_only, f"does not work with --engine {engine}: drop it")
        _infer_large(answers, output, method, engine, policy, memory, large_only, json=json)
        return
    large = {"master": master, "conf": conf, "checkpoint": checkpoint, "memory": memory}
    given = {option: value for option, value in large.items() if value}
    options.refuse_given(given, "needs --engine chunked or spark")
    files: dict[TableName, Path | None]
    truths = None if output is None else Path(output)
    files = {"truths": truths, "workers": weights, "posterior": posterior, "confusions": confusions}
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
    domain_of_truths = table.domain if kept is None else kept.domain
    truths_known = _known(known, domain_of_truths, known_columns)
    with console.passes("inferring", visible=len(table) >= LONG) as progress:
        result = sottovoce.infer(
            table,
            method,
            parameters=options.parameters(setting),
            ties=ties,
            seed=seed,
            progress=progress,
            policy=kept,
            known=truths_known,
        )
    score = _score(result, gold, gold_columns)
    write_tables({path: result.table(name) for name, path in wanted.items()}, force=force)
    console.notes_of(result.provenance.reading)
    console.note_of_simulation(result.provenance.simulated)
    if truths_known is not None:
        console.note(_known_words(result, len(truths_known)))
    console.warn(result.warnings)
    if table.reported and kept is None:
        console.note(
            "note: the column is named report; if these are randomised reports, pass --policy, "
            "since confidence is too high without it"
        )
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
    """Infer into a folder and print a summary; `how` has further keywords of `infer_into`."""
    if output is None:
        raise UsageError(f"--engine {engine} writes a folder: add --output FOLDER")
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
    console.warn(result.warnings)
    if json:
        console.print_json(found.summary())
        return
    console.note(f"wrote {found.folder}/truths, {found.folder}/workers")
    console.note(_words(result, found.tasks, f"{found.answers:,} answers"))


def bytes_of(text: str) -> int:
    """An amount of memory, such as 2GB or 512 MiB.

    >>> bytes_of("2GB"), bytes_of("1.5 GiB")
    (2000000000, 1610612736)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--memory takes an amount such as 2GB or 512MiB, not {text!r}")
    return int(float(found[1]) * _UNITS[found[2]])


def _score(result: Result, gold: str | None, columns: str | None) -> Score | None:
    if gold is None:
        return None
    return sottovoce.score(result, gold, columns=options.pairs(columns, "--gold-columns"))


def _known(source: str | None, domain: Domain, columns: str | None) -> Gold | None:
    if source is None:
        if columns is not None:
            raise UsageError("--known-columns needs --known")
        return None
    return sottovoce.gold(source, domain, columns=options.pairs(columns, "--known-columns"))


def _known_words(result: Result, given: int) -> str:
    made = result.provenance
    unanswered = f"; {given - made.known:,} more had no answer" if given > made.known else ""
    return f"note: {made.known:,} known truths{unanswered}; {made.calibration}"


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
        **({"known": made.known, "calibration": made.calibration} if made.known else {}),
        "warnings": list(result.warnings),
        "score": score.as_dict() if score is not None else None,
        **(
            {"policy_hash": made.policy_hash, "simulated": made.simulated}
            if made.policy_hash
            else {}
        ),
    }


def _report_words(result: Result) -> str:
    made = result.provenance
    # Methods that do not model noise count a report with a set of labels as several answers.
    knows = made.policy_hash is not None and made.method in sottovoce.AWARE_METHODS
    rows = f"{int(result.answers.sum()):,} {'reports' if knows else 'answers'}"
    return _words(result, len(result.tasks), rows)


def _words(result: Result, tasks: int, rows: str) -> str:
    end = "converged" if result.converged else "stopped at the round limit"
    return (
        f"{result.provenance.method}: {tasks:,} tasks, {len(result.workers):,} workers, {rows}, "
        f"{result.rounds} round{'s' if result.rounds != 1 else ''}, {end}"
    )
