"""A query's rows in batches of NumPy arrays, through Arrow's C interface: no copy, no library.

DuckDB exports its rows as an Arrow stream. Columns of fixed width are read in place, and text as
the concatenated bytes of all cells: no Python object is created per cell.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.engines.chunked.name_index import Texts
from sottovoce.errors import DataError
from sottovoce.tables.duckdb_connection import first_line


class ArrowColumn(NamedTuple):
    """The cells of a column, and a mask of those that are present; None if all are."""

    cells: npt.NDArray[Any] | Texts
    present: npt.NDArray[np.bool_] | None


Batch: TypeAlias = list[ArrowColumn]


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]


class _Stream(ctypes.Structure):
    pass


_Here = ctypes.POINTER(_Stream)
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, _Here, ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, _Here, ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, _Here)),
    ("release", ctypes.CFUNCTYPE(None, _Here)),
    ("private_data", ctypes.c_void_p),
]

_WIDTHS = {b"c": np.int8, b"l": np.int64, b"L": np.uint64, b"g": np.float64}
"""Arrow's format letters of the supported types; text is `u` or `U`."""


def batches(relation: Any, name: str) -> Iterator[Batch]:
    """The batches of a DuckDB relation in order; a batch is valid until the next is requested.

    `name` is the table's name in messages.
    """
    capsule = relation.__arrow_c_stream__()  # it owns the stream, and frees it when released
    stream = _pointer(capsule)
    formats = _formats(stream, name)
    while True:
        array = _Array()
        _check(stream, stream.contents.get_next(stream, ctypes.byref(array)), name)
        if not array.release:
            return
        try:
            yield [_column(array.children[i].contents, letter) for i, letter in enumerate(formats)]
        finally:
            array.release(ctypes.byref(array))


def _pointer(capsule: Any) -> Any:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))


def _formats(stream: Any, name: str) -> list[bytes]:
    schema = _Schema()
    _check(stream, stream.contents.get_schema(stream, ctypes.byref(schema)), name)
    try:
        return [bytes(schema.children[i].contents.format) for i in range(schema.n_children)]
    finally:
        schema.release(ctypes.byref(schema))


def _check(stream: Any, failed: int, name: str) -> None:
    if failed:
        said = stream.contents.get_last_error(stream) or b"DuckDB does not say why"
        reason = first_line(ValueError(said.decode("utf-8", "replace")))
        raise DataError(f"cannot be read as parquet: {reason}", file=name)


def _column(array: Any, letter: bytes) -> ArrowColumn:
    length, offset = array.length, array.offset
    present = None
    if array.null_count and array.buffers[0]:
        bits = _view(array.buffers[0], np.uint8, (offset + length + 7) // 8)
        present = np.unpackbits(bits, bitorder="little")[offset : offset + length].astype(np.bool_)
    if letter in (b"u", b"U"):
        kind = np.int32 if letter == b"u" else np.int64
        ends = _view(array.buffers[1], kind, offset + length + 1)[offset:]
        data = _view(array.buffers[2], np.uint8, int(ends[-1]))
        return ArrowColumn(Texts(ends.astype(np.int64), data), present)
    return ArrowColumn(_view(array.buffers[1], _WIDTHS[letter], offset + length)[offset:], present)


def _view(address: int | None, kind: Any, count: int) -> npt.NDArray[Any]:
    if not address or not count:
        return np.zeros(count, kind)
    size = count * np.dtype(kind).itemsize
    return np.frombuffer((ctypes.c_uint8 * size).from_address(address), kind, count)
