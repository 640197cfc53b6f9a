"""`sottovoce perturb`.

`sottovoce perturb --engine spark`: simulated reports of large tables into a folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import sottovoce
from sottovoce.api.perturb_into import checked_seed
from sottovoce.cli import console
from sottovoce.cli.guarantee import note_guarantee
from sottovoce.cli.options import (
    AnswersArgument,
    AsPublishedOption,
    BadRows,
    BadRowsOption,
    ColumnsOption,
    ConfOption,
    DeltaOption,
    DomainOption,
    EpsilonOption,
    ForceOption,
    FormatOption,
    HideOption,
    MasterOption,
    MechanismOption,
    Repeats,
    RepeatsOption,
    SampleOption,
    SettingOption,
    Unit,
    UnitOption,
    output_option,
    parameters,
    reading,
    refuse_beside_policy,
    spark_settings,
)
from sottovoce.cli.policy_options import policy_from
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import check_target, new_file
from sottovoce.mechanisms.registry import always_hides
from sottovoce.tables import check_path, policy_text, write_tables
from sottovoce.worker import SystemRandomness

if TYPE_CHECKING:
    from sottovoce.model import Policy, Reports
    from sottovoce.seams import Randomness

__all__ = ["perturb"]


def perturb_large(
    source: str,
    folder: str,
    policy: Path | None,
    beside_policy: Mapping[str, object],
    reading: Mapping[str, Any],
    *,
    seed: int | None,
    master: str | None,
    settings: Mapping[str, str],
    force: bool,
) -> None:
    """Simulate reports on a cluster, and say what was made."""
    given = checked_seed(seed)
    if policy is None:
        raise UsageError(
            "--engine spark perturbs under a policy that is there: say --policy POLICY.json; "
            "`sottovoce guarantee --write-policy POLICY.json` makes one"
        )
    refuse_beside_policy(beside_policy)
    if "format" in reading:
        raise UsageError("--format does not go with --engine spark: drop it")
    kept = sottovoce.read_policy(policy)
    with console.passes("perturbing", visible=True):
        made = sottovoce.perturb_into(
            source,
            folder,
            kept,
            seed=given,
            master=master,
            settings=settings,
            force=force,
            **reading,
        )
    console.notes_of(made.reading)
    console.note(f"wrote {made.folder}/reports: {made.reports:,} SIMULATED reports")
    note_guarantee(kept, made.most, given)


class ReportEngine(StrEnum):
    """Where reports are made."""

    local = "local"
    spark = "spark"


def perturb(
    answers: AnswersArgument,
    output: Annotated[
        str,  # hdfs://… is none of pathlib's paths
        output_option(
            "Write reports here: .csv, .tsv, .jsonl or .parquet; a folder with --engine.",
            metavar="PATH",
        ),
    ],
    mechanism: MechanismOption = None,
    epsilon: EpsilonOption = None,
    unit: UnitOption = Unit.answer,
    delta: DeltaOption = 0.0,
    policy: Annotated[
        Path | None, typer.Option(help="Perturb under this policy instead of making one.")
    ] = None,
    write_policy: Annotated[
        Path | None, typer.Option(help="Write the policy here, for whoever reads the reports.")
    ] = None,
    as_published: AsPublishedOption = False,
    hide_participation: HideOption = False,
    sample: SampleOption = None,
    setting: SettingOption = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Simulate: noise from this seed, which protects nobody. The reports are stamped "
            "in a column simulated_report."
        ),
    ] = None,
    engine: Annotated[
        ReportEngine,
        typer.Option(
            help="Where the work is done: local in memory; spark on a Spark cluster, for "
            "simulations with --seed and --policy, on Parquet tables. There --output names a new "
            "folder."
        ),
    ] = ReportEngine.local,
    master: MasterOption = None,
    conf: ConfOption = None,
    columns: ColumnsOption = None,
    domain: DomainOption = None,
    repeats: RepeatsOption = Repeats.first,
    bad_rows: BadRowsOption = BadRows.error,
    format: FormatOption = None,
    force: ForceOption = False,
) -> None:
    """Turn ANSWERS, a table of worker, task and answer, into reports that hide them.

    Noise comes from the operating system's cryptographic generator unless a seed is given.
    """
    beside_policy = {
        "--mechanism": mechanism,
        "--epsilon": epsilon,
        "--unit": unit is not Unit.answer,
        "--delta": delta,
        "--write-policy": write_policy,
        "--as-published": as_published,
        "--hide-participation": hide_participation,
        "--sample": sample,
        "--set": setting,
        "--domain": domain,
    }
    if engine is ReportEngine.spark:
        options = reading(columns, domain, repeats, bad_rows, format)
        perturb_large(
            answers,
            output,
            policy,
            beside_policy,
            options,
            seed=seed,
            master=master,
            settings=spark_settings(conf),
            force=force,
        )
        return
    for option, given in (("master", master), ("conf", conf)):
        if given:
            raise UsageError(f"--{option} is for --engine spark")
    if policy is None and write_policy is None:
        raise UsageError("say where to write the policy: --write-policy POLICY.json")
    file_out = Path(output)
    check_path(file_out, force=force)
    if write_policy is not None:
        check_target(write_policy, force=force)
        if write_policy.resolve() == file_out.resolve():
            raise UsageError("the reports and the policy need two files")
    for written in (file_out, write_policy):
        # Not even with --force: the answers would be lost.
        if written is not None and written.resolve() == Path(answers).resolve():
            raise UsageError(f"{written} holds the answers: write to another file")
    # Answers are seen by nobody, also when they are wrong.
    options = {**reading(columns, domain, repeats, bad_rows, format), "private": True}
    if policy is not None:
        refuse_beside_policy(beside_policy)
        kept = sottovoce.read_policy(policy)
        with console.reading(answers):
            table = sottovoce.read(answers, **{**options, "domain": kept.domain})
    else:
        with console.reading(answers):
            table = sottovoce.read(answers, **options)
        if table.domain.size == 1 and ":" not in (domain or ""):
            raise UsageError("only one label occurs in the answers: state all labels with --domain")
        kept = _made(
            table,
            mechanism,
            epsilon,
            unit=unit.value,
            delta=delta,
            sample=sample,
            as_published=as_published,
            hide=hide_participation,
            settings=parameters(setting),
        )
    reports = sottovoce.perturb(table, kept, _randomness(seed))
    # Not those that --domain lists.
    labels = table.domain.size if policy is None and ":" not in (domain or "") else 0
    with ExitStack() as stack:
        if write_policy is not None:
            file = stack.enter_context(new_file(write_policy, force=force))
            file.write_text(policy_text(kept), encoding="utf-8")
        # Inside, so that neither file appears without the other.
        write_tables({file_out: _columns(reports)}, force=force)
    console.notes_of(table.reading)
    if labels:
        console.note(
            f"note: the {labels:,} labels were taken from the answers and are public now, with the "
            "policy; --domain states them instead"
        )
    most = _most(table, whole=sottovoce.mechanism_of(kept).hides_participation)
    _say(reports, kept, most, file_out, write_policy, seed)


def _made(
    table: Reports,
    mechanism: str | None,
    epsilon: float | None,
    *,
    unit: str,
    delta: float,
    sample: str | None,
    as_published: bool,
    hide: bool,
    settings: dict[str, Any],
) -> Policy:
    most = _most(table, whole=hide or always_hides(mechanism))
    return policy_from(
        table.domain,
        mechanism,
        epsilon,
        answers=most,
        unit=unit,
        delta=delta,
        sample=sample,
        as_published=as_published,
        hide=hide,
        settings=settings,
    )


def _most(table: Reports, *, whole: bool) -> int:
    """The most answers of a worker; all tasks where every worker reports on the whole table."""
    return len(table.tasks) if whole else int(np.bincount(table.worker).max())


def _randomness(seed: int | None) -> Randomness:
    if seed is None:
        return SystemRandomness()
    return SeededRandomness(seed)


def _columns(reports: Reports) -> dict[str, Any]:
    values: Any = reports.value
    if not reports.domain.is_numeric:
        labels = np.empty(reports.domain.size, dtype=object)
        labels[:] = [str(label) for label in reports.domain.labels]
        values = labels[reports.value]
    return {
        "worker": reports.workers[reports.worker],
        "task": reports.tasks[reports.task],
        "simulated_report" if reports.simulated else "report": values,
    }


def _say(
    reports: Reports,
    policy: Policy,
    most: int,
    output: Path,
    written: Path | None,
    seed: int | None,
) -> None:
    console.note(f"wrote {output}: {len(reports):,} reports")
    if written is not None:
        console.note(f"wrote {written}: policy {policy.hash[:16]}…")
    note_guarantee(policy, most, seed)
