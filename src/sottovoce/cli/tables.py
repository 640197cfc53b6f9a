"""`sottovoce inspect` and `sottovoce pack`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import sottovoce
from sottovoce.cli import console, options
from sottovoce.inference.inspection import Inspection
from sottovoce.model import Agreement

SHOWN = 20


def inspect(
    answers: options.AnswersArgument,
    columns: options.ColumnsOption = None,
    domain: options.DomainOption = None,
    repeats: options.RepeatsOption = "first",
    bad_rows: options.BadRowsOption = "error",
    format: options.FormatOption = None,
    json: options.JsonOption = False,
) -> None:
    """Describe ANSWERS: size, sparsity, agreement, repeated pairs, suspicious workers.

    Agreement is Krippendorff's alpha, Fleiss' kappa and the mean of Cohen's kappa, with 95 %
    intervals in brackets. --json lists it for each worker and each pair of workers.
    """
    table = console.read_table(answers, options.reading(columns, domain, repeats, bad_rows, format))
    seen = sottovoce.inspect(table)
    if json:
        console.print_json(_as_json(seen))
        return
    console.print_table(["", ""], _rows(seen))
    if not seen.suspicious:
        return
    rows = [[s.worker, f"{s.answers:,}", s.reason] for s in seen.suspicious[:SHOWN]]
    console.print_table(["suspicious worker", "answers", "why"], rows)
    if len(seen.suspicious) > SHOWN:
        console.note(f"… {len(seen.suspicious) - SHOWN:,} more; --json lists all")


def _rows(seen: Inspection) -> list[list[str]]:
    per_task, per_worker = map(_spread, (seen.answers_per_task, seen.answers_per_worker))
    rows = [
        ["answers", f"{seen.answers:,} (domain: {seen.domain})"],
        ["tasks", f"{seen.tasks:,}, {per_task}"],
        ["workers", f"{seen.workers:,}, {per_worker}"],
        ["sparsity", f"{seen.sparsity:.1%} of the (worker, task) pairs have no answer"],
        ["agreement", _agreement(seen)],
        *_statistics(seen),
    ]
    if seen.reading is not None:
        touched = seen.reading.sentences() or ["no (worker, task) pair is repeated"]
        rows.extend(["rows", sentence] for sentence in touched)
    rows.extend(
        ["labels", f"{a!r} and {b!r} look alike; are they one label?"] for a, b in seen.alike
    )
    rows.append(["suspicious", f"{len(seen.suspicious):,} of {seen.workers:,} workers"])
    return rows


def _spread(spread: tuple[int, float, int]) -> str:
    least, median, most = spread
    if least == most:
        return f"with {most:,} answer{'s' if most != 1 else ''} each"
    return f"with {least:,} to {most:,} answers each, median {median:g}"


def _agreement(seen: Inspection) -> str:
    if seen.agreement is None:
        return "unknown: no task has two answers"
    if seen.domain.is_numeric:
        return f"{seen.agreement:.3f} on a scale from 0 (chance) to 1 (complete)"
    equal, chance = f"{seen.agreement:.1%}", f"{seen.chance:.1%}"
    return f"two answers to a task are equal {equal} of the time, by chance {chance}"


def _statistics(seen: Inspection) -> list[list[str]]:
    found, signal = seen.statistics, seen.signal
    rows = [["alpha", f"{found.alpha}, Krippendorff's, {found.metric}"]]
    if not seen.domain.is_numeric:
        rows.append(["kappa", f"{found.fleiss}, Fleiss'"])
        rows.append(["kappa", f"{found.cohen}, Cohen's, mean of {len(found.pairs):,} pairs"])
    return [*rows, ["signal", signal.warning() or f"above chance (z = {signal.z:.1f})"]]


def _statistics_json(found: Agreement) -> dict[str, object]:
    columns = {name: column.tolist() for name, column in found.table().items()}
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return {
        "metric": found.metric,
        "confidence": found.confidence,
        "tasks": found.tasks,
        "alpha": asdict(found.alpha),
        "fleiss": asdict(found.fleiss),
        "cohen": asdict(found.cohen),
        "pairs": [asdict(pair) for pair in found.pairs],
        "workers": [row for row in rows if row["compared"]],
    }


def _as_json(seen: Inspection) -> dict[str, object]:
    names = ("least", "median", "most")
    return {
        "answers": seen.answers,
        "tasks": seen.tasks,
        "workers": seen.workers,
        "domain": {"kind": str(seen.domain.kind), "labels": list(seen.domain.labels)},
        "sparsity": seen.sparsity,
        "answers_per_task": dict(zip(names, seen.answers_per_task, strict=True)),
        "answers_per_worker": dict(zip(names, seen.answers_per_worker, strict=True)),
        "agreement": seen.agreement,
        "agreement_by_chance": seen.chance,
        "statistics": _statistics_json(seen.statistics),
        "signal": {**asdict(seen.signal), "verdict": seen.signal.verdict},
        "rows": asdict(seen.reading) if seen.reading is not None else None,
        "labels_alike": [list(pair) for pair in seen.alike],
        "suspicious": [asdict(suspicion) for suspicion in seen.suspicious],
    }


def pack(
    answers: options.AnswersArgument,
    output: Annotated[Path, options.output_option("Write the packed copy to this .parquet file.")],
    columns: options.ColumnsOption = None,
    domain: options.DomainOption = None,
    repeats: options.RepeatsOption = "first",
    bad_rows: options.BadRowsOption = "error",
    format: options.FormatOption = None,
    force: options.ForceOption = False,
) -> None:
    """Write a packed copy of ANSWERS that loads several times faster.

    The copy contains the same answers: protect it like the original.
    """
    with console.reading(answers):
        keywords = options.reading(columns, domain, repeats, bad_rows, format)
        table = sottovoce.pack(answers, output, force=force, **keywords)
    console.notes_of(table.reading)
    console.note(f"wrote {output}: {len(table):,} answers, {table.domain}")
