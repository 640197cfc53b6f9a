"""Known truths beside the tasks of a table, and the best constant against them."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import DataError
from sottovoce.model import Domain, Gold, Reports
from sottovoce.planning.trials import best_constant, truths_by_task

LABELS = Reports.of([0, 0, 0], [0, 1, 2], [0, 1, 0], domain=Domain.ordinal([10, 20]),
                    tasks=np.array(["a", "b", "c"]))  # fmt: skip
NUMBERS = Reports.of([0, 0], [0, 1], [1.0, 2.0], domain=Domain.numeric(0, 9))


def gold(**truths: object) -> Gold:
    return Gold(np.array(list(truths)), np.array(list(truths.values()), dtype=object))


def test_labels_become_codes_and_unknown_ones_are_marked() -> None:
    assert truths_by_task(LABELS, gold(c="20", x="10", a="10")).tolist() == [0, -1, 1]


def test_a_truth_that_nobody_may_answer_counts_as_wrong() -> None:
    assert truths_by_task(LABELS, gold(a="30")).tolist() == [2, -1, -1]


def test_ordinal_labels_become_the_numbers_they_stand_for() -> None:
    truths = truths_by_task(LABELS, gold(c="20", a="10", b="30"), as_numbers=True)
    np.testing.assert_array_equal(truths, [10.0, np.nan, 20.0])


def test_numbers_stay_numbers_and_names_that_are_integers_match() -> None:
    truths = truths_by_task(NUMBERS, Gold(np.array([1]), np.array([7.5])))
    np.testing.assert_array_equal(truths, [np.nan, 7.5])


def test_gold_about_other_tasks_is_refused() -> None:
    with pytest.raises(DataError, match="no gold task has an answer"):
        truths_by_task(LABELS, gold(x="10"))


def test_truths_that_are_no_labels_have_no_numbers() -> None:
    with pytest.raises(DataError, match="one of the answers' labels"):
        truths_by_task(LABELS, gold(a="30"), as_numbers=True)


def test_no_constant_does_better_than_the_best() -> None:
    truths = np.array([1.0, 2.0, 7.0, np.nan])
    best = best_constant(truths)
    known = truths[:3]
    assert best.value == 2.0
    assert best.error == min(np.abs(known - c).mean() for c in np.linspace(0, 9, 91)) == 2.0


def test_the_best_label_is_the_most_frequent_truth() -> None:
    best = best_constant(np.array([2, 2, 0, -1, -1, -1]))
    assert best.value == 2
    assert best.error == pytest.approx(1 / 3)
