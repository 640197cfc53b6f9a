"""Blocks of whole tasks as rows of a Spark table: arrays in binary columns.

A row has tens of thousands of reports and more, so that a round handles few objects, and the arrays
come out of a row without being copied.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sottovoce.model import CodedArray, LabelPart, NumberPart, Part

__all__ = ["MOST_REPORTS", "PART_COLUMNS", "PackedPart", "packed", "unpacked"]

MOST_REPORTS = 1 << 21
"""So many reports a block has at most, unless a single task has more: 8 MB of labels."""

PART_COLUMNS = ("starts", "reports", "numbers", "labels")
"""What a round reads of a block; names of tasks are read when truths are told."""

_NARROW, _WIDE = np.dtype("<u4"), np.dtype("<i8")


class PackedPart(NamedTuple):
    """A part as a row holds it.

    `starts` are 8-byte integers. For labels, `reports` is worker · labels + label in 4 bytes, or in
    8 where that does not fit, and `numbers` is empty. For numbers `labels` is 0, `reports` the
    workers in 4 bytes and `numbers` the values in 8.
    """

    starts: bytes
    reports: bytes
    numbers: bytes
    labels: int


def packed(part: Part) -> PackedPart:
    """The row of a part; its starts count from 0."""
    starts = (part.starts - part.starts[0]).astype("<i8").tobytes()
    if isinstance(part, NumberPart):
        workers = part.reporters.astype("<i4").tobytes()
        return PackedPart(starts, workers, part.values.astype("<f8").tobytes(), 0)
    kind = _NARROW if part.coded.dtype.itemsize == _NARROW.itemsize else _WIDE
    return PackedPart(starts, part.report.astype(kind).tobytes(), b"", part.labels)


def unpacked(row: Any) -> Part:
    """The part in a row: anything with the fields of `PackedPart`."""
    starts = np.frombuffer(row.starts, "<i8")
    if not row.labels:
        workers, values = np.frombuffer(row.reports, "<i4"), np.frombuffer(row.numbers, "<f8")
        return NumberPart(0, starts, workers, values)
    narrow = len(row.reports) == _NARROW.itemsize * int(starts[-1])
    coded: CodedArray
    coded = (
        np.frombuffer(row.reports, np.uint32) if narrow else np.frombuffer(row.reports, np.int64)
    )
    return LabelPart(0, starts, coded, row.labels)
