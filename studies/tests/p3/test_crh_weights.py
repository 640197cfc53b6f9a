"""Tests of CRH in P3's notation against Sottovoce's CRH, and of rounds and weights of a trial."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sottovoce.api.infer import infer
from sottovoce_studies.p3.crh_weights import (
    LONGEST,
    SHOWN,
    compare_weights,
    count_rounds,
    matrix,
    settle,
    weights_against,
)
from sottovoce_studies.p3.crowds import Floorplan, crowd
from sottovoce_studies.p3.pipeline import SETTINGS

SMALL = Floorplan(workers=40, tasks=25)


def test_rounds_lead_to_the_truths_and_weights_of_crh() -> None:
    answers, _ = crowd(workers=30).draw(1)
    result = infer(answers, "crh", parameters=SETTINGS["crh"])
    truths, _ = settle(matrix(answers), 1e-10)
    assert truths == pytest.approx(result.truths, abs=1e-6)
    assert weights_against(matrix(answers), truths) == pytest.approx(result.weights, abs=1e-4)


def test_a_weight_is_the_logarithm_of_the_share_of_the_loss() -> None:
    values = np.array([[1.0, 2.0], [3.0, 6.0]])
    # The tasks' deviations are 1 and 2; squared errors over them, averaged, are 3/16 and 67/16.
    weights = weights_against(values, np.array([1.5, 2.5]))
    assert weights == pytest.approx([math.log(70 / 3), math.log(70 / 67)])


def test_a_smaller_threshold_takes_more_rounds_up_to_a_limit() -> None:
    values = matrix(SMALL.draw(1)[0])
    rounds = [settle(values, threshold)[1] for threshold in (1.0, 1e-6, 0.0)]
    assert rounds[0] < rounds[1] < rounds[2] <= LONGEST


def test_rounds_are_counted_on_answers_and_at_every_noise() -> None:
    trials = count_rounds(SMALL, (10.0, 1000.0), (1e-6, 1.0), 2, 1)
    assert len(trials) == 2
    loud, quiet = trials[0]["noisy"]
    assert loud["noise"] / quiet["noise"] == pytest.approx(10, rel=0.02)
    assert loud["error"] > quiet["error"]
    assert all(each["rounds"] >= 1 and each["seconds"] >= 0 for each in (loud, quiet))
    assert loud["rounds at 1e-06"] == loud["rounds"] > loud["rounds at 1"]
    assert trials[0]["drawing"] >= 0
    assert trials[0]["clean"] != trials[1]["clean"]


def test_weights_are_compared_before_and_after_noise() -> None:
    found = compare_weights(SMALL, 1000.0, 1, 1)[0]
    assert 0.9 < found["correlation original"] <= 1
    assert found["lowered"] > found["lowered others"]
    assert {len(column) for column in found["users"].values()} == {SHOWN}
    assert found["users"]["true original"] != found["users"]["true perturbed"]


def test_the_change_of_truths_can_exceed_the_mean_distance_of_pairs() -> None:
    """P3 Eq. 7 applies Lemma 4.4 to distances of pairs, of which weights are no function (IV.A-3).

    One user of three changes sides. With weights that fall fast the result changes sides too, by
    nearly 1; the mean distance of the nine pairs is 5/9.
    """
    before, after = np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0])

    def truth(values: np.ndarray) -> float:
        found = values.mean()
        for _ in range(100):
            weights = 1 / (1e-3 + (values - found) ** 2)
            found = weights @ values / weights.sum()
        return float(found)

    pairs = np.abs(before[:, None] - after[None, :]).mean()
    assert pairs == pytest.approx(5 / 9)
    assert abs(truth(after) - truth(before)) > 0.99 > pairs
