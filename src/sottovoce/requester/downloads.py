"""Downloads results page by page, and exports completely or not at all.

The number of rows of a file is checked against the server's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.errors import DataError, Unreachable
from sottovoce.files.atomic_output import new_file
from sottovoce.http_client.connection import Connection
from sottovoce.model import Codes, Domain, FloatArray, Names, Policy, Provenance, Result, label_text
from sottovoce.tables.duckdb_connection import connect, text_of
from sottovoce.tables.input_file import Format, format_of_ending

ROWS = "sottovoce-rows"

PAGE = 10_000
"""Rows per page."""

ATTEMPTS = 5
"""How often results are read again if the server has inferred newer ones in the meantime."""


def download(
    connection: Connection,
    place: str,
    name: str,
    path: str | os.PathLike[str],
    *,
    raw: bool,
    force: bool,
) -> int | None:
    """Download an export to a file; returns its rows, None if the server gives no number."""
    query = {"raw": "true"} if raw else None
    format = format_of_ending(name)
    lines = LineCount(csv=format == "csv")
    with new_file(path, force=force) as temporary:
        with connection.stream(place, query=query) as content, temporary.open("wb") as file:
            stated = content.headers.get(ROWS, "")
            for piece in content:
                file.write(piece)
                if format in ("csv", "jsonl"):
                    lines.add(piece)
        if not stated.isdigit() or format is None:
            return None
        rows = _rows(temporary, format, lines)
        if rows != int(stated):
            raise Unreachable(
                connection.address,
                reason=f"it announced {int(stated):,} rows but sent {rows:,}; nothing was written",
            )
    return rows


@dataclass(slots=True)
class LineCount:
    """Counts the lines of a text piece by piece; in CSV only those outside quotes."""

    csv: bool
    count: int = 0
    is_quoted: bool = False

    def add(self, piece: bytes) -> None:
        """Count the lines of another piece."""
        if not self.csv or (not self.is_quoted and b'"' not in piece):
            self.count += piece.count(b"\n")
            return
        # A doubled quote inside quotes counts as leaving and entering.
        for i, between in enumerate(piece.split(b'"')):
            if i:
                self.is_quoted = not self.is_quoted
            if not self.is_quoted:
                self.count += between.count(b"\n")


def _rows(path: Path, format: Format, lines: LineCount) -> int:
    if format != "parquet":
        return lines.count - lines.csv  # without the header
    database = connect()
    try:
        query = f"SELECT num_rows FROM parquet_file_metadata({text_of(str(path))})"
        return int(database.execute(query).fetchall()[0][0])
    finally:
        database.close()


def all_pages(
    connection: Connection, path: str, field: str, query: Mapping[str, Any] | None = None
) -> Iterator[Any]:
    """The rows of all pages, each fetched when its first row is needed."""
    for page in _pages(connection, path, field, query):
        yield from page[field]


def _pages(
    connection: Connection, path: str, field: str, query: Mapping[str, Any] | None = None
) -> Iterator[Any]:
    offset, total = 0, 1
    while offset < total:
        asked = {**(query or {}), "offset": offset, "limit": PAGE}
        page = connection.get(path, query=asked)
        yield page
        offset, total = offset + len(page[field]), page["total"]
        if not page[field]:
            return


def whole_result(
    connection: Connection, path: str, policy: Policy, *, simulated: bool = False
) -> Result:
    """All truths and weights of one inference, never mixed with the next."""
    for _ in range(ATTEMPTS):
        pages = list(_pages(connection, path, "truths"))
        workers = list(all_pages(connection, f"{path}/workers", "workers"))
        summary = connection.get(path, query={"limit": 1})["summary"]
        if all(page["summary"] == summary for page in pages):
            truths = [row for page in pages for row in page["truths"]]
            return _result(policy, summary, truths, workers, simulated=simulated)
    raise Unreachable(connection.address, reason="its results change faster than they can be read")


def _result(
    policy: Policy,
    summary: Mapping[str, Any] | None,
    truths: list[Any],
    workers: list[Any],
    *,
    simulated: bool,
) -> Result:
    known = [row for row in truths if row["truth"] is not None]
    if summary is None or not known:
        problem = summary and summary["problem"]
        raise DataError(problem or "nothing is inferred yet; wait for reports")
    return result_of_rows(
        policy.domain, summary, known, workers, policy_hash=policy.hash, simulated=simulated
    )


def result_of_rows(
    domain: Domain,
    summary: Mapping[str, Any],
    truths: list[Any],
    workers: list[Any],
    **provenance: Any,
) -> Result:
    """The result from rows of truths and workers and its summary."""
    return Result(
        tasks=_texts(row["task"] for row in truths),
        workers=_texts(row["worker"] for row in workers),
        domain=domain,
        truths=_coded(domain, [row["truth"] for row in truths]),
        weights=_floats(row["weight"] for row in workers),
        answers=np.array([row["answers"] for row in truths], dtype=np.int64),
        rounds=summary["rounds"],
        converged=summary["converged"],
        provenance=_provenance(summary, **provenance),
        confidence=_numbers(truths, "confidence"),
        standard_error=_numbers(truths, "standard_error"),
        known=np.array([row["known"] for row in truths]) if "known" in truths[0] else None,
        warnings=tuple(summary.get("warnings", ())),
    )


def _provenance(summary: Mapping[str, Any], **more: Any) -> Provenance:
    learnt = {"known": summary.get("known", 0), "calibration": summary.get("calibration")}
    return Provenance(summary["method"], version=summary["version"], **learnt, **more)


def _coded(domain: Domain, truths: list[Any]) -> Codes | FloatArray:
    if domain.is_numeric:
        return np.array(truths, dtype=np.float64)
    codes = {label_text(label): code for code, label in enumerate(domain.labels)}
    return np.array([codes[label_text(truth)] for truth in truths], dtype=np.int32)


def _numbers(rows: list[Any], field: str) -> FloatArray | None:
    return _floats(row[field] for row in rows) if field in rows[0] else None


def _floats(numbers: Iterable[float | None]) -> FloatArray:
    """Numbers from JSON, with null as NaN."""
    return np.array([np.nan if each is None else each for each in numbers], dtype=np.float64)


def _texts(names: Iterable[str]) -> Names:
    listed = list(names)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array
