"""Numbers as integers that are added up: exact, and refused if impossible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.securesum.codec import FixedPoint, Packing, decode_total
from sottovoce.securesum.field import P, elements

LOGS = FixedPoint(-14.0, 0.0, 10_000)


@given(st.lists(st.floats(-14, 0), min_size=1, max_size=50))
def test_a_sum_is_off_by_half_a_step_a_worker_at_most(values: list[float]) -> None:
    encoded = LOGS.encode(np.array(values))
    assert encoded.min() >= 0
    assert encoded.max() <= LOGS.greatest
    decoded = LOGS.decode_sum(encoded.sum(keepdims=True), len(values))[0]
    assert abs(decoded - sum(values)) <= len(values) * 0.5 / LOGS.scale + 1e-9


@pytest.mark.parametrize("value", [-14.001, 0.001, np.nan, np.inf, -np.inf])
def test_a_value_out_of_range_is_refused_and_not_clipped(value: float) -> None:
    with pytest.raises(UsageError, match="not from -14 to 0"):
        LOGS.encode(np.array([-1.0, value]))


@pytest.mark.parametrize("total", [-1, 2 * 140_000 + 1])
def test_a_sum_that_the_workers_cannot_reach_is_refused(total: int) -> None:
    with pytest.raises(UsageError, match="2 workers"):
        LOGS.decode_sum(np.array([0, total]), 2)


@pytest.mark.parametrize(
    ("low", "high", "scale"), [(1, 1, 10), (0, np.inf, 10), (0, 1, 0), (0, 1, 1 << 53)]
)
def test_an_impossible_fixed_point_is_refused(low: float, high: float, scale: int) -> None:
    with pytest.raises(UsageError):
        FixedPoint(low, high, scale)


@given(st.data(), st.integers(1, 1 << 40), st.integers(1, 1000), st.integers(1, 20))
def test_packed_sums_are_unpacked_exactly(
    data: st.DataObject, greatest: int, workers: int, count: int
) -> None:
    packing = Packing(greatest, workers)
    value = st.integers(0, greatest) | st.just(greatest)
    rows = data.draw(
        st.lists(st.lists(value, min_size=count, max_size=count), max_size=min(workers, 6))
    )
    packed = sum(map(packing.pack, rows))
    assert packing.unpack(packed, count) == [sum(row[i] for row in rows) for i in range(count)]


@given(st.integers(1, 1 << 40), st.integers(1, 1000), st.integers(2, 20))
def test_all_workers_at_their_most_touch_no_guard_bit(
    greatest: int, workers: int, count: int
) -> None:
    packing = Packing(greatest, workers)
    most = workers * packing.pack([greatest] * count)
    assert packing.unpack(most, count) == [workers * greatest] * count
    assert workers * greatest < 1 << packing.width - 1


def test_a_slot_that_overflowed_is_refused() -> None:
    packing = Packing(greatest=10, workers=3)
    with pytest.raises(UsageError, match="overflowed"):
        packing.unpack(packing.pack([0, 30, 0]) + packing.pack([0, 1, 0]), 3)
    with pytest.raises(UsageError, match=r"does not have \d slots"):
        packing.unpack(packing.pack([1, 1, 1]), 2)
    with pytest.raises(UsageError, match=r"does not have \d slots"):
        packing.unpack(-1, 2)
    for wrong in (-1, 31):
        with pytest.raises(UsageError, match="from 0 to 30"):
            packing.pack([wrong])


def test_a_plaintext_holds_as_many_slots_as_fit() -> None:
    packing = Packing(greatest=10, workers=3)
    assert (packing.width, packing.slots(2047)) == (6, 341)
    with pytest.raises(UsageError):
        Packing(0, 3)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=20))
def test_totals_of_either_sign_are_lifted_from_the_field(totals: list[int]) -> None:
    opened = elements(totals)[:, None]
    lifted = decode_total(opened, 10, least=(-1,), most=(1,), reach=(10**6,))
    assert lifted[:, 0].tolist() == totals


@pytest.mark.parametrize("total", [-24, 36, P // 2, -(P // 2)])
def test_a_total_beyond_workers_and_noise_is_refused(total: int) -> None:
    fine = elements([[-23, 35]])
    assert decode_total(fine, 3, (-1, 0), (1, 5), (20, 20)).tolist() == [[-23, 35]]
    wrong = elements([[total if total < 0 else 0, total if total > 0 else 0]])
    with pytest.raises(SealedRefused, match="3 workers and the noise"):
        decode_total(wrong, 3, (-1, 0), (1, 5), (20, 20))


def test_sums_that_would_wrap_round_the_field_are_refused_beforehand() -> None:
    with pytest.raises(UsageError, match="do not fit the field"):
        decode_total(elements([[0]]), 1 << 50, (0,), (4096,), (0,))
