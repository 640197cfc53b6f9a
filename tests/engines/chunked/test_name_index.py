"""Names get codes in the order of first appearance, compiled or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.engines.chunked.name_index import (
    Keys,
    NameIndex,
    Texts,
    cells_of,
    decoded,
    gathered,
    gathered_plain,
    joined,
    name_index,
    texts,
)

EITHER = pytest.mark.parametrize("use_kernels", [False, True])


def listed(keys: Keys) -> list[Any]:
    return cells_of(keys) if isinstance(keys, Texts) else keys.tolist()


def both(text: bool) -> tuple[NameIndex, NameIndex]:
    return name_index(text=text, use_kernels=False), name_index(text=text, use_kernels=True)


@EITHER
def test_the_first_name_is_0_and_the_next_new_one_1(use_kernels: bool) -> None:
    names = name_index(text=True, use_kernels=use_kernels)
    assert names.codes(texts([b"bo", b"ann", b"bo"])).tolist() == [0, 1, 0]
    assert names.codes(texts([b"cy", b"ann"])).tolist() == [2, 1]
    assert (len(names), listed(names.keys())) == (3, [b"bo", b"ann", b"cy"])


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1)), max_size=4))
def test_integers_are_coded_alike_by_both(parts: list[list[int]]) -> None:
    plain, quick = both(text=False)
    for part in parts:
        keys = np.array(part, np.int64)
        np.testing.assert_array_equal(quick.codes(keys), plain.codes(keys))
    assert listed(quick.keys()) == listed(plain.keys())


@given(st.lists(st.lists(st.binary(min_size=1, max_size=12)), max_size=4))
def test_texts_are_coded_alike_by_both(parts: list[list[bytes]]) -> None:
    plain, quick = both(text=True)
    for part in parts:
        np.testing.assert_array_equal(quick.codes(texts(part)), plain.codes(texts(part)))
    assert listed(quick.keys()) == listed(plain.keys())


@pytest.mark.parametrize("text", [False, True])
def test_tables_grow_with_the_names(text: bool) -> None:
    numbers = np.random.default_rng(1).permutation(20_000).repeat(2) * 2**33
    keys: Keys = texts([b"%d" % n * 3 for n in numbers.tolist()]) if text else numbers
    plain, quick = both(text)
    np.testing.assert_array_equal(quick.codes(keys), plain.codes(keys))
    assert len(quick) == 20_000
    assert listed(quick.keys()) == listed(plain.keys())


def test_a_name_longer_than_all_before_finds_room() -> None:
    names = name_index(text=True, use_kernels=True)
    cells = [b"a", b"x" * 200_000, b"b"]
    assert names.codes(texts(cells)).tolist() == [0, 1, 2]
    assert listed(names.keys()) == cells


def test_texts_are_gathered_alike_compiled_or_not() -> None:
    rng = np.random.default_rng(2)
    many = texts([b"n%d" % n for n in rng.integers(0, 10**6, 1000)])
    places = rng.integers(0, 1000, 120_000)
    quick, plain = gathered(many, places), gathered_plain(many, places)
    np.testing.assert_array_equal(quick.ends, plain.ends)
    np.testing.assert_array_equal(quick.data, plain.data)
    assert cells_of(plain)[:3] == [cells_of(many)[place] for place in places[:3]]


def test_texts_are_joined_and_decoded() -> None:
    many = joined([texts([b"a", "ü".encode()]), texts([]), texts([b"ccc"])])
    assert decoded(many).tolist() == ["a", "ü", "ccc"]
    assert decoded(texts([b"a", b"", b"bc"])).tolist() == ["a", "", "bc"]
