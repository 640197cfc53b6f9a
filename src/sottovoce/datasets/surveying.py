"""An index record for a folder that has none, from the tables in it."""

from __future__ import annotations

from pathlib import Path

from sottovoce.datasets.cards import ANSWERS, RAW, TRUTH, Record, digest
from sottovoce.errors import UsageError
from sottovoce.model import Domain
from sottovoce.stores import read_gold, read_reports

__all__ = ["survey"]


def survey(folder: Path) -> tuple[Record, Path]:
    """Read a folder of one dataset; return its record and the folder's full path."""
    folder = folder.resolve()
    if folder.name.startswith(".") or not folder.name:
        raise UsageError(f"a dataset is called like its folder, and {folder} is not a name")
    reports = read_reports(folder / ANSWERS)
    files = [file for file in (ANSWERS, RAW, TRUTH) if (folder / file).is_file()]
    record: Record = {
        "name": folder.name,
        "kind": str(reports.domain.kind),
        "domain": _record(reports.domain),
        "n_workers": len(reports.workers),
        "n_tasks": len(reports.tasks),
        "n_answers": len(reports),
        "source": f"added from {folder}",
        "sha256": {file: digest(folder / file) for file in files},
    }
    if TRUTH in files:
        record["n_truths"] = len(read_gold(folder / TRUTH, domain=reports.domain))
    return record, folder


def _record(domain: Domain) -> Record:
    if not domain.is_numeric:
        return {"labels": list(domain.labels)}
    return {}
