"""Tests of P3's pipeline against formulas and an independent calculation, and of Lemma 4.7."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sottovoce.api.infer import infer
from sottovoce.datasets import NumericCrowd, SeededRandomness, generate
from sottovoce.mechanisms.laws.draws import exponential, normal
from sottovoce.planning.pipelines import P3_DELTA
from sottovoce.privacy.random_variance import rate_published
from sottovoce_studies.p3.crh_weights import matrix, settle
from sottovoce_studies.p3.crowds import crowd
from sottovoce_studies.p3.pipeline import (
    MOST,
    answers_seed,
    coverage,
    epsilon_of_noise,
    noise_of,
    noise_seed,
    ours_at,
    published,
    published_distance,
    read_aware,
    true_epsilon,
)

EPSILON = 30.0


def test_the_mean_noise_is_that_of_a_laplace_law() -> None:
    rate = rate_published(2.0, P3_DELTA, 10.0)
    assert noise_of(2.0, 10.0) == pytest.approx(1 / math.sqrt(2 * rate))
    assert noise_of(epsilon_of_noise(0.7, 50.0), 50.0) == pytest.approx(0.7)


def test_what_one_answer_alone_keeps_is_known_in_closed_form() -> None:
    pure = math.sqrt(2 * rate_published(30.0, P3_DELTA, 1.0))
    assert true_epsilon(30.0, 1) == pytest.approx(pure + 2 * math.log(1 - P3_DELTA), abs=1e-4)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 237.3])
def test_the_theorem_holds_per_answer_and_not_per_worker(epsilon: float) -> None:
    assert true_epsilon(epsilon, 30) < true_epsilon(epsilon, 1000) < epsilon
    assert true_epsilon(1.0, 30, 30**-0.5) > 15


def test_a_smaller_distance_in_the_theorem_is_a_larger_epsilon() -> None:
    assert true_epsilon(1.0, 30, 0.5) == pytest.approx(true_epsilon(4.0, 30), abs=1e-5)


def test_so_little_noise_that_delta_covers_it_keeps_epsilon_zero() -> None:
    assert true_epsilon(1e-4, 1) == 0


def test_ours_takes_a_fixed_mechanism_and_no_more_than_it_needs() -> None:
    low, high = ours_at(1.0), ours_at(41.0)
    assert (low[0].mechanism, low[1]) == ("subset-selection", 1.0)
    assert (high[0].mechanism, high[1]) == ("piecewise", MOST)


def test_the_pipeline_is_that_of_the_paper_written_out_in_arrays() -> None:
    """Continuous noise of the same words gives the same: a grid of a hundredth does not matter."""
    source = crowd(workers=40)
    answers, truths = source.draw(answers_seed(3, 0))
    randomness = SeededRandomness(noise_seed(3, 0))
    variance = exponential(randomness.words(40)) / rate_published(EPSILON, P3_DELTA, 10.0)
    noise = np.sqrt(variance)[answers.worker] * normal(randomness.words(len(answers)))
    values = matrix(answers)
    noisy = values.copy()
    noisy[answers.worker, answers.task] += noise
    clean, changed = (settle(each, 1e-9)[0] for each in (values, noisy))
    found = published(source, "crh", EPSILON, 1, 3)[0]
    assert found["noise"] == pytest.approx(np.abs(noise).mean(), abs=1e-3)
    assert found["change"] == pytest.approx(np.abs(changed - clean).mean(), abs=2e-3)
    assert found["error"] == pytest.approx(np.abs(changed - truths).mean(), abs=2e-3)
    assert found["change mean"] == pytest.approx(
        np.abs(noisy.mean(axis=0) - values.mean(axis=0)).mean(), abs=2e-3
    )


def test_reports_are_not_cut_to_the_range() -> None:
    assert published(crowd(workers=20), "crh", 0.1, 1, 1)[0]["noise"] > 20


def test_cutting_answers_to_the_range_hardly_moves_truths() -> None:
    cut = NumericCrowd(clip=True, inset=1.0, seed=4)
    truths = [infer(generate(each)[0], "crh").truths for each in (cut, replace(cut, clip=False))]
    assert 0 < np.abs(truths[0] - truths[1]).mean() < 0.02


def test_answers_of_a_trial_are_the_same_at_every_noise() -> None:
    low, high = (published(crowd(workers=20), "gtm", at, 2, 1) for at in (1.0, 100.0))
    assert [trial["clean"] for trial in low] == [trial["clean"] for trial in high]
    assert low[0]["clean"] != low[1]["clean"]
    assert low[0]["noise"] / high[0]["noise"] == pytest.approx(10, rel=0.01)


def test_ours_is_read_trial_by_trial() -> None:
    first, second = read_aware(crowd(workers=20), 16.0, 2, 1)
    assert first["error"] != second["error"]
    assert first["error"] < 0.5


def test_the_distance_falls_with_the_quality_of_data() -> None:
    assert published_distance(1.0) == pytest.approx(2 * math.sqrt(2 * math.log(10)))
    assert published_distance(25.0) == pytest.approx(published_distance(1.0) / 25)


def test_the_lemma_fails_where_it_says_it_holds() -> None:
    assert coverage(1.0).holds
    assert not coverage(25.0).holds
    assert coverage(25.0).sound == pytest.approx(0.576, abs=5e-4)
    assert coverage(25.0).value == pytest.approx(0.778, abs=5e-4)


def test_a_stricter_delta_needs_more_noise_for_the_same_epsilon() -> None:
    assert true_epsilon(1.0, 30, delta=0.01) < 1
    assert rate_published(1.0, 0.01, 1.0) < rate_published(1.0, P3_DELTA, 1.0)


def test_a_wider_range_clips_fewer_answers_and_has_the_same_truths() -> None:
    (narrow, truths), (wide, same) = (crowd(margin=each).draw(4) for each in (0.0, 20.0))
    assert truths.tolist() == pytest.approx(same.tolist())
    assert wide.value.min() < narrow.value.min() == 0
