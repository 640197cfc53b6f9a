"""What a server says: content, a refusal, or nothing that a Sottovoce server would say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.connection.foreign import plain
from sottovoce.errors import Reason, Refused

__all__ = ["Download", "content_of", "refusal_of"]

PROBLEM = "application/problem+json"
LONGEST_DETAIL = 1_000


@dataclass(frozen=True, slots=True)
class Download:
    """A body in pieces, and what was said before it. Names of headers are found in any case."""

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
    """The refusal in a reply; None if no Sottovoce server wrote it.

    A proxy's or a hotel's own page is no word of the server about what it was sent.
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
        plain(document["detail"], longest=LONGEST_DETAIL),
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
    return plain(value, longest=200) if isinstance(value, str) else None
