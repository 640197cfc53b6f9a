"""The piecewise mechanism: its windows, its law, its guarantees, its means."""

import math
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.datasets import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.piecewise import MOST_REPORTS, Piecewise
from sottovoce.model import NULL, WORDS, Cells, Domain, FiniteChannel, Unit

DIGITS = Domain.ordinal(range(10))


@st.composite
def small_mechanisms(draw: st.DrawFn) -> Piecewise:
    steps, beyond = draw(st.integers(1, 7)), draw(st.integers(0, 6))
    reports = steps + 1 + 2 * beyond
    width = draw(st.integers(1, reports - 1))
    return Piecewise(steps, beyond, width, draw(st.integers(1, WORDS // reports)))


def cells_of(codes: list[int] | np.ndarray[Any, Any]) -> Cells:
    count = len(codes)
    return Cells(
        np.arange(count, dtype=np.int32), np.zeros(count, np.int32), np.asarray(codes, np.int32),
        np.arange(count), np.array(["t"]),
    )  # fmt: skip


def worst_delta(channel: FiniteChannel, epsilon: float) -> float:
    factor = Fraction(math.exp(epsilon))
    return max(
        float(sum(max(a - factor * b, Fraction(0)) for a, b in zip(one, two, strict=True)))
        / channel.total
        for one, two in permutations(channel.weights, 2)
    )


@given(mechanism=small_mechanisms())
@settings(deadline=None)
def test_every_row_of_the_channel_adds_up_to_all_words(mechanism: Piecewise) -> None:
    assert {sum(row) for row in mechanism.channel().weights} == {WORDS}


@given(mechanism=small_mechanisms())
@settings(deadline=None)
def test_the_stated_epsilon_is_the_worst_ratio_of_the_whole_channel(mechanism: Piecewise) -> None:
    columns = list(zip(*mechanism.channel().weights, strict=True))
    worst = max(math.log(Fraction(max(column), min(column))) for column in columns)
    assert mechanism.cell_epsilon == pytest.approx(worst, rel=1e-12)


def test_the_remainder_of_a_wide_window_counts() -> None:
    mechanism = Piecewise(1, 131_000, 99_991, WORDS // 300_000)
    columns = zip(*mechanism.channel().weights, strict=True)
    worst = max(Fraction(max(column), min(column)) for column in set(columns))
    assert mechanism.cell_epsilon == pytest.approx(math.log(worst), rel=1e-13)


@given(mechanism=small_mechanisms(), share=st.floats(0, 0.99))
@settings(deadline=None)
def test_the_stated_delta_is_exactly_the_worst_pairs(mechanism: Piecewise, share: float) -> None:
    epsilon = share * mechanism.cell_epsilon
    worst = worst_delta(mechanism.channel(), epsilon)
    assert mechanism.cell_delta(epsilon) == pytest.approx(worst, rel=1e-9, abs=1e-14)


@given(mechanism=small_mechanisms())
@settings(deadline=None)
def test_the_mean_is_the_channels(mechanism: Piecewise) -> None:
    channel = mechanism.channel()
    means = channel.matrix() @ np.array(channel.reports)
    assert mechanism.mean(range(mechanism.steps + 1)) == pytest.approx(means, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("steps", [1, 9, 1000])
def test_unbiased_reports_average_to_the_answer_within_half_a_step(
    steps: int, epsilon: float
) -> None:
    mechanism = Piecewise.calibrated(Domain.numeric(0, steps, step=1), epsilon)
    codes = np.arange(steps + 1)
    assert np.abs(mechanism.unbiased(mechanism.mean(codes)) - codes).max() <= 0.5 + 1e-6


@pytest.mark.parametrize("steps", [1, 9, 1000, 65536])
@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.5, 1.0, 4.0, 12.0, 20.0, 30.0])
def test_calibration_lands_just_below_its_target(steps: int, epsilon: float) -> None:
    mechanism = Piecewise.calibrated(Domain.numeric(0, steps, step=1), epsilon)
    assert 0 <= epsilon - mechanism.guarantee(1, Unit.ANSWER).epsilon <= 1e-6


@pytest.mark.parametrize(
    ("unit", "answers", "delta", "epsilon"),
    [(Unit.WORKER, 40, 0.0, 3.0), (Unit.WORKER, 100, 1e-6, 4.0), (Unit.WORKER, 1, 1e-3, 1.0),
     (Unit.ANSWER, 7, 1e-6, 1.0), (Unit.ANSWER, 7, 0.05, 0.2)],
)  # fmt: skip
def test_calibration_keeps_units_and_deltas(
    unit: Unit, answers: int, delta: float, epsilon: float
) -> None:
    mechanism = Piecewise.calibrated(
        Domain.numeric(0, 100, step=1), epsilon, unit=unit, delta=delta, answers=answers
    )
    assert 0 <= epsilon - mechanism.guarantee(answers, unit, delta).epsilon <= 1e-6


def test_sizes_follow_the_continuous_optimum() -> None:
    mechanism = Piecewise.calibrated(Domain.numeric(0, 1000, step=1), 2.0)
    c = (math.e + 1) / (math.e - 1)
    assert (mechanism.beyond, mechanism.width) == (round((c - 1) * 500), round((c - 1) * 500))


def test_a_small_epsilon_is_cut_to_the_most_reports() -> None:
    mechanism = Piecewise.calibrated(Domain.numeric(0, 1000, step=1), 1e-3)
    assert mechanism.reports in (MOST_REPORTS, MOST_REPORTS - 1)


@pytest.mark.parametrize(
    "mechanism", [Piecewise.calibrated(DIGITS, 1.0), Piecewise(3, 2, 5, 7**21)]
)
def test_reports_follow_the_channel(mechanism: Piecewise) -> None:
    channel, count = mechanism.channel(), 200_000
    for answer in (0, 2, mechanism.steps):
        codes = mechanism.perturb(cells_of(np.full(count, answer)), None, SeededRandomness(3)).code
        seen = np.bincount(codes + mechanism.beyond, minlength=mechanism.reports) / count
        expected = channel.matrix()[answer]
        assert np.all(np.abs(seen - expected) <= 6 * np.sqrt(expected / count) + 1e-4)


@given(mechanism=small_mechanisms())
@settings(deadline=None)
def test_log_likelihood_is_the_channels(mechanism: Piecewise) -> None:
    channel = mechanism.channel()
    answers = np.arange(mechanism.steps + 1)[:, None]
    logs = mechanism.log_likelihood(np.array(channel.reports)[None, :], answers)
    assert logs == pytest.approx(np.log(channel.matrix()), abs=1e-9)


def test_guarantees_without_delta_or_per_answer_are_exact() -> None:
    mechanism = Piecewise.calibrated(DIGITS, 1.0)
    cases = [(Unit.WORKER, 0.0), (Unit.ANSWER, 1e-3), (Unit.WORKER, 1e-3)]
    assert [mechanism.guarantee(5, *case).exact for case in cases] == [True, True, False]


def test_a_negative_epsilon_has_no_delta() -> None:
    with pytest.raises(UsageError, match="epsilon must be at least 0"):
        Piecewise.calibrated(DIGITS, 1.0).delta(-1.0, 1, Unit.ANSWER)


@pytest.mark.parametrize("unit", list(Unit))
def test_no_answers_have_no_guarantee(unit: Unit) -> None:
    with pytest.raises(UsageError, match="answers must be at least 1"):
        Piecewise.calibrated(DIGITS, 1.0).guarantee(0, unit, 0.1)


def test_null_is_refused() -> None:
    with pytest.raises(DataError, match="answer 1 is not in the domain"):
        Piecewise.calibrated(DIGITS, 1.0).perturb(cells_of([NULL]), None, SeededRandomness(1))


def test_json_comes_back_as_it_went() -> None:
    mechanism = Piecewise.calibrated(DIGITS, 1.0)
    assert Piecewise.of_json(mechanism.as_json()) == mechanism


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps must be an integer from 1"),
        ({"beyond": -1}, "beyond must be an integer from 0"),
        ({"width": 0}, "width must be an integer from 1"),
        ({"width": 1000}, "width must be an integer from 1"),
        ({"outside": "0"}, "outside must be an integer from 1"),
        ({"outside": str(WORDS)}, "outside must be an integer from 1"),
        ({"outside": 5}, "outside must be a string of up to 20 digits"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], message: str) -> None:
    document = Piecewise.calibrated(DIGITS, 1.0).as_json() | change
    with pytest.raises(UsageError, match=message):
        Piecewise.of_json(document)


def test_labels_without_order_are_refused() -> None:
    with pytest.raises(UsageError, match="piecewise takes numbers or labels in order"):
        Piecewise.calibrated(Domain.categorical("ab"), 1.0)
