"""Values for all executors that are too large for every Python process there.

Spark brings a broadcast into a file on each machine. Arrays are left in that file and mapped into
memory: a process that needs the parameters of some workers reads those, and what it has read
belongs to the machine, not to the process.
"""

from __future__ import annotations

import mmap
import pickle
import struct
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

__all__ = ["Shared", "Whole", "array_bytes", "share"]

T = TypeVar("T")

_MARK = b"sottovoce arrays"
_AHEAD = 4096
"""The mark is found within so many bytes of a file: before it stands what pickle writes."""


class Shared(Generic[T]):
    """A value on its way to executors."""

    def __init__(self, broadcast: Broadcast[bytes]) -> None:
        self._broadcast = broadcast

    def opened(self) -> T:
        """The value, on an executor; its arrays are read-only."""
        path = getattr(self._broadcast, "_path", None)
        if path is not None:
            with open(path, "rb") as file:
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            start = content.find(_MARK, 0, _AHEAD)
            if start >= 0:
                value: T = unpacked(memoryview(content)[start:])
                return value
        # With encrypted storage there is no such file.
        return unpacked(memoryview(self._broadcast.value))  # type: ignore[no-any-return]

    def forget(self) -> None:
        """Remove it everywhere."""
        self._broadcast.destroy()


class Whole(Generic[T]):
    """A value that every process holds whole."""

    def __init__(self, broadcast: Broadcast[T]) -> None:
        self._broadcast = broadcast

    def __call__(self) -> T:
        return self._broadcast.value


def array_bytes(value: object) -> int:
    """How large the arrays of a value are."""
    buffers: list[pickle.PickleBuffer] = []
    pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return sum(buffer.raw().nbytes for buffer in buffers)


def share(context: SparkContext, value: T) -> Shared[T]:
    """Send a value to all executors."""
    return Shared(context.broadcast(packed(value)))


def packed(value: object) -> bytes:
    """A value with its arrays behind it, each in one piece."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    raws = [buffer.raw() for buffer in buffers]
    sizes = [len(head), *map(len, raws)]
    return b"".join([_MARK, struct.pack(f"<Q{len(sizes)}Q", len(sizes), *sizes), head, *raws])


def unpacked(content: memoryview) -> Any:
    """The value again; its arrays lie in `content`."""
    (count,) = struct.unpack_from("<Q", content, len(_MARK))
    sizes = struct.unpack_from(f"<{count}Q", content, len(_MARK) + 8)
    pieces, start = [], len(_MARK) + 8 * (count + 1)
    for size in sizes:
        pieces.append(content[start : start + size])
        start += size
    head, *buffers = pieces
    return pickle.loads(head, buffers=buffers)  # noqa: S301 - written by `packed`, on this cluster
