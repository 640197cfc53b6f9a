"""P4's expected errors, and the true ones."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.model import FloatArray
from sottovoce_studies.theorems import (
    SparseSetting,
    factorization_error,
    keep_probability,
    laplace_error,
    null_response_error,
    published_factorization_error,
    published_laplace_error,
    published_null_response_error,
)

PAPER = SparseSetting(values=tuple(range(10)), truth=0.0, answered=0.1, epsilon=1.0)
PRINTED_3 = 3.551
"""The printed value of P4's example of Thm. 3; its formula gives 3.437."""

settings_ = st.builds(
    SparseSetting,
    values=st.lists(st.integers(-20, 20), min_size=2, max_size=8, unique=True).map(
        lambda values: tuple(float(v) for v in sorted(values))
    ),
    truth=st.floats(-25, 25),
    answered=st.floats(0.01, 1),
    epsilon=st.floats(0.05, 8),
    sigma=st.floats(0.1, 10),
    workers=st.integers(1, 3_000),
    null=st.none() | st.floats(-20, 20),
)


def simulated_answers(setting: SparseSetting, tasks: int, rng: np.random.Generator) -> FloatArray:
    """tasks × workers answers, NaN for NULL; whole numbers from 0 on."""
    shape = (tasks, setting.workers)
    noisy = setting.truth + setting.sigma * rng.standard_normal(shape)
    answers = np.clip(np.rint(noisy), setting.values[0], setting.values[-1])
    return np.where(rng.random(shape) < setting.answered, answers, np.nan)


