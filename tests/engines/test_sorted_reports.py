"""The layout: a stable sort by task, and codes as narrow as they can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.engines import LocalEngine
from sottovoce.engines.local import arrange
from sottovoce.inference.steps.votes import LabelCounts, vote_shares
from sottovoce.model import Domain, LabelPart, NumberPart, Reports, labels_of, numbers_of

Row = tuple[int, int, int]
ROWS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=40
)


def table(rows: list[Row], *, numeric: bool = False) -> Reports:
    worker, task, value = zip(*rows, strict=True)
    domain = Domain.numeric() if numeric else Domain.categorical("abc")
    names: dict[str, Any] = {"workers": np.arange(7), "tasks": np.arange(10)}
    return Reports.of(worker, task, value, domain=domain, **names)


def by_task(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row[1])


@pytest.mark.parametrize("use_kernels", [True, False])
@settings(max_examples=50, deadline=None)
@given(rows=ROWS)
def test_labels_lie_by_task_and_otherwise_in_order(use_kernels: bool, rows: list[Row]) -> None:
    part = labels_of(arrange(table(rows), use_kernels=use_kernels).between(0, 10))
    worker, label = np.divmod(part.report, 3)
    found = zip(worker.tolist(), part.task.tolist(), label.tolist(), strict=True)
    assert list(found) == by_task(rows)


@pytest.mark.parametrize("use_kernels", [True, False])
@settings(max_examples=50, deadline=None)
@given(rows=ROWS)
def test_numbers_lie_by_task_and_otherwise_in_order(use_kernels: bool, rows: list[Row]) -> None:
    part = numbers_of(arrange(table(rows, numeric=True), use_kernels=use_kernels).between(0, 10))
    columns = (part.reporters.tolist(), part.task.tolist(), part.values.tolist())
    assert list(zip(*columns, strict=True)) == by_task(rows)


@pytest.mark.parametrize("use_kernels", [True, False])
def test_a_part_holds_the_answers_of_its_tasks_only(use_kernels: bool) -> None:
    rows = [(0, 5, 1), (1, 2, 0), (2, 5, 2), (3, 7, 1), (4, 5, 0)]
    part = arrange(table(rows), use_kernels=use_kernels).between(5, 7)
    assert isinstance(part, LabelPart)
    assert (part.first, part.tasks) == (5, 2)
    assert part.report.tolist() == [1, 8, 12]
    assert part.task.tolist() == [0, 0, 0]


def test_labels_take_four_bytes_an_answer() -> None:
    part = labels_of(arrange(table([(0, 0, 1)]), use_kernels=False).between(0, 10))
    assert part.coded.dtype == np.uint32


def names_without_memory(size: int) -> Any:
    """A vocabulary of very many equal names that takes no memory."""
    return np.lib.stride_tricks.as_strided(np.zeros(1, np.int64), (size,), (0,))


def huge(workers: int, labels: int, worker: list[int], value: list[int]) -> Reports:
    domain = Domain.categorical(range(labels))
    tasks = list(range(len(worker)))
    vocabulary = names_without_memory(workers)
    return Reports.of(worker, tasks, value, domain=domain, workers=vocabulary)


@pytest.mark.parametrize("use_kernels", [True, False])
def test_codes_that_need_it_take_eight_bytes(use_kernels: bool) -> None:
    last = 2**31 - 1
    part = labels_of(
        arrange(huge(2**31, 100, [last, 0], [99, 1]), use_kernels=use_kernels).between(0, 2)
    )
    assert part.coded.dtype == np.int64
    assert part.report.tolist() == [last * 100 + 99, 1]


@pytest.mark.parametrize("use_kernels", [True, False])
@pytest.mark.parametrize("workers", [2**31 - 1, 2**31])
def test_codes_at_the_edge_of_four_bytes_are_exact(use_kernels: bool, workers: int) -> None:
    last = workers - 1
    reports = huge(workers, 2, [last, last], [1, 0])
    part = labels_of(arrange(reports, use_kernels=use_kernels).between(0, 2))
    assert part.report.tolist() == [last * 2 + 1, last * 2]


@pytest.mark.parametrize("use_kernels", [True, False])
def test_sums_that_need_no_worker_run_on_wide_codes(use_kernels: bool) -> None:
    engine = LocalEngine(huge(2**31, 3, [2**31 - 1, 5, 7], [2, 1, 2]), use_kernels=use_kernels)
    assert engine.total(LabelCounts(3)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("coded", [np.uint32, np.int64])
def test_steps_take_either_width(coded: Any) -> None:
    part = LabelPart(0, np.array([0, 2, 3]), np.array([1, 3, 4]).astype(coded), 2)
    assert vote_shares(part).tolist() == [[0, 1], [1, 0]]


def test_a_part_of_labels_is_no_part_of_numbers() -> None:
    from sottovoce.errors import UsageError

    labels = LabelPart(0, np.array([0, 1]), np.array([0], np.uint32), 2)
    numbers = NumberPart(0, np.array([0, 1]), np.array([0], np.int32), np.array([0.5]))
    with pytest.raises(UsageError, match="this step needs numbers, and the reports are labels"):
        numbers_of(labels)
    with pytest.raises(UsageError, match="this step needs labels, and the reports are numbers"):
        labels_of(numbers)
