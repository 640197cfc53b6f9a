"""Files that only their owner reads, and that are whole or not there, whatever happens."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sottovoce.errors import LedgerUnwritable

__all__ = ["home_folder", "private_folder", "saying", "sync_folder", "tidy", "write_durably"]

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_UNFINISHED = ".unfinished"


def home_folder() -> Path:
    """Where a worker's ledger and reports are: `SOTTOVOCE_HOME`, or the user's data folder."""
    if chosen := os.environ.get("SOTTOVOCE_HOME"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        data = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        data = Path.home() / "Library" / "Application Support"
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "sottovoce"


def private_folder(path: Path) -> Path:
    """The folder, made for its owner only where there is none."""
    with saying(path):
        for folder in (*reversed(path.parents), path):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
                sync_folder(folder.parent)
    return path


def write_durably(path: Path, content: bytes) -> None:
    """Write a file that has the new content or the old, and is on the disk when this returns."""
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}{_UNFINISHED}")
    with saying(path):
        try:
            file = os.open(unfinished, _FLAGS, 0o600)
            with open(file, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(file)
            unfinished.replace(path)
        except OSError:
            with suppress(OSError):
                unfinished.unlink()
            raise
        sync_folder(path.parent)


def tidy(folder: Path) -> None:
    """Remove what a crash has left half-written. Nobody else may be writing."""
    with saying(folder):
        for file in folder.glob(f"*{_UNFINISHED}"):
            file.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the names of new files durable, where a system lets a folder be opened."""
    with suppress(PermissionError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def saying(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the system refuses, as one line that names the file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LedgerUnwritable(os.fspath(path), reason=reason) from None
