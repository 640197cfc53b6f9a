"""Files appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.errors import OutputExists, UsageError

__all__ = ["check_target", "new_file"]


@contextmanager
def new_file(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block ends well.

    An error or an interrupt inside the block leaves `path` as it was and removes the temporary
    file. Without `force`, whatever exists at `path` is kept and `OutputExists` raised, also when
    it appears while the block runs.
    """
    target = Path(path)
    check_target(target, force=force)
    try:
        folder = tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise UsageError(f"cannot write in {target.parent}: {error.strerror}") from None
    temporary = Path(folder) / target.name
    try:
        yield temporary
        _put(temporary, target, force=force)
    finally:
        temporary.unlink(missing_ok=True)
        Path(folder).rmdir()


def check_target(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a place where nothing can be put."""
    target = Path(path)
    if not force and os.path.lexists(target):
        raise OutputExists(str(target))
    if target.is_dir():
        raise UsageError(f"{target} is a folder: name a file")
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent} is not a folder: create it first")


def _put(temporary: Path, target: Path, *, force: bool) -> None:
    if force:
        temporary.replace(target)
        return
    try:
        os.link(temporary, target)  # unlike rename, never replaces
    except FileExistsError:
        raise OutputExists(str(target)) from None
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise OutputExists(str(target)) from None
        temporary.rename(target)
