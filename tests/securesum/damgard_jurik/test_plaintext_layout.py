from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.model.sum_rounds import SumSpec
from sottovoce.securesum.damgard_jurik.contributions import PlaintextLayout


@given(
    values=st.integers(1, 40), greatest=st.integers(1, 10**12), workers=st.integers(1, 50),
    bits=st.integers(64, 600), data=st.data(),
)  # fmt: skip
def test_sums_of_packed_values_are_packed_sums(
    values: int, greatest: int, workers: int, bits: int, data: st.DataObject
) -> None:
    slots = PlaintextLayout(SumSpec(values, greatest), workers, bits)
    among = data.draw(st.integers(1, min(workers, 5)))
    row = st.lists(st.integers(0, greatest), min_size=values, max_size=values)
    vectors = [np.array(data.draw(row), np.int64) for _ in range(among)]
    packed = [slots.pack(each) for each in vectors]
    assert all(0 <= each < 1 << bits for row in packed for each in row)
    sums = [sum(column) for column in zip(*packed, strict=True)]
    assert len(sums) == slots.messages
    opened = slots.unpack(sums, among)
    assert opened is not None
    assert np.array_equal(opened, np.sum(vectors, axis=0))


def _slots() -> PlaintextLayout:
    return PlaintextLayout(SumSpec(values=5, greatest=10), workers=4, bits=32)


def test_as_many_values_go_into_a_message_as_fit() -> None:
    assert (_slots().tally.width, _slots().values.width) == (4, 7)
    assert (_slots().each, _slots().messages) == (4, 2)


@pytest.mark.parametrize("tally", [0, 1, 3, 4])
def test_another_tally_than_that_of_the_workers_is_seen(tally: int) -> None:
    assert _slots().unpack([2, 2], 2) is not None
    assert _slots().unpack([2, tally], 2) is None


@pytest.mark.parametrize("value", [21, 41, 127])
def test_more_than_the_workers_can_add_up_to_is_seen(value: int) -> None:
    assert _slots().unpack([2 | 20 << 4, 2], 2) is not None
    assert _slots().unpack([2 | value << 4, 2], 2) is None


def test_bits_beyond_the_last_slot_are_seen() -> None:
    assert _slots().unpack([2, 2 | 1 << 11], 2) is None


def test_totals_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="more than 63 bits: lower the scale"):
        PlaintextLayout(SumSpec(1, 1 << 60), 8, 1023)


def test_a_message_without_room_is_refused() -> None:
    with pytest.raises(UsageError, match="no room for one value"):
        PlaintextLayout(SumSpec(1, 1 << 40), 8, 40)
