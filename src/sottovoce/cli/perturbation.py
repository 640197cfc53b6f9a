"""`sottovoce perturb`: reports of a table; with `--engine spark`, simulated ones of a large one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import sottovoce
from sottovoce.api.perturb_into import checked_seed
from sottovoce.cli import console, options
from sottovoce.cli.guarantee import note_guarantee
from sottovoce.cli.policy_options import PolicyRequest
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import check_target, new_file
from sottovoce.model import Policy, Reports
from sottovoce.tables import check_path, policy_text, write_tables
from sottovoce.worker import SystemRandomness


class ReportEngine(StrEnum):
    """Where reports are made."""

    local = "local"
    spark = "spark"


OutputOption = Annotated[
    str,  # hdfs://… is none of pathlib's paths
    options.output_option(
        "Write reports here: .csv, .tsv, .jsonl or .parquet; a folder with --engine.",
        metavar="PATH",
    ),
]
PolicyOption = Annotated[
    Path | None, typer.Option(help="Perturb under this policy instead of making one.")
]
WritePolicyOption = Annotated[
    Path | None, typer.Option(help="Write the policy here, for whoever reads the reports.")
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        help="Simulate: noise from this seed, which protects nobody. The reports are stamped "
        "in a column simulated_report."
    ),
]
EngineOption = Annotated[
    ReportEngine,
    typer.Option(
        help="Where the work is done: local in memory; spark on a Spark cluster, for "
        "simulations with --seed and --policy, on Parquet tables. There --output names a new "
        "folder."
    ),
]


def perturb(
    answers: options.AnswersArgument,
    output: OutputOption,
    mechanism: options.MechanismOption = None,
    epsilon: options.EpsilonOption = None,
    unit: options.UnitOption = options.Unit.answer,
    delta: options.DeltaOption = 0.0,
    policy: PolicyOption = None,
    write_policy: WritePolicyOption = None,
    as_published: options.AsPublishedOption = False,
    hide_participation: options.HideOption = False,
    sample: options.SampleOption = None,
    setting: options.SettingOption = None,
    seed: SeedOption = None,
    engine: EngineOption = ReportEngine.local,
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    columns: options.ColumnsOption = None,
    domain: options.DomainOption = None,
    repeats: options.RepeatsOption = options.Repeats.first,
    bad_rows: options.BadRowsOption = options.BadRows.error,
    format: options.FormatOption = None,
    force: options.ForceOption = False,
) -> None:
    """Turn ANSWERS, a table of worker, task and answer, into reports that hide them.

    Noise comes from the operating system's cryptographic generator unless a seed is given.
    """
    asked = PolicyRequest(
        mechanism, epsilon, unit, delta, sample, as_published, hide_participation, setting
    )
    beside_policy = {
        "--mechanism": mechanism,
        "--epsilon": epsilon,
        "--unit": unit is not options.Unit.answer,
        "--delta": delta,
        "--write-policy": write_policy,
        "--as-published": as_published,
        "--hide-participation": hide_participation,
        "--sample": sample,
        "--set": setting,
        "--domain": domain,
    }
    reading = options.reading(columns, domain, repeats, bad_rows, format)
    if engine is ReportEngine.spark:
        where = {"master": master, "settings": options.spark_settings(conf), "force": force}
        _perturb_large(answers, output, policy, beside_policy, seed, reading, where)
        return
    options.refuse_given({"master": master or None, "conf": conf or None}, "is for --engine spark")
    files = _checked_files(answers, output, policy, write_policy, force=force)
    reading["private"] = True  # answers are seen by nobody, also when they are wrong
    kept = None
    if policy is not None:
        options.refuse_beside_policy(beside_policy)
        kept = sottovoce.read_policy(policy)
        reading["domain"] = kept.domain
    with console.reading(answers):
        table = sottovoce.read(answers, **reading)
    stated = kept is not None or ":" in (domain or "")
    _perturb_local(table, kept or asked, files, seed, stated=stated, force=force)


def _checked_files(
    answers: str, output: str, policy: Path | None, write_policy: Path | None, *, force: bool
) -> tuple[Path, Path | None]:
    """The files of the reports and of a new policy, refused before the work."""
    if policy is None and write_policy is None:
        raise UsageError("say where to write the policy: --write-policy POLICY.json")
    reports = Path(output)
    check_path(reports, force=force)
    if write_policy is not None:
        check_target(write_policy, force=force)
        if write_policy.resolve() == reports.resolve():
            raise UsageError("the reports and the policy need two files")
    for written in (reports, write_policy):
        # Not even with --force: the answers would be lost.
        if written is not None and written.resolve() == Path(answers).resolve():
            raise UsageError(f"{written} holds the answers: write to another file")
    return reports, write_policy


def _perturb_local(
    table: Reports,
    under: Policy | PolicyRequest,
    files: tuple[Path, Path | None],
    seed: int | None,
    *,
    stated: bool,
    force: bool,
) -> None:
    """Make and write the reports of a table in memory; `stated` labels were public before."""
    if table.domain.size == 1 and not stated:
        raise UsageError("only one label occurs in the answers: state all labels with --domain")
    if isinstance(under, PolicyRequest):
        policy = under.policy(table.domain, _most(table, whole=under.hides))
    else:
        policy = under
    randomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    reports = sottovoce.perturb(table, policy, randomness)
    output, write_policy = files
    with ExitStack() as stack:
        if write_policy is not None:
            file = stack.enter_context(new_file(write_policy, force=force))
            file.write_text(policy_text(policy), encoding="utf-8")
        # Inside, so that neither file appears without the other.
        write_tables({output: _columns(reports)}, force=force)
    console.notes_of(table.reading)
    if table.domain.size and not stated:
        console.note(
            f"note: the {table.domain.size:,} labels were taken from the answers and are public "
            "now, with the policy; --domain states them instead"
        )
    console.note(f"wrote {output}: {len(reports):,} reports")
    if write_policy is not None:
        console.note(f"wrote {write_policy}: policy {policy.hash[:16]}…")
    most = _most(table, whole=sottovoce.mechanism_of(policy).hides_participation)
    note_guarantee(policy, most, seed)


def _perturb_large(
    source: str,
    folder: str,
    policy: Path | None,
    beside_policy: Mapping[str, object],
    seed: int | None,
    reading: Mapping[str, Any],
    where: Mapping[str, Any],
) -> None:
    """Simulate reports on a cluster, and say what was made."""
    given = checked_seed(seed)
    if policy is None:
        raise UsageError(
            "--engine spark perturbs under a policy that is there: say --policy POLICY.json; "
            "`sottovoce guarantee --write-policy POLICY.json` makes one"
        )
    options.refuse_beside_policy(beside_policy)
    if "format" in reading:
        raise UsageError("--format does not go with --engine spark: drop it")
    kept = sottovoce.read_policy(policy)
    with console.passes("perturbing", visible=True):
        made = sottovoce.perturb_into(source, folder, kept, seed=given, **where, **reading)
    console.notes_of(made.reading)
    console.note(f"wrote {made.folder}/reports: {made.reports:,} SIMULATED reports")
    note_guarantee(kept, made.most, given)


def _most(table: Reports, *, whole: bool) -> int:
    """The most answers of a worker; all tasks where every worker reports on the whole table."""
    return len(table.tasks) if whole else int(np.bincount(table.worker).max())


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
