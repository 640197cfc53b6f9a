"""Tests of trials on numbers: unbiased means under every mechanism, and intervals."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.api.perturb import perturb
from sottovoce.datasets import NumericCrowd, SeededRandomness
from sottovoce.mechanisms.policies import Target
from sottovoce.planning.pipelines import Pipeline
from sottovoce.planning.trials import best_constant
from sottovoce_studies.beyond.label_trials import AUTO
from sottovoce_studies.beyond.number_trials import (
    FORMER,
    MEANS,
    MECHANISMS,
    POOLED,
    clean_numbers,
    intervals,
    noisy_numbers,
    unbiased,
)
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Simulated

CROWD = Simulated(NumericCrowd(workers=40, tasks=30, inset=1.0, clip=True))
DRAWS = 30
SLACK = {"subset-selection": 0.3, "threshold": 0.5}
"""Of a range of 10: answers are rounded to bins, and thresholds are the same in every draw."""


@pytest.mark.parametrize("pair", MECHANISMS, ids=lambda pair: pair.mechanism)
def test_the_pooled_mean_of_reports_is_that_of_the_answers(pair: Pipeline) -> None:
    answers, _ = CROWD.draw(0)
    wanted = answers.value.mean()
    policy = pair.policy(answers.domain, Target(4.0, answers=30))
    seen = [
        unbiased(perturb(answers, policy, SeededRandomness(seed)), "constant", policy)[0]
        for seed in range(DRAWS)
    ]
    error = np.std(seen, ddof=1) / np.sqrt(DRAWS)
    assert abs(np.mean(seen) - wanted) < 6.5 * error + SLACK.get(pair.mechanism, 0.01)


def test_little_noise_leaves_the_error_of_the_means_and_much_that_of_none() -> None:
    pair = next(pair for pair in MECHANISMS if pair.mechanism == "laplace")
    _, truths = CROWD.draw(0)
    little, much = (noisy_numbers(CROWD, pair, epsilon, 0, 1) for epsilon in (50.0, 0.1))
    assert little[MEANS] == pytest.approx(clean_numbers(CROWD, ("mean",))["mean"], abs=0.1)
    assert much[MEANS] > much[POOLED]
    assert little[CONSTANT] == much[CONSTANT] == best_constant(truths).error


def test_intervals_of_a_well_specified_crowd_often_cover() -> None:
    found = intervals(CROWD)
    assert found.keys() == {AUTO, FORMER}
    for seen in found.values():
        assert 0.5 < seen["coverage"] <= 1.0
        assert seen["score"] >= seen["width"] > 0
