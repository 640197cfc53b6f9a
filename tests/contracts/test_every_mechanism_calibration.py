"""Every mechanism: calibration keeps the target, and uses nearly all of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest

from sottovoce.errors import UsageError
from sottovoce.mechanisms import (
    Laplace,
    MatrixFactorization,
    Piecewise,
    RandomVarianceGaussian,
    Sampled,
    SubsetSelection,
    TwoLayer,
)
from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.model import Domain, Kind, Unit
from sottovoce.seams import Mechanism

EPSILONS = [1e-4, 0.01, 0.3, 1.0, 3.0, 10.0, 30.0]
ANSWERS = [1, 2, 20, 1000]
CLOSE = 1e-6
COSTLY = (Laplace, MatrixFactorization, RandomVarianceGaussian, TwoLayer)

Target: TypeAlias = tuple[int, float, int]
"""Numbers of labels or steps, ε, and numbers of answers."""


def domain_of(kind: type[Mechanism], size: int) -> Domain:
    if Kind.CATEGORICAL in kind.takes:
        return Domain.categorical(range(size))
    return Domain.numeric(0, size, step=1)


def sizes(kind: type[Mechanism]) -> list[int]:
    if kind is SubsetSelection:
        return [2, 3, 10, 60]  # a set is a mask of 64 bits
    return [2, 3, 10, 1000] if Kind.CATEGORICAL in kind.takes else [1, 9, 100, 1000]


def targets(kind: type[Mechanism], unit: Unit, delta: float, *, all_: bool) -> Iterator[Target]:
    """All of the grid, or a part of it that differs for each unit and delta."""
    grid = list(itertools.product(sizes(kind), EPSILONS, ANSWERS))
    stride = 1 if all_ else 67 if kind in COSTLY else 13
    start = 0 if all_ else (17 * list(Unit).index(unit) + int(1e3 * delta)) % stride
    yield from itertools.islice(grid, start, None, stride)


def check_lands(
    kind: type[Mechanism], size: int, epsilon: float, unit: Unit, delta: float, answers: int
) -> None:
    """Within 1e-6 below the target, except for the resolution of the integers."""
    close = CLOSE
    if kind is Laplace and epsilon > 20:
        close = 0.003  # the least weights have few bits left
    if kind in (Piecewise, MatrixFactorization) and unit is Unit.WORKER and answers > 1000:
        close = 1e-5  # the rounding of one report counts `answers` times
    try:
        mechanism = kind.calibrated(
            domain_of(kind, size), epsilon, unit=unit, delta=delta, answers=answers
        )
    except UsageError as error:
        # Noise that is drawn in floating point needs a delta for its error.
        if kind is RandomVarianceGaussian and "beyond the precision" in str(error):
            return
        raise
    held = mechanism.guarantee(answers, unit, delta)
    assert epsilon - close <= held.epsilon <= epsilon, (size, epsilon, answers)
    assert held.within(epsilon, delta)


def costly(name: str, delta: float) -> Any:
    """Two-layer with a delta takes seconds per target: left to the slow tests, and its own.

    So is a small delta if a target takes long: delta 0 and a large one are always tried.
    """
    slow = delta > 0 if name == "two-layer" else delta == 1e-6 and MECHANISMS[name] in COSTLY
    return pytest.param(name, delta, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize("all_", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize(
    ("name", "delta"), [costly(name, delta) for name in MECHANISMS for delta in (0.0, 1e-6, 0.05)]
)
def test_calibration_lands_just_below_the_target(
    name: str, unit: Unit, delta: float, all_: bool
) -> None:
    kind = MECHANISMS[name]
    if kind is RandomVarianceGaussian and delta == 0:
        pytest.skip("promises nothing without a delta")
    for size, epsilon, answers in targets(kind, unit, delta, all_=all_):
        check_lands(kind, size, epsilon, unit, delta, answers)


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize(
    ("name", "delta"), [costly(name, delta) for name in MECHANISMS for delta in (0.0, 1e-6)]
)
def test_a_hundred_thousand_answers_are_not_too_many(name: str, delta: float, unit: Unit) -> None:
    kind, epsilon = MECHANISMS[name], 1.0 if delta == 0 else 30.0
    if kind is RandomVarianceGaussian:
        epsilon, delta = 1.0, 0.05
    check_lands(kind, sizes(kind)[-2], epsilon, unit, delta, 100_000)


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [
        # Geometric noise at the lower end is always tried with the factorisation.
        pytest.param(name, epsilon, marks=[pytest.mark.slow] if slow else [])
        for name, epsilon in itertools.product(MECHANISMS, (1e-4, 30.0))
        for slow in [(name, epsilon) == ("laplace", 1e-4)]
    ],
)
def test_all_that_is_stated_is_a_number_at_the_ends_of_the_range(name: str, epsilon: float) -> None:
    kind = MECHANISMS[name]
    if kind is RandomVarianceGaussian:
        epsilon = min(epsilon, 10.0)
    mechanism = kind.calibrated(domain_of(kind, sizes(kind)[-1]), epsilon, delta=0.05)
    for unit, answers in itertools.product(Unit, (1, 100_000)):
        held = mechanism.guarantee(answers, unit)
        assert not math.isnan(held.epsilon)
        assert math.isfinite(held.epsilon) == (kind is not RandomVarianceGaussian)
        for at in (0.0, epsilon, 2 * epsilon):
            assert 0 <= mechanism.delta(at, answers, unit) <= 1


@pytest.mark.parametrize(("name", "delta"), [costly(name, 0.05) for name in MECHANISMS])
def test_a_sample_of_answers_keeps_the_target_too(name: str, delta: float) -> None:
    kind = MECHANISMS[name]
    domain = domain_of(kind, sizes(kind)[1])
    if kind is MatrixFactorization:
        with pytest.raises(UsageError, match="cannot be sampled"):
            Sampled.calibrated_worker(kind, domain, 4.0, answers=60)
        return
    sampled = Sampled.calibrated_worker(kind, domain, 4.0, delta=delta, answers=60)
    for answers in (1, 2, 60):
        assert sampled.guarantee(answers, Unit.WORKER, delta).epsilon <= 4.0
    assert sampled.guarantee(60, Unit.WORKER, delta).epsilon >= 4.0 - CLOSE
