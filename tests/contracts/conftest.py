"""A small instance of every mechanism, for the contracts that all of them keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sottovoce.mechanisms import (
    Duchi,
    Laplace,
    MatrixFactorization,
    NullRandomizedResponse,
    Piecewise,
    RandomizedResponse,
    RandomVarianceGaussian,
    Sampled,
    SubsetSelection,
    Threshold,
    TwoLayer,
)
from sottovoce.mechanisms.laws.geometric import Geometric
from sottovoce.mechanisms.laws.hyper_weights import LevelWeights, UniformWeights
from sottovoce.mechanisms.published_factorization import PublishedFactorization
from sottovoce.model import NULL, WORDS, Cells, Domain, Words
from sottovoce.seams import Mechanism

COIN, THREE, FOUR = (Domain.categorical(range(labels)) for labels in (2, 3, 4))
ONE_STEP, TWO_STEPS, THREE_STEPS = (Domain.numeric(0, steps, step=1) for steps in (1, 2, 3))
TEN_STEPS = Domain.numeric(0, 10, step=1)


@dataclass(frozen=True)
class Case:
    """A mechanism, the domain it is for, and answers as it takes them."""

    name: str
    mechanism: Any
    domain: Domain

    @property
    def values(self) -> int:
        """The number of answers, without NULL."""
        return int(self.domain.high) + 1 if self.domain.is_numeric else self.domain.size

    @property
    def answers(self) -> list[int]:
        """Every possible answer, with NULL last if it is one."""
        return [*range(self.values), *([NULL] if self.mechanism.hides_participation else [])]

    @property
    def has_channel(self) -> bool:
        """Whether the law of one report given its answer is written out."""
        return hasattr(self.mechanism, "channel")

    def cells(self, rows: npt.ArrayLike) -> Cells:
        """A row of answers for each worker, a column for each task."""
        codes = np.asarray(rows, np.int32)
        workers, tasks = codes.shape
        return Cells(
            np.repeat(np.arange(workers, dtype=np.int32), tasks),
            np.tile(np.arange(tasks, dtype=np.int32), workers),
            codes.ravel(),
            # All have one name, so that all get the same public thresholds.
            np.full(workers, "worker", object),
            np.array([f"task {task}" for task in range(tasks)], object),
        )

    def rows_of_channel(self, answers: Sequence[int], task: int = 0) -> list[int]:
        """The rows of the channel for some answers to a task."""
        null = len(self.mechanism.channel().weights) - 1
        if isinstance(self.mechanism, Threshold):
            cells = self.cells([[0] * (task + 1)])
            threshold = int(self.mechanism.thresholds(cells)[task])
            return [null if a == NULL else int(a >= threshold) for a in answers]
        return [null if a == NULL else a for a in answers]


def _flips(low: float, high: float, symbols: int) -> UniformWeights:
    each = [int(flip * WORDS) // (symbols - 1) for flip in (low, high)]
    return UniformWeights(*each)


def _levels(symbols: int) -> LevelWeights:
    others = (0, int(0.3 * WORDS) // (symbols - 1), int(0.9 * WORDS) // (symbols - 1))
    return LevelWeights(others, (WORDS // 4, WORDS // 2, WORDS // 4))


def _laplace(steps: int, beyond: int, null: str | int = "absent") -> Laplace:
    noise = Geometric.near(WORDS // 3, steps + beyond)
    return Laplace(steps, noise.centre, noise.ratio, noise.reach, null)


def _factorization(steps: int, dimension: int, resolution: int) -> MatrixFactorization:
    noise = Geometric.near(int(0.7 * WORDS), 2 * steps + 2)
    return MatrixFactorization(
        steps, steps // 2, dimension, resolution, 1, noise.centre, noise.ratio, noise.reach
    )


CASES = [
    Case("randomised response", RandomizedResponse.calibrated(THREE, 1.0), THREE),
    Case("randomised response that hides all", RandomizedResponse(2, WORDS // 2), COIN),
    Case("randomised response that hides little", RandomizedResponse(3, 1), THREE),
    Case("with NULL", NullRandomizedResponse.calibrated(COIN, 0.7), COIN),
    Case("two-layer", TwoLayer.calibrated(THREE, 1.0, answers=3), THREE),
    Case("two-layer as published", TwoLayer.as_published(COIN, 1.0), COIN),
    Case("two-layer with NULL", TwoLayer(2, _flips(0.2, 0.9, 3), null=True), COIN),
    Case("two-layer of levels", TwoLayer(3, _levels(3)), THREE),
    Case("Gaussian", RandomVarianceGaussian.calibrated(ONE_STEP, 1.0, delta=0.1), ONE_STEP),
    Case("Laplace", Laplace.calibrated(TWO_STEPS, 2.0), TWO_STEPS),
    Case("Laplace that ends with the range", _laplace(2, 0), TWO_STEPS),
    Case("Laplace of one step", _laplace(1, 0), ONE_STEP),
    Case("Laplace, NULL at the centre", _laplace(3, 1, "centre"), THREE_STEPS),
    Case("Laplace, NULL anywhere", _laplace(2, 1, "random"), TWO_STEPS),
    Case("Laplace, NULL at an end", _laplace(2, 2, 2), TWO_STEPS),
    Case("Laplace as published", Laplace.as_published(TWO_STEPS, 3.0), TWO_STEPS),
    Case("factorisation", _factorization(1, 2, 3), ONE_STEP),
    Case("factorisation to one number", _factorization(2, 1, 1), TWO_STEPS),
    Case("piecewise", Piecewise.calibrated(TWO_STEPS, 1.0), TWO_STEPS),
    Case("piecewise with a wide window", Piecewise(3, 0, 3, WORDS // 9), THREE_STEPS),
    Case("piecewise with a remainder", Piecewise(2, 1, 3, 5), TWO_STEPS),
    Case("Duchi", Duchi.calibrated(THREE_STEPS, 1.0), THREE_STEPS),
    Case("subsets", SubsetSelection.calibrated(FOUR, 0.5), FOUR),
    Case("subsets with NULL", SubsetSelection.calibrated(THREE, 0.5, null=True), THREE),
    Case("subsets of bins", SubsetSelection.calibrated(THREE_STEPS, 1.0, bins=3), THREE_STEPS),
    Case("thresholds", Threshold.calibrated(THREE_STEPS, 1.0), THREE_STEPS),
    Case("thresholds with NULL", Threshold.calibrated(TWO_STEPS, 1.0, null=True), TWO_STEPS),
    Case(
        "thresholds, NULL by a coin",
        Threshold.calibrated(TWO_STEPS, 1.0, null=True, coin=True, salt="s"),
        TWO_STEPS,
    ),
    Case("sampled", Sampled(RandomizedResponse.calibrated(COIN, 1.0), 2), COIN),
    Case("sampled with NULL", Sampled(NullRandomizedResponse.calibrated(COIN, 1.0), 1), COIN),
    Case("sampled two-layer", Sampled(TwoLayer.as_published(COIN, 1.0), 2), COIN),
    Case(
        "factorisation as published",
        PublishedFactorization.over(TEN_STEPS, 1.0, dimension=2),
        TEN_STEPS,
    ),
]
"""Small enough to list all submissions of a few answers."""

FINITE = [case for case in CASES if case.has_channel]
PROMISING = [c for c in CASES if not isinstance(c.mechanism, PublishedFactorization)]
"""All except the one without a guarantee."""

LONG = frozenset({"two-layer", "two-layer as published", "two-layer with NULL"})
"""Mechanisms whose curve takes seconds: only the slow tests follow it."""

KIN = frozenset({
    "randomised response that hides all", "randomised response that hides little",
    "Laplace that ends with the range", "Laplace of one step", "Laplace, NULL at an end",
    "factorisation to one number", "piecewise with a wide window", "piecewise with a remainder",
    "subsets of bins",
})  # fmt: skip
"""Members of a family with a listed law: sampled in the slow tests only."""


class Untouchable:
    """Randomness that must not be used."""

    simulated = True

    def words(self, count: int) -> Words:
        raise AssertionError("randomness was drawn before everything was checked")


def _name(case: Case) -> str:
    return case.name.replace(" ", "-")


@pytest.fixture(params=CASES, ids=_name)
def case(request: pytest.FixtureRequest) -> Case:
    """Every mechanism in turn."""
    found: Case = request.param
    return found


@pytest.fixture(params=FINITE, ids=_name)
def finite(request: pytest.FixtureRequest) -> Case:
    """Every mechanism whose reports depend on one answer each, from a finite alphabet."""
    found: Case = request.param
    return found


@pytest.fixture(params=PROMISING, ids=_name)
def promising(request: pytest.FixtureRequest) -> Case:
    """Every mechanism with a guarantee that is finite at some delta."""
    found: Case = request.param
    return found


@pytest.fixture(
    params=[
        pytest.param(case, id=_name(case), marks=[pytest.mark.slow] if case.name in LONG else [])
        for case in PROMISING
    ]
)
def followed(request: pytest.FixtureRequest) -> Case:
    """The same, for tests that follow the curve of epsilon and delta."""
    found: Case = request.param
    return found


@pytest.fixture(
    params=[
        pytest.param(case, id=_name(case), marks=[pytest.mark.slow] if case.name in KIN else [])
        for case in PROMISING
    ]
)
def audited(request: pytest.FixtureRequest) -> Case:
    """The same, for tests that draw many samples."""
    found: Case = request.param
    return found


@pytest.fixture
def untouchable() -> Untouchable:
    """Randomness that fails when it is asked."""
    return Untouchable()


@pytest.fixture
def mechanisms() -> list[Mechanism]:
    """All the instances."""
    return [case.mechanism for case in CASES]
