"""An index record for a folder that has none, from the tables in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sottovoce.datasets.cards import ANSWERS, RAW, TRUTH, Record, digest
from sottovoce.errors import UsageError
from sottovoce.model import Domain
from sottovoce.stores import read_gold, read_reports
from sottovoce.stores.answers import sorted_labels

__all__ = ["survey"]


def survey(folder: Path) -> tuple[Record, Path]:
    """Read a folder of one dataset; return its record and the folder's full path.

    The domain is what the answers look like: all numbers, or the labels that occur in any of the
    tables, raw answers and truths included.
    """
    folder = folder.resolve()
    if folder.name.startswith(".") or not folder.name:
        raise UsageError(f"a dataset is called like its folder, and {folder} is not a name")
    files = [file for file in (ANSWERS, RAW, TRUTH) if (folder / file).is_file()]
    reports = read_reports(folder / ANSWERS)
    domain = reports.domain
    record: Record = {
        "name": folder.name,
        "kind": str(domain.kind),
        "n_workers": len(reports.workers),
        "n_tasks": len(reports.tasks),
        "n_answers": len(reports),
        "source": f"added from {folder}",
        "sha256": {file: digest(folder / file) for file in files},
    }
    if RAW in files:
        raw = read_reports(folder / RAW, domain=domain.kind, repeats="keep")
        record["n_source_rows"] = len(raw)
        domain = _widened(domain, raw.domain.labels)
    if TRUTH in files:
        gold = read_gold(folder / TRUTH, domain=domain)
        record["n_truths"] = len(gold)
        domain = _widened(domain, gold.truths.tolist())
    record["domain"] = {} if domain.is_numeric else {"labels": list(domain.labels)}
    return record, folder


def _widened(domain: Domain, seen: Iterable[object]) -> Domain:
    """Add the labels that are missing; a range of numbers stays as it is."""
    if domain.is_numeric:
        return domain
    labels = {str(label) for label in (*domain.labels, *seen)}
    return Domain(domain.kind, tuple(sorted_labels(list(labels))))
