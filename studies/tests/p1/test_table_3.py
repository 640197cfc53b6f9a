"""Tests of study `p1-table-3`: the verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sottovoce_studies.p1.error_changes import Answered
from sottovoce_studies.p1.table_3 import STUDY, judge

ONE = Answered(1, 1)
MANY = Answered(104, 1834)
DUE = {"two-layer TD": 0.05, "one-layer TD": 0.1}


def test_two_layers_keep_their_epsilon_for_one_answer_only() -> None:
    assert ONE.true_epsilon(1.0) == pytest.approx(1.0)
    assert not ONE.more_than(1.0)
    assert MANY.true_epsilon(1.0) == pytest.approx(4.644, abs=1e-3)
    assert MANY.more_than(1.0)


def test_workers_with_as_many_answers_have_one_row() -> None:
    assert [row["answers"] for row in Answered(5, 5).rows("x", [1.0])] == [5]
    assert [row["worker"] for row in MANY.rows("x", [1.0, 0.5])] == ["most", "median"] * 2


def test_it_fails_where_workers_gave_many_answers(as_printed: Callable[..., Any]) -> None:
    outcome = judge(as_printed("Table 3"), MANY)
    assert outcome.verdict == "fails"
    assert outcome.reason.startswith("two layers have epsilon 4.6 per answer, not 1")
    assert len(outcome.reason) <= 90


def test_a_row_that_symmetry_forbids_fails_by_itself(as_printed: Callable[..., Any]) -> None:
    outcome = judge(as_printed("Table 3"), ONE)
    assert outcome.ruling == "fails: at epsilon 0 it must be 0.26, not 0.179"


def test_it_fails_where_two_layers_do_worse(as_printed: Callable[..., Any]) -> None:
    outcome = judge(as_printed("Table 3", {"one-layer TD": 0.01}), ONE)
    assert outcome.reason.startswith("TD is worse with two layers at epsilon 1")


def test_printed_numbers_that_are_met_would_hold(
    as_printed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce_studies.p1.table_3.PAPERS_CLEAN", 0.5 - 0.1793)
    assert judge(as_printed("Table 3"), ONE).verdict == "holds"
    assert judge(as_printed("Table 3", {"two-layer MV": 0.5}), ONE).verdict == "holds in shape"


def test_without_the_dataset_nothing_is_judged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert STUDY.run("quick").verdict == "cannot be checked"
