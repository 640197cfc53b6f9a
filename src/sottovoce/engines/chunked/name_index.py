"""Codes for names in the order of first appearance: 0, 1, 2, ….

Each kind of name has two implementations: a Python dictionary, which is the specification and
serves small tables, and a compiled hash table with open addressing that holds no Python objects.
Texts are stored as their concatenated bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from sottovoce.inference.steps.arithmetic import COMPILED_FROM, compiled
from sottovoce.model import Codes, Names


class Texts(NamedTuple):
    """Cells of text in UTF-8: cell i is data[ends[i] : ends[i + 1]]."""

    ends: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]


def texts(cells: Sequence[bytes]) -> Texts:
    """The cells of a list of bytes, concatenated.

    >>> texts([b"ann", b"bo"]).ends
    array([0, 3, 5])
    """
    ends = np.zeros(len(cells) + 1, np.int64)
    np.cumsum([len(cell) for cell in cells], out=ends[1:])
    return Texts(ends, np.frombuffer(b"".join(cells), np.uint8))


def cells_of(many: Texts) -> list[bytes]:
    """The cells as a list of bytes."""
    data, ends = many.data.tobytes(), many.ends.tolist()
    return [data[a:b] for a, b in pairwise(ends)]


def decoded(many: Texts) -> Names:
    """The texts as Python strings."""
    names = np.empty(len(many.ends) - 1, dtype=object)
    data, ends = many.data.tobytes(), many.ends.tolist()
    if data.isascii():  # then a byte is a character, and all can be decoded at once
        text = data.decode("ascii")
        names[:] = [text[a:b] for a, b in pairwise(ends)]
    else:
        names[:] = [data[a:b].decode() for a, b in pairwise(ends)]
    return names


def joined(parts: Sequence[Texts]) -> Texts:
    """The cells of all parts, concatenated."""
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


Integers = npt.NDArray[np.int64]
Keys = Integers | Texts
"""Names as they are stored: 8-byte integers, or bytes."""


class NameIndex(Protocol):
    """Distinct names in the order of their first appearance."""

    def __len__(self) -> int: ...

    def codes(self, keys: Keys) -> Codes:
        """The code of each name; new names get the next codes."""
        ...

    def keys(self) -> Keys:
        """All names, by code."""
        ...


def name_index(*, text: bool, use_kernels: bool) -> NameIndex:
    """An empty vocabulary of texts or of integers."""
    if not use_kernels:
        return _PlainVocabulary(text=text)
    return _TextVocabulary() if text else _IntegerVocabulary()


class _PlainVocabulary:
    def __init__(self, *, text: bool) -> None:
        self._text, self._places = text, dict[Any, int]()

    def __len__(self) -> int:
        return len(self._places)

    def codes(self, keys: Keys) -> Codes:
        place = self._places
        listed = cells_of(keys) if isinstance(keys, Texts) else keys.tolist()
        return np.array([place.setdefault(key, len(place)) for key in listed], np.int32)

    def keys(self) -> Keys:
        return texts(list(self._places)) if self._text else np.array([*self._places], np.int64)


_SMALLEST = 1 << 10


class _IntegerVocabulary:
    def __init__(self) -> None:
        self._slots = np.full(2 * _SMALLEST, -1, np.int32)
        self._keys, self._count = np.empty(_SMALLEST, np.int64), 0

    def __len__(self) -> int:
        return self._count

    def codes(self, keys: Keys) -> Codes:
        assert not isinstance(keys, Texts)  # noqa: S101 - vocabularies are made for a kind
        codes, done = np.empty(len(keys), np.int32), 0
        while done < len(keys):
            if self._count == len(self._keys):
                self._grow()
            done, self._count = _code_integers()(
                keys, done, self._slots, self._keys, self._count, codes
            )
        return codes

    def keys(self) -> Keys:
        return self._keys[: self._count]

    def _grow(self) -> None:
        keys, self._keys = self._keys, np.empty(2 * len(self._keys), np.int64)
        self._slots, self._count = np.full(2 * len(self._slots), -1, np.int32), 0
        again = np.empty(len(keys), np.int32)
        _code_integers()(keys, 0, self._slots, self._keys, 0, again)
        self._count = len(keys)


class _TextVocabulary:
    def __init__(self) -> None:
        self._slots = np.full(2 * _SMALLEST, -1, np.int32)
        self._hashes, self._count = np.empty(_SMALLEST, np.uint64), 0
        self._ends, self._data = np.zeros(_SMALLEST + 1, np.int64), np.empty(1 << 16, np.uint8)

    def __len__(self) -> int:
        return self._count

    def codes(self, keys: Keys) -> Codes:
        assert isinstance(keys, Texts)  # noqa: S101 - vocabularies are made for a kind
        hashes = text_hashes(keys)
        codes, done = np.empty(len(hashes), np.int32), 0
        while done < len(hashes):
            self._make_room(int(keys.ends[done + 1] - keys.ends[done]))
            done, self._count = _code_texts()(
                keys.ends,
                keys.data,
                hashes,
                done,
                self._slots,
                self._hashes,
                self._ends,
                self._data,
                self._count,
                codes,
            )
        return codes

    def keys(self) -> Keys:
        ends = self._ends[: self._count + 1]
        return Texts(ends, self._data[: ends[-1]])

    def _make_room(self, size: int) -> None:
        """Make room for at least one more name."""
        used = int(self._ends[self._count])
        if used + size > len(self._data):
            self._data = _longer(self._data, max(2 * len(self._data), used + size))
        if self._count == len(self._hashes):
            self._hashes = _longer(self._hashes, 2 * self._count)
            self._ends = _longer(self._ends, 2 * self._count + 1)
            self._slots = np.full(2 * len(self._slots), -1, np.int32)
            _fill_slots()(self._hashes, self._count, self._slots)


def text_hashes(keys: Texts) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each cell."""
    hashes = np.empty(len(keys.ends) - 1, np.uint64)
    _hash_texts()(keys.ends, keys.data, hashes)
    return hashes


