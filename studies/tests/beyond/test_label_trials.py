"""Tests of trials on labels: the baselines, and the noise that they share with contests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sottovoce.model import Reports
from sottovoce.planning.pipelines import Pipeline
from sottovoce_studies.beyond.label_trials import (
    AUTO,
    FREQUENT,
    VOTE,
    clean_trial,
    label_trial,
    votes,
)
from sottovoce_studies.contests import CONSTANT, Contest, trial_of
from sottovoce_studies.crowds import LabelCrowd

CROWD = LabelCrowd(21, 60, 60, 2, "able")


@dataclass(frozen=True)
class Fixed:
    """The same answers in every trial, as of a dataset; odd votes for two labels have no ties."""

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        return CROWD.draw(0)


def test_a_trial_has_the_reports_of_the_contest_with_its_number() -> None:
    pair = Pipeline("vote", "randomized-response", "majority-vote")
    for trial in (0, 1):
        theirs = trial_of(Contest(Fixed(), 1.0, (pair,)), pair, trial, 5).error
        assert label_trial(Fixed(), 1.0, trial, 5)[VOTE] == pytest.approx(1 - theirs)


def test_more_privacy_costs_accuracy_and_confidence() -> None:
    clean, noisy = (label_trial(Fixed(), epsilon, 0, 1) for epsilon in (None, 0.5))
    assert clean[AUTO] > noisy[AUTO]
    assert clean["confidence"] > noisy["confidence"]
    assert clean[CONSTANT] == noisy[CONSTANT]


def test_the_most_frequent_label_is_that_of_all_reports() -> None:
    answers, truths = CROWD.draw(0)
    label = np.bincount(answers.value).argmax()
    assert label_trial(Fixed(), None, 0, 1)[FREQUENT] == pytest.approx((truths == label).mean())


def test_votes_count_the_reports_of_each_task() -> None:
    answers, _ = CROWD.draw(0)
    found = votes(answers)
    assert found.sum() == len(answers)
    assert found[7, 1] == ((answers.task == 7) & (answers.value == 1)).sum()


def test_methods_are_compared_with_the_default_task_by_task() -> None:
    found = clean_trial(Fixed(), ("majority-vote", "constant"))
    assert found["accuracy"]["majority-vote"] == label_trial(Fixed(), None, 0, 1)[VOTE]
    assert found["accuracy"]["constant"] == found["accuracy"][FREQUENT]
    assert found["standard error"][AUTO] == 0.0
    assert found["standard error"]["constant"] > 0.0
