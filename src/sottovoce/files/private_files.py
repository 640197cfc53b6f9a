"""Files that only their owner can read, written atomically."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.errors import LedgerUnwritable
from sottovoce.files.atomic_output import durable_file, flush


def private_folder(path: Path) -> Path:
    """The folder, created for its owner only if missing."""
    with translated_errors(path):
        for folder in (*reversed(path.parents), path):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
                flush(folder.parent)
    return path


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file's content atomically; it is on the disk when this returns."""
    with translated_errors(path), durable_file(path) as file:
        file.write(content)


@contextmanager
def translated_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of the operating system into one line that names the file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LedgerUnwritable(os.fspath(path), reason=reason) from None
