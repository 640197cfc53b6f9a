"""Statements of a guarantee."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sottovoce.errors import UsageError
from sottovoce.model import Guarantee, Promise, Unit


@pytest.mark.parametrize(
    ("answers", "epsilon", "delta"),
    [(0, 1.0, 0.0), (1, -1.0, 0.0), (1, math.nan, 0.0), (1, 1.0, -0.1), (1, 1.0, math.nan)],
)
def test_nonsense_is_refused(answers: int, epsilon: float, delta: float) -> None:
    with pytest.raises(UsageError, match="must be"):
        Guarantee(Unit.ANSWER, answers, epsilon, delta)


def test_an_infinite_epsilon_promises_nothing() -> None:
    assert not Guarantee(Unit.ANSWER, 1, math.inf).is_finite
    assert not Guarantee(Unit.ANSWER, 1, 1.0, 1.0).is_finite


@pytest.mark.parametrize(
    ("epsilon", "delta", "within"),
    [(1.0, 0.0, True), (1.1, 1e-9, True), (0.9, 0.0, False), (0.9, 0.5, False)],
)
def test_a_guarantee_is_within_those_that_are_weaker(
    epsilon: float, delta: float, within: bool
) -> None:
    assert Guarantee(Unit.WORKER, 3, 1.0).within(epsilon, delta) is within


def test_it_reads_with_its_unit() -> None:
    assert str(Guarantee(Unit.WORKER, 3, 1.25, 1e-6)) == "epsilon 1.25, delta 1e-06 per worker"


@pytest.mark.parametrize("unit", ["worker", "answer"])
def test_the_name_of_a_unit_becomes_the_unit(unit: Any) -> None:
    assert Guarantee(unit, 1, 1.0).unit is Unit(unit)
    assert Promise(unit, 1.0, 0.0, 1).unit is Unit(unit)


@pytest.mark.parametrize("unit", ["both", "Worker", 1, None])
def test_another_name_is_no_unit(unit: Any) -> None:
    with pytest.raises(UsageError, match="the unit must be 'answer' or 'worker', not"):
        Guarantee(unit, 1, 1.0)
    with pytest.raises(UsageError, match="the unit must be 'answer' or 'worker', not"):
        Promise(unit, 1.0, 0.0, 1)


def test_no_finite_epsilon_is_said_so() -> None:
    said = str(Guarantee(Unit.WORKER, 2, math.inf, 0.01))
    assert said == "no finite epsilon, delta 0.01 per worker"
