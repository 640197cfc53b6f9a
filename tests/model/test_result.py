"""Results and gold: truths as labels or numbers, and tables that fit together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Gold, Provenance, Result, Score


def result(domain: Domain, truths: Any) -> Result:
    count = len(truths)
    tasks, workers = np.arange(count), np.array(["w"])
    answers = np.ones(count, np.int64)
    return Result(
        tasks, workers, domain, truths, np.ones(1), answers, 1, True, Provenance("by hand")
    )


def test_values_are_labels() -> None:
    codes = np.array([1, 0, 1], np.int32)
    assert result(Domain.categorical(["no", "yes"]), codes).values.tolist() == ["yes", "no", "yes"]


def test_values_are_numbers() -> None:
    assert result(Domain.numeric(), np.array([1.5, 2.5])).values.tolist() == [1.5, 2.5]


def test_labels_of_several_types_stay_apart() -> None:
    values = result(Domain.categorical([1, "a", 2.5]), np.arange(3, dtype=np.int32))
    assert [type(v) for v in values.values] == [int, str, float]


def test_length_is_the_number_of_tasks() -> None:
    assert len(result(Domain.numeric(), np.zeros(4))) == 4


def test_the_repr_shows_warnings() -> None:
    found = result(Domain.numeric(), np.zeros(4))
    assert "warning" not in repr(found)
    assert "the answers say nothing" in repr(replace(found, warnings=("the answers say nothing",)))


def test_intervals_are_normal_and_end_where_the_domain_does() -> None:
    found = replace(
        result(Domain.numeric(0, 10), np.array([1.0, 5.0])), standard_error=np.array([1.0, 1.0])
    )
    low, high = found.intervals(0.95).T
    assert low == pytest.approx([0.0, 5 - 1.959964], abs=1e-6)
    assert high == pytest.approx([1 + 1.959964, 5 + 1.959964], abs=1e-6)


def test_only_numbers_have_intervals() -> None:
    with pytest.raises(UsageError, match="labels have prediction_sets"):
        result(Domain.categorical(["no", "yes"]), np.array([1, 0], np.int32)).intervals()


def test_the_level_of_an_interval_is_a_probability() -> None:
    found = replace(result(Domain.numeric(), np.zeros(1)), standard_error=np.ones(1))
    with pytest.raises(UsageError, match="level must lie between 0 and 1, not 95"):
        found.intervals(95)


def test_gold_needs_rows() -> None:
    with pytest.raises(DataError, match="the gold table has no rows"):
        Gold(np.array([]), np.array([]))


def test_gold_has_columns_of_one_length() -> None:
    with pytest.raises(DataError, match="gold tasks and truths must be columns of one length"):
        Gold(np.array(["a", "b"]), np.array(["x"]))


def test_a_score_leaves_out_what_is_not_defined() -> None:
    found = Score(3, 1, 0.1, 0.2, mae=0.15, rmse=0.3).as_dict()
    assert found == {"mae": 0.15, "rmse": 0.3, "low": 0.1, "high": 0.2, "tasks": 3, "unanswered": 1}
