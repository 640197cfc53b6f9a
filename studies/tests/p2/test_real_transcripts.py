"""The attack on transcripts of public data."""

from __future__ import annotations

import math

import pytest

from sottovoce.errors import DataError
from sottovoce.model.reports import Repeats
from sottovoce_studies.p2.real_transcripts import (
    MODELS,
    ROWS,
    attacked_dataset,
    gold_answers,
    real_rows,
)

FOUND = {
    "workers": 3, "exact": 2, "named": 1, "proven": 1, "candidates": [1, 4, 1],
    "certain": 7, "certain_right": 7, "answers": 10, "right": 9, "guessed": 5,
}  # fmt: skip


def test_a_row_has_the_most_candidates_of_a_worker() -> None:
    [row] = real_rows({("duchenne", "first", "assignments known"): FOUND})
    assert (row["columns exact"], row["with names"], row["most candidates"]) == (2, 1, 4)
    assert (row["labels certain"], row["labels right"], row["by guessing"]) == (7, 0.9, 0.5)


@pytest.mark.parametrize("candidates", [[1, None, 1], []])
def test_a_row_has_no_most_candidates_if_some_are_not_counted(candidates: list[int | None]) -> None:
    found = {**FOUND, "candidates": candidates}
    [row] = real_rows({("duchenne", "first", "assignments known"): found})
    assert math.isnan(row["most candidates"])
    assert row["not counted"] == 3 - sum(each is not None for each in candidates)


def need(name: str) -> None:
    try:
        gold_answers(name, "first")
    except DataError:
        pytest.skip(f"needs the dataset {name} (SOTTOVOCE_DATA)")


@pytest.mark.slow
def test_all_workers_of_duchenne_are_named_if_the_assignments_are_known() -> None:
    need("duchenne")
    found = attacked_dataset("duchenne", "first", "assignments known")
    assert (found["named"], found["candidates"]) == (17, [1] * 17)
    assert found["certain"] == found["certain_right"] == found["answers"] == 1221


def test_only_unanimous_labels_of_duchenne_are_certain_if_the_assignments_are_secret() -> None:
    need("duchenne")
    found = attacked_dataset("duchenne", "first", "assignments secret")
    assert (found["exact"], found["candidates"]) == (0, [])
    assert found["certain"] == found["certain_right"] == 131


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("name", "repeats"), ROWS[1:])
def test_what_is_certain_is_right(name: str, repeats: Repeats, model: str) -> None:
    need(name)
    found = attacked_dataset(name, repeats, model)
    assert found["certain"] == found["certain_right"]
    assert found["exact"] in (0, found["workers"])
