"""Tests that the stand-in for P1's peer grades has the printed statistics."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.planning.trials import Spread, error_of
from sottovoce_studies.p1.crowds import PeerGrades
from sottovoce_studies.p1.layers import read_as_printed
from sottovoce_studies.paper_tables import printed


def test_its_sizes_are_those_of_table_1() -> None:
    answers, truths = PeerGrades().draw(1)
    sizes = [len(answers.tasks), len(answers.workers), len(answers), int(np.sum(truths >= 0))]
    assert sizes == list(printed("P1 Table 1").column("Peer Grading Dataset"))
    assert np.bincount(answers.worker).tolist() == [5] * 72
    assert np.bincount(truths).tolist() == [13, 13]


def test_no_worker_answers_a_task_twice() -> None:
    answers, _ = PeerGrades().draw(2)
    assert len(set(zip(answers.worker.tolist(), answers.task.tolist(), strict=True))) == 360


def test_truth_discovery_is_right_about_as_often_as_printed() -> None:
    seen = Spread.of([_td_error(seed) for seed in range(60)])
    accuracy = printed("P1 accuracy without noise").number("accuracy", "Peer Grading Dataset")
    assert abs((1 - seen.mean) - accuracy) < 0.05  # four standard errors, seeds are fixed


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(UsageError, match="must be a probability"):
        PeerGrades(most_ease=0.95)
    with pytest.raises(UsageError, match="cannot answer 30 of 26"):
        PeerGrades(answers=30)


def _td_error(seed: int) -> float:
    answers, truths = PeerGrades().draw(seed)
    return error_of(read_as_printed(answers, "td", None), truths)
