"""A coded copy of a table, made when the user asks for one and where they say."""

from __future__ import annotations

import os
from collections.abc import Mapping

from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import new_file
from sottovoce.model import Domain, Kind, Repeats, Reports
from sottovoce.stores.formats import format_of_ending
from sottovoce.stores.packed import write_packed
from sottovoce.stores.reading import BadRows, read_reports
from sottovoce.stores.sources import Source

__all__ = ["pack"]


def pack(
    source: Source | Reports,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    columns: Mapping[str, str] | None = None,
    domain: Domain | Kind | None = None,
    repeats: Repeats = "first",
    bad_rows: BadRows = "error",
    format: str | None = None,
) -> Reports:
    """Write a coded Parquet copy of `source` to `path`; `read_reports` reads it many times faster.

    The copy holds the rows as the options leave them, names and answers included.
    """
    if format_of_ending(path) != "parquet" or os.fspath(path).lower().endswith(".gz"):
        raise UsageError(f"a packed table is a Parquet file: let {os.fspath(path)} end in .parquet")
    with new_file(path, force=force) as temporary:
        reports = (
            source
            if isinstance(source, Reports)
            else read_reports(
                source,
                columns=columns,
                domain=domain,
                repeats=repeats,
                bad_rows=bad_rows,
                format=format,
            )
        )
        write_packed(reports, temporary)
    return reports
