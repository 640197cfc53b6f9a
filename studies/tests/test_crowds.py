"""Tests that crowds are drawn as when the figures were set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.datasets import NumericCrowd, SparseCrowd
from sottovoce.errors import UsageError
from sottovoce.model import Domain, Kind
from sottovoce_studies.crowds import Dataset, LabelCrowd, Simulated

CROWD = LabelCrowd(workers=400, tasks=300, answers=60, labels=5, ability="heterogeneous")


def test_a_label_crowd_answers_by_worker_and_no_task_twice() -> None:
    answers, truths = CROWD.draw(1)
    assert (np.bincount(answers.worker) == 60).all()
    assert len(np.unique(answers.worker.astype(np.int64) * 300 + answers.task)) == 400 * 60
    assert len(answers.tasks) == len(truths) == 300


def test_the_same_seed_draws_the_same_crowd() -> None:
    first, second, other = CROWD.draw(1), CROWD.draw(1), CROWD.draw(2)
    np.testing.assert_array_equal(first[0].value, second[0].value)
    assert (first[0].value != other[0].value).any()


@pytest.mark.statistical
def test_abilities_follow_their_law() -> None:
    answers, truths = CROWD.draw(7)
    right = np.bincount(answers.worker, answers.value == truths[answers.task]) / 60
    # Good workers are right in 0.8 to 0.95 of the cases, poor ones in at most 0.6: of 24,000
    # answers 0.4 x 0.875 + 0.6 x 0.375 = 0.575 are right, give or take 7 standard errors of 0.012.
    assert right.mean() == pytest.approx(0.575, abs=0.085)
    assert (right > 0.7).mean() == pytest.approx(0.4, abs=0.1)


@pytest.mark.statistical
def test_able_workers_are_right_in_four_of_five_cases() -> None:
    answers, truths = LabelCrowd(400, 300, 60, 2, "able").draw(7)
    right = np.bincount(answers.worker, answers.value == truths[answers.task]) / 60
    # U(0.7, 0.9) has deviation 0.058, 60 answers add 0.052: 7 standard errors of a mean are 0.027.
    assert right.mean() == pytest.approx(0.8, abs=0.027)
    assert right.std() == pytest.approx(0.078, abs=0.02)


@pytest.mark.statistical
def test_errors_go_to_every_other_label_alike() -> None:
    answers, truths = CROWD.draw(7)
    shift = (answers.value - truths[answers.task]) % 5
    shares = np.bincount(shift[shift > 0], minlength=5)[1:] / (shift > 0).sum()
    # About 10,000 errors: 7 standard errors of a share of 1/4 are 0.03.
    assert shares == pytest.approx(np.full(4, 0.25), abs=0.03)


def test_a_crowd_cannot_answer_more_tasks_than_there_are() -> None:
    with pytest.raises(UsageError, match="cannot answer 7 of 5"):
        LabelCrowd(workers=2, tasks=5, answers=7, labels=2, ability="homogeneous")


def test_truths_of_simulated_crowds_belong_to_their_tasks() -> None:
    crowd = SparseCrowd(
        workers=8, tasks=40, sparsity=0.9, kind=Kind.ORDINAL, good=0.0, poor=0.0, truths=(1.0, 8.0)
    )
    answers, truths = Simulated(crowd).draw(3)
    assert len(answers.tasks) < 40  # some have no answer
    assert ((truths > 1) & (truths < 8)).all()
    np.testing.assert_array_equal(answers.value, np.rint(truths[answers.task]))


def test_truths_stay_off_the_ends_of_the_range_by_the_inset() -> None:
    answers, truths = Simulated(NumericCrowd(tasks=500, workers=5, inset=1.0, clip=True)).draw(3)
    assert 1 <= truths.min() < 1.2 < 8.8 < truths.max() <= 9
    assert answers.domain == Domain.numeric(0, 10)


@pytest.mark.parametrize("inset", [-1.0, 5.0])
def test_an_inset_leaves_room(inset: float) -> None:
    with pytest.raises(UsageError, match="leaves no room"):
        NumericCrowd(inset=inset)


def test_uniform_truths_need_a_range() -> None:
    with pytest.raises(UsageError, match="low < high"):
        SparseCrowd(truths=(8.0, 1.0))


def test_a_dataset_that_is_not_in_the_cache_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert Dataset.of("rte") is None
