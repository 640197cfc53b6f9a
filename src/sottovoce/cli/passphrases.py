"""Passphrases as people give them: typed unseen, in a file, or in a variable."""

from __future__ import annotations

import getpass
import os
import sys
from pathlib import Path

from sottovoce.errors import UsageError

__all__ = ["VARIABLE", "given_passphrase"]

VARIABLE = "SOTTOVOCE_PASSPHRASE"
LONGEST = 10_000
"""Bytes of a file with a passphrase."""


def given_passphrase(file: Path | None, *, twice: bool = False) -> str:
    """The passphrase in a file, in `SOTTOVOCE_PASSPHRASE`, or typed; a new one is typed twice."""
    if file is not None:
        return _read(file)
    if (found := os.environ.get(VARIABLE)) is not None:
        return found
    if not sys.stdin.isatty():
        raise UsageError(
            f"nobody can be asked for the passphrase here: say --passphrase-file, or set {VARIABLE}"
        )
    typed = getpass.getpass("Passphrase: ")
    if twice and getpass.getpass("Once more: ") != typed:
        raise UsageError("the two passphrases differ: nothing was made")
    return typed


def _read(file: Path) -> str:
    """The first line; the end of the line is not part of it."""
    try:
        with file.open("rb") as stream:
            content = stream.read(LONGEST).decode()
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror})") from None
    except ValueError:
        raise UsageError(f"{file} is no text in UTF-8") from None
    return content.split("\n", 1)[0].removesuffix("\r")
