"""What server and child say to each other: a JSON header and bytes, with their lengths first."""

from __future__ import annotations

import json
import struct
from typing import IO, Any

__all__ = ["receive", "send"]

_LENGTHS = struct.Struct(">II")


def send(stream: IO[bytes], header: dict[str, Any], content: bytes = b"") -> None:
    """One message."""
    text = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(text), len(content)) + text + content)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next message; None when the other side has gone.

    >>> import io
    >>> stream = io.BytesIO()
    >>> send(stream, {"campaign": "leaf"}, b"abc")
    >>> _ = stream.seek(0)
    >>> receive(stream), receive(stream)
    (({'campaign': 'leaf'}, b'abc'), None)
    """
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    text, content = (stream.read(length) for length in _LENGTHS.unpack(lengths))
    try:
        header: dict[str, Any] = json.loads(text)
    except ValueError:
        return None  # it ended within a message
    return header, content
