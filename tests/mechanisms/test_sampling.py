"""Sending a sample of the answers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.sampling import Sampled, best_sample, sampled_rows
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.model import NULL, Cells, Domain, Unit, Words

BINARY = Domain.categorical("ab")


def cells_of(worker: list[int], codes: list[int]) -> Cells:
    count = len(worker)
    return Cells(
        np.array(worker, np.int32),
        np.arange(count, dtype=np.int32),
        np.array(codes, np.int32),
        np.arange(max(worker) + 1).astype(object),
        np.arange(count).astype(object),
    )


@settings(deadline=None)
@given(
    worker=st.lists(st.integers(0, 5), max_size=60),
    size=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_every_worker_sends_so_many_or_all(worker: list[int], size: int, seed: int) -> None:
    column = np.array(worker, np.int32)
    rows = sampled_rows(column, size, SeededRandomness(seed))
    assert rows.tolist() == sorted(set(rows.tolist()))
    sent = np.bincount(column[rows], minlength=6)
    assert sent.tolist() == np.minimum(np.bincount(column, minlength=6), size).tolist()


def test_every_set_of_rows_is_as_likely() -> None:
    workers = 60_000
    column = np.tile(np.arange(workers, dtype=np.int32), 4)  # a worker's rows are far apart
    rows = sampled_rows(column, 2, SeededRandomness(8))
    sets = np.zeros(workers, int)
    np.add.at(sets, column[rows], 1 << (rows // workers))
    seen = [(sets == (1 << a | 1 << b)).mean() for a, b in itertools.combinations(range(4), 2)]
    assert seen == pytest.approx([1 / 6] * 6, abs=0.0092)  # 6 sigma


class Coarse:
    """Words of two bits: every second pair is equal."""

    simulated = True

    def __init__(self) -> None:
        self._source = SeededRandomness(9)

    def words(self, count: int) -> Words:
        return self._source.words(count) >> np.uint64(62)


def test_equal_keys_favour_no_row() -> None:
    workers = 30_000
    column = np.repeat(np.arange(workers, dtype=np.int32), 3)
    rows = sampled_rows(column, 1, Coarse())
    seen = np.bincount(rows % 3) / workers
    assert seen == pytest.approx([1 / 3] * 3, abs=0.0164)  # 6 sigma


def test_reports_are_the_inner_mechanisms_on_the_sent_cells() -> None:
    sampled = Sampled(RandomizedResponse(2, 1), 2)  # noise once in 2^64 answers
    cells = cells_of([0] * 5 + [1], [0, 1, 0, 1, 0, 1])
    sent = sampled.perturb(cells, sampled.draw(2, SeededRandomness(1)), SeededRandomness(1))
    assert len(sent) == 3
    assert sent.worker.tolist() == [0, 0, 1]
    assert sent.code.tolist() == [cells.code[task] for task in sent.task]


def test_cells_without_an_answer_are_sampled_too() -> None:
    sampled = Sampled(NullRandomizedResponse(2, 1), 1)
    workers = 20_000
    codes = np.tile([NULL, 1], workers).tolist()
    cells = cells_of(np.repeat(np.arange(workers), 2).tolist(), codes)
    sent = sampled.perturb(cells, None, SeededRandomness(3))
    assert (sent.code == 2).mean() == pytest.approx(0.5, abs=0.0213)  # 6 sigma
    assert sampled.hides_participation


@settings(max_examples=30, deadline=None)
@given(
    epsilon=st.floats(0.1, 30),
    unit=st.sampled_from(Unit),
    delta=st.sampled_from([0.0, 1e-6, 1e-2]),
    answers=st.integers(1, 60),
    sample=st.none() | st.just(1),
)
def test_calibration_lands_just_within_the_target(
    epsilon: float, unit: Unit, delta: float, answers: int, sample: int | None
) -> None:
    sampled = Sampled.calibrated(
        BINARY, epsilon, unit=unit, delta=delta, answers=answers, sample=sample
    )
    found = sampled.guarantee(answers, unit, delta)
    assert found.within(epsilon, delta)
    assert found.answers == answers
    assert found.epsilon >= epsilon - 1e-6 or _spent(sampled)


def _spent(sampled: Sampled) -> bool:
    """Whether the inner mechanism can tell no more: its weight of other labels is the least."""
    return isinstance(sampled.mechanism, RandomizedResponse) and sampled.mechanism.other == 1


@pytest.mark.parametrize("unit", list(Unit))
@pytest.mark.parametrize("at", [0.0, 0.3, 0.9, 1.5])
def test_delta_is_that_of_all_submissions(unit: Unit, at: float) -> None:
    sampled = Sampled(RandomizedResponse.calibrated(BINARY, 1.0), 2)
    matrix = RandomizedResponse.calibrated(BINARY, 1.0).channel().matrix()
    ours, theirs = (0, 0, 0), (1, 1, 1) if unit is Unit.WORKER else (1, 0, 0)
    expected = 0.0
    for sent in itertools.combinations(range(3), 2):
        for reports in itertools.product((0, 1), repeat=2):
            here, there = (
                math.prod(matrix[given[t], r] for t, r in zip(sent, reports, strict=True)) / 3
                for given in (ours, theirs)
            )
            expected += max(0.0, here - math.exp(at) * there)
    assert sampled.delta(at, 3, unit) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_the_guarantee_per_worker_is_that_of_the_answers_sent() -> None:
    sampled = Sampled(RandomizedResponse.calibrated(BINARY, 1.0), 3)
    epsilons = [sampled.guarantee(k, Unit.WORKER).epsilon for k in (1, 2, 3, 60)]
    assert epsilons == pytest.approx([1, 2, 3, 3])


def test_an_answer_that_is_rarely_sent_is_protected_by_that_alone() -> None:
    sampled = Sampled(RandomizedResponse.calibrated(BINARY, 1.0), 1)
    assert sampled.guarantee(100, Unit.ANSWER, 0.01).epsilon == 0
    assert sampled.guarantee(100, Unit.ANSWER, 0.0).epsilon == pytest.approx(1.0)


def test_the_guarantee_says_what_it_rests_on() -> None:
    held = Sampled(RandomizedResponse.calibrated(BINARY, 1.0), 1).guarantee(9, Unit.WORKER)
    assert "does not depend on the answers" in held.assumptions[-1]
    assert held.exact


@pytest.mark.parametrize("total", [0.5, 2.0, 4.0, 8.0, 40.0])
def test_the_best_sample_tells_most(total: float) -> None:
    def told(sent: int) -> float:
        return sent * math.tanh(total / (2 * sent)) ** 2

    assert told(best_sample(total, 60)) >= 0.97 * max(told(sent) for sent in range(1, 61))


def test_numbers_and_parameters_reach_the_inner_mechanism() -> None:
    sampled = Sampled.calibrated_worker(
        SubsetSelection, Domain.numeric(0, 10), 4.0, answers=30, null=True, bins=6
    )
    assert isinstance(sampled.mechanism, SubsetSelection)
    assert (sampled.mechanism.bins, sampled.mechanism.null, sampled.answers) == (6, True, 2)
    assert isinstance(Sampled.calibrated(Domain.numeric(0, 1), 1.0).mechanism, SubsetSelection)


def test_json_gives_the_mechanism_back() -> None:
    sampled = Sampled.calibrated_worker(RandomizedResponse, BINARY, 4.0, answers=30)
    document = sampled.as_json()
    assert (document["name"], document["answers"]) == ("sampled", 2)
    assert Sampled.of_json(document) == sampled


@pytest.mark.parametrize("answers", [0, -1, True, 1.5])
def test_what_is_no_number_of_answers_is_refused(answers: int) -> None:
    with pytest.raises(UsageError, match="answers must be an integer from 1"):
        Sampled(RandomizedResponse(2, 1), answers)


def test_a_sample_of_a_sample_is_refused() -> None:
    with pytest.raises(UsageError, match="sample once"):
        Sampled(Sampled(RandomizedResponse(2, 1), 1), 1)


def test_a_sample_larger_than_the_answers_is_refused() -> None:
    with pytest.raises(UsageError, match="sample must be an integer from 1 to 3"):
        Sampled.calibrated_worker(RandomizedResponse, BINARY, 4.0, answers=3, sample=4)
