"""Reports: a table is valid from birth, or is not born."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Reading, Reports

AB = Domain.categorical("ab")


def of(worker: Any, task: Any, value: Any, domain: Domain = AB, **names: Any) -> Reports:
    return Reports.of(worker, task, value, domain=domain, **names)


def test_columns_must_have_one_length() -> None:
    with pytest.raises(DataError, match="worker, task and value must be columns of one length"):
        of([0, 1], [0], [0, 1])


def test_columns_must_be_columns() -> None:
    with pytest.raises(DataError, match="must be columns of one length"):
        of([[0]], [[0]], [[0]])


def test_a_table_needs_rows() -> None:
    with pytest.raises(DataError, match="the table has no rows"):
        of([], [], [])


@pytest.mark.parametrize(
    ("column", "rows"), [("worker", ([9], [0], [0])), ("task", ([0], [9], [0]))]
)
def test_codes_must_be_in_their_vocabulary(column: str, rows: Any) -> None:
    with pytest.raises(DataError, match=f"{column} code 9 is outside its vocabulary of 2 names"):
        of(*rows, workers=["x", "y"], tasks=["p", "q"])


def test_labels_must_be_in_the_domain() -> None:
    with pytest.raises(DataError, match="value code 2 is outside its vocabulary of 2 names"):
        of([0], [0], [2])


def test_codes_are_not_negative() -> None:
    with pytest.raises(DataError, match="worker code -1 is negative"):
        of([0, -1], [0, 0], [0, 0])


def test_codes_are_integers() -> None:
    with pytest.raises(DataError, match="worker codes must be integers, not float64"):
        of([0.5], [0], [0])


def test_codes_have_an_end() -> None:
    with pytest.raises(UsageError, match=r"task codes go up to 2\^31 - 1, not 4,294,967,296"):
        of([0], [2**32], [0])


def test_codes_do_not_wrap_round() -> None:
    with pytest.raises((DataError, UsageError)):
        of([-(2**32)], [0], [0])


def test_columns_have_four_bytes() -> None:
    column = np.zeros(1, np.int64)
    with pytest.raises(DataError, match="worker must be 4-byte codes, not int64"):
        Reports(column, column, column, column, column, AB)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_are_finite(value: float) -> None:
    with pytest.raises(DataError, match="there is a NaN or an infinity among them"):
        of([0, 0], [0, 1], [1.0, value], Domain.numeric())


def test_numbers_are_within_their_range() -> None:
    with pytest.raises(DataError, match=r"values from 1 to 12 leave the range 0..10"):
        of([0, 0], [0, 1], [1, 12], Domain.numeric(0, 10))


def test_vocabularies_not_given_are_counted() -> None:
    reports = of([0, 2], [1, 0], [0, 1])
    assert (reports.workers.tolist(), reports.tasks.tolist()) == ([0, 1, 2], [0, 1])


def test_ordinal_labels_become_the_numbers_they_stand_for() -> None:
    numbers = of([0, 0], [0, 1], [2, 0], Domain.ordinal([1, 2, 10])).as_numbers()
    assert numbers.value.tolist() == [10, 1]
    assert numbers.domain == Domain.numeric(1, 10)


def test_numbers_stay_the_numbers_they_are() -> None:
    reports = of([0], [0], [1.5], Domain.numeric())
    assert reports.as_numbers() is reports


def test_one_label_becomes_a_range_with_room() -> None:
    domain = of([0], [0], [0], Domain.ordinal([5])).as_numbers().domain
    assert domain.low == 5.0 < domain.high


def test_knows_its_length_and_its_labels() -> None:
    reports = of([0, 1, 1], [0, 0, 1], [0, 1, 1])
    assert (len(reports), reports.labels) == (3, 2)


def test_reading_that_changed_nothing_says_nothing() -> None:
    assert Reading("a.csv", 10).sentences() == []


@pytest.mark.parametrize(
    ("repeats", "fate"),
    [
        ("first", "kept the first of each"),
        ("last", "kept the last of each"),
        ("keep", "kept them all"),
    ],
)
def test_reading_says_what_became_of_repeated_pairs(repeats: Any, fate: str) -> None:
    reading = Reading("a.csv", 30_319, repeated=12_590, contradicting=1_558, repeats=repeats)
    assert reading.sentences() == [
        f"12,590 of 30,319 rows repeat a (worker, task) pair: {fate}; "
        "1,558 pairs contradict themselves"
    ]


def test_reading_says_why_rows_were_dropped() -> None:
    reading = Reading("a.csv", 10, dropped={"no worker": 2, "no answer": 1})
    assert reading.sentences() == [
        "2 of 10 rows dropped: no worker",
        "1 of 10 rows dropped: no answer",
    ]
