"""Tests of study `p4-table-2`: counts, and contradictions in the printed table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.model import Domain, Reports
from sottovoce_studies.p4.crowds import PLACES, public, search_words, summary
from sottovoce_studies.p4.table_2 import (
    STUDY,
    contradicts,
    counted_sparsity,
    judge,
    meant_answers,
)
from sottovoce_studies.paper_tables import PrintedTable, printed
from sottovoce_studies.study import Outcome

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
    steps = {"answered": [0.5] * (PLACES + 1), "truths": row[2]}
    return dict(zip(PAPER.columns[1:], row[1:], strict=True)) | steps


RIGHT = ("Web", 3, 4, 7, 0.75, 0, 0.416667)
SPARSE = ("AdultContent", 10, 1_000, 50, 0.999, 0.9, 0.995)


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


def judged(web: dict[str, Any], adult: dict[str, Any], *rows: tuple[Any, ...]) -> Outcome:
    return judge(table(*(rows or (RIGHT, SPARSE))), {"Web": web, "AdultContent": adult})


def test_data_as_printed_hold_and_are_not_very_sparse_if_most_cells_have_answers() -> None:
    outcome = judged(seen(RIGHT), seen(SPARSE))
    assert outcome.rulings.verdicts == ("holds", "partly", "not claimed")
    assert "both are very sparse (Web 0.417" in outcome.rulings.shape.reason


def test_a_count_that_the_printed_sparsity_refutes_is_a_misprint() -> None:
    misprint = (*RIGHT[:3], 77, *RIGHT[4:])
    outcome = judged(seen(RIGHT), seen(SPARSE), misprint, SPARSE)
    assert outcome.rulings.numbers.verdict == "holds"
    assert "77 answers is a misprint of 7" in outcome.claims["P4-VI.A-2"].reason


def test_a_number_that_differs_for_another_reason_is_not_met() -> None:
    outcome = judged({**seen(RIGHT), "answers": 8}, seen(SPARSE))
    assert outcome.rulings.numbers.verdict == "partly"
    assert "Web 5 of 6 (answers differ)" in outcome.rulings.numbers.reason


def test_data_unlike_the_printed_ones_fail() -> None:
    other = dict.fromkeys(PAPER.columns[1:], 0.123) | {"answered": [0.5] * (PLACES + 1)}
    other |= {"truths": 1, "tasks": 5}
    assert judged(other, other).rulings.numbers.verdict == "fails"


def test_truths_that_are_not_all_public_are_told() -> None:
    ruling = judged(seen(RIGHT), {**seen(SPARSE), "truths": 30}).claims["P4-VI.A-5"]
    assert (ruling.verdict, "AdultContent 30 of 1,000" in ruling.reason) == ("partly", True)


def test_without_a_dataset_the_printed_table_is_shown_and_nothing_is_said() -> None:
    outcome = judge(PAPER, {})
    assert outcome.rulings.verdicts == ("cannot be checked", "cannot be checked", "not claimed")
    assert "1,770" in outcome.explanation
    assert outcome.charts


def test_web_has_all_six_statistics_with_the_lost_digit(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    found = summary(public()["Web"])
    for column in ("workers", "tasks"):
        assert found[column] == PAPER.number(column, "Web")
    assert found["answers"] == meant_answers(PAPER, "Web") == 1_770
    for column in ("maximum sparsity", "minimum sparsity", "average sparsity"):
        assert found[column] == pytest.approx(PAPER.number(column, "Web"), abs=5e-7)


def test_web_is_found_by_its_sizes(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    assert "1 exact (wsd)" in search_words(34, 177)


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
