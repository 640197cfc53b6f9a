"""From hashes to codes: for each row the place of its hash in a vocabulary.

Cheap because a row is 8 bytes whatever its text is; exact because the vocabulary's hashes are
checked to be distinct and every row's hash is one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.inference.steps.arithmetic import COMPILED_FROM, compiled
from sottovoce.model import Codes

__all__ = ["looked_up", "looked_up_compiled", "looked_up_plain"]

_CHANGED = "the table changed while it was read: read it again"
Hashes: TypeAlias = npt.NDArray[np.uint64]


def looked_up(rows: Hashes, vocabulary: Hashes, codes: Codes) -> Codes:
    """codes[i] for each row whose hash is vocabulary[i]."""
    if len(rows) < COMPILED_FROM:
        return looked_up_plain(rows, vocabulary, codes)
    return looked_up_compiled(rows, vocabulary, codes)


def looked_up_plain(rows: Hashes, vocabulary: Hashes, codes: Codes) -> Codes:
    """By binary search: the specification."""
    order = np.argsort(vocabulary)
    places: npt.NDArray[np.intp] = order[
        np.searchsorted(vocabulary[order], rows).clip(max=len(order) - 1)
    ]
    if not np.array_equal(vocabulary[places], rows):
        raise DataError(_CHANGED)
    return codes[places]


def looked_up_compiled(rows: Hashes, vocabulary: Hashes, codes: Codes) -> Codes:
    """By a table with open addressing, at most half full."""
    size = 1 << max(1, 2 * len(vocabulary) - 1).bit_length()
    keys, places = np.zeros(size, np.uint64), np.full(size, -1, np.int32)
    result = np.empty(len(rows), np.int32)
    if not _kernel()(rows, vocabulary, codes, keys, places, result):
        raise DataError(_CHANGED)
    return result


@cache
def _kernel() -> Callable[..., Any]:
    return compiled(_fill_and_find)


def _fill_and_find(
    rows: Hashes, vocabulary: Hashes, codes: Codes, keys: Hashes, places: Codes, result: Codes
) -> bool:  # pragma: no cover - compiled
    mask = np.uint64(len(keys) - 1)
    one = np.uint64(1)
    for i in range(len(vocabulary)):
        slot = vocabulary[i] & mask
        while places[slot] >= 0:
            slot = (slot + one) & mask
        keys[slot] = vocabulary[i]
        places[slot] = i
    for row in range(len(rows)):
        slot = rows[row] & mask
        while places[slot] >= 0 and keys[slot] != rows[row]:
            slot = (slot + one) & mask
        if places[slot] < 0:
            return False
        result[row] = codes[places[slot]]
    return True
