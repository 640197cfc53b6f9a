"""Cells: rows of codes that nobody sees."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.model import NULL, Cells, Private


def cells(worker: list[int], task: list[int], code: list[int]) -> Cells:
    return Cells(
        np.array(worker, np.int32),
        np.array(task, np.int32),
        np.array(code, np.int32),
        np.array(["ann", "bob"], object),
        np.array(["q1", "q2", "q3"], object),
    )


def test_codes_are_in_no_repr() -> None:
    assert "4242" not in repr(cells([0], [0], [4242]))
    assert "4242" not in repr(Private(np.array([4242], np.uint64)))


def test_dense_cells_are_every_worker_with_every_task() -> None:
    dense = cells([1, 0], [2, 0], [5, 7]).dense()
    assert dense.worker.tolist() == [0, 0, 0, 1, 1, 1]
    assert dense.task.tolist() == [0, 1, 2, 0, 1, 2]
    assert dense.code.tolist() == [7, NULL, NULL, NULL, NULL, 5]


def test_dense_cells_refuse_a_repeat() -> None:
    with pytest.raises(UsageError, match="answers a task once"):
        cells([0, 0], [1, 1], [0, 1]).dense()


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match="one length"):
        cells([0, 0], [1], [0])


def test_a_worker_without_cells_has_answered_none() -> None:
    assert cells([1, 1], [0, 1], [0, 0]).answered.tolist() == [0, 2]


def test_reporting_changes_nothing_but_the_codes() -> None:
    before = cells([0, 1], [0, 1], [1, 2])
    after = before.reporting(np.array([7, 8], np.int32))
    assert (after.code.tolist(), after.worker is before.worker) == ([7, 8], True)
