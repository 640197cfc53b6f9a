"""Tests of study `p1-table-2`: the consequences of the printed sizes, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sottovoce_studies.p1.error_changes import Answered
from sottovoce_studies.p1.table_2 import ANSWERED, judge


def test_the_printed_sizes_give_five_answers_each() -> None:
    assert Answered(5, 5) == ANSWERED


def test_numbers_and_shape_cannot_be_checked_and_five_answers_break_the_guarantee(
    as_printed: Callable[..., Any],
) -> None:
    outcome = judge(as_printed("Table 2"), ANSWERED)
    assert outcome.rulings.verdicts == ("cannot be checked", "cannot be checked", "fails")
    assert "1.7 per answer for 5 answers, not 1" in outcome.rulings.guarantee.reason


def test_the_guarantee_holds_for_one_answer(as_printed: Callable[..., Any]) -> None:
    assert judge(as_printed("Table 2"), Answered(1, 1)).rulings.guarantee.verdict == "holds"


def test_the_stand_in_has_no_difference_from_printed_numbers(
    as_printed: Callable[..., Any],
) -> None:
    rows = judge(as_printed("Table 2"), ANSWERED).rows
    assert all(row.get("difference") is None for row in rows)
