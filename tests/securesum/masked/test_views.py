"""The server's view of a worker before any opening does not depend on its values.

Its view of a contribution is the values under masks without their keys. Statistically: the words
that are sent for one vector are like those for another; and a control, with the masks removed, in
which the same test does see the difference.
"""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from sottovoce.model.sum_rounds import Integers
from sottovoce.securesum.masked.masks import Masks, Words, masked, words

VIEWS, VALUES = 1000, 40
LOW, HIGH = np.zeros(VALUES, np.int64), np.full(VALUES, 2**62, np.int64)
ALARM = 1e-10
Counts = npt.NDArray[np.int64]


def sent(values: Integers) -> Words:
    """A worker's contributions, many times, each with fresh keys."""
    contents = []
    for _ in range(VIEWS):
        pairs = {peer: os.urandom(32) for peer in (1, 3)}
        contents.append(masked(words(values), os.urandom(32), pairs, 2))
    return np.frombuffer(b"".join(contents), "<u8").reshape(VIEWS, VALUES + 1)


def byte_counts(seen: Words, shift: int) -> Counts:
    """How often each value of one byte occurs."""
    return np.bincount((seen >> np.uint64(shift)).astype(np.int64).ravel() & 255, minlength=256)


def told_apart(one: Words, other: Words) -> bool:
    """Whether the highest or lowest bytes are of different laws: by chance once in 10^10."""
    pvalues = []
    for shift in (0, 56):
        table = np.stack([byte_counts(one, shift), byte_counts(other, shift)])
        pvalues.append(stats.chi2_contingency(table[:, table.any(axis=0)]).pvalue)
    return bool(min(pvalues) < ALARM / 2)


@pytest.mark.statistical
def test_what_is_sent_does_not_depend_on_the_values() -> None:
    assert not told_apart(sent(LOW)[:, :-1], sent(HIGH)[:, :-1])


@pytest.mark.statistical
def test_the_same_test_tells_values_apart_whose_masks_are_off() -> None:
    bare = [np.broadcast_to(words(values), (VIEWS, VALUES + 1)).copy() for values in (LOW, HIGH)]
    assert told_apart(bare[0], bare[1])


@pytest.mark.statistical
def test_the_same_test_tells_values_apart_whose_masks_have_too_few_bits() -> None:
    """The control for masks that are not uniform over the whole ring, but below 2^62."""
    narrow = [
        np.stack([Masks(VALUES).of(os.urandom(32)) >> np.uint64(2) for _ in range(VIEWS)])
        + values.astype(np.uint64)
        for values in (LOW, HIGH)
    ]
    assert told_apart(narrow[0], narrow[1])


@pytest.mark.statistical
def test_what_is_sent_is_uniform() -> None:
    """Chi-square on the highest and the lowest byte: each fails by chance once in 10^10."""
    seen = sent(HIGH)
    for shift in (0, 56):
        assert stats.chisquare(byte_counts(seen, shift)).pvalue > ALARM


def test_masks_of_all_workers_cancel() -> None:
    keys = {(low, high): os.urandom(32) for low in range(1, 5) for high in range(low + 1, 5)}
    own = {number: os.urandom(32) for number in range(1, 5)}
    total = np.zeros(VALUES + 1, np.uint64)
    for number in range(1, 5):
        pairs = {
            peer: keys[min(number, peer), max(number, peer)] for peer in range(1, 5)
            if peer != number
        }  # fmt: skip
        total += np.frombuffer(masked(words(LOW + number), own[number], pairs, number), "<u8")
    for key in own.values():
        total -= Masks(VALUES + 1).of(key)
    assert total.tolist() == [10] * VALUES + [4]
