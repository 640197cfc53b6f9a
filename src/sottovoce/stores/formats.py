"""Which format a file has: by its ending, else by what it starts with."""

from __future__ import annotations

import os
from typing import Literal, TypeAlias

from sottovoce.errors import UsageError

__all__ = ["BOM", "GZIP", "PARQUET", "Format", "format_named", "format_of_ending", "sniffed"]

Format: TypeAlias = Literal["csv", "tsv", "jsonl", "parquet"]

PARQUET = b"PAR1"
GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"

_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def format_named(name: str) -> Format:
    """The format a user names, with or without the dot and `.gz`."""
    known = _ENDINGS.get("." + name.lower().lstrip(".").removesuffix(".gz"))
    if known is None:
        raise UsageError(f"no format {name!r}: there are csv, tsv, jsonl and parquet")
    return known


def format_of_ending(path: str | os.PathLike[str]) -> Format | None:
    """What the ending says, `.gz` aside; None where it says nothing."""
    name = os.path.basename(os.fspath(path)).lower().removesuffix(".gz")
    return _ENDINGS.get(os.path.splitext(name)[1])


def sniffed(head: bytes) -> Format:
    """What the first bytes look like, already decompressed."""
    if head.startswith(PARQUET):
        return "parquet"
    text = head.removeprefix(BOM).lstrip()
    if text.startswith(b"{"):
        return "jsonl"
    header = text.splitlines()[0] if text else b""
    return "tsv" if b"\t" in header else "csv"
