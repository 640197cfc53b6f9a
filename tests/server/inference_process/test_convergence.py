"""A campaign has settled when further reports hardly change its truths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sottovoce.model import Domain
from sottovoce.server.database.results import Columns, Summary
from sottovoce.server.inference_process.fit import with_stability

LABELS, METRES = Domain.categorical("ab"), Domain.numeric(0, 10)
BEFORE = Summary(90, 90, "", "", checkpoint=90)
NOW = Summary(100, 100, "", "")


def columns(
    truth: list[int] | list[float], before: list[int] | list[float], answers: int = 5
) -> Columns:
    """Truths of the first tasks now, and at the checkpoint."""
    kind = np.float64 if isinstance([*truth, *before][0], float) else np.int32
    return replace(
        Columns.none(),
        place=np.arange(len(truth), dtype=np.int32),
        truth=np.array(truth, kind),
        answers=np.full(len(truth), answers),
        before_place=np.arange(len(before), dtype=np.int32),
        before_truth=np.array(before, kind),
    )


def test_one_label_in_a_hundred_may_change() -> None:
    same, one = [0] * 100, [1] + [0] * 99
    assert with_stability(NOW, columns(one, same), 100, LABELS, BEFORE)[0].settled
    assert not with_stability(NOW, columns([1, *one[:-1]], same), 100, LABELS, BEFORE)[0].settled


def test_numbers_may_move_by_a_hundredth_of_the_range_on_average() -> None:
    before = [5.0] * 10
    assert with_stability(NOW, columns([5.1] * 10, before), 10, METRES, BEFORE)[0].settled
    assert with_stability(NOW, columns([5.9, *before[1:]], before), 10, METRES, BEFORE)[0].settled
    assert not with_stability(NOW, columns([5.2] * 10, before), 10, METRES, BEFORE)[0].settled


def test_a_task_without_a_report_keeps_it_open() -> None:
    assert not with_stability(NOW, columns([0] * 10, [0] * 10), 11, LABELS, BEFORE)[0].settled


def test_a_task_that_had_no_report_has_changed() -> None:
    assert not with_stability(NOW, columns([0] * 10, [0] * 9), 10, LABELS, BEFORE)[0].settled


def test_a_checkpoint_needs_a_tenth_fewer_reports() -> None:
    near = replace(BEFORE, checkpoint=91)
    summary, kept = with_stability(NOW, columns([0] * 10, [1] * 10), 10, LABELS, near)
    assert (summary.settled, summary.checkpoint) == (False, 91)
    assert kept.before_truth.tolist() == [1] * 10


def test_a_result_that_is_compared_is_the_next_checkpoint() -> None:
    summary, kept = with_stability(NOW, columns([0] * 10, [1] * 10), 10, LABELS, BEFORE)
    assert (summary.settled, summary.checkpoint) == (False, 100)
    assert kept.before_truth.tolist() == [0] * 10


def test_what_has_settled_stays_settled() -> None:
    before = replace(BEFORE, settled=True)
    assert with_stability(NOW, columns([0] * 10, [1] * 10), 10, LABELS, before)[0].settled


def test_the_first_result_is_only_a_checkpoint() -> None:
    summary, _ = with_stability(NOW, columns([0] * 10, []), 10, LABELS, None)
    assert (summary.settled, summary.checkpoint) == (False, 100)


def test_a_task_with_four_reports_stands_still_by_chance() -> None:
    still = columns([0] * 10, [0] * 10, answers=4)
    assert not with_stability(NOW, still, 10, LABELS, BEFORE)[0].settled
