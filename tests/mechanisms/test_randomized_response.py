"""One-layer randomised response."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.laws.symmetric_channel import Keeping
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.model import WORDS, Cells, Domain, Unit, Words


def cells_of(codes: list[int]) -> Cells:
    count = len(codes)
    return Cells(
        np.zeros(count, np.int32),
        np.arange(count, dtype=np.int32),
        np.array(codes, np.int32),
        np.array(["w"], object),
        np.array([f"t{i}" for i in range(count)], object),
    )


def domain_of(labels: int) -> Domain:
    return Domain.categorical(range(labels))


def test_reports_follow_the_channel() -> None:
    mechanism = RandomizedResponse.calibrated(domain_of(3), 1.0)
    reports = mechanism.perturb(cells_of([2] * 200_000), None, SeededRandomness(1))
    seen = np.bincount(reports.code.astype(int), minlength=3) / len(reports)
    assert seen == pytest.approx(mechanism.channel().matrix()[2], abs=0.007)  # 6 sigma


class Given:
    """Recorded words."""

    simulated = True

    def __init__(self, words: list[int]) -> None:
        self._words = np.array(words, np.uint64)

    def words(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        now, self._words = self._words[:count], self._words[count:]
        return now


def edges(mechanism: RandomizedResponse) -> list[int]:
    """The first and the last word of every run of words with one outcome."""
    keep = WORDS - (mechanism.labels - 1) * mechanism.other
    starts = [0, *range(keep, WORDS, mechanism.other)]
    return starts + [start - 1 for start in (*starts[1:], WORDS)]


class Counting(SeededRandomness):
    """Words, and how many."""

    def __init__(self) -> None:
        super().__init__(1)
        self.count = 0

    def words(self, count: int) -> Words:
        self.count += count
        return super().words(count)


def test_the_words_at_the_edges_of_the_runs_decide_as_the_weights_say() -> None:
    mechanism = RandomizedResponse(3, WORDS // 5)
    shifts = Keeping(3, mechanism.other).shifts(np.array(sorted(edges(mechanism)), np.uint64))
    assert shifts.tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(("labels", "bits"), [(2, 8), (3, 8), (16, 8), (17, 16), (200, 16)])
def test_the_leading_bits_decide_as_the_whole_word_would(labels: int, bits: int) -> None:
    mechanism = RandomizedResponse.calibrated(domain_of(labels), 1.0)
    near = [word + step for word in edges(mechanism) for step in (-(1 << 40), -1, 0, 1, 1 << 40)]
    words = [word % WORDS for word in near] + SeededRandomness(2).words(300).tolist()
    whole = Keeping(labels, mechanism.other).shifts(np.array(words, np.uint64))
    seen = []
    for word in words:
        # A draw of leading bits has them in its lowest ones; the last draw has the rest.
        parts = [word >> 48] if bits == 16 else [word >> 56, word >> 48 & 255]
        drawn = [*parts, (word << 16) % WORDS]
        seen.append(int(mechanism.perturb(cells_of([0]), None, Given(drawn)).code[0]))
    assert seen == whole.tolist()


def test_few_more_bits_are_drawn_than_lead() -> None:
    source = Counting()
    RandomizedResponse.calibrated(domain_of(4), 1.0).perturb(cells_of([0] * 80_000), None, source)
    # A word for 8 leading bytes, and one for the three of 256 that are undecided, with room.
    assert source.count < 80_000 * (1 / 8 + 4 / 256)


def test_answers_are_left_as_they_were() -> None:
    cells = cells_of([0, 1] * 500)
    RandomizedResponse.calibrated(domain_of(2), 0.1).perturb(cells, None, SeededRandomness(5))
    assert cells.code.tolist() == [0, 1] * 500


@given(
    labels=st.integers(2, 40),
    epsilon=st.floats(0.01, 20),
    unit=st.sampled_from(Unit),
    delta=st.sampled_from([0.0, 1e-9, 1e-3]),
    answers=st.sampled_from([1, 3, 50]),
)
@settings(max_examples=40, deadline=None)
def test_calibration_lands_just_within_the_target(
    labels: int, epsilon: float, unit: Unit, delta: float, answers: int
) -> None:
    mechanism = RandomizedResponse.calibrated(
        domain_of(labels), epsilon, unit=unit, delta=delta, answers=answers
    )
    found = mechanism.guarantee(answers, unit, delta).epsilon
    assert epsilon - 1e-6 <= found <= epsilon


def test_calibration_for_a_hundred_thousand_answers_is_sound() -> None:
    mechanism = RandomizedResponse.calibrated(
        domain_of(4), 5.0, unit=Unit.WORKER, delta=1e-6, answers=100_000
    )
    found = mechanism.guarantee(100_000, Unit.WORKER, 1e-6).epsilon
    assert 5.0 - 1e-6 <= found <= 5.0


@settings(deadline=None)
@given(labels=st.integers(2, 9), share=st.floats(0, 0.999))
def test_epsilon_is_the_largest_ratio_of_weights(labels: int, share: float) -> None:
    mechanism = RandomizedResponse(labels, 1 + int(share * (WORDS // labels - 1)))
    rows = mechanism.channel().weights
    ratio = max(
        Fraction(a[report], b[report])
        for a, b in itertools.permutations(rows, 2)
        for report in range(labels)
    )
    expected = math.log(ratio.numerator) - math.log(ratio.denominator)
    found = mechanism.guarantee(1, Unit.ANSWER).epsilon
    assert found == pytest.approx(expected, abs=1e-13)


@given(labels=st.integers(2, 4), epsilon=st.floats(0.1, 4), at=st.floats(0, 8))
@settings(deadline=None)
def test_delta_is_that_of_all_submissions_of_two_answers(
    labels: int, epsilon: float, at: float
) -> None:
    mechanism = RandomizedResponse.calibrated(domain_of(labels), epsilon)
    matrix = mechanism.channel().matrix()
    here, there = np.outer(matrix[0], matrix[0]), np.outer(matrix[1], matrix[1])
    expected = np.maximum(here - math.exp(at) * there, 0).sum()
    assert mechanism.delta(at, 2, Unit.WORKER) == pytest.approx(expected, rel=1e-9, abs=1e-13)


def test_the_likelihood_is_the_channel() -> None:
    mechanism = RandomizedResponse.calibrated(domain_of(5), 2.0)
    found = np.exp(mechanism.log_likelihood(np.arange(5)[None, :], np.arange(5)[:, None]))
    assert found == pytest.approx(mechanism.channel().matrix())


def test_rows_of_the_channel_add_up_exactly() -> None:
    mechanism = RandomizedResponse.calibrated(domain_of(5), 2.0)
    assert {sum(row) for row in mechanism.channel().weights} == {WORDS}


def test_json_gives_the_mechanism_back() -> None:
    mechanism = RandomizedResponse.calibrated(domain_of(5), 2.0)
    assert RandomizedResponse.of_json(mechanism.as_json()) == mechanism


@pytest.mark.parametrize(
    ("labels", "other"), [(1, 5), (2, 0), (2, WORDS // 2 + 1), (2, 1.5), (True, 5)]
)
def test_what_is_no_law_is_refused(labels: int, other: int) -> None:
    with pytest.raises(UsageError, match="must be an integer from"):
        RandomizedResponse(labels, other)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_target_is_refused(epsilon: float) -> None:
    with pytest.raises(UsageError, match="epsilon must be above 0 and finite"):
        RandomizedResponse.calibrated(domain_of(2), epsilon)


def test_an_answer_outside_the_domain_is_refused_and_not_quoted() -> None:
    mechanism = RandomizedResponse.calibrated(domain_of(3), 1.0)
    with pytest.raises(DataError, match="answer 2 is not in the domain") as error:
        mechanism.perturb(cells_of([1, 77]), None, SeededRandomness(0))
    assert "77" not in str(error.value)


def test_not_answering_is_refused() -> None:
    mechanism = RandomizedResponse.calibrated(domain_of(3), 1.0)
    with pytest.raises(DataError, match="no NULL"):
        mechanism.perturb(cells_of([1, -1]), None, SeededRandomness(0))


def test_the_claim_is_per_answer() -> None:
    claim = RandomizedResponse.calibrated(domain_of(3), 1.0).claim()
    assert claim.epsilon == pytest.approx(1.0)
    assert "per answer" in claim.verdict
