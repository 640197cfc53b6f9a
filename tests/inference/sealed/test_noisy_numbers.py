"""Numbers from noisy sums and histograms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.api.infer_opened import infer_opened, sum_answers
from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import Domain, FloatArray, Reports, Result
from sottovoce.model.opened_totals import Opened

RANGE = Domain.numeric(0, 10)


def crowd(seed: int, stray: str = "", tasks: int = 30) -> tuple[Reports, FloatArray]:
    """150 workers with variances ~ Exp(1) (P3 §V-A), of whom a fifth may be stray."""
    rng = np.random.default_rng(seed)
    truths = rng.uniform(1, 9, tasks)
    deviations = np.sqrt(rng.exponential(1.0, (150, 1)))
    values = np.clip(truths + deviations * rng.standard_normal((150, tasks)), 0, 10)
    if stray:
        values[:30] = 10.0 if stray == "end" else rng.uniform(0, 10, (30, tasks))
    worker, task = np.indices(values.shape)
    return Reports.of(worker.ravel(), task.ravel(), values.ravel(), domain=RANGE), truths


def summed(answers: Reports, layout: Layout, *, hidden: bool = False, seed: int = 1) -> Opened:
    target = Target(1.0, answers=len(answers.tasks), hide_participation=hidden)
    policy = make_policy(RANGE, "sealed-sum", target, layout=layout)
    return sum_answers(answers, policy, SeededRandomness(seed))


def error(result: Result, truths: FloatArray) -> float:
    return float(np.abs(result.truths - truths).mean())


def test_a_mean_is_the_sum_over_the_count() -> None:
    opened = replace(
        summed(crowd(1, tasks=2)[0], Layout.SUM), totals=np.array([[128 * 150], [-9]], np.int64)
    )
    assert infer_opened(opened).truths.tolist() == [5.0, 0.0]


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("layout", [Layout.SUM, Layout.HISTOGRAM])
def test_numbers_are_found_on_the_stated_crowd(layout: Layout, hidden: bool) -> None:
    answers, truths = crowd(2)
    assert error(infer_opened(summed(answers, layout, hidden=hidden)), truths) < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("layout", [Layout.SUM, Layout.HISTOGRAM])
def test_over_twenty_campaigns_the_mean_error_is_small(layout: Layout) -> None:
    found = [
        error(infer_opened(summed(answers, layout, seed=seed)), truths)
        for seed in range(20)
        for answers, truths in [crowd(seed)]
    ]
    assert np.mean(found) <= 0.13


@pytest.mark.parametrize("stray", ["end", "anywhere"])
def test_stray_workers_harm_the_mean_and_not_the_histogram(stray: str) -> None:
    answers, truths = crowd(3, stray)
    robust = error(infer_opened(summed(answers, Layout.HISTOGRAM)), truths)
    assert robust < 0.2
    assert robust < error(infer_opened(summed(answers, Layout.SUM)), truths) / 2


@pytest.mark.parametrize("layout", [Layout.SUM, Layout.HISTOGRAM])
def test_standard_errors_cover_what_they_say(layout: Layout) -> None:
    # The mean's errors cover the noise alone: it is compared with the mean of the answers.
    answers, truths = crowd(4, tasks=60)
    if layout is Layout.SUM:
        truths = np.bincount(answers.task, answers.value) / 150
    result = infer_opened(summed(answers, layout))
    assert result.standard_error is not None
    within = np.abs(result.truths - truths) <= 2 * result.standard_error
    assert 0.8 < within.mean()


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("layout", [Layout.SUM, Layout.HISTOGRAM])
def test_one_task_is_enough(layout: Layout, hidden: bool) -> None:
    answers, truths = crowd(5, tasks=1)
    result = infer_opened(summed(answers, layout, hidden=hidden))
    assert error(result, truths) < 1
    assert result.standard_error is not None
    assert 0 < result.standard_error[0] < 1


@pytest.mark.parametrize("layout", [Layout.SUM, Layout.HISTOGRAM])
def test_a_task_without_answers_gets_what_the_others_have(layout: Layout) -> None:
    opened = summed(crowd(6, tasks=3)[0], layout)
    assert opened.answered is not None
    result = infer_opened(replace(opened, answered=opened.answered * np.array([1, 1, 0])))
    assert result.truths[2] == pytest.approx(result.truths[:2].mean())
    assert result.standard_error is not None
    assert result.standard_error[2] > result.standard_error[:2].max()


def test_a_hidden_count_near_nothing_draws_the_mean_to_the_centre() -> None:
    opened = summed(crowd(7, tasks=4)[0], Layout.SUM, hidden=True)
    totals = np.array([[90, 0], [-90, 1], [40, -2], [0, 1]], np.int64)
    result = infer_opened(replace(opened, totals=totals))
    assert np.isfinite(result.truths).all()
    assert (np.abs(result.truths - 5) < 5).all()
