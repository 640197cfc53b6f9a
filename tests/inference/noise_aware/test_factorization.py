"""Truths from matrix factorisation: never far worse than the best constant."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from sottovoce.datasets import SeededRandomness
from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference.noise_aware.factorization import AwareFactorization
from sottovoce.mechanisms.codes import report_table
from sottovoce.mechanisms.matrix_factorization import MatrixFactorization
from sottovoce.model import NULL, Cells, Domain, Evidence, FactorChannel, FloatArray, Result

DIGITS = Domain.ordinal(range(10))


@cache
def reported(
    answered: float, epsilon: float, tasks: int = 100, dimension: int = 10
) -> tuple[FloatArray, Evidence]:
    """600 workers, truths U(1, 8), half of the workers careful."""
    rng = np.random.default_rng(tasks)
    truths = rng.uniform(1, 8, tasks)
    deviation = np.where(np.arange(600) % 2, 1.0, 5.0)[:, np.newaxis]
    answers = np.clip(np.rint(truths + deviation * rng.normal(size=(600, tasks))), 0, 9)
    codes = np.where(rng.random(answers.shape) < answered, answers, NULL).astype(np.int32)
    workers, columns = (np.asarray(index.ravel(), np.int32) for index in np.indices(codes.shape))
    vocabularies = (np.arange(size).astype(str).astype(object) for size in codes.shape)
    mechanism = MatrixFactorization.calibrated(DIGITS, epsilon, dimension=dimension)
    randomness = SeededRandomness(5)
    sent = mechanism.perturb(
        Cells(workers, columns, codes.ravel(), *vocabularies), None, randomness
    )
    table = report_table(sent, mechanism.alphabet, DIGITS, simulated=True)
    found = mechanism.evidence(table, DIGITS)
    assert found is not None
    return truths, found


def fit(found: Evidence, **settings: Any) -> Result:
    assert isinstance(found.channel, FactorChannel)
    return AwareFactorization(found.channel, DIGITS, **settings).fit(LocalEngine(found.symbols))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_it_is_hardly_ever_worse_than_a_constant(epsilon: float) -> None:
    """Better than the middle of the range, and at most a fifth worse than the best in hindsight."""
    truths, found = reported(0.1, epsilon)
    assert isinstance(found.channel, FactorChannel)
    error = np.abs(fit(found).truths - truths).mean()
    assert error < 1.02 * np.abs(truths - found.channel.centre).mean()
    assert error < 1.2 * np.abs(truths - np.median(truths)).mean()


def test_with_as_many_sums_as_tasks_and_little_noise_truths_are_found() -> None:
    truths, found = reported(0.5, 20.0, tasks=20, dimension=60)
    result = fit(found)
    constant = np.abs(truths - np.median(truths)).mean()
    assert np.abs(result.truths - truths).mean() < 0.5 * constant
    assert result.standard_error is not None
    # Half of the workers are careless, and clipping biases their mean answer to the middle.
    assert np.mean(np.abs(result.truths - truths) < 3 * result.standard_error) > 0.8


def test_knowing_how_many_answered_helps() -> None:
    truths, found = reported(0.1, 20.0, tasks=20, dimension=60)
    told, guessed = (fit(found, participation=share).truths for share in (0.1, 0.5))
    assert np.abs(told - truths).mean() < np.abs(guessed - truths).mean()


def test_noise_draws_truths_together() -> None:
    quiet, loud = (fit(reported(0.5, epsilon)[1]).truths for epsilon in (8.0, 0.05))
    assert np.std(loud) < np.std(quiet)


def test_all_workers_weigh_the_same() -> None:
    assert (fit(reported(0.5, 2.0)[1]).weights == 1).all()


def test_sums_come_back_from_the_mean_reports() -> None:
    rng = np.random.default_rng(0)
    channel = FactorChannel(0, 9, 4.5, rng.normal(size=(6, 40)), 3.0, 1.0)
    sums = rng.normal(size=6)
    gram = channel.profiles @ channel.profiles.T + 3.0 * np.eye(6)
    reports = 4.5 + np.linalg.solve(gram, sums) @ channel.profiles
    np.testing.assert_allclose(AwareFactorization(channel, DIGITS)._sums(reports), sums)


@pytest.mark.parametrize("participation", [0.0, -0.5, 1.5])
def test_a_participation_that_is_no_share_is_refused(participation: float) -> None:
    with pytest.raises(UsageError, match="participation"):
        fit(reported(0.5, 2.0)[1], participation=participation)


def test_profiles_of_other_tasks_are_refused() -> None:
    _, found = reported(0.5, 2.0)
    assert isinstance(found.channel, FactorChannel)
    fewer = replace(found.channel, profiles=found.channel.profiles[:, 1:])
    with pytest.raises(UsageError, match="99 tasks"):
        fit(Evidence(found.symbols, fewer))
