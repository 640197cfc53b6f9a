"""One bit per number: its table, its guarantees, its means."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.datasets import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.duchi import Duchi
from sottovoce.model import NULL, WORDS, Cells, Domain, Unit

RANGE = Domain.numeric(0, 10, step=0.1)
mechanisms = st.builds(Duchi, st.integers(1, 40), st.integers(1, WORDS // 2 - 1))


def cells_of(codes: list[int] | np.ndarray[Any, Any]) -> Cells:
    count = len(codes)
    return Cells(
        np.arange(count, dtype=np.int32), np.zeros(count, np.int32), np.asarray(codes, np.int32),
        np.arange(count), np.array(["t"]),
    )  # fmt: skip


@given(mechanism=mechanisms)
@settings(deadline=None)
def test_the_table_runs_from_one_weight_to_the_other(mechanism: Duchi) -> None:
    high = mechanism.high.tolist()
    assert (high[0], high[-1]) == (mechanism.other, WORDS - mechanism.other)
    assert high == sorted(high)


@given(mechanism=mechanisms)
@settings(deadline=None)
def test_the_stated_epsilon_is_the_worst_ratio_of_the_whole_channel(mechanism: Duchi) -> None:
    columns = list(zip(*mechanism.channel().weights, strict=True))
    worst = max(Fraction(max(column), min(column)) for column in columns)
    stated = mechanism.guarantee(1, Unit.ANSWER).epsilon
    assert stated == pytest.approx(math.log1p(worst - 1), rel=1e-12)


@given(mechanism=mechanisms, epsilon=st.floats(0, 5))
@settings(deadline=None)
def test_the_stated_delta_is_the_worst_pairs(mechanism: Duchi, epsilon: float) -> None:
    high, factor = mechanism.high.tolist(), Fraction(math.exp(epsilon))
    worst = max(max(one - factor * two, Fraction(0)) for one in high for two in high)
    stated = mechanism.delta(epsilon, 1, Unit.ANSWER)
    assert stated == pytest.approx(float(worst) / WORDS, rel=1e-9, abs=1e-15)


@given(mechanism=mechanisms)
@settings(deadline=None)
def test_unbiased_reports_average_to_the_answer(mechanism: Duchi) -> None:
    rows = [[Fraction(w, WORDS) for w in row] for row in mechanism.channel().weights]
    low, high = map(Fraction, mechanism.unbiased([0, 1]).tolist())
    # Rounding of floats is relative to the size of an unbiased report.
    size = max(abs(low), abs(high))
    for code, row in enumerate(rows):
        assert abs(float(row[0] * low + row[1] * high) - code) <= 1e-12 * (1 + size)


@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 1.0, 8.0, 30.0])
@pytest.mark.parametrize(("unit", "answers"), [(Unit.ANSWER, 3), (Unit.WORKER, 50)])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_calibration_lands_just_below_its_target(
    epsilon: float, unit: Unit, answers: int, delta: float
) -> None:
    mechanism = Duchi.calibrated(RANGE, epsilon, unit=unit, delta=delta, answers=answers)
    assert 0 <= epsilon - mechanism.guarantee(answers, unit, delta).epsilon <= 1e-6


def test_reports_follow_the_channel() -> None:
    mechanism, count = Duchi.calibrated(RANGE, 1.0), 200_000
    for answer in (0, 37, 100):
        codes = mechanism.perturb(cells_of(np.full(count, answer)), None, SeededRandomness(2)).code
        expected = mechanism.channel().matrix()[answer, 1]
        assert codes.mean() == pytest.approx(expected, abs=6 * math.sqrt(0.25 / count))


@given(mechanism=mechanisms)
@settings(deadline=None)
def test_log_likelihood_is_the_channels(mechanism: Duchi) -> None:
    answers = np.arange(mechanism.steps + 1)[:, None]
    logs = mechanism.log_likelihood(np.array([[0, 1]]), answers)
    assert logs == pytest.approx(np.log(mechanism.channel().matrix()), abs=1e-12)


def test_null_is_refused() -> None:
    with pytest.raises(DataError, match="answer 1 is not in the domain"):
        Duchi.calibrated(RANGE, 1.0).perturb(cells_of([NULL]), None, SeededRandomness(1))


def test_json_comes_back_as_it_went() -> None:
    mechanism = Duchi.calibrated(RANGE, 1.0)
    assert Duchi.of_json(mechanism.as_json()) == mechanism


@pytest.mark.parametrize(("steps", "other"), [(0, 5), (True, 5), (3, 0), (3, WORDS // 2)])
def test_parameters_out_of_range_are_refused(steps: int, other: int) -> None:
    with pytest.raises(UsageError, match="must be an integer from 1"):
        Duchi(steps, other)


def test_labels_without_order_are_refused() -> None:
    with pytest.raises(UsageError, match="duchi takes numbers or labels in order"):
        Duchi.calibrated(Domain.categorical("ab"), 1.0)
