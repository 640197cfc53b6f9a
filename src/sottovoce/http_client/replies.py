"""Parses a server's replies: content, or a refusal.

Texts from a server are untrusted: they are made printable before they are shown.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.errors import Reason, Refused

INVISIBLE = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
"""Control, format (including direction overrides), surrogate and unassigned characters."""

ALLOWED = {"\u200c", "\u200d"}
"""Joiners, which several scripts and emoji need."""

PROBLEM = "application/problem+json"

LONGEST_DETAIL = 1_000


def printable(text: str, *, lines: bool = False, longest: int = 5_000) -> str:
    """A text that is safe in a terminal: control characters become �.

    Line ends become spaces, unless `lines` is set.

    >>> printable("Oak" + chr(27) + "[2J or" + chr(10) + "birch?")
    'Oak�[2J or birch?'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    pieces = [_shown(letter, lines=lines) for letter in text[:longest]]
    return "".join(pieces) + ("…" if len(text) > longest else "")


def _shown(letter: str, *, lines: bool) -> str:
    if letter == "\n":
        return "\n" if lines else " "
    if letter in ALLOWED or unicodedata.category(letter) not in INVISIBLE:
        return letter
    return "\ufffd"


@dataclass(frozen=True, slots=True)
class Download:
    """A body in pieces, and its headers. Header names are case-insensitive."""

    headers: Mapping[str, str]
    pieces: Iterator[bytes]

    def __iter__(self) -> Iterator[bytes]:
        return self.pieces


def content_of(body: bytes) -> Any:
    """The JSON in a body; None for an empty one."""
    if not body:
        return None
    try:
        return json.loads(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def refusal_of(status: int, headers: Mapping[str, str], body: bytes) -> Refused | None:
    """The refusal in a reply; None if it is not from a Sottovoce server.

    The page of a proxy or captive portal is not a reply of the server.
    """
    if headers.get("content-type", "").partition(";")[0].strip().lower() != PROBLEM:
        return None
    try:
        document = content_of(body)
    except ValueError:
        return None
    if not isinstance(document, dict) or not isinstance(document.get("detail"), str):
        return None
    row = document.get("row")
    return Refused(
        _reason(document.get("reason"), status),
        printable(document["detail"], longest=LONGEST_DETAIL),
        field=_text(document.get("field")),
        row=row if type(row) is int else None,
        column=_text(document.get("column")),
    )


def _reason(word: Any, status: int) -> Reason:
    try:
        return Reason(word)
    except ValueError:  # a newer server's
        return Reason.UNAVAILABLE if status >= 500 else Reason.MALFORMED


def _text(value: Any) -> str | None:
    return printable(value, longest=200) if isinstance(value, str) else None
