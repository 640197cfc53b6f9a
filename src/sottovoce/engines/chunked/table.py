"""A large table on this machine's disk: opened, inspected, and packed once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.engines.checkpoint import identity_of
from sottovoce.engines.chunked.columns import (
    LabelColumn,
    Located,
    NumberColumn,
    RowReader,
    answer_column,
    name_column,
)
from sottovoce.engines.chunked.engine import ChunkedEngine
from sottovoce.engines.chunked.name_index import name_index
from sottovoce.engines.chunked.packed_table import (
    CONTENTS,
    MANIFEST,
    PackedTable,
    PackedWriter,
    Sizes,
    TableManifest,
    pack_rows,
)
from sottovoce.engines.chunked.parquet import (
    SPILL,
    database,
    duckdb_errors,
    fingerprint,
    located,
    parquet_files,
)
from sottovoce.engines.large_table import Recoding
from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import new_folder
from sottovoce.model import Domain, Kind, Reading, Repeats
from sottovoce.tables.column_roles import MADE, REPORTS, is_stamp
from sottovoce.tables.readers import BadRows, check_options

TABLE = "table"
"""The packed table's folder in the working folder."""


@dataclass(frozen=True, slots=True)
class _Options:
    """How rows are read: columns, domain, repeated pairs, bad rows."""

    domain: Domain | Kind | None
    repeats: Repeats
    bad_rows: BadRows


def open_table(
    source: Any,
    *,
    work: str | os.PathLike[str],
    memory: int | None = None,
    columns: Mapping[str, str] | None = None,
    domain: Domain | Kind | None = None,
    repeats: Repeats = "first",
    bad_rows: BadRows = "error",
    reported: bool = False,
    sizes: Sizes = Sizes(),  # noqa: B008 - frozen
) -> ChunkedTable:
    """The table in some Parquet files, which is packed into the folder `work` once.

    An earlier packed table of the same files, read in the same way, is reused.
    """
    check_options(repeats, bad_rows)
    files, place = parquet_files(source), Path(work)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.rmtree(place / SPILL, ignore_errors=True)  # of a run that was killed
    connection = database(place, memory)
    try:
        with duckdb_errors(files.name):
            found = located(connection, files, MADE if reported else REPORTS, columns)
    except BaseException:
        connection.close()
        raise
    identity = identity_of(
        {
            "files": fingerprint(files.paths),
            "columns": dict(found.table.columns),
            "how": [repr(domain), repeats, bad_rows],
        }
    )
    return ChunkedTable(found, place, _Options(domain, repeats, bad_rows), identity, sizes)


class ChunkedTable:
    """A table of Parquet files that was opened and inspected, and can be packed."""

    def __init__(
        self, source: Located, work: Path, options: _Options, identity: str, sizes: Sizes
    ) -> None:
        self._source, self._work, self._options, self._sizes = source, work, options, sizes
        self.identity = identity
        self._packed = _packed_before(work / TABLE, identity)
        self._answer: LabelColumn | NumberColumn | None = None

    @property
    def domain(self) -> Domain:
        if self._packed is not None:
            return self._packed.answers
        return self._column().domain

    @property
    def simulated(self) -> bool:
        return is_stamp(self._source.table.columns["answer"])

    def close(self) -> None:
        """Release the files; the engine has its own."""
        self._source.table.connection.close()

    def engine(self, recoding: Recoding | None = None) -> ChunkedEngine:
        said = _said(recoding)
        if self._packed is None:
            with duckdb_errors(self._source.table.name):
                self._packed = self._pack(recoding)
        elif self._packed.recoding != said:
            raise _other_table(self._work)
        self.close()
        return ChunkedEngine(PackedTable(self._work / TABLE, self._packed))

    def _column(self) -> LabelColumn | NumberColumn:
        if self._answer is None:
            with duckdb_errors(self._source.table.name):
                self._answer = self._looked_at()
        return self._answer

    def _looked_at(self) -> LabelColumn | NumberColumn:
        table, options = self._source.table, self._options
        answer = answer_column(table, options.domain)
        if options.bad_rows == "drop" and not isinstance(options.domain, Domain):
            sound = (name_column(table, role).sound for role in ("worker", "task"))
            return answer.among_sound(table, " AND ".join(sound))
        return answer

    def _pack(self, recoding: Recoding | None) -> TableManifest:
        table, options = self._source.table, self._options
        answer = self._column()
        _check_room(self._work, self._source.rows, numbers=answer.domain.is_numeric)
        worker, task = (name_column(table, role) for role in ("worker", "task"))
        use_kernels = self._source.rows >= self._sizes.compiled_from
        reader = RowReader(
            self._source,
            worker,
            task,
            answer,
            name_index(text=worker.dtype is None, use_kernels=use_kernels),
            drop=options.bad_rows == "drop",
            numbered=options.repeats == "error",
        )
        with new_folder(self._work / TABLE, CONTENTS) as place, PackedWriter(place) as writer:
            found = pack_rows(
                reader, writer, place / "spool", options.repeats, recoding, self._sizes
            )
            count = len(reader.workers)
            workers = writer.add_workers(count, reader.workers.keys())
            reading = Reading(
                table.name,
                reader.rows,
                found.repeated,
                found.contradicting,
                options.repeats,
                dict(reader.dropped),
            )
            manifest = TableManifest(
                self.identity,
                _said(recoding),
                answer.domain,
                answer.domain if recoding is None else recoding.domain,
                self.simulated,
                worker.dtype,
                task.dtype,
                workers,
                writer.wide,
                tuple(writer.blocks),
                reading,
            )
            writer.finish(manifest)
        return manifest


def _check_room(work: Path, rows: int, *, numbers: bool) -> None:
    """Refuse a disk without room for the table's numbers; names come on top."""
    needed, free = rows * (36 if numbers else 20), shutil.disk_usage(work).free
    if needed > free:
        raise UsageError(
            f"sorting the table takes {needed / 1e9:.1f} GB and more in {work}, where "
            f"{free / 1e9:.1f} GB are free: make room, or name another folder with checkpoint="
        )


def _packed_before(folder: Path, identity: str) -> TableManifest | None:
    """An earlier run's packed table; refused if it is of another table."""
    try:
        text = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    manifest = TableManifest.parse(text)
    if manifest is None or manifest.identity != identity:
        raise _other_table(folder.parent)
    return manifest


def _other_table(work: Path) -> UsageError:
    return UsageError(
        f"{work} holds another table, or an earlier version or reading of this one: name another "
        "folder"
    )


def _said(recoding: Recoding | None) -> str:
    if recoding is None:
        return ""
    return identity_of({"codes": recoding.codes.tolist(), "domain": repr(recoding.domain)})
