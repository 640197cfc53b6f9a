"""Recalibration on known truths, and the coverage of prediction sets and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.inference.aggregator import choose
from sottovoce.inference.calibration import (
    FOLDS,
    Recalibration,
    error_factor,
    folds,
    label_scores,
    raised,
)
from sottovoce.model import FloatArray


def posteriors(count: int, labels: int, seed: int, sharpness: float = 1.0) -> FloatArray:
    """Random posteriors; a larger sharpness is surer."""
    rows = np.random.default_rng(seed).dirichlet(np.ones(labels), count) ** sharpness
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def truths_of(posterior: FloatArray, seed: int) -> np.ndarray:
    """Truths drawn from the posteriors, so that these are perfectly calibrated."""
    draws = np.random.default_rng(seed).random((len(posterior), 1))
    return np.asarray(
        (posterior.cumsum(axis=1) < draws).sum(axis=1).clip(max=posterior.shape[1] - 1)
    )


def log_loss(posterior: FloatArray, truths: np.ndarray) -> float:
    return float(-np.log(posterior[np.arange(len(truths)), truths] + 1e-12).mean())


@settings(max_examples=60)
@given(st.integers(10, 60), st.integers(1, 6), st.integers(0, 999), st.floats(0.2, 30))
def test_recalibration_keeps_the_truth_and_the_order_of_labels(
    count: int, labels: int, seed: int, sharpness: float
) -> None:
    given = posteriors(count, labels, seed, sharpness)
    wrong = np.random.default_rng(seed).integers(0, labels, count).astype(np.int32)
    learnt = Recalibration.fitted(given, wrong)
    found = learnt(given)
    assert found.sum(axis=1) == pytest.approx(np.ones(count))
    assert (choose(found) == choose(given)).all()
    by_given = np.take_along_axis(found, np.argsort(given, axis=1), axis=1)
    assert (np.diff(by_given, axis=1) >= -1e-9).all()


def test_recalibration_mends_an_overconfident_posterior() -> None:
    honest = posteriors(4000, 3, 1)
    truths = truths_of(honest, 2)
    sure = honest**4 / (honest**4).sum(axis=1, keepdims=True)
    learnt = Recalibration.fitted(sure[:200], truths[:200])
    assert learnt.slope == pytest.approx(1 / 4, abs=0.08)
    recalibrated = log_loss(learnt(sure[200:]), truths[200:])
    assert recalibrated < log_loss(sure[200:], truths[200:]) - 0.3
    assert recalibrated < log_loss(honest[200:], truths[200:]) + 0.01


@pytest.mark.parametrize("count", [10, 50])
def test_recalibration_costs_a_calibrated_posterior_little(count: int) -> None:
    excess = []
    for seed in range(60):
        honest = posteriors(count + 500, 3, seed)
        truths = truths_of(honest, seed + 1000)
        learnt = Recalibration.fitted(honest[:count], truths[:count])
        rest, right = honest[count:], truths[count:]
        excess.append(log_loss(learnt(rest), right) - log_loss(rest, right))
    assert np.mean(excess) < 0.02


def test_the_loss_on_the_known_truths_never_grows_by_more_than_the_prior() -> None:
    given = posteriors(300, 4, 3, 6.0)
    truths = np.random.default_rng(4).integers(0, 4, 300).astype(np.int32)
    learnt = Recalibration.fitted(given, truths)
    unchanged = Recalibration(1.0, 0.0, learnt.floor)
    assert log_loss(learnt(given), truths) < log_loss(unchanged(given), truths)


def test_folds_depend_on_names_alone_and_have_equal_sizes() -> None:
    names = np.array([f"t{i}" for i in range(23)])
    fold = folds(names)
    assert np.bincount(fold, minlength=FOLDS).tolist() == [5, 5, 5, 4, 4]
    order = np.random.default_rng(0).permutation(23)
    assert (folds(names[order]) == fold[order]).all()


@pytest.mark.parametrize("sharpness", [1.0, 5.0])
def test_a_share_of_the_scores_of_new_tasks_stays_below_the_quantile(sharpness: float) -> None:
    inside = []
    for seed in range(150):
        honest = posteriors(40 + 100, 3, seed)
        truths = truths_of(honest, seed + 5000)
        given = posteriors(40 + 100, 3, seed, sharpness)
        scores = label_scores(given[:40], truths[:40], folds(np.arange(40)))
        learnt = Recalibration.fitted(given[:40], truths[:40])
        new = 1 - learnt(given[40:])[np.arange(100), truths[40:]]
        inside.append(np.mean(new <= scores[int(np.ceil(41 * 0.9)) - 1]))
    assert 0.88 < np.mean(inside) < 0.95  # 37 / 41; fits on fewer folds are a little less sure


def test_the_factor_of_exact_standard_errors_is_about_one() -> None:
    scores = np.abs(np.random.default_rng(0).standard_normal(5000))
    assert error_factor(scores) == pytest.approx(1, abs=0.03)
    assert error_factor(3 * scores) == pytest.approx(3 * error_factor(scores))


def test_few_truths_widen_standard_errors_more() -> None:
    assert error_factor(np.ones(10)) > error_factor(np.ones(100)) > 1


def test_standard_errors_of_zero_are_raised_to_a_tenth_of_the_usual_one() -> None:
    assert raised(np.array([0.0, 2.0, 4.0])).tolist() == [pytest.approx(0.3), 2.0, 4.0]
    assert raised(np.zeros(2)).tolist() == [1.0, 1.0]