def _longer(array: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    longer = np.empty(length, array.dtype)
    longer[: len(array)] = array
    return longer


@cache
def _code_integers() -> Callable[..., tuple[int, int]]:
    return compiled(_integers)


@cache
def _code_texts() -> Callable[..., tuple[int, int]]:
    return compiled(_texts)


@cache
def _fill_slots() -> Callable[..., None]:
    return compiled(_slots)


@cache
def _hash_texts() -> Callable[..., None]:
    return compiled(_hashes)


def _integers(
    keys: Any, done: int, slots: Any, known: Any, count: int, codes: Any
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Code the rows from `done` on until the table is full; gives the counts of rows and names."""
    mask = np.uint64(len(slots) - 1)
    for row in range(done, len(keys)):
        key = keys[row]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed >> np.uint64(32)) & mask
        while slots[slot] >= 0 and known[slots[slot]] != key:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            if count == len(known):
                return row, count
            known[count] = key
            slots[slot] = count
            count += 1
        codes[row] = slots[slot]
    return len(keys), count


def _texts(
    ends: Any,
    data: Any,
    hashed: Any,
    done: int,
    slots: Any,
    hashes: Any,
    known_ends: Any,
    known: Any,
    count: int,
    codes: Any,
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Code the rows from `done` on until the table is full; gives the counts of rows and names."""
    mask = np.uint64(len(slots) - 1)
    for row in range(done, len(codes)):
        begin, end = np.int64(ends[row]), np.int64(ends[row + 1])
        slot = hashed[row] & mask
        while slots[slot] >= 0:
            code = slots[slot]
            place = known_ends[code]
            if hashes[code] == hashed[row] and known_ends[code + 1] - place == end - begin:
                same = True
                for i in range(end - begin):
                    if known[place + i] != data[begin + i]:
                        same = False
                        break
                if same:
                    break
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            place = known_ends[count]
            if count == len(hashes) or place + end - begin > len(known):
                return row, count
            for i in range(end - begin):
                known[place + i] = data[begin + i]
            known_ends[count + 1] = place + end - begin
            hashes[count] = hashed[row]
            slots[slot] = count
            count += 1
        codes[row] = slots[slot]
    return len(codes), count


def _slots(hashes: Any, count: int, slots: Any) -> None:  # pragma: no cover - compiled
    """The places of `count` names whose hashes are known."""
    mask = np.uint64(len(slots) - 1)
    for code in range(count):
        slot = hashes[code] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code


def _hashes(ends: Any, data: Any, hashes: Any) -> None:  # pragma: no cover - compiled
    """FNV-1a, its upper half folded into the lower."""
    for row in range(len(hashes)):
        found = np.uint64(0xCBF29CE484222325)
        for i in range(ends[row], ends[row + 1]):
            found = (found ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
        hashes[row] = found ^ (found >> np.uint64(32))
