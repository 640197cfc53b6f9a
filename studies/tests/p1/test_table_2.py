"""Tests of study `p1-table-2`: the consequences of the printed sizes, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sottovoce_studies.p1.error_changes import Answered
from sottovoce_studies.p1.table_2 import ANSWERED, judge


def test_the_printed_sizes_give_five_answers_each() -> None:
    assert Answered(5, 5) == ANSWERED


def test_five_answers_are_enough_for_it_to_fail(as_printed: Callable[..., Any]) -> None:
    outcome = judge(as_printed("Table 2"), ANSWERED)
    assert outcome.verdict == "fails"
    assert "1.7 per answer, not 1" in outcome.reason
    assert len(outcome.reason) <= 90


def test_the_stand_in_alone_decides_nothing(
    as_printed: Callable[..., Any], monkeypatch: Any
) -> None:
    monkeypatch.setattr("sottovoce_studies.p1.table_2.PAPERS_CLEAN", 0.5 - 0.1992)
    outcome = judge(as_printed("Table 2"), Answered(1, 1))
    assert outcome.verdict == "cannot be checked"


def test_a_row_that_symmetry_forbids_fails_by_itself(as_printed: Callable[..., Any]) -> None:
    outcome = judge(as_printed("Table 2"), Answered(1, 1))
    assert outcome.ruling == "fails: epsilon 0 must be 0.23"
