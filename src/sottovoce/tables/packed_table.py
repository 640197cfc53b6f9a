"""The packed form of a table: one Parquet file with codes and vocabularies, quick to read.

Its columns `worker`, `task` and `value` are the codes (or numbers) of the rows. The vocabularies
are in the columns `worker_name` and `task_name`, from the top, with NULL below: integers one per
row, text as JSON lists of 65,536 names per row, which is the fastest to read. They fit, since every
name occurs in some row. The file's metadata holds the domain and the version.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.files.atomic_output import new_file
from sottovoce.model import Domain, Kind, Names, Reading, Repeats, Reports
from sottovoce.tables.answer_column import check_order
from sottovoce.tables.duckdb_connection import connect, first_line, path_of, text_of
from sottovoce.tables.duplicates import resolved
from sottovoce.tables.input_file import LocalFile, format_of_ending
from sottovoce.tables.relation import check_ends_like_parquet
from sottovoce.tables.vocabulary import in_order
from sottovoce.tables.writers import copied, storable

VERSION = 1
_KEY = "sottovoce"
_TOGETHER = 65_536


def save_packed(reports: Reports, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a coded Parquet copy of the table to `path`; `read_reports` reads it much faster.

    The copy contains the rows unchanged, with names and answers.
    """
    if format_of_ending(path) != "parquet" or os.fspath(path).lower().endswith(".gz"):
        raise UsageError(
            f"{os.fspath(path)} must end in .parquet: a packed table is a Parquet file"
        )
    with new_file(path, force=force) as temporary:
        write_packed(reports, temporary)


def write_packed(reports: Reports, path: os.PathLike[str]) -> None:
    """Write the table's codes, vocabularies and domain to a new Parquet file.

    Names that no row uses are left out, as in every file.
    """
    reports, domain = _used(reports), reports.domain
    manifest = {
        "version": VERSION,
        "kind": domain.kind.value,
        "labels": list(domain.labels),
        "low": domain.low if math.isfinite(domain.low) else None,
        "high": domain.high if math.isfinite(domain.high) else None,
        "step": domain.step,
        "simulated": reports.simulated,
        "rows": len(reports),
        "workers": len(reports.workers),
        "tasks": len(reports.tasks),
        "text": {"worker": _is_text(reports.workers), "task": _is_text(reports.tasks)},
        "distinct": reports.reading is not None
        and (reports.reading.repeats != "keep" or not reports.reading.repeated),
    }
    value = reports.value if domain.is_numeric else reports.value.astype(_narrow(domain.size))
    views = {
        "codes": {"worker": reports.worker, "task": reports.task, "value": value},
        "workers": {"worker_name": _stored(reports.workers)},
        "tasks": {"task_name": _stored(reports.tasks)},
    }
    copied(
        views,
        "FROM codes POSITIONAL JOIN workers POSITIONAL JOIN tasks",
        path,
        "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, "
        f"KV_METADATA {{{_KEY}: {text_of(json.dumps(manifest))}}}",
    )


def _used(reports: Reports) -> Reports:
    worker, workers = in_order(reports.worker, reports.workers)
    task, tasks = in_order(reports.task, reports.tasks)
    return replace(reports, worker=worker, task=task, workers=workers, tasks=tasks)


def manifest_of(file: LocalFile) -> dict[str, Any] | None:
    """The manifest of a packed file; None for any other file."""
    if file.format != "parquet":
        return None
    check_ends_like_parquet(file)
    connection = connect()
    try:
        row = connection.execute(
            f"SELECT value FROM parquet_kv_metadata({path_of(file.path)}) "
            f"WHERE key = {text_of(_KEY)}::BLOB"
        ).fetchone()
        manifest: Any = None if row is None else json.loads(row[0])
    except (duckdb.Error, ValueError) as error:
        raise DataError(f"cannot be read as parquet: {first_line(error)}", file=file.name) from None
    finally:
        connection.close()
    if manifest is None:
        return None
    version = manifest.get("version") if isinstance(manifest, dict) else None
    if not isinstance(version, int) or version > VERSION:
        raise DataError(
            f"is packed in version {version} of the format and this release reads up to "
            f"{VERSION}: upgrade sottovoce, or pack the table again",
            file=file.name,
        )
    return manifest  # type: ignore[no-any-return]


