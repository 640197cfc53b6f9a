"""Randomised response with NULL as one more symbol."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.model import NULL, WORDS, Alphabet, Cells, Domain, Unit


def cells_of(codes: list[int]) -> Cells:
    count = len(codes)
    return Cells(
        np.zeros(count, np.int32),
        np.arange(count, dtype=np.int32),
        np.array(codes, np.int32),
        np.array(["w"], object),
        np.array([f"t{i}" for i in range(count)], object),
    )


def test_the_papers_keep_probability() -> None:
    mechanism = NullRandomizedResponse.calibrated(Domain.ordinal(range(5)), 3.0)
    assert mechanism.keep_probability == pytest.approx(0.800682, abs=5e-7)
    assert mechanism.keep_probability == pytest.approx(math.exp(3) / (math.exp(3) + 5))


@pytest.mark.parametrize(("answer", "row"), [(0, 0), (2, 2), (NULL, 3)])
def test_reports_follow_the_channel(answer: int, row: int) -> None:
    mechanism = NullRandomizedResponse.calibrated(Domain.ordinal(range(3)), 1.0)
    reports = mechanism.perturb(cells_of([answer] * 200_000), None, SeededRandomness(row))
    seen = np.bincount(reports.code.astype(int), minlength=4) / len(reports)
    assert seen == pytest.approx(mechanism.channel().matrix()[row], abs=0.007)  # 6 sigma


def test_the_channel_has_a_row_and_a_column_for_null() -> None:
    channel = NullRandomizedResponse(3, WORDS // 8).channel()
    assert channel.null
    assert channel.reports == (0, 1, 2, 3)
    assert [sum(row) for row in channel.weights] == [WORDS] * 4


def test_the_likelihood_is_the_channel_also_of_null() -> None:
    mechanism = NullRandomizedResponse.calibrated(Domain.ordinal(range(3)), 2.0)
    answers = np.array([0, 1, 2, NULL])
    found = np.exp(mechanism.log_likelihood(np.arange(4)[None, :], answers[:, None]))
    assert found == pytest.approx(mechanism.channel().matrix())


def test_epsilon_is_the_largest_ratio_also_against_null() -> None:
    mechanism = NullRandomizedResponse.calibrated(Domain.ordinal(range(3)), 2.0)
    matrix = mechanism.channel().matrix()
    ratio = (matrix[:, None, :] / matrix[None, :, :]).max()
    assert mechanism.guarantee(1, Unit.ANSWER).epsilon == pytest.approx(math.log(ratio))


@settings(max_examples=30, deadline=None)
@given(
    labels=st.integers(2, 20),
    epsilon=st.floats(0.01, 20),
    unit=st.sampled_from(Unit),
    delta=st.sampled_from([0.0, 1e-6]),
)
def test_calibration_lands_just_within_the_target(
    labels: int, epsilon: float, unit: Unit, delta: float
) -> None:
    mechanism = NullRandomizedResponse.calibrated(
        Domain.ordinal(range(labels)), epsilon, unit=unit, delta=delta, answers=20
    )
    assert epsilon - 1e-6 <= mechanism.guarantee(20, unit, delta).epsilon <= epsilon


def test_not_answering_is_hidden() -> None:
    mechanism = NullRandomizedResponse(3, WORDS // 8)
    assert mechanism.hides_participation
    assert mechanism.alphabet is Alphabet.LABELS_OR_NULL


def test_json_gives_the_mechanism_back() -> None:
    mechanism = NullRandomizedResponse.calibrated(Domain.ordinal(range(5)), 3.0)
    assert NullRandomizedResponse.of_json(mechanism.as_json()) == mechanism


def test_an_answer_beyond_null_is_refused() -> None:
    mechanism = NullRandomizedResponse(3, WORDS // 8)
    with pytest.raises(DataError, match="which has 3 values and NULL"):
        mechanism.perturb(cells_of([3]), None, SeededRandomness(0))


def test_weights_are_shared_by_one_symbol_more_than_there_are_labels() -> None:
    with pytest.raises(UsageError, match="other must be an integer from 1"):
        NullRandomizedResponse(3, WORDS // 4 + 1)
    assert NullRandomizedResponse(3, WORDS // 4).guarantee(9, Unit.WORKER).epsilon == 0


def test_the_claim_of_the_paper_holds_per_answer() -> None:
    claim = NullRandomizedResponse.calibrated(Domain.ordinal(range(5)), 3.0).claim()
    assert claim.epsilon == pytest.approx(3.0)
    assert claim.verdict == "holds per answer"
