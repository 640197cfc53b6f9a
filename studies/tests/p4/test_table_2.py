"""Tests of study `p4-table-2`: counts, and contradictions in the printed table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.model import Domain, Reports
from sottovoce_studies.p4.crowds import PLACES, public, summary
from sottovoce_studies.p4.table_2 import (
    CONTRADICTED,
    STUDY,
    contradicts,
    counted_sparsity,
    judge,
    meant_answers,
)
from sottovoce_studies.paper_tables import PrintedTable, printed

PAPER = printed("P4 Table II")
ANSWERED = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 1, 1]])
"""Three workers, four tasks."""


class Small:
    """All answers are 1, except that of the first worker to the first task; two truths are
    known.
    """

    def draw(self, seed: int) -> tuple[Reports, Any]:
        worker, task = np.nonzero(ANSWERED)
        value = np.where((worker == 0) & (task == 0), 0, 1)
        domain = Domain.ordinal(range(3))
        return Reports.of(worker, task, value, domain=domain), np.array([1, -1, -1, 1])


def table(*rows: tuple[Any, ...]) -> PrintedTable:
    return PrintedTable("here", PAPER.columns, rows)


def seen(row: tuple[Any, ...]) -> dict[str, Any]:
    """A summary that agrees with a printed row."""
    return dict(zip(PAPER.columns[1:], row[1:], strict=True)) | {"answered": [0.5] * (PLACES + 1)}


RIGHT = ("Web", 3, 4, 7, 0.75, 0, 0.416667)
WRONG = ("AdultContent", 3, 4, 7, 0.75, 0, 0.42)


def test_a_summary_counts_what_each_worker_leaves_out() -> None:
    found = summary(Small())
    assert (found["workers"], found["tasks"], found["answers"]) == (3, 4, 7)
    assert (found["maximum sparsity"], found["minimum sparsity"]) == (0.75, 0)
    assert found["average sparsity"] == pytest.approx((0 + 0.75 + 0.5) / 3)
    assert (found["answered"][0], found["answered"][-1]) == (0.25, 1)


def test_a_summary_counts_answers_truths_and_what_is_right() -> None:
    found = summary(Small())
    assert found["answer shares"] == pytest.approx([1 / 7, 6 / 7, 0])
    assert (found["truth shares"], found["truths"]) == ([0, 1, 0], 2)
    assert (found["checked"], found["correct"]) == (4, 3)
    assert found["vote shares"] == [0.25, 0.75, 0]  # the first task ties: the smallest answer


@pytest.mark.parametrize(
    ("dataset", "sparsity", "answers"),
    [("Web", 0.872051, 1_770), ("AdultContent", 0.990141, 57_690)],
)
def test_the_printed_means_are_not_those_of_the_printed_counts(
    dataset: str, sparsity: float, answers: int
) -> None:
    assert counted_sparsity(PAPER, dataset) == pytest.approx(sparsity, abs=5e-7)
    assert meant_answers(PAPER, dataset) == answers
    assert contradicts(PAPER, dataset)


def test_rounding_is_no_contradiction() -> None:
    assert not contradicts(table(RIGHT), "Web")


def test_the_printed_table_fails_without_a_dataset_too() -> None:
    outcome = judge(PAPER, {})
    assert outcome.ruling == f"fails: {CONTRADICTED}"
    assert outcome.charts


def test_one_contradiction_is_named() -> None:
    outcome = judge(table(RIGHT, WRONG), {"Web": seen(RIGHT)})
    assert outcome.verdict == "fails"
    assert "average of AdultContent" in outcome.reason


def test_a_table_that_agrees_with_itself_is_held_against_the_data() -> None:
    paper = table(RIGHT)
    assert judge(paper, {"Web": seen(RIGHT)}).verdict == "holds"
    assert judge(paper, {}).verdict == "cannot be checked"
    other = {**seen(RIGHT), "answers": 8}
    assert judge(paper, {"Web": other}).verdict == "holds in shape"


def test_the_public_adult_content_is_the_paper_s_but_for_three_answers(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    found = summary(public()["AdultContent"])
    for column in ("workers", "tasks"):
        assert found[column] == PAPER.number(column, "AdultContent")
    assert found["answers"] == PAPER.number("answers", "AdultContent") + 3
    for column in ("maximum sparsity", "minimum sparsity"):
        assert found[column] == pytest.approx(PAPER.number(column, "AdultContent"), abs=5e-7)


def test_datasets_that_are_not_there_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert public() == {}
    assert not STUDY.plan("quick", 1).cells
