"""Ballots: every answer has one, nothing else passes, and none exceeds the noise's sensitivity."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.mechanisms.sealed_sum import Layout, SealedSum
from sottovoce.model import NULL
from sottovoce.securesum.ballot import Ballot
from sottovoce.securesum.field import P, add, elements
from sottovoce.securesum.plain import PlainSum
from sottovoce.securesum.shamir import interpolate, share

SIZES = {
    Layout.VOTES: (2, 3, 4),
    Layout.SUM: (2, 4, 6, 62, 64, 4096),
    Layout.HISTOGRAM: (3, 8),
}
BALLOTS = [
    Ballot(layout, size, hidden)
    for layout, sizes in SIZES.items()
    for size in sizes
    for hidden in (False, True)
]
SMALL = [ballot for ballot in BALLOTS if ballot.bits <= 9]


def _name(ballot: object) -> str:
    assert isinstance(ballot, Ballot)
    return f"{ballot.layout} {ballot.size}{' hidden' if ballot.hidden else ''}"


EACH = pytest.mark.parametrize("ballot", BALLOTS, ids=_name)


def _all_codes(ballot: Ballot) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.arange(NULL if ballot.hidden else 0, ballot.codes)


@EACH
def test_every_answer_becomes_bits_that_meet_all_constraints(ballot: Ballot) -> None:
    bits = ballot.encode(_all_codes(ballot))
    assert bits.shape == (len(_all_codes(ballot)), ballot.bits)
    assert set(np.unique(bits)) <= {0, 1}
    constraints = ballot.constraint_values(bits.astype(np.uint64))
    assert constraints.shape == (len(bits), ballot.constraints)
    assert not constraints.any()


@pytest.mark.parametrize("ballot", SMALL, ids=_name)
def test_bits_that_meet_all_constraints_say_what_some_answer_says(ballot: Ballot) -> None:
    """All 0/1 vectors: a cheat that passes has done nothing that an answer could not do."""
    bits = np.array(list(product((0, 1), repeat=ballot.bits)), np.uint64)
    passed = ~ballot.constraint_values(bits).any(axis=-1)
    said = {tuple(row) for row in ballot.slot_values(bits[passed]).tolist()}
    honest = ballot.slot_values(ballot.encode(_all_codes(ballot)).astype(np.uint64))
    assert said == {tuple(row) for row in honest.tolist()}


@EACH
def test_values_other_than_bits_fail(ballot: Ballot) -> None:
    bits = ballot.encode(_all_codes(ballot)).astype(np.uint64)
    for wrong in (2, P - 1, (P + 1) // 2):
        forged = bits.copy()
        forged[:, 0] = wrong
        assert ballot.constraint_values(forged)[:, 0].all()


@EACH
def test_slots_are_those_of_the_specification(ballot: Ballot) -> None:
    codes = _all_codes(ballot)
    slots = ballot.slot_values(ballot.encode(codes).astype(np.uint64))
    expected = PlainSum(ballot, 1).slot_values(codes)
    assert np.array_equal(slots, elements(expected))
    assert tuple(expected.min(axis=0)) == ballot.least
    assert tuple(expected.max(axis=0)) == ballot.most


@EACH
def test_another_answer_moves_the_slots_by_no_more_than_the_noise_covers(ballot: Ballot) -> None:
    """Σ λ |change| ≤ ε over all pairs of answers, and some pair attains it: P(z) ∝ e^(−λ|z|)."""
    epsilon = Fraction(3, 2)
    sealed = SealedSum(ballot.layout, ballot.size, ballot.hidden, epsilon)
    assert Ballot.of(sealed) == ballot
    values = PlainSum(ballot, 1).slot_values(_all_codes(ballot))
    assert len(sealed.scales) == values.shape[1] == ballot.slots
    common = 2 * ballot.size * epsilon.denominator
    decays = np.array([int(scale * common) for scale in sealed.scales])
    assert [Fraction(int(decay), common) for decay in decays] == list(sealed.scales)
    worst = max(int((np.abs(values - row) @ decays).max()) for row in values)
    assert Fraction(worst, common) == epsilon


@EACH
def test_not_answering_adds_nothing(ballot: Ballot) -> None:
    if not ballot.hidden:
        with pytest.raises(UsageError, match="not a code from 0"):
            ballot.encode(np.array([NULL]))
        return
    assert not ballot.slot_values(ballot.encode(np.array([NULL])).astype(np.uint64)).any()


@EACH
def test_shares_of_bits_give_shares_of_slots_and_constraints(ballot: Ballot) -> None:
    codes = _all_codes(ballot)[-3:]
    bits = ballot.encode(codes).astype(np.uint64)
    shares = share(bits.ravel(), 1, 3).reshape(3, *bits.shape)
    slots = interpolate([1, 3], ballot.slot_values(shares)[[0, 2]])
    assert np.array_equal(slots, ballot.slot_values(bits))
    assert not interpolate([1, 2, 3], ballot.constraint_values(shares)).any()
    forged = add(shares, np.array([1, 0] + [0] * (ballot.bits - 2), np.uint64)[: ballot.bits])
    assert interpolate([1, 2, 3], ballot.constraint_values(forged)).any()


@EACH
def test_codes_that_no_answer_has_are_refused_without_being_quoted(ballot: Ballot) -> None:
    for wrong in (-2, ballot.codes, 987654321):
        with pytest.raises(UsageError) as refusal:
            ballot.encode(np.array([0, wrong, 0]))
        assert "987654321" not in str(refusal.value)
    shapeless: Any
    for shapeless in (np.zeros((1, 1), np.int64), np.zeros(1)):
        with pytest.raises(UsageError, match="one code for each task"):
            ballot.encode(shapeless)


def test_a_number_is_written_as_the_rule_says() -> None:
    ballot = Ballot(Layout.SUM, 10, hidden=False)
    assert ballot.weights == (1, 2, 4, 3)
    assert ballot.encode(np.array([7, 8, 10])).tolist() == [
        [1, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 1],
    ]  # fmt: skip
