"""aware-numbers on plain answers: robust, equivariant, and with errors that cover."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce import infer
from sottovoce.engines import LocalEngine
from sottovoce.inference.plain_numbers import PlainNumbers
from sottovoce.model import Codes, Domain, FloatArray, Reports, Result


def crowd(
    seed: int, noise: Callable[[np.random.Generator, int], FloatArray], answers: int = 5
) -> tuple[Reports, FloatArray]:
    rng = np.random.default_rng(seed)
    truths, deviations = rng.normal(10, 3, 80), np.exp(rng.normal(0, 0.4, 20))
    task = np.repeat(np.arange(80), answers).astype(np.int32)
    worker = np.concatenate([rng.permutation(20)[:answers] for _ in truths]).astype(np.int32)
    values = truths[task] + deviations[worker] * noise(rng, len(task))
    return table(worker, task, values), truths


def table(worker: Codes, task: Codes, values: Codes | FloatArray) -> Reports:
    return Reports.of(worker, task, values, domain=Domain.numeric())


def normal(rng: np.random.Generator, count: int) -> FloatArray:
    return rng.normal(size=count)


def with_outliers(rng: np.random.Generator, count: int) -> FloatArray:
    return np.where(rng.random(count) < 0.08, 100.0, rng.normal(size=count))


def error(result: Result, truths: FloatArray) -> float:
    return float(np.abs(result.truths - truths).mean())


def test_it_is_the_default_for_numbers() -> None:
    assert infer(crowd(0, normal)[0]).provenance.method == "aware-numbers"


@pytest.mark.parametrize("seed", range(3))
def test_normal_errors_are_averaged_better_than_by_the_mean(seed: int) -> None:
    reports, truths = crowd(seed, normal)
    assert error(infer(reports), truths) < error(infer(reports, "mean"), truths)


@pytest.mark.parametrize("seed", range(3))
def test_gross_outliers_hardly_matter(seed: int) -> None:
    reports, truths = crowd(seed, with_outliers)
    assert error(infer(reports), truths) < error(infer(reports, "mean"), truths) / 4


def test_tied_answers_with_outliers_have_heavy_tails() -> None:
    reports, truths = crowd(1, with_outliers, answers=8)
    values: FloatArray = np.asarray(np.round(reports.value), np.float64)
    rounded = table(reports.worker, reports.task, values)
    assert error(infer(rounded), truths) < error(infer(rounded, "mean"), truths) / 4


def test_factors_as_errors_choose_the_logarithmic_scale() -> None:
    reports, _ = crowd(1, normal)
    values: FloatArray = np.exp(reports.value, dtype=np.float64)
    result = infer(table(reports.worker, reports.task, values))
    low, high = result.intervals().T
    assert result.log_scale
    np.testing.assert_allclose(low * high, np.square(result.truths))


def test_sums_as_errors_choose_the_linear_scale() -> None:
    reports, _ = crowd(1, normal)
    assert not infer(table(reports.worker, reports.task, 30 + reports.value)).log_scale


@settings(max_examples=10, deadline=None)
@given(shift=st.floats(-1e3, 1e3), scale=st.floats(1e-3, 1e3), seed=st.integers(0, 9))
def test_truths_and_errors_follow_a_change_of_units(shift: float, scale: float, seed: int) -> None:
    reports, _ = crowd(seed, with_outliers)
    values = reports.value - reports.value.min() - 1  # negative numbers: no logarithms
    before = infer(table(reports.worker, reports.task, values))
    moved = np.minimum(values * scale + min(shift, 0.0), 1e9)
    after = infer(table(reports.worker, reports.task, moved))
    expected = before.truths * scale + min(shift, 0.0)
    np.testing.assert_allclose(after.truths, expected, atol=1e-5 * scale, rtol=1e-6)
    assert before.standard_error is not None
    assert after.standard_error is not None
    np.testing.assert_allclose(after.standard_error, before.standard_error * scale, rtol=1e-4)


def test_the_order_of_workers_does_not_matter() -> None:
    reports, _ = crowd(3, with_outliers)
    renamed = infer(table(19 - reports.worker, reports.task, reports.value))
    np.testing.assert_allclose(renamed.truths, infer(reports).truths, rtol=1e-9)


def test_compiled_and_plain_passes_agree() -> None:
    reports, _ = crowd(4, with_outliers)
    plain, compiled = (infer(reports, compiled=on) for on in (False, True))
    np.testing.assert_allclose(compiled.truths, plain.truths, rtol=1e-6)


def test_known_truths_correct_a_bias_that_all_share() -> None:
    reports, truths = crowd(5, normal)
    shifted = table(reports.worker, reports.task, reports.value - 5)
    known = np.where(np.arange(80) < 20, truths, np.nan)
    result = PlainNumbers(known=known).fit(LocalEngine(shifted))
    assert error(infer(shifted), truths) > 4.5
    assert np.abs(result.truths - truths)[20:].mean() < 0.6
    np.testing.assert_array_equal(result.truths[:20], truths[:20])


def test_known_truths_widen_errors_that_all_share() -> None:
    reports, truths = crowd(6, normal)
    off = np.random.default_rng(1).normal(0, 4, 80)
    shared = table(reports.worker, reports.task, reports.value + off[reports.task])
    known = np.where(np.arange(80) < 30, truths, np.nan)
    low, high = PlainNumbers(known=known).fit(LocalEngine(shared)).intervals().T
    covered = (low <= truths) & (truths <= high)
    assert 0.8 <= covered[30:].mean()
    low, high = infer(shared).intervals().T
    assert ((low <= truths) & (truths <= high)).mean() < 0.7


def test_answers_that_agree_have_no_error() -> None:
    result = infer(
        {"worker": ["a", "b"] * 2, "task": ["s", "s", "t", "t"], "answer": [2.5, 2.5, 7, 7]}
    )
    assert result.truths.tolist() == [2.5, 7.0]
    assert result.standard_error is not None
    assert result.standard_error.tolist() == [0.0, 0.0]


def test_one_answer_per_task_is_the_truth() -> None:
    result = infer({"worker": ["a", "b"], "task": ["s", "t"], "answer": [2.5, 7.5]})
    assert result.truths.tolist() == [2.5, 7.5]
    assert result.standard_error is not None
    assert (result.standard_error > 0).all()
