"""Standard errors: truth ± 1.96 of them covers the right number about 19 times in 20."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce.engines import LocalEngine
from sottovoce.inference import Mean, method_named
from sottovoce.model import Domain, FloatArray, Reports

SIZES = [(30, 300, 3), (30, 300, 5), (30, 300, 20)]
"""Numbers of workers, tasks, and answers per task."""


def crowd(workers: int, tasks: int, answers: int, seed: int) -> tuple[Reports, FloatArray]:
    """Workers whose error variance is exponential, as in P3: some exact, some hopeless."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 5, tasks)
    deviation = np.sqrt(rng.exponential(1, workers))
    task = np.repeat(np.arange(tasks), answers)
    worker = np.argsort(rng.random((tasks, workers)), axis=1)[:, :answers].ravel()
    value = truth[task] + deviation[worker] * rng.normal(size=len(task))
    names: dict[str, Any] = {"workers": np.arange(workers), "tasks": np.arange(tasks)}
    return Reports.of(worker, task, value, domain=Domain.numeric(), **names), truth


def coverage(method: str, size: tuple[int, int, int]) -> float:
    """The share of 2,400 intervals that cover the right number."""
    inside = []
    for seed in range(8):
        reports, truth = crowd(*size, seed)
        result = method_named(method).fit(LocalEngine(reports))
        assert result.standard_error is not None
        inside.append(np.abs(result.truths - truth) <= 1.96 * result.standard_error)
    return float(np.mean(inside))


# Errors of one crowd are correlated, so 2,400 intervals give the coverage to about .02 only.
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("method", ["mean", "crh", "inverse-deviation"])
def test_intervals_of_weighted_means_hold_the_truth(
    method: str, size: tuple[int, int, int]
) -> None:
    assert 0.90 <= coverage(method, size) <= 0.99


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("method", ["median", "weighted-median"])
def test_intervals_of_medians_are_on_the_safe_side(method: str, size: tuple[int, int, int]) -> None:
    assert coverage(method, size) >= 0.93


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_intervals_of_gtm_hold_the_truth(size: tuple[int, int, int]) -> None:
    assert 0.90 <= coverage("gtm", size) <= 0.99


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_intervals_of_catd_hold_the_truth(size: tuple[int, int, int]) -> None:
    assert 0.90 <= coverage("catd", size) <= 0.99


def test_more_answers_make_a_truth_more_certain() -> None:
    reports, _ = crowd(30, 200, 20, seed=1)
    few = reports.task % 2 == 0
    kept = ~few | (np.arange(len(reports)) % 20 < 5)
    thinned = Reports.of(
        reports.worker[kept],
        reports.task[kept],
        reports.value[kept],
        domain=reports.domain,
        workers=reports.workers,
        tasks=reports.tasks,
    )
    errors = method_named("mean").fit(LocalEngine(thinned)).standard_error
    assert errors is not None
    assert np.median(errors[0::2]) == pytest.approx(2 * np.median(errors[1::2]), rel=0.25)


@pytest.mark.parametrize("method", ["mean", "median", "crh", "gtm", "catd", "inverse-deviation"])
def test_two_answers_that_happen_to_agree_are_not_certain(method: str) -> None:
    rng = np.random.default_rng(2)
    value = rng.normal(size=60)
    value[:2] = 0.7
    worker, task = np.arange(60) % 6, np.arange(60) // 2
    reports = Reports.of(worker, task, value, domain=Domain.numeric())
    errors = method_named(method).fit(LocalEngine(reports)).standard_error
    assert errors is not None
    assert errors[0] > 0


@pytest.mark.parametrize("method", ["mean", "crh", "gtm", "catd", "inverse-deviation"])
@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_standard_errors_follow_the_unit(method: str, unit: float) -> None:
    reports, _ = crowd(10, 40, 6, seed=3)
    scaled = Reports.of(reports.worker, reports.task, reports.value * unit, domain=reports.domain)
    plain = method_named(method).fit(LocalEngine(reports)).standard_error
    other = method_named(method).fit(LocalEngine(scaled)).standard_error
    assert plain is not None
    assert other is not None
    np.testing.assert_allclose(other, plain * unit, rtol=1e-6)


def test_a_single_answer_is_as_uncertain_as_its_range() -> None:
    reports = Reports.of([0], [0], [4.0], domain=Domain.numeric(0, 12))
    error = Mean().fit(LocalEngine(reports)).standard_error
    assert error == pytest.approx(12 / np.sqrt(12))
