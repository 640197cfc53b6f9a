"""The source of a table, as a local file: a path, standard input or a stream.

The format follows from the file's ending, or else from its first bytes.
"""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, TypeAlias, Union

import numpy.typing as npt

from sottovoce.errors import DataError, UsageError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


Format: TypeAlias = Literal["csv", "tsv", "jsonl", "parquet"]

PARQUET = b"PAR1"
GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
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
    """The format that the ending names, `.gz` aside; None for other endings."""
    name = os.path.basename(os.fspath(path)).lower().removesuffix(".gz")
    return _ENDINGS.get(os.path.splitext(name)[1])


def sniffed(head: bytes) -> Format:
    """The format that the first bytes suggest, already decompressed."""
    if head.startswith(PARQUET):
        return "parquet"
    text = head.removeprefix(BOM).lstrip()
    if text.startswith(b"{"):
        return "jsonl"
    header = text.splitlines()[0] if text else b""
    return "tsv" if b"\t" in header else "csv"


Source: TypeAlias = Union[
    str,
    os.PathLike[str],
    BinaryIO,
    "pandas.DataFrame",
    "polars.DataFrame",
    "pyarrow.Table",
    Mapping[str, npt.ArrayLike],
]
"""Where a table may come from; "-" is standard input."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file that can be read more than once, and how to read it."""

    path: Path
    name: str
    format: Format
    gzipped: bool

    def open(self) -> BinaryIO:
        """The bytes, decompressed."""
        return gzip.open(self.path, "rb") if self.gzipped else self.path.open("rb")  # type: ignore[return-value]


@contextmanager
def local_file(
    source: str | os.PathLike[str] | BinaryIO, format: str | None = None
) -> Iterator[LocalFile]:
    """The source as a file; what came as a stream is removed again when the block ends."""
    wanted = format_named(format) if format is not None else None
    if isinstance(source, str | os.PathLike) and source != "-":
        path = Path(source)
        with _without_mark(_described(path, str(path), wanted or format_of_ending(path))) as file:
            yield file
        return
    stream, name = (sys.stdin.buffer, "standard input") if source == "-" else _stream(source)
    with _spooled(stream) as path, _without_mark(_described(path, name, wanted)) as file:
        yield file


def _stream(source: object) -> tuple[BinaryIO, str]:
    name = getattr(source, "name", None)
    return source, name if isinstance(name, str) else "the stream"  # type: ignore[return-value]


@contextmanager
def _spooled(stream: BinaryIO) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        path = Path(folder) / "input"
        with path.open("wb") as copy:
            # One system call at a time, where the stream can: between two of them Ctrl-C is heard.
            read = getattr(stream, "read1", stream.read)
            while chunk := read(1 << 20):
                copy.write(chunk)
        yield path


@contextmanager
def _without_mark(file: LocalFile) -> Iterator[LocalFile]:
    """JSONL after a byte order mark is copied without it: DuckDB's reader refuses the mark."""
    if file.format != "jsonl":
        yield file
        return
    with file.open() as stream:
        if stream.read(len(BOM)) != BOM:
            yield file
            return
        with _spooled(stream) as path:
            yield LocalFile(path, file.name, file.format, gzipped=False)


def _described(path: Path, name: str, format: Format | None) -> LocalFile:
    head = _head(path, name)
    if not head:
        raise DataError("the file is empty: expected a table with a header and rows", file=name)
    if head.startswith(ZIP) and name.lower().endswith((".xlsx", ".xlsm")):
        raise DataError("is an Excel file; save it as CSV", file=name)
    gzipped = head.startswith(GZIP)
    if gzipped:
        head = _inflated(path, name)
        if not head:
            raise DataError("the compressed file is empty: expected a table", file=name)
    if head.startswith(PARQUET):
        if gzipped:
            raise DataError("is a Parquet file inside gzip: decompress it first", file=name)
        format = "parquet"
    return LocalFile(path, name, format or sniffed(head), gzipped)


def _head(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(65536)
    except FileNotFoundError:
        raise DataError(f"there is no such file{_near(path)}", file=name) from None
    except IsADirectoryError:
        raise DataError("is a folder: name a file in it", file=name) from None
    except PermissionError:
        raise DataError("may not be read: its permissions forbid it", file=name) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"cannot be read: {reason}", file=name) from None


def _inflated(path: Path, name: str) -> bytes:
    try:
        with gzip.open(path, "rb") as file:
            return file.read(65536)
    except (OSError, EOFError, zlib.error):
        raise DataError(
            "is a damaged or truncated gzip file: create or download it again", file=name
        ) from None


def _near(path: Path) -> str:
    from difflib import get_close_matches

    try:
        names = os.listdir(path.parent)
    except OSError:
        return f", nor a folder {path.parent}"
    stems = {_stem(name) for name in names}
    near = get_close_matches(_stem(path.name), stems, 1, 0.7)
    same = [name for name in names if near and _stem(name) == near[0]]
    found = get_close_matches(path.name, same, 1, 0.0)
    return f"; did you mean {found[0]}?" if found else ""


def _stem(name: str) -> str:
    """A file's name without its endings."""
    return name.partition(".")[0]
