"""JSON in one way only: what is hashed or signed must not be written in two."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["canonical", "canonical_bytes"]

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
)


def canonical(document: Any) -> str:
    """Canonical JSON: sorted, compact, ASCII.

    >>> canonical({"b": 1, "a": [2]})
    '{"a":[2],"b":1}'
    """
    return _ENCODER.encode(document)


def canonical_bytes(document: Any) -> bytes:
    """Canonical JSON as it is hashed, signed and written to a file."""
    return canonical(document).encode("ascii")