def laplace_errors(setting: SparseSetting, tasks: int, scale: float, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    answers = simulated_answers(setting, tasks, rng)
    filled = np.where(np.isnan(answers), rng.choice(setting.support, answers.shape), answers)
    reports = filled + rng.laplace(0, scale, filled.shape)
    return np.asarray(np.abs(reports.mean(axis=1) - setting.truth))


def null_response_errors(setting: SparseSetting, tasks: int, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    answers = simulated_answers(setting, tasks, rng)
    size = len(setting.values)
    symbol = np.where(np.isnan(answers), size, answers).astype(np.int64)
    kept = rng.random(symbol.shape) < math.exp(setting.epsilon) / (math.exp(setting.epsilon) + size)
    other = (symbol + rng.integers(1, size + 1, symbol.shape)) % (size + 1)
    report = np.where(kept, symbol, other)
    values = np.where(report == size, np.nan, report)
    values = values[~np.isnan(values).all(axis=1)]
    return np.asarray(np.abs(np.nanmean(values, axis=1) - setting.truth))


def test_theorem_2_has_its_reference_values() -> None:
    assert published_laplace_error(PAPER).value == pytest.approx(14.12979, abs=5e-6)
    assert published_laplace_error(PAPER, scale=9).value == pytest.approx(13.12979, abs=5e-6)


def test_the_slides_truth_would_give_another_figure() -> None:
    assert published_laplace_error(replace(PAPER, truth=1.0)).value == pytest.approx(
        13.23, abs=5e-3
    )


def test_theorem_2_holds_in_the_papers_setting_and_is_far_from_sharp() -> None:
    claim = published_laplace_error(PAPER)
    assert claim.holds
    assert claim.value > 3 * claim.sound


def test_theorem_2_fails_where_replacements_fall_on_both_sides_of_the_truth() -> None:
    # One worker, so nothing averages out: E|d + Lap(b)| is known in closed form.
    middle = replace(PAPER, truth=4.5, workers=1)
    claim = published_laplace_error(middle)
    distance = np.abs(np.arange(10) - 4.5)
    nulls = float(np.mean(distance + 10 * np.exp(-distance / 10)))
    assert claim.value == pytest.approx(10 + 0.1 * math.sqrt(2 / math.pi))
    assert 0.9 * nulls + 0.1 * 10 > claim.value  # even if answers were free of error
    assert not claim.holds


def test_for_one_worker_the_bound_is_the_error_itself() -> None:
    alone = replace(PAPER, truth=3.0, answered=0.4, workers=1, null=5.0)
    chance = np.append(0.4 * alone.answer_law(), 0.6)
    distance = np.append(alone.support, 5.0) - 3.0
    noise = np.linspace(-400, 400, 1_600_001)
    density = np.exp(-np.abs(noise) / 9) / 18
    errors = [float(np.trapezoid(np.abs(d + noise) * density, noise)) for d in distance]
    assert laplace_error(alone).most == pytest.approx(float(chance @ errors), rel=1e-6)


def test_theorem_2_holds_if_nulls_become_a_constant() -> None:
    assert published_laplace_error(replace(PAPER, truth=4.0, workers=1, null=4.0)).holds


def test_theorem_3_has_its_reference_value() -> None:
    assert published_null_response_error(PAPER).value == pytest.approx(3.43680, abs=5e-6)


def test_the_error_of_theorem_3_is_above_what_is_printed() -> None:
    error = null_response_error(PAPER)
    assert error.least == pytest.approx(4.43, abs=5e-3)
    assert error.least > PRINTED_3 > published_null_response_error(PAPER).value
    assert not published_null_response_error(PAPER).holds


def test_the_error_of_theorem_2s_setting_is_far_below_what_is_printed() -> None:
    assert laplace_error(PAPER).estimate == pytest.approx(4.09, abs=5e-3)


def test_theorem_5_has_its_reference_value_and_does_not_hold() -> None:
    claim = published_factorization_error(1_000, 100, 10, 1.0)
    assert claim.value == pytest.approx(1.79788, abs=5e-6)
    assert not claim.holds


def test_randomised_response_keeps_about_eighty_in_a_hundred() -> None:
    assert keep_probability(3, 5) == pytest.approx(0.800682, abs=5e-7)
    assert keep_probability(10_000, 5) == 1.0


# The bounds are exact; a simulation adds its own standard error, of which 6.5 are allowed: once in
# 1e10. The estimate is a normal approximation, right to 1 % for these crowds.
@pytest.mark.statistical
@pytest.mark.parametrize(
    "setting",
    [
        replace(PAPER, workers=500),
        replace(PAPER, truth=4.5, workers=100),
        replace(PAPER, truth=7.2, sigma=2.0, answered=0.5, epsilon=2.0, workers=60),
        replace(PAPER, truth=3.0, workers=4),
    ],
    ids=["paper", "middle", "dense", "few"],
)
@pytest.mark.parametrize("mechanism", ["laplace", "published laplace", "response"])
def test_simulated_errors_are_as_expected(setting: SparseSetting, mechanism: str) -> None:
    tasks = 200_000 // setting.workers
    if mechanism == "response":
        seen, error = null_response_errors(setting, tasks, 21), null_response_error(setting)
    else:
        scale = (9 if mechanism == "laplace" else 10) / setting.epsilon
        seen = laplace_errors(setting, tasks, scale, 22)
        error = laplace_error(setting, None if mechanism == "laplace" else scale)
    allowed = 6.5 * float(seen.std()) / math.sqrt(len(seen))
    assert error.least - allowed <= seen.mean() <= error.most + allowed
    approximation = 0.01 if setting.workers > 10 else 0.05
    assert abs(seen.mean() - error.estimate) <= allowed + approximation * error.estimate


@pytest.mark.statistical  # a task's error deviates by 0.072, their mean by 0.005: 7 of these
def test_simulated_reports_exceed_the_printed_bound_of_theorem_3() -> None:
    seen = null_response_errors(replace(PAPER, workers=2_000), 200, 23)
    assert seen.mean() == pytest.approx(4.4304, abs=0.036)
    assert seen.mean() > PRINTED_3


@given(settings_)
def test_the_estimate_lies_between_the_bounds(setting: SparseSetting) -> None:
    for error in (laplace_error(setting), null_response_error(setting)):
        assert 0 <= error.least <= error.estimate <= error.most


@given(settings_)
def test_a_larger_crowd_errs_no_more_and_never_less_than_the_bias(setting: SparseSetting) -> None:
    larger = replace(setting, workers=2 * setting.workers)
    for error_of in (laplace_error, null_response_error):
        small, large = error_of(setting), error_of(larger)
        assert large.least == pytest.approx(small.least)
        assert large.most <= small.most * (1 + 1e-9)


@given(settings_)
def test_the_answers_of_a_setting_are_a_law(setting: SparseSetting) -> None:
    law = setting.answer_law()
    assert (law >= 0).all()
    assert law.sum() == pytest.approx(1)


def test_with_all_answered_and_no_noise_to_speak_of_answers_are_reported() -> None:
    setting = SparseSetting(
        values=(0.0, 1.0, 2.0), truth=1.0, answered=1.0, epsilon=60.0, sigma=0.01, workers=10
    )
    assert null_response_error(setting).most == pytest.approx(0, abs=1e-9)


def test_factorization_loses_what_its_factors_cannot_represent() -> None:
    rng = np.random.default_rng(24)
    factors = rng.uniform(-1, 1, (20, 200))
    factors /= np.abs(factors).sum(axis=0)
    least = factorization_error(np.full(200, 7.0), factors)
    assert least > 3 * published_factorization_error(200, 20, 10, 10.0).value
    within = rng.standard_normal(20) @ factors
    assert factorization_error(within, factors) == pytest.approx(0, abs=1e-12)


@pytest.mark.statistical
def test_simulated_factorization_errs_by_what_is_lost() -> None:
    rng, workers = np.random.default_rng(25), 4_000
    factors = rng.uniform(-1, 1, (5, 40))
    factors /= np.abs(factors).sum(axis=0)
    truths = np.full(40, 7.0)
    answers = truths + rng.standard_normal((workers, 40))
    noise = rng.laplace(0, 0.1, (workers, 5))
    profiles = np.linalg.solve(factors @ factors.T, factors @ answers.T - noise.T)
    reports = factors.T @ profiles
    # Seven standard errors of a task's mean, on all tasks at once: once in 1e10.
    allowed = 7 * float(reports.std(axis=1).max()) / math.sqrt(workers)
    seen = float(np.abs(reports.mean(axis=1) - truths).mean())
    assert seen == pytest.approx(factorization_error(truths, factors), abs=allowed)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"values": (1.0,)}, "values must be at least two finite numbers"),
        ({"values": (1.0, math.nan)}, "values must be at least two finite numbers"),
        ({"values": (2.0, 1.0)}, "values must increase"),
        ({"answered": 0.0}, r"answered must lie in \(0, 1\], not 0"),
        ({"epsilon": 0.0}, "epsilon must be above 0"),
        ({"sigma": -1.0}, "sigma must be above 0"),
        ({"workers": 0}, "workers must be at least 1, not 0"),
        ({"truth": math.inf}, "truth must be finite, not inf"),
        ({"null": math.nan}, "null must be finite, not nan"),
    ],
)
def test_a_setting_without_meaning_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        replace(PAPER, **change)


def test_a_noise_without_scale_is_refused() -> None:
    with pytest.raises(UsageError, match="scale must be above 0"):
        laplace_error(PAPER, scale=0.0)


def test_factors_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="a row per dimension and a column per truth"):
        factorization_error([1.0, 2.0], [[1.0, 2.0, 3.0]])
