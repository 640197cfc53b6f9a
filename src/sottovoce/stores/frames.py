"""Frames in memory: pandas, Polars, Arrow, or a mapping of arrays. None of them is required."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np

from sottovoce.errors import DataError, UsageError

__all__ = ["Frame", "frame_of", "registered"]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame, what it is called in messages, and the names of its columns."""

    data: Any
    kind: str
    names: list[str]


class _Stream:
    """An Arrow stream and nothing else, so that DuckDB reads it without pyarrow."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._data.__arrow_c_stream__(requested_schema)


def frame_of(source: Any) -> Frame:
    """The source as a frame; a UsageError says what is accepted if it is none."""
    libraries = {base.__module__.partition(".")[0] for base in type(source).__mro__}
    if "pandas" in libraries and hasattr(source, "columns"):
        return Frame(source, "the pandas frame", [str(name) for name in source.columns])
    if "polars" in libraries and hasattr(source, "collect"):
        source = source.collect()
    if "polars" in libraries and hasattr(source, "columns"):
        return Frame(source, "the Polars frame", list(source.columns))
    if hasattr(source, "column_names") and hasattr(source, "__arrow_c_stream__"):
        return Frame(source, "the Arrow table", [str(name) for name in source.column_names])
    if isinstance(source, Mapping):
        return Frame(source, "the mapping", [str(name) for name in source])
    raise UsageError(
        f"cannot read a table from {type(source).__name__}: give a path, '-', an open binary "
        "file, a pandas or Polars frame, an Arrow table or a mapping of arrays"
    )


def registered(
    connection: duckdb.DuckDBPyConnection, frame: Frame, positions: Sequence[int]
) -> None:
    """Make the columns at `positions` the view `frame`, named c0, c1 and so on."""
    names = [f"c{i}" for i in range(len(positions))]
    data = frame.data
    if frame.kind == "the mapping":
        view: Any = _arrays(data, positions)
    elif frame.kind == "the pandas frame":
        view = data.iloc[:, list(positions)].set_axis(names, axis=1)
    elif frame.kind == "the Polars frame":
        view = _Stream(
            data[:, list(positions)].rename(
                dict(zip(_picked(frame, positions), names, strict=True))
            )
        )
    else:
        view = _Stream(data.select(list(positions)).rename_columns(names))
    if not _length(view, data):
        raise DataError("the table has no rows", file=frame.kind)
    connection.register("frame", view)


def _picked(frame: Frame, positions: Sequence[int]) -> list[str]:
    return [frame.names[i] for i in positions]


def _length(view: Any, data: Any) -> int:
    return len(next(iter(view.values()))) if isinstance(view, dict) else len(data)


def _arrays(data: Mapping[Any, Any], positions: Sequence[int]) -> dict[str, Any]:
    values = list(data.values())
    arrays = [_array(values[i]) for i in positions]
    if any(array.ndim != 1 or len(array) != len(arrays[0]) for array in arrays):
        raise DataError("its columns must be lists or arrays of one length", file="the mapping")
    return {f"c{i}": array for i, array in enumerate(arrays)}


def _array(values: Any) -> Any:
    """An array DuckDB can scan: text as objects, which is how it takes it."""
    array = np.asarray(values)
    if array.dtype.kind == "U" and not isinstance(values, np.ndarray):
        array = np.empty(
            len(values), object
        )  # np.asarray would turn [1, "a"] into text of one width
        array[:] = list(values)
    return array.astype(object) if array.dtype.kind in "UT" else array
