"""`sottovoce perturb`: reports of a table; `--engine spark` simulates them for large tables."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

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

OutputOption = Annotated[
    str | None,  # pathlib does not support hdfs://…
    options.output_option(
        "Write reports to this .csv, .tsv, .jsonl or .parquet file; with --engine spark, to this "
        "new folder. Required."
    ),
]
PolicyOption = Annotated[Path | None, options.file_option("Use this policy instead of making one.")]
WritePolicyOption = Annotated[
    Path | None, options.file_option("Write the new policy here; readers of the reports need it.")
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        help="Simulate with noise from this seed, which protects nobody. The column is then named "
        "simulated_report."
    ),
]
EngineOption = Annotated[
    Literal["local", "spark"],
    typer.Option(
        help="Where to compute: local in memory; spark on a Spark cluster, for simulations of "
        "Parquet tables with --seed and --policy."
    ),
]


def perturb(
    answers: options.AnswersArgument,
    output: OutputOption = None,
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
    engine: EngineOption = "local",
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    columns: options.ColumnsOption = None,
    domain: options.DomainOption = None,
    repeats: options.RepeatsOption = "first",
    bad_rows: options.BadRowsOption = "error",
    format: options.FormatOption = None,
    force: options.ForceOption = False,
) -> None:
    """Randomise ANSWERS, a table of worker, task and answer, into private reports.

    Noise comes from the operating system's cryptographic generator, unless --seed is given.
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
    lacks = [] if policy or engine == "spark" else list(asked.missing)
    if not (policy or write_policy or engine == "spark"):
        lacks.append("--write-policy")
    if output is None or lacks:
        raise UsageError(_missing(output, lacks))
    if engine == "spark":
        where = {"master": master, "settings": options.spark_settings(conf), "force": force}
        _perturb_large(answers, output, policy, beside_policy, seed, reading, where)
        return
    options.refuse_given({"master": master or None, "conf": conf or None}, "needs --engine spark")
    files = _checked_files(answers, output, write_policy, force=force)
    reading["private"] = True  # no error message quotes an answer
    kept = None
    if policy is not None:
        options.refuse_beside_policy(beside_policy)
        kept = sottovoce.read_policy(policy)
        reading["domain"] = kept.domain
    with console.reading(answers):
        table = sottovoce.read(answers, **reading)
    stated = kept is not None or ":" in (domain or "")
    _perturb_local(table, kept or asked, files, seed, stated=stated, force=force)


def _missing(output: str | None, lacks: list[str]) -> str:
    """The message that lists all missing options."""
    *most, last = [*(["--output"] if output is None else []), *lacks]
    listed = f"{', '.join(most)} and {last}" if most else last
    instead = ", or --policy for an existing policy" if lacks else ""
    return f"give {listed}{instead}"


def _checked_files(
    answers: str, output: str, write_policy: Path | None, *, force: bool
) -> tuple[Path, Path | None]:
    """The files of the reports and of a new policy, checked before the work starts."""
    reports = Path(output)
    check_path(reports, force=force)
    if write_policy is not None:
        check_target(write_policy, force=force)
        if write_policy.resolve() == reports.resolve():
            raise UsageError("--output and --write-policy need different files")
    for written in (reports, write_policy):
        # Even with --force: the answers would be lost.
        if written is not None and written.resolve() == Path(answers).resolve():
            raise UsageError(f"{written} contains the answers: write to another file")
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
    """Make and write the reports of a table; `stated` means that its labels were public before."""
    if table.domain.size == 1 and not stated:
        raise UsageError("only one label occurs in the answers: list all labels with --domain")
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
        # Nested, so that both files appear or neither does.
        write_tables({output: _columns(reports)}, force=force)
    console.notes_of(table.reading)
    if table.domain.size and not stated:
        console.note(
            f"note: the {table.domain.size:,} labels come from the answers, and the policy makes "
            "them public; use --domain to list public labels"
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
    """Simulate reports on a cluster, and print a summary."""
    given = checked_seed(seed)
    if policy is None:
        raise UsageError(
            "--engine spark needs an existing policy: give --policy POLICY.json; "
            "`sottovoce guarantee --write-policy POLICY.json` makes one"
        )
    options.refuse_beside_policy(beside_policy)
    if "format" in reading:
        raise UsageError("--format does not work with --engine spark: drop it")
    kept = sottovoce.read_policy(policy)
    with console.passes("perturbing", visible=True):
        made = sottovoce.perturb_into(source, folder, kept, seed=given, **where, **reading)
    console.notes_of(made.reading)
    console.note(f"wrote {made.folder}/reports: {made.reports:,} SIMULATED reports")
    note_guarantee(kept, made.most, given)


def _most(table: Reports, *, whole: bool) -> int:
    """The largest number of answers of a worker; all tasks if workers report on every task."""
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
