"""Many texts as the bytes of all of them, one after the other: no Python object for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sottovoce.inference.steps.arithmetic import COMPILED_FROM, compiled
from sottovoce.model import Names

__all__ = ["Texts", "cells_of", "decoded", "gathered", "gathered_plain", "joined", "texts"]


class Texts(NamedTuple):
    """Cells of text in UTF-8: cell i is data[ends[i] : ends[i + 1]]."""

    ends: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]


def texts(cells: Sequence[bytes]) -> Texts:
    """Cells one after the other.

    >>> texts([b"ann", b"bo"]).ends
    array([0, 3, 5])
    """
    ends = np.zeros(len(cells) + 1, np.int64)
    np.cumsum([len(cell) for cell in cells], out=ends[1:])
    return Texts(ends, np.frombuffer(b"".join(cells), np.uint8))


def cells_of(many: Texts) -> list[bytes]:
    """Each cell by itself."""
    data, ends = many.data.tobytes(), many.ends.tolist()
    return [data[a:b] for a, b in pairwise(ends)]


def decoded(many: Texts) -> Names:
    """The texts as Python has them."""
    names = np.empty(len(many.ends) - 1, dtype=object)
    data, ends = many.data.tobytes(), many.ends.tolist()
    if data.isascii():  # then a byte is a character, and all can be decoded at once
        text = data.decode("ascii")
        names[:] = [text[a:b] for a, b in pairwise(ends)]
    else:
        names[:] = [data[a:b].decode() for a, b in pairwise(ends)]
    return names


def joined(parts: Sequence[Texts]) -> Texts:
    """The cells of all parts, one after the other."""
    ends, data, before = [np.zeros(1, np.int64)], list[npt.NDArray[np.uint8]](), 0
    for part in parts:
        ends.append(part.ends[1:] - part.ends[0] + before)
        data.append(part.data[part.ends[0] : part.ends[-1]])
        before = int(ends[-1][-1]) if len(ends[-1]) else before
    return Texts(np.concatenate(ends), np.concatenate(data))


def gathered(many: Texts, places: npt.NDArray[np.integer]) -> Texts:
    """The cells at these places."""
    if len(places) < COMPILED_FROM:
        return gathered_plain(many, places)
    ends = _ends(many, places)
    data = np.empty(int(ends[-1]), np.uint8)
    _gather()(many.ends, many.data, places, data)
    return Texts(ends, data)


def gathered_plain(many: Texts, places: npt.NDArray[np.integer]) -> Texts:
    """The same in NumPy: the specification."""
    ends = _ends(many, places)
    shift = np.repeat(many.ends[places] - ends[:-1], np.diff(ends))
    return Texts(ends, many.data[shift + np.arange(ends[-1])])


def _ends(many: Texts, places: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    ends = np.zeros(len(places) + 1, np.int64)
    np.cumsum(np.diff(many.ends)[places], out=ends[1:])
    return ends


@cache
def _gather() -> Callable[..., None]:
    @compiled
    def run(ends, data, places, found):  # type: ignore[no-untyped-def]
        following = 0
        for place in places:
            for i in range(ends[place], ends[place + 1]):
                found[following] = data[i]
                following += 1

    return run
