"""Tests of study `p1-important-users`: its crowds, P1's formula, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.inference import importance
from sottovoce_studies.p1.crowds import ImportantCrowd
from sottovoce_studies.p1.important_workers import Panel, expected_change, falls, judge, rises
from sottovoce_studies.rulings import Ruling


def trials(change: float, clean: float = 0.0) -> list[dict[str, float]]:
    """Three trials around a change of TD's error."""
    return [
        {
            "one-layer TD": 0.3,
            "equal TD": 0.3,
            "two-layer aware": 0.2,
            "best constant": 0.5,
            "clean TD": clean,
            "two-layer TD": clean + change + apart,
        }
        for apart in (-0.001, 0.0, 0.001)
    ]


def shape(changes: Sequence[float], clean: Sequence[float]) -> Ruling:
    panel = Panel(1.0, 0.0, tuple(range(len(changes))))
    results = [each for pair in zip(changes, clean, strict=True) for each in trials(*pair)]
    return judge([panel], results, 3).rulings.shape


def test_important_workers_are_important_and_the_others_are_not() -> None:
    scores = importance(ImportantCrowd(400, 10, 200).accuracies(3))
    assert scores[:200].min() >= 7
    assert scores[200:].max() <= 1.3


def test_a_turned_worker_is_as_important_as_one_who_is_right() -> None:
    right, turned = (ImportantCrowd(40, 10, 16, share).accuracies(3) for share in (0.0, 0.25))
    assert (turned[:16] < 0.5).sum() == 4
    np.testing.assert_allclose(importance(turned), importance(right))


def test_more_important_workers_leave_the_rest_of_the_crowd_as_it_was() -> None:
    (few, truths), (more, same) = (ImportantCrowd(30, 20, n).draw(5) for n in (3, 4))
    assert np.array_equal(truths, same)
    assert set(few.worker[few.value != more.value]) <= {3}


def test_answers_are_right_as_often_as_their_worker_is() -> None:
    crowd = ImportantCrowd(20, 4000, 10)
    answers, truths = crowd.draw(1)
    right = (answers.value == truths[answers.task]).reshape(20, 4000).mean(axis=1)
    np.testing.assert_allclose(right, crowd.accuracies(1), atol=6.5 * 0.5 / 4000**0.5)


def test_the_expected_change_is_the_product_of_mean_flips() -> None:
    flip = 1 / (1 + np.e)
    assert expected_change(1.0, 3) == pytest.approx(flip**3, rel=1e-9)


def test_a_change_that_falls_at_every_step_holds() -> None:
    ruling = shape([0.3, 0.2, 0.1], [0.0, 0.0, 0.0])
    assert ruling.verdict == "holds"
    assert "rises" not in ruling.reason


def test_a_change_that_rises_before_td_is_right_holds_and_the_rise_is_named() -> None:
    ruling = shape([0.1, 0.3, 0.2], [0.4, 0.02, 0.0])
    assert ruling.verdict == "holds"
    assert ruling.reason.endswith("in some it rises after 0 important users")


def test_a_change_that_rises_where_td_is_right_fails() -> None:
    assert shape([0.1, 0.2, 0.3], [0.0, 0.0, 0.0]).verdict == "fails"
    assert shape([0.1, 0.1, 0.1], [0.4, 0.0, 0.0]).verdict == "fails"


def test_a_rise_within_three_standard_errors_is_none() -> None:
    noisy = [{**t, "change two-layer": x} for t, x in zip(trials(0), (0.3, 0.1, 0.23), strict=True)]
    level = [{**t, "change two-layer": 0.2} for t in trials(0)]
    low = [{**t, "change two-layer": 0.1} for t in trials(0)]
    seen = {0: level, 1: noisy, 2: low}
    assert not rises(seen, (0, 1))
    assert falls(seen, (0, 1, 2))


def test_more_important_workers_than_there_are_is_refused() -> None:
    with pytest.raises(UsageError, match="5 of 4 workers"):
        ImportantCrowd(4, 10, 5)
