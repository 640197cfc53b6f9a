"""Between tables and codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.codes import (
    answer_cells,
    answer_codes,
    recoded,
    report_cells,
    report_domain,
    report_table,
    written_reports,
)
from sottovoce.model import Alphabet, Cells, Domain, Grid, ReportCodes, Reports

LABELS = Domain.categorical(["a", "b", "c"])
NUMBERS = Domain.numeric(0, 10, 0.1)


def cells_of(code: ReportCodes) -> Cells:
    rows = np.arange(len(code), dtype=np.int32)
    names = np.array([f"n{i}" for i in rows], object)
    return Cells(rows, rows, code, names, names)


CASES: list[tuple[Alphabet, Domain, ReportCodes]] = [
    (Alphabet.LABELS, LABELS, np.array([2, 0, 1], np.int32)),
    (Alphabet.LABELS_OR_NULL, LABELS, np.array([3, 0, 1], np.int32)),
    (Alphabet.SUBSETS, LABELS, np.array([0b101, 0b010, 1 << 63], np.uint64)),
    (Alphabet.POINTS, NUMBERS, np.array([-1400, 3, 1500, 100], np.int32)),
    (Alphabet.SIDES, NUMBERS, np.array([0, 1, 1], np.int32)),
    (Alphabet.SIDES_OR_NULL, NUMBERS, np.array([0, 1, 2], np.int32)),
    (Alphabet.ENDS, NUMBERS, np.array([1, 0], np.int32)),
]


@pytest.mark.parametrize(("alphabet", "domain", "code"), CASES, ids=lambda case: str(case)[:20])
def test_reports_come_back_from_their_table(
    alphabet: Alphabet, domain: Domain, code: ReportCodes
) -> None:
    table = report_table(cells_of(code), alphabet, domain, simulated=False)
    np.testing.assert_array_equal(report_cells(table, alphabet, domain).code, code)


@pytest.mark.parametrize(("alphabet", "domain", "code"), CASES, ids=lambda case: str(case)[:20])
def test_what_is_written_for_a_submission_is_what_the_table_holds(
    alphabet: Alphabet, domain: Domain, code: ReportCodes
) -> None:
    table = report_table(cells_of(code), alphabet, domain, simulated=False)
    held = (
        table.value.tolist()
        if table.domain.is_numeric
        else [table.domain.labels[place] for place in table.value]
    )
    assert written_reports(code, alphabet, domain) == held


@given(st.integers(-(10**6), 10**6), st.integers(1, 999), st.lists(st.integers(-(10**6), 10**6)))
def test_points_beyond_the_ends_come_back(low: int, step: int, codes: list[int]) -> None:
    domain = Domain.numeric(low / 1000, (low + 100 * step) / 1000, step / 1000)
    code = np.array([0, *codes], np.int32)
    table = report_table(cells_of(code), Alphabet.POINTS, domain, simulated=False)
    np.testing.assert_array_equal(report_cells(table, Alphabet.POINTS, domain).code, code)


def test_a_number_off_the_grid_is_no_report() -> None:
    table = Reports.of([0, 1], [0, 0], [0.3, 0.35], domain=Domain.numeric())
    with pytest.raises(DataError, match=r"report 2 is not on the policy's grid of steps of 0\.1"):
        report_cells(table, Alphabet.POINTS, NUMBERS)


def test_a_report_too_large_for_a_code_is_refused() -> None:
    table = Reports.of([0], [0], [1e12], domain=Domain.numeric())
    with pytest.raises(DataError, match="not made under this policy"):
        report_cells(table, Alphabet.POINTS, NUMBERS)


@pytest.mark.parametrize("text", ["a", "", "0  1", "64", "-1", "0,1", "\u0663", "1.0"])
def test_a_text_that_is_no_subset_is_refused(text: str) -> None:
    table = Reports.of([0], [0], [0], domain=Domain.categorical([text]))
    with pytest.raises(DataError, match="is not a subset"):
        report_cells(table, Alphabet.SUBSETS, LABELS)


def test_answers_are_coded_by_the_policys_order_of_labels() -> None:
    answers = Reports.of([0, 1], [0, 0], [0, 1], domain=Domain.categorical(["c", "a"]))
    assert answer_cells(answers, LABELS).code.tolist() == [2, 0]


@pytest.mark.parametrize("labels", [["true", "false"], ["1", "0"]])
def test_booleans_and_whole_fractions_are_labels_like_their_text(labels: list[str]) -> None:
    kind: type = bool if labels[0] == "true" else float
    found = Domain.categorical([kind(1), kind(0)])
    answers = Reports.of([0, 1], [0, 0], [0, 1], domain=found)
    assert answer_cells(answers, Domain.categorical(labels)).code.tolist() == [0, 1]
    assert answer_codes([kind(1), kind(0)], Domain.categorical(labels)).tolist() == [0, 1]


def test_an_unknown_label_is_refused_by_its_row_and_not_quoted() -> None:
    answers = Reports.of([0, 1], [0, 0], [0, 1], domain=Domain.categorical(["a", "CANARY"]))
    with pytest.raises(DataError, match=r"^row 2: answer 2 is not one of the labels") as error:
        answer_cells(answers, LABELS)
    assert "CANARY" not in str(error.value)


@pytest.mark.parametrize("wrong", [["a", "CANARY"], [["CANARY"]]])
def test_an_unknown_answer_of_a_submission_is_not_quoted(wrong: list[Any]) -> None:
    with pytest.raises(DataError) as error:
        answer_codes(wrong, LABELS)
    assert "CANARY" not in str(error.value)


def test_text_where_numbers_are_asked_for_is_not_quoted() -> None:
    with pytest.raises(DataError, match="is not a number") as error:
        answer_codes([1.0, "CANARY"], NUMBERS)
    assert "CANARY" not in str(error.value)


def test_no_answer_is_null() -> None:
    assert answer_codes([None, "b"], LABELS).tolist() == [-1, 1]
    assert answer_codes([0.2, None], NUMBERS).tolist() == [2, -1]


def test_numbers_are_no_labels() -> None:
    answers = Reports.of([0], [0], [1.0], domain=Domain.numeric())
    with pytest.raises(UsageError, match="the answers are numbers"):
        answer_cells(answers, LABELS)


def test_labels_that_are_numbers_are_points_of_a_numeric_policy() -> None:
    answers = Reports.of([0, 1], [0, 0], [0, 1], domain=Domain.ordinal([3, 7]))
    assert answer_cells(answers, NUMBERS).code.tolist() == [30, 70]


def test_an_ordinal_policy_has_a_grid_of_its_labels() -> None:
    order = Domain.ordinal([1, 2, 3, 4, 5])
    assert report_domain(Alphabet.POINTS, order) == Domain.numeric()
    assert Grid.over(order).values([0, 4, 6]).tolist() == [1.0, 5.0, 7.0]


def labelled(value: list[int], domain: Domain) -> Reports:
    codes = np.array(value, np.int32)
    cells = cells_of(codes)
    return Reports(cells.worker, cells.task, codes, cells.workers, cells.tasks, domain)


def test_reports_read_without_their_policy_get_its_codes() -> None:
    ends = report_domain(Alphabet.ENDS, NUMBERS)
    read = labelled([0, 1, 1], Domain.categorical(["high", "low"]))
    assert recoded(read, ends).domain == ends
    assert recoded(read, ends).value.tolist() == [1, 0, 0]


def test_reports_of_another_policy_are_refused() -> None:
    with pytest.raises(DataError, match="report 2 is not one of the labels"):
        recoded(labelled([0, 1], Domain.categorical(["a", "z"])), LABELS)
    with pytest.raises(UsageError, match="the policy's reports are numeric"):
        recoded(labelled([0, 1], LABELS), Domain.numeric())


def test_ordered_labels_are_numbers_where_numbers_are_reported() -> None:
    read = labelled([0, 1], Domain.ordinal([3, 7]))
    assert recoded(read, Domain.numeric()).value.tolist() == [3.0, 7.0]
