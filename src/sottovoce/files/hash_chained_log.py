"""Logs whose lines are chained by hash and durable once acknowledged."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.errors import LedgerDamaged, LedgerUnwritable
from sottovoce.files.atomic_output import flush
from sottovoce.files.locks import exclusive
from sottovoce.files.private_files import translated_errors
from sottovoce.model.canonical_json import canonical_bytes

ORIGIN = "0" * 64
"""The digest before the first line."""

SLOT = 128
"""Bytes for one head; a disk writes them at once."""

_HEAD_FLAGS = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)


def chained(body: Mapping[str, Any], previous: str) -> tuple[bytes, str]:
    """A line, and its digest: SHA-256(digest of the previous line ‖ body).

    The chain detects accidents, not forgery: anyone who can write the file can rewrite all of it.

    >>> line, digest = chained({"spent": 1}, ORIGIN)
    >>> verified(line[:-1], ORIGIN) == ({"spent": 1}, digest)
    True
    >>> verified(line.replace(b"1", b"0")[:-1], ORIGIN) is None
    True
    """
    text = canonical_bytes(body)
    digest = _digest(text, previous)
    return text[:-1] + _tail(digest) + b"\n", digest


def verified(line: bytes, previous: str) -> tuple[dict[str, Any], str] | None:
    """The body and digest of a line without its newline; None if it was altered."""
    text = line[: -len(_tail(ORIGIN))] + b"}"
    digest = _digest(text, previous)
    if line != text[:-1] + _tail(digest):
        return None
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (body, digest) if isinstance(body, dict) else None


@dataclass(frozen=True, slots=True)
class LockedLog:
    """An open log file, locked against other processes, with its head in a second file.

    The head, in `<path>.head`, is the number and the digest of the last acknowledged line. Without
    it, a file that lost its last lines would look intact, and their budget could be spent again.
    """

    path: str
    file: int

    def read(self) -> tuple[list[bytes], int]:
        """The complete lines, and the number of bytes after them (an unacknowledged write)."""
        with translated_errors(self.path):
            os.lseek(self.file, 0, os.SEEK_SET)
            content = b"".join(iter(lambda: os.read(self.file, 1 << 20), b""))
        *lines, rest = content.split(b"\n")
        return lines, len(rest)

    def check_head(self, digests: tuple[str, ...]) -> None:
        """Refuse a file that has lost acknowledged lines, or contains others instead."""
        head = self._head()
        if head is None:
            return
        number, digest = head
        if number >= len(digests):
            fault = f"lines up to {number + 1:,} were written but are missing"
            raise LedgerDamaged(self.path, line=len(digests) + 1, fault=fault)
        if digests[number] != digest:
            fault = "a different line was written here"
            raise LedgerDamaged(self.path, line=number + 1, fault=fault)

    def cut(self, count: int) -> None:
        """Remove the last bytes."""
        with translated_errors(self.path):
            os.ftruncate(self.file, os.fstat(self.file).st_size - count)
            os.fsync(self.file)

    def append(self, line: bytes, number: int, digest: str) -> None:
        """Write a line durably; on an error it is removed again if possible."""
        with translated_errors(self.path):
            size = os.lseek(self.file, 0, os.SEEK_END)
            try:
                if os.write(self.file, line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(self.file)
            except OSError:
                # A line that cannot be removed counts as spent without a report, which is safe.
                with suppress(OSError):
                    os.ftruncate(self.file, size)
                    os.fsync(self.file)
                raise
            self._set_head(number, digest)

    def _head(self) -> tuple[int, str] | None:
        """The newer of two slots: a crash while one is written leaves the other intact."""
        try:
            with open(f"{self.path}.head", "rb") as file:
                content = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerUnwritable(self.path, reason=str(error.strerror)) from None
        slots = [_parsed(content[start : start + SLOT]) for start in (0, SLOT)]
        return max((slot for slot in slots if slot is not None), default=None)

    def _set_head(self, number: int, digest: str) -> None:
        is_new = not os.path.exists(f"{self.path}.head")
        file = os.open(f"{self.path}.head", _HEAD_FLAGS, 0o600)
        try:
            os.lseek(file, number % 2 * SLOT, os.SEEK_SET)
            os.write(file, _slot(number, digest))
            os.fsync(file)
        finally:
            os.close(file)
        if is_new:
            flush(Path(self.path).absolute().parent)


@contextmanager
def locked(path: str, timeout: float) -> Iterator[LockedLog]:
    """The log at a path, created if missing, and locked until the block ends."""
    with exclusive(path, timeout) as file:
        yield LockedLog(path, file)


def _digest(text: bytes, previous: str) -> str:
    return hashlib.sha256(previous.encode("ascii") + text).hexdigest()


def _tail(digest: str) -> bytes:
    return f',"digest":"{digest}"}}'.encode("ascii")


def _slot(number: int, digest: str) -> bytes:
    text = f"{number} {digest}"
    check = hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
    return f"{text} {check}".ljust(SLOT - 1).encode("ascii") + b"\n"


def _parsed(slot: bytes) -> tuple[int, str] | None:
    parts = slot.decode("ascii", "replace").split()
    if len(parts) != 3 or not parts[0].isdecimal():
        return None
    number, digest = int(parts[0]), parts[1]
    return (number, digest) if _slot(number, digest) == slot else None
