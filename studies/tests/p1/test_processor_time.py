"""Tests of study `p1-scaling`: the timed work, and the verdict."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce_studies.p1.processor_time import answers_of, judge, seconds_of, slope

SIZES = (10_000, 100_000, 1_000_000)


def times(power: float) -> list[dict[str, float]]:
    """Times that grow with a power of the size."""
    return [
        {"answers": size, "noise": 1e-8 * size**power, "TD": 3e-8 * size**power} for size in SIZES
    ]


@pytest.mark.parametrize("power", [0.8, 1.0, 2.0])
def test_the_slope_is_the_power(power: float) -> None:
    assert slope(SIZES, [1e-7 * size**power for size in SIZES]) == pytest.approx(power)


def test_linear_times_hold() -> None:
    assert judge(times(1.0)).rulings.verdicts == ("not claimed", "holds", "not claimed")


def test_times_with_a_logarithm_hold() -> None:
    slow = [
        {"answers": n, "noise": 1e-9 * n * np.log(n), "TD": 1e-9 * n * np.log(n)} for n in SIZES
    ]
    assert judge(slow).rulings.shape.verdict == "holds"


def test_times_that_grow_faster_fail() -> None:
    outcome = judge(times(1.5))
    assert outcome.rulings.shape.verdict == "fails"
    assert "power 1.50" in outcome.rulings.shape.reason


def test_the_crowd_has_as_many_answers_as_it_says() -> None:
    answers = answers_of(2_000, 1)
    assert (len(answers), len(answers.workers), len(answers.tasks)) == (2_000, 20, 200)
    pairs = answers.worker.astype(np.int64) * 200 + answers.task
    assert (
        len(np.unique(pairs)) == 2_000
    )  # marked in its reading, so that duplicates are not searched for


def test_every_size_is_timed() -> None:
    found = seconds_of((2_000, 4_000), 1, 1)
    assert [row["answers"] for row in found] == [2_000, 4_000]
    assert all(row["noise"] > 0 and row["TD"] > 0 for row in found)
