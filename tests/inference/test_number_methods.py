"""Methods for numbers, on examples small enough to work out by hand."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference import CATD, CRH, GTM, Constant, InverseDeviation, Mean, Median
from sottovoce.inference.steps.medians import WeightedMedians
from sottovoce.model import Domain, NumberPart, Reports


def engine(answers: list[list[float | None]]) -> LocalEngine:
    """One list of numbers per worker; None is no answer."""
    cells = [(k, j, v) for k, row in enumerate(answers) for j, v in enumerate(row)]
    worker, task, value = zip(*(cell for cell in cells if cell[2] is not None), strict=True)
    names: dict[str, Any] = {"workers": range(len(answers)), "tasks": range(len(answers[0]))}
    return LocalEngine(Reports.of(worker, task, value, domain=Domain.numeric(), **names))


# Plain means 2 and 4, variances 2 and 8/3; squared distances (1, 1, 4) and (4, 0, 4).
THREE = engine([[1, 2], [1, 4], [4, 6]])
SQUARES = np.array([1 + 4, 1 + 0, 4 + 4])
SCALED = np.array([1 / 2 + 4 / (8 / 3), 1 / 2, 4 / 2 + 4 / (8 / 3)])


def test_the_mean_of_a_task() -> None:
    assert Mean().fit(THREE).truths == pytest.approx([2, 4])


def test_the_median_of_an_odd_number() -> None:
    assert Median().fit(THREE).truths == pytest.approx([1, 4])


def test_the_median_of_an_even_number_is_the_middle_of_two() -> None:
    assert Median().fit(engine([[1], [2], [4], [100]])).truths == pytest.approx([3])


def test_the_constant_is_the_mean_of_all() -> None:
    result = Constant().fit(THREE)
    assert result.truths == pytest.approx([3, 3])
    assert result.standard_error == pytest.approx([1, 1])


def test_crh_weighs_by_the_share_of_scaled_squares() -> None:
    losses = SCALED / 2
    expected = -np.log(losses / losses.sum())
    assert CRH(max_rounds=1).fit(THREE).weights == pytest.approx(expected, rel=1e-11)


def test_crh_divides_by_the_deviation_on_request() -> None:
    first, second = sqrt(2), sqrt(8 / 3)
    losses = np.array([1 / first + 4 / second, 1 / first, 4 / first + 4 / second]) / 2
    weights = CRH(max_rounds=1, scaling="deviation").fit(THREE).weights
    assert weights == pytest.approx(-np.log(losses / losses.sum()), rel=1e-11)


def test_crh_averages_the_loss_over_a_workers_answers() -> None:
    table = engine([[0, 0], [2, None], [None, 2]])
    # Every answer is one deviation from its mean, so all losses are 1.
    assert CRH(max_rounds=1).fit(table).weights == pytest.approx([log(3)] * 3, rel=1e-11)


def test_gtm_updates_the_variance_by_its_prior() -> None:
    # At weights 1 the standardised truths are 0, and the squares those of the scaled offsets.
    expected = (2 * 11 + 2) / (2 * 10 + SCALED)
    assert GTM(max_rounds=1).fit(THREE).weights == pytest.approx(expected, rel=1e-11)


def test_gtm_draws_the_truth_to_the_plain_mean() -> None:
    result = GTM(max_rounds=1).fit(THREE)
    weights = (2 * 11 + 2) / (2 * 10 + SCALED)
    expected = 2 + weights @ np.array([-1, -1, 2]) / (1 + weights.sum())
    assert result.truths[0] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("prior", [{"alpha": 0.0}, {"beta": -1.0}])
def test_gtm_refuses_a_prior_that_is_none(prior: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="inverse-gamma prior needs alpha > 0 and beta > 0"):
        GTM(**prior)


def test_catd_weighs_by_a_quantile_over_the_squares() -> None:
    expected = chi2.ppf(0.025, 2) / SQUARES
    weights = CATD(max_rounds=1).fit(THREE).weights
    assert weights == pytest.approx(expected / expected.sum(), rel=1e-11)


def test_catd_trusts_few_answers_less() -> None:
    table = engine([[0, 0, 0, 0], [2, None, None, None], [None, 2, 2, 2]])
    quantiles = np.array([chi2.ppf(0.025, n) / n for n in (4, 1, 3)])
    weights = CATD(max_rounds=1).fit(table).weights
    assert weights == pytest.approx(quantiles / quantiles.sum(), rel=1e-11)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_catd_refuses_a_level_that_is_none(alpha: float) -> None:
    with pytest.raises(UsageError, match="alpha must lie between 0 and 1"):
        CATD(alpha=alpha)


def test_inverse_deviation_weighs_by_one_over_sigma() -> None:
    expected = 1 / np.sqrt(SQUARES / 2)
    weights = InverseDeviation(max_rounds=1).fit(THREE).weights
    assert weights == pytest.approx(expected / expected.sum(), rel=1e-11)


def test_nobody_is_infinitely_trusted() -> None:
    table = engine([[0, 0, 0], [0, 0, 0], [0, 0, 9]])
    weights = InverseDeviation(max_rounds=50).fit(table).weights
    assert weights.max() / weights.min() < 2_000


def brute_median(values: list[float], weights: list[int]) -> float:
    """The middle of all values with the least weighted absolute distance."""
    losses = [sum(w * abs(v - at) for v, w in zip(values, weights, strict=True)) for at in values]
    best = [v for v, loss in zip(values, losses, strict=True) if loss <= min(losses) + 1e-9]
    return (min(best) + max(best)) / 2


@given(rows=st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 6)), min_size=1, max_size=9))
def test_a_weighted_median_has_the_least_distance(rows: list[tuple[int, int]]) -> None:
    values, weights = [float(v) for v, _ in rows], [w for _, w in rows]
    count = len(rows)
    part = NumberPart(0, np.array([0, count]), np.arange(count, dtype=np.int32), np.array(values))
    found = WeightedMedians(np.array(weights, float))(part)[0, 0]
    assert found == pytest.approx(brute_median(values, weights))


def test_an_outlier_takes_no_digits_from_other_tasks() -> None:
    rng = np.random.default_rng(0)
    value = rng.normal(3, 1, 40_000)
    value[0] = 1e25
    task = np.arange(40_000) // 10
    reports = Reports.of(np.arange(40_000) % 50, task, value, domain=Domain.numeric())
    means = Mean().fit(LocalEngine(reports)).truths
    expected = value.reshape(-1, 10).mean(axis=1)
    np.testing.assert_allclose(means[1:], expected[1:], rtol=1e-14)


def test_large_numbers_that_differ_little_are_not_taken_for_equal() -> None:
    stamps = 1.7e9 + np.array([0.0, 1.0, 5.0, 0.0, 1.0, 7.0])
    reports = Reports.of([0, 1, 2] * 2, [0] * 3 + [1] * 3, stamps, domain=Domain.numeric())
    weights = CRH().fit(LocalEngine(reports)).weights
    assert weights[2] < weights[1]
