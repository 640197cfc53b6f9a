"""Blocks: every task once, in order, decided by the data alone."""

from __future__ import annotations

import inspect
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.engines.blocks import MOST_BLOCKS, block_count, cut
from sottovoce.model import StartsArray


@st.composite
def starts(draw: st.DrawFn) -> StartsArray:
    """The first report of each task; some have no answer, one may have most of them."""
    counts = draw(st.lists(st.one_of(st.integers(0, 5), st.just(500)), min_size=1, max_size=60))
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


@given(starts=starts(), blocks=st.integers(1, MOST_BLOCKS))
def test_blocks_cover_all_tasks_once_and_in_order(starts: StartsArray, blocks: int) -> None:
    ranges = cut(starts, blocks)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == len(starts) - 1
    assert all(before[1] == after[0] for before, after in pairwise(ranges))


@given(starts=starts(), blocks=st.integers(1, MOST_BLOCKS))
def test_no_block_is_empty_of_tasks(starts: StartsArray, blocks: int) -> None:
    assert all(first < last for first, last in cut(starts, blocks))


@given(starts=starts(), blocks=st.integers(1, MOST_BLOCKS))
def test_there_are_no_more_blocks_than_asked_for(starts: StartsArray, blocks: int) -> None:
    assert len(cut(starts, blocks)) <= blocks


def test_blocks_hold_about_the_same_number_of_answers() -> None:
    rng = np.random.default_rng(1)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 20, 10_000))]).astype(np.int64)
    sizes = [starts[last] - starts[first] for first, last in cut(starts, 16)]
    assert max(sizes) - min(sizes) <= 40  # two tasks' worth


@given(answers=st.integers(1, 10**10), size=st.integers(1, 10**9))
def test_there_are_one_to_sixty_four_blocks(answers: int, size: int) -> None:
    assert 1 <= block_count(answers, size) <= 64


@given(answers=st.integers(1, 10**10), size=st.integers(1, 10**9))
def test_a_block_outweighs_its_sum(answers: int, size: int) -> None:
    blocks = block_count(answers, size)
    assert blocks == 1 or answers / blocks >= max(16_384, 8 * size)


@pytest.mark.parametrize("function", [block_count, cut])
def test_the_machine_has_no_say(function: object) -> None:
    assert callable(function)
    assert not {"threads", "cores"} & set(inspect.signature(function).parameters)
