"""The specification, against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import NULL
from sottovoce.securesum.ballot import Ballot
from sottovoce.securesum.plain import PlainSum

TASKS = 4
answers = st.lists(st.tuples(st.integers(0, TASKS - 1), st.integers(NULL, 6)), max_size=40)


def _total(
    layout: Layout, size: int, hidden: bool, given: list[tuple[int, int]]
) -> list[list[int]]:
    task, code = np.array(given, np.int64).reshape(-1, 2).T
    plain = PlainSum(Ballot(layout, size, hidden), TASKS)
    found: list[list[int]] = plain.total(task, code).tolist()
    return found


@given(answers)
def test_votes_and_histograms_count_answers(rows: list[tuple[int, int]]) -> None:
    counts = Counter(rows)
    expected = [[counts[task, code] for code in range(7)] for task in range(TASKS)]
    assert _total(Layout.VOTES, 7, True, rows) == expected
    assert _total(Layout.HISTOGRAM, 7, True, rows) == expected


@given(answers)
def test_hidden_sums_are_of_offsets_from_the_middle_and_count_who_answered(
    rows: list[tuple[int, int]],
) -> None:
    of_task = [[code for at, code in rows if at == task and code != NULL] for task in range(TASKS)]
    expected = [[sum(code - 3 for code in codes), len(codes)] for codes in of_task]
    assert _total(Layout.SUM, 6, True, rows) == expected


@given(st.lists(st.tuples(st.integers(0, TASKS - 1), st.integers(NULL, 1)), max_size=40))
def test_hidden_votes_of_two_are_the_lead_of_yes_and_how_many_answered(
    rows: list[tuple[int, int]],
) -> None:
    counts = Counter(rows)
    expected = [
        [counts[task, 1] - counts[task, 0], counts[task, 1] + counts[task, 0]]
        for task in range(TASKS)
    ]
    assert _total(Layout.VOTES, 2, True, rows) == expected


def test_sums_in_the_open_are_of_the_codes_themselves() -> None:
    rows = [(0, 1), (0, 1), (3, 0)]
    assert _total(Layout.VOTES, 2, False, rows) == [[2], [0], [0], [0]]
    assert _total(Layout.SUM, 4, False, [(1, 4), (1, 3)]) == [[0], [7], [0], [0]]


def test_noise_is_added_to_every_slot() -> None:
    plain = PlainSum(Ballot(Layout.SUM, 4, hidden=True), 2)
    total = plain.total(np.array([0]), np.array([4]), noise=np.array([[1, -2], [3, 4]]))
    assert total.tolist() == [[3, -1], [3, 4]]


@pytest.mark.parametrize(("task", "code"), [([4], [0]), ([-1], [0]), ([0, 1], [0]), ([0], [7])])
def test_answers_that_are_to_nothing_are_refused(task: list[int], code: list[int]) -> None:
    plain = PlainSum(Ballot(Layout.VOTES, 7, hidden=False), TASKS)
    with pytest.raises(UsageError):
        plain.total(np.array(task), np.array(code))
    with pytest.raises(UsageError, match="at least one task"):
        PlainSum(plain.ballot, 0)
