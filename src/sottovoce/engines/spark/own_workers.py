"""A part whose workers are numbered by themselves, where few of all workers occur in it."""

from __future__ import annotations

import numpy as np

from sottovoce.model import Codes, LabelPart, NumberPart, Part

__all__ = ["with_own_workers"]


def with_own_workers(part: Part) -> tuple[Part, Codes]:
    """The same part with its workers numbered 0, 1, …, and who these are among all.

    >>> part, own = with_own_workers(LabelPart(0, np.array([0, 2]), np.array([15, 8], "u4"), 2))
    >>> part.coded, own
    (array([3, 0], dtype=uint32), array([4, 7], dtype=int32))
    """
    starts = part.starts - part.starts[0]
    if isinstance(part, NumberPart):
        own, worker = np.unique(part.reporters, return_inverse=True)
        return NumberPart(0, starts, worker.astype(np.int32), part.values), own.astype(np.int32)
    workers, label = np.divmod(part.report.astype(np.int64), part.labels)
    own, worker = np.unique(workers, return_inverse=True)
    coded = worker * part.labels + label
    narrow = len(own) * part.labels <= np.iinfo(np.uint32).max
    coded = coded.astype(np.uint32) if narrow else coded
    return LabelPart(0, starts, coded, part.labels), own.astype(np.int32)
