"""Recordings: how they are written and compared."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["RECORDED", "Files", "as_json", "compare", "is_sqlite", "sha256", "stable"]

RECORDED = Path(__file__).parent / "recorded"

MOST_LINES = 80
"""The number of printed lines of a difference."""

Files: TypeAlias = dict[str, str]
"""Texts by the names of their files."""


def as_json(value: Any) -> str:
    """A document with one value per line, in a fixed order."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def sha256(content: bytes | str) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def stable(text: str) -> str:
    """A text without memory addresses and without paths of our modules."""
    return re.sub(r"\bsottovoce(?:\.[a-z_]\w*)+\.", "", re.sub(r" at 0x[0-9a-f]+", "", text))


def is_sqlite(file: Path) -> bool:
    """Whether a file is a database."""
    return file.is_file() and file.read_bytes()[:15] == b"SQLite format 3"


def compare(name: str, text: str) -> bool:
    """Whether a recording is unchanged; prints the differences."""
    place = RECORDED / name
    before = place.read_text("utf-8") if place.exists() else ""
    if before == text:
        return True
    lines = list(
        difflib.unified_diff(
            before.splitlines(), text.splitlines(), f"recorded/{name}", "now", n=1, lineterm=""
        )
    )
    left = len(lines) - MOST_LINES
    shown = [*lines[:MOST_LINES], f"… and {left:,} lines more"] if left > 0 else lines
    sys.stdout.write("\n".join(shown) + "\n")
    return False
