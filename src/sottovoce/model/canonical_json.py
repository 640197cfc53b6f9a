"""Canonical JSON: hashed and signed documents are written and read in exactly one way."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

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


class RepeatedField(ValueError):  # noqa: N818 - reads as the fact it states
    """An object of a JSON text has two fields with one name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of an object, for a JSON decoder's `object_pairs_hook`.

    Repeated fields are refused, since readers could choose different ones.

    >>> json.loads('{"a": 1, "a": 2}', object_pairs_hook=unique_fields)
    Traceback (most recent call last):
        ...
    sottovoce.model.canonical_json.RepeatedField: a
    """
    fields = dict(pairs)
    if len(fields) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise RepeatedField(next(name for name, count in counts.items() if count > 1))
    return fields
