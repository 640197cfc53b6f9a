"""Lines that hold on to each other: each seals itself and all before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sottovoce.model.canonical import canonical as canonical_text

__all__ = ["ORIGIN", "canonical", "opened", "sealed"]

ORIGIN = "0" * 64
"""What the first line holds on to."""


def canonical(document: Any) -> bytes:
    """Canonical JSON, as it is written to a file."""
    return canonical_text(document).encode("ascii")


def sealed(body: Mapping[str, Any], previous: str) -> tuple[bytes, str]:
    """A line, and its digest: SHA-256(digest of the previous line ‖ body).

    It finds accidents, not forgers: whoever can write the file can write all of it anew.

    >>> line, digest = sealed({"spent": 1}, ORIGIN)
    >>> opened(line[:-1], ORIGIN) == ({"spent": 1}, digest)
    True
    >>> opened(line.replace(b"1", b"0")[:-1], ORIGIN) is None
    True
    """
    text = canonical(body)
    digest = _digest(text, previous)
    return text[:-1] + _tail(digest) + b"\n", digest


def opened(line: bytes, previous: str) -> tuple[dict[str, Any], str] | None:
    """The body and digest of a line without its end; None if it is not what was sealed."""
    text = line[: -len(_tail(ORIGIN))] + b"}"
    digest = _digest(text, previous)
    if line != text[:-1] + _tail(digest):
        return None
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (body, digest) if isinstance(body, dict) else None


def _digest(text: bytes, previous: str) -> str:
    return hashlib.sha256(previous.encode("ascii") + text).hexdigest()


def _tail(digest: str) -> bytes:
    return f',"digest":"{digest}"}}'.encode("ascii")
