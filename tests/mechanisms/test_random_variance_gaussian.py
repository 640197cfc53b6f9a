from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.random_variance_gaussian import FURTHEST, RandomVarianceGaussian
from sottovoce.model import WORDS, Cells, Codes, Domain, Private, Unit
from sottovoce.privacy.random_variance import delta_limit

STARS = Domain.numeric(0, 10, step=1)


def cells_of(codes: Codes, workers: int = 1) -> Cells:
    worker = (np.arange(len(codes)) % workers).astype(np.int32)
    task = np.arange(len(codes), dtype=np.int32)
    return Cells(worker, task, codes, np.arange(workers), np.arange(len(codes)))


@pytest.mark.slow  # a few targets are in the contracts
@settings(max_examples=6, deadline=None)
@given(
    epsilon=st.floats(0.05, 6.0),
    delta=st.floats(1e-3, 0.9),
    answers=st.sampled_from([1, 2, 7, 300]),
    unit=st.sampled_from(Unit),
)
def test_calibration_lands_just_below_the_target(
    epsilon: float, delta: float, answers: int, unit: Unit
) -> None:
    law = RandomVarianceGaussian.calibrated(STARS, epsilon, unit=unit, delta=delta, answers=answers)
    held = law.guarantee(answers, unit, delta)
    assert epsilon - 1e-6 <= held.epsilon <= epsilon
    assert law.delta(epsilon, answers, unit) <= delta


def test_few_answers_need_less_noise_than_many() -> None:
    rates = [
        RandomVarianceGaussian.calibrated(STARS, 1.0, delta=0.1, answers=k).rate / WORDS
        for k in (1, 2, 10, 100_000)
    ]
    assert rates == sorted(rates, reverse=True)
    loss = -math.log1p(-0.1)
    assert rates[-1] == pytest.approx(2 * loss * (1 + loss), rel=1e-6)


def test_no_epsilon_holds_without_a_delta() -> None:
    law = RandomVarianceGaussian.calibrated(STARS, 1.0, delta=0.1)
    assert law.guarantee(1, Unit.ANSWER).epsilon == math.inf
    assert law.guarantee(5, Unit.WORKER, 1e-14).epsilon == math.inf
    with pytest.raises(UsageError, match="needs delta > 0"):
        RandomVarianceGaussian.calibrated(STARS, 1.0)


