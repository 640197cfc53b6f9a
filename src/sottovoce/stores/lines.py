"""The lines of a JSONL file, one by one: for the keys, and to say where a fault is."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from sottovoce.errors import DataError
from sottovoce.stores.sources import LocalFile

__all__ = ["check_lines", "first_keys"]


def first_keys(file: LocalFile) -> list[str]:
    """The keys of the first object, which stand for the columns; repeated ones repeated."""
    for line, text in _lines(file):
        return [key for key, _ in _object(file, line, text)]
    raise DataError("the file has only blank lines: expected an object a line", file=file.name)


def check_lines(file: LocalFile, position: int | None = None) -> int:
    """Raise for the first line that is not an object; else the line of object `position`."""
    line = 1
    for seen, (line, text) in enumerate(_lines(file)):
        if seen == position:
            break
        if position is None:
            _object(file, line, text)
    return line


def _lines(file: LocalFile) -> Iterator[tuple[int, str]]:
    with io.TextIOWrapper(file.open(), encoding="utf-8-sig") as text:
        for number, line in enumerate(text, 1):
            if line.strip():
                yield number, line


def _object(file: LocalFile, line: int, text: str) -> list[tuple[str, Any]]:
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "nested too deeply")
        raise DataError(
            f"is not JSON ({reason}): expected one object a line", file=file.name, row=line
        ) from None
    if not isinstance(pairs, _Pairs):
        kind = {list: "a list", str: "a string", type(None): "null"}.get(type(pairs), "a number")
        raise DataError(
            f"is {kind}: expected an object such as "
            '{"worker": "w1", "task": "t1", "answer": "yes"}',
            file=file.name,
            row=line,
        )
    return list(pairs)


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that it differs from a JSON list."""
