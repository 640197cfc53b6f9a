"""The committee's arithmetic for rounds of bounded integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.model.sum_rounds import SumSpec
from sottovoce.securesum.committee.simulation import CommitteeSum
from sottovoce.securesum.field import from_bytes, to_bytes

SPEC = SumSpec(values=4, greatest=10**15)


@given(
    rows=st.lists(st.lists(st.integers(0, SPEC.greatest), min_size=4, max_size=4), min_size=1,
                  max_size=5),
    seats=st.sampled_from([(2, 1), (3, 1), (5, 2)]),
)  # fmt: skip
def test_totals_are_the_plain_ones(rows: list[list[int]], seats: tuple[int, int]) -> None:
    vectors = [np.array(row) for row in rows]
    assert np.array_equal(CommitteeSum(*seats)(0, SPEC, vectors), np.sum(vectors, axis=0))


def test_a_round_is_opened_once() -> None:
    committee, vectors = CommitteeSum(), [np.array([1, 2, 3, 4])]
    committee(0, SPEC, vectors)
    committee(1, SPEC, vectors)
    with pytest.raises(SealedRefused, match="the server: round 1 was already opened"):
        committee(1, SPEC, vectors)


def test_a_share_serves_one_round_and_one_worker() -> None:
    committee = CommitteeSum()
    [first, *_] = committee.keyholders
    [share, *_] = committee._contribution(0, 1, np.array([1, 2, 3, 4]))
    with pytest.raises(SealedRefused, match="worker 2: its share is not 4 values"):
        first.open(0, SPEC, {2: share})
    with pytest.raises(SealedRefused, match="worker 1: its share is not 4 values"):
        first.open(1, SPEC, {1: share})
    assert len(first.open(0, SPEC, {1: share})) == 32


def test_a_keyholder_that_opens_something_else_is_seen() -> None:
    committee, vectors = CommitteeSum(), [np.array([1, 2, 3, 4])]
    liar = committee.keyholders[0]
    honest = liar.open

    def lie(*given: object) -> bytes:
        return to_bytes(from_bytes(honest(*given)) + np.uint64(1))  # type: ignore[arg-type]

    liar.open = lie  # type: ignore[assignment]
    with pytest.raises(SealedRefused, match="not of one total"):
        committee(0, SPEC, vectors)


def test_a_worker_that_adds_too_much_is_seen_in_the_total() -> None:
    with pytest.raises(SealedRefused, match="impossible for 1 workers"):
        CommitteeSum()(0, SumSpec(2, 10), [np.array([11, 0])])


def test_sums_that_do_not_fit_the_field_are_refused_before_anything_is_sealed() -> None:
    spec = SumSpec(1, 10**18)
    with pytest.raises(UsageError, match=r"do not fit the committee's field.*lower the scale"):
        CommitteeSum()(0, spec, [np.array([1])] * 3)