def test_floating_point_is_paid_for_in_delta() -> None:
    law = RandomVarianceGaussian(10, WORDS // 5)
    paid = law.delta(1.0, 100_000, Unit.ANSWER) - delta_limit(1.0, 0.2, 1.0)
    assert 0 < paid < 1e-6


def test_delta_never_rises_with_epsilon() -> None:
    law = RandomVarianceGaussian(10, WORDS // 5)
    curve = [law.delta(e, 3, Unit.WORKER) for e in (0.0, 0.5, 2.0, 10.0, 30.0, 500.0)]
    assert curve == sorted(curve, reverse=True)


def test_a_target_beyond_its_precision_is_refused() -> None:
    with pytest.raises(UsageError, match="allow a larger delta"):
        RandomVarianceGaussian.calibrated(Domain.numeric(0, 1), 1.0, delta=1e-9, answers=100)


def test_the_paper_is_right_per_answer_and_wrong_per_worker() -> None:
    law = RandomVarianceGaussian.as_published(STARS, 1.0, delta=0.1)
    claim = law.claim(1.0)
    assert claim is not None
    assert claim.delta == pytest.approx(0.1)
    assert law.delta(1.0, 100, Unit.ANSWER) == pytest.approx(0.090, abs=5e-4)
    assert law.delta(1.0, 10, Unit.WORKER) == pytest.approx(0.458, abs=5e-4)
    assert law.claim() is None


@pytest.mark.statistical
def test_a_report_alone_follows_its_likelihood() -> None:
    law = RandomVarianceGaussian(10, WORDS)
    randomness = SeededRandomness(3)
    count = 200_000
    cells = cells_of(np.full(count, 4, np.int32), workers=count)
    reports = law.perturb(cells, law.draw(count, randomness), randomness).code
    for code in (-8, 0, 3, 4, 5, 12):
        likely = math.exp(float(law.log_likelihood(code, 4)))
        sigma = math.sqrt(likely * (1 - likely) / count)
        assert np.mean(reports == code) == pytest.approx(likely, abs=6 * sigma)


@pytest.mark.statistical
def test_reports_of_one_worker_follow_their_likelihood_given_its_variance() -> None:
    law, count = RandomVarianceGaussian(10, WORDS), 200_000
    cells = cells_of(np.full(count, 4, np.int32))
    reports = law.perturb(cells, Private(np.array([2.5])), SeededRandomness(4)).code
    for code in (0, 3, 4, 8):
        likely = math.exp(float(law.log_likelihood_given(code, 4, 2.5)))
        sigma = math.sqrt(likely * (1 - likely) / count)
        assert np.mean(reports == code) == pytest.approx(likely, abs=6 * sigma)


@pytest.mark.statistical
def test_variances_are_exponential() -> None:
    law, count = RandomVarianceGaussian(10, WORDS // 2), 200_000
    variances = law.draw(count, SeededRandomness(5)).values
    assert np.mean(variances) == pytest.approx(200.0, abs=6 * 200 / math.sqrt(count))
    assert np.mean(variances > 200.0) == pytest.approx(math.exp(-1), abs=6 * 0.5 / math.sqrt(count))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 100), st.integers(WORDS // 100, WORDS * 100))
def test_likelihoods_add_up_to_one(steps: int, rate: int) -> None:
    law = RandomVarianceGaussian(steps, rate)
    far = int(25 * law.scale) + 2
    codes = np.arange(-far, far + 1)
    assert np.exp(law.log_likelihood(codes, 0)).sum() == pytest.approx(1.0, abs=1e-9)
    given_variance = law.log_likelihood_given(codes, 0, law.scale**2)
    assert np.exp(given_variance).sum() == pytest.approx(1.0, abs=1e-9)


def test_reports_beyond_the_furthest_code_are_clipped_and_still_have_their_likelihood() -> None:
    law = RandomVarianceGaussian(1000, 1)
    cells = cells_of(np.full(50, 500, np.int32), workers=50)
    reports = law.perturb(cells, Private(np.full(50, 1e20)), SeededRandomness(6)).code
    assert np.abs(reports).max() == FURTHEST
    assert (np.abs(reports) == FURTHEST).sum() > 40
    tail = math.exp(float(law.log_likelihood(FURTHEST, 500)))
    assert tail == pytest.approx(0.5 * math.exp(-(FURTHEST - 500.5) / law.scale))


def test_it_is_written_without_floats_and_read_again() -> None:
    law = RandomVarianceGaussian.calibrated(STARS, 1.0, delta=0.1)
    written = json.dumps(law.as_json())
    assert RandomVarianceGaussian.of_json(json.loads(written, parse_float=pytest.fail)) == law


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rate": "0"}, "rate must be an integer from 1"),
        ({"rate": 7}, "rate must be a string of digits"),
        ({"steps": 0}, "steps must be an integer from 1"),
        ({"more": 1}, "unknown fields: 'more'"),
    ],
)
def test_other_documents_are_refused(change: dict[str, object], words: str) -> None:
    document = {"name": "random-variance-gaussian", "steps": 10, "rate": "99", **change}
    with pytest.raises(UsageError, match=words):
        RandomVarianceGaussian.of_json(document)


def test_what_it_cannot_take_is_refused() -> None:
    law = RandomVarianceGaussian(10, WORDS)
    with pytest.raises(DataError, match="answer 2 is not in the domain"):
        law.perturb(cells_of(np.array([0, 11], np.int32)), None, SeededRandomness(1))
    with pytest.raises(UsageError, match="needs the variance"):
        law.perturb(cells_of(np.array([0, 1], np.int32)), None, SeededRandomness(1))
    with pytest.raises(UsageError, match="takes numbers or labels in order"):
        RandomVarianceGaussian.calibrated(Domain.categorical("ab"), 1.0, delta=0.1)