def read_packed(
    file: LocalFile,
    manifest: Mapping[str, Any],
    columns: Mapping[str, str] | None,
    wanted: Domain | Kind | None,
    repeats: Repeats,
    *,
    private: bool = False,
) -> Reports:
    """The table of a packed file, under another domain if one is given.

    No error quotes an answer of a `private` table.
    """
    if columns:
        raise UsageError(f"{file.name} is packed, so its columns cannot be mapped: drop columns=")
    connection = connect()
    try:
        reports = _loaded(connection, file, manifest, repeats)
    except (duckdb.Error, DataError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"is a damaged packed table ({first_line(error)}): pack it again", file=file.name
        ) from None
    finally:
        connection.close()
    reports = _under(reports, wanted, file.name, private=private)
    if manifest.get("distinct"):
        return reports
    return resolved(reports, repeats, lambda position: position + 1)


def _loaded(
    connection: duckdb.DuckDBPyConnection,
    file: LocalFile,
    manifest: Mapping[str, Any],
    repeats: Repeats,
) -> Reports:
    scan = f"read_parquet({path_of(file.path)}, hive_partitioning = false)"
    query = f"SELECT worker, task, value FROM {scan}"
    codes: dict[str, Any] = connection.execute(query).fetchnumpy()
    names = {role: _names(connection, scan, manifest, role) for role in ("worker", "task")}
    low, high = manifest["low"], manifest["high"]
    domain = Domain(
        Kind(manifest["kind"]),
        tuple(manifest["labels"]),
        -math.inf if low is None else low,
        math.inf if high is None else high,
        manifest.get("step"),
    )
    rows = len(codes["worker"])
    return Reports(
        codes["worker"],
        codes["task"],
        codes["value"] if domain.is_numeric else codes["value"].astype(np.int32),
        names["worker"],
        names["task"],
        domain,
        Reading(file.name, rows, repeats=repeats),
        bool(manifest.get("simulated")),
    )


def _is_text(names: Names) -> bool:
    return names.dtype.kind not in "iu"


def _stored(names: Names) -> npt.NDArray[Any]:
    if not _is_text(names):
        return storable(names)
    texts = [str(name) for name in names.tolist()]
    return _objects([json.dumps(texts[i : i + _TOGETHER]) for i in range(0, len(texts), _TOGETHER)])


def _names(
    connection: duckdb.DuckDBPyConnection, scan: str, manifest: Mapping[str, Any], role: str
) -> Names:
    count, is_text = int(manifest[f"{role}s"]), manifest["text"][role]
    rows = -(-count // _TOGETHER) if is_text else count
    column: Any = connection.execute(
        f"SELECT {role}_name AS name FROM {scan} LIMIT {rows}"
    ).fetchnumpy()["name"]
    if not is_text:
        return np.ma.getdata(column)
    names: list[str] = []
    for chunk in column:
        names += json.loads(chunk)
    if len(names) != count:
        raise ValueError(f"{len(names):,} {role} names instead of {count:,}")
    return _objects(names)


def _objects(values: list[str]) -> Names:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _narrow(labels: int) -> type[np.signedinteger[Any]]:
    return np.int8 if labels <= 128 else np.int16 if labels <= 32768 else np.int32


def _under(reports: Reports, wanted: Domain | Kind | None, name: str, *, private: bool) -> Reports:
    """The same table under another domain, if only label names differ."""
    own = reports.domain
    kind = wanted.kind if isinstance(wanted, Domain) else wanted
    if wanted is None or wanted in (own, own.kind):
        return reports
    if own.is_numeric is not (kind is Kind.NUMERIC):
        packed, again = own.kind if private else own, f"domain=Kind.{str(kind).upper()}"
        raise UsageError(f"{name} is packed as {packed}: pack it with {again}")
    if not isinstance(wanted, Domain):
        check_order(wanted, own.labels)
        return replace(reports, domain=Domain(Kind(kind or own.kind), own.labels))
    if own.is_numeric:
        if private and not ((reports.value >= wanted.low) & (reports.value <= wanted.high)).all():
            raise DataError(f"an answer is outside the range of {wanted}", file=name)
        return replace(reports, domain=wanted)  # raises when a number is out of range
    places = {str(label): code for code, label in enumerate(wanted.labels)}
    missing = [label for label in own.labels if str(label) not in places]
    if missing:
        what = "an answer" if private else repr(missing[0])
        raise DataError(f"{what} is not one of the labels of {wanted}", file=name)
    codes = np.array([places[str(label)] for label in own.labels], np.int32)
    return replace(reports, value=codes[reports.value.astype(np.int32)], domain=wanted)
