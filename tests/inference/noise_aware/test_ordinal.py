"""Ordinal labels through a known channel."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.datasets import SeededRandomness
from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference.noise_aware.numbers import AwareOrdinal
from sottovoce.mechanisms.codes import report_table
from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.threshold import Threshold
from sottovoce.model import NULL, Cells, Codes, Domain, Evidence, PointChannel, Reports, Result
from sottovoce.seams import Mechanism

GRADES = Domain.ordinal(["bad", "poor", "fair", "good", "best"])


def crowd(seed: int, answered: float = 1.0) -> tuple[Codes, Codes]:
    """120 workers, half of them good, on 80 tasks with an even share of the five labels."""
    rng = np.random.default_rng(seed)
    truths = rng.integers(0, 5, 80).astype(np.int32)
    deviation = np.where(np.arange(120) % 2, 0.5, 2.0)[:, np.newaxis]
    answers = np.clip(np.rint(truths + deviation * rng.normal(size=(120, 80))), 0, 4)
    return truths, np.where(rng.random(answers.shape) < answered, answers, NULL).astype(np.int32)


def perturbed(mechanism: Mechanism, codes: Codes) -> Evidence:
    workers, tasks = (np.asarray(index.ravel(), np.int32) for index in np.indices(codes.shape))
    vocabularies = (np.arange(size).astype(str).astype(object) for size in codes.shape)
    cells = Cells(workers, tasks, codes.ravel(), *vocabularies)
    randomness = SeededRandomness(3)
    sent = mechanism.perturb(cells, mechanism.draw(len(codes), randomness), randomness)
    table = report_table(sent, mechanism.alphabet, GRADES, simulated=True)
    found = mechanism.evidence(table, GRADES, as_numbers=True)
    assert found is not None
    return found


def fit(found: Evidence) -> Result:
    assert isinstance(found.channel, PointChannel)
    return AwareOrdinal(found.channel, GRADES).fit(LocalEngine(found.symbols))


def test_labels_are_found_through_randomized_response() -> None:
    truths, codes = crowd(0)
    result = fit(perturbed(RandomizedResponse.calibrated(GRADES, 2.0), codes))
    assert np.mean(result.truths == truths) > 0.95
    assert result.domain == GRADES
    assert result.values[0] == GRADES.labels[truths[0]]


def test_labels_are_found_from_answers_to_threshold_questions() -> None:
    truths, codes = crowd(1)
    result = fit(perturbed(Threshold.calibrated(GRADES, 2.0), codes))
    assert np.mean(result.truths == truths) > 0.9


def test_labels_are_found_where_participation_is_private() -> None:
    truths, codes = crowd(2, answered=0.5)
    result = fit(perturbed(NullRandomizedResponse.calibrated(GRADES, 3.0), codes))
    assert np.mean(result.truths == truths) > 0.9


def test_the_better_half_of_workers_weighs_more() -> None:
    weights = fit(perturbed(RandomizedResponse.calibrated(GRADES, 3.0), crowd(0)[1])).weights
    assert np.median(weights[1::2]) > 2 * np.median(weights[::2])


def test_workers_who_guess_do_no_harm() -> None:
    truths, codes = crowd(5)
    rng = np.random.default_rng(5)
    codes[:60] = rng.integers(0, 5, (60, 80))
    result = fit(perturbed(RandomizedResponse.calibrated(GRADES, 3.0), codes))
    assert np.mean(result.truths == truths) > 0.9
    assert result.weights[61::2].min() > np.median(result.weights[:60])


def test_confidence_is_the_probability_of_the_truth() -> None:
    result = fit(perturbed(RandomizedResponse.calibrated(GRADES, 0.5), crowd(3)[1]))
    assert result.posterior is not None
    assert result.confidence is not None
    np.testing.assert_allclose(result.posterior.sum(axis=1), 1)
    np.testing.assert_array_equal(result.confidence, result.posterior.max(axis=1))


def test_where_reports_say_nothing_confidence_is_that_of_a_guess() -> None:
    result = fit(perturbed(RandomizedResponse.calibrated(GRADES, 0.01), crowd(3)[1]))
    assert result.confidence is not None
    assert result.confidence.max() < 0.3


def test_a_task_without_reports_has_the_prior_of_labels() -> None:
    channel = PointChannel(np.arange(5.0), np.eye(5))
    domain = Domain.categorical(range(5))
    table = Reports.of([0, 1, 2], [0, 0, 0], [4, 4, 4], domain=domain, tasks=np.arange(2))
    result = AwareOrdinal(channel, GRADES).fit(LocalEngine(table))
    assert result.posterior is not None
    assert result.prior is not None
    np.testing.assert_allclose(result.posterior[1], result.prior)
    assert result.truths[0] == 4


def test_kernels_and_numpy_find_the_same() -> None:
    found = perturbed(RandomizedResponse.calibrated(GRADES, 1.0), crowd(4)[1])
    assert isinstance(found.channel, PointChannel)
    method = AwareOrdinal(found.channel, GRADES)
    engines = (LocalEngine(found.symbols, use_kernels=kernels) for kernels in (True, False))
    compiled, plain = (method.fit(engine) for engine in engines)
    assert compiled.posterior is not None
    assert plain.posterior is not None
    assert compiled.rounds == plain.rounds
    np.testing.assert_allclose(compiled.posterior, plain.posterior, atol=1e-9)


def test_numbers_are_refused() -> None:
    with pytest.raises(UsageError, match="aware-numbers"):
        AwareOrdinal(PointChannel(np.arange(5.0), np.eye(5)), Domain.numeric(0, 4))
