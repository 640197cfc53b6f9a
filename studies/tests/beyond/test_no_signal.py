"""Tests of the part on answers without a signal: the tables, and how they are judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest

from sottovoce.model import Result
from sottovoce_studies.beyond.no_signal import judge_noise, judge_weak
from sottovoce_studies.beyond.noise_trials import draw_labels, least_false, pure_noise, warned


def noise(confidence: float, warnings: list[Any]) -> dict[tuple[Any, ...], list[Any]]:
    return {(2, 3): [{"confidence": [confidence] * len(warnings), "warned": warnings}]}


def test_each_task_has_answers_of_distinct_workers() -> None:
    table = draw_labels(40, 10, 4, 3, 0.5, np.random.default_rng(1))
    assert np.bincount(table.task).tolist() == [4] * 40
    assert len({*zip(table.task.tolist(), table.worker.tolist(), strict=True)}) == len(table)


def test_labels_of_pure_noise_agree_by_chance_and_those_of_able_workers_more() -> None:
    rng = np.random.default_rng(2)
    for right, chance in ((1 / 3, 1 / 3), (0.9, 0.9**2 + 0.1**2 / 2)):
        pairs = draw_labels(20_000, 10, 2, 3, right, rng).value.reshape(-1, 2)
        assert (pairs[:, 0] == pairs[:, 1]).mean() == pytest.approx(chance, abs=0.025)


def test_no_rule_sees_a_signal_of_almost_nothing_and_some_rule_sees_a_clear_one() -> None:
    assert least_false(2, 3, 0.01, 1) == pytest.approx(0.95, abs=0.03)
    assert least_false(2, 5, 0.2, 1) < 0.005
    # Agreement of 1.26 standard deviations above chance, and 1.64 that 95 % of noise stay below.
    assert least_false(2, 3, 0.1, 1) == pytest.approx(0.61, abs=0.06)


def test_noise_is_noticed_if_almost_every_table_has_a_warning() -> None:
    near, noticed = judge_noise(noise(0.52, [True] * 19 + [False])).statements
    assert near.true
    assert noticed.true
    near, noticed = judge_noise(noise(0.6, [True] * 18 + [False] * 2)).statements
    assert not near.true
    assert not noticed.true
    assert noticed.seen == "in at least 90.0%"


def test_results_that_cannot_warn_do_not_notice_noise() -> None:
    _, noticed = judge_noise(noise(0.5, [None])).statements
    assert (noticed.true, noticed.seen) == (False, "results have no warnings")


def test_false_warnings_count_only_where_some_rule_avoids_them() -> None:
    false, none = {"warned": [True] + [False] * 9}, {"warned": [False]}
    [unavoidable] = judge_weak({(2, 3, 0.1): [0.6, false], (2, 5, 0.2): [0.0, none]}).statements
    assert unavoidable.true
    assert unavoidable.seen.endswith("in 1 other settings no rule has fewer than 60.0% to 60%")
    [avoidable] = judge_weak({(2, 5, 0.2): [0.0001, false]}).statements
    assert not avoidable.true
    assert avoidable.seen == "2 labels, 5 answers a task, 0.2 above chance: 10.0%"


def test_a_result_warns_with_a_sentence_about_the_signal() -> None:
    @dataclass
    class Said:
        warnings: tuple[str, ...]

    assert warned(cast("Result", Said(("no signal: agreement is what chance gives",)))) is True
    assert warned(cast("Result", Said(("2 workers have one answer",)))) is False


def test_tables_of_pure_noise_do_not_depend_on_their_batch() -> None:
    whole = pure_noise(2, 3, 0, 4, 1)
    halves = [pure_noise(2, 3, first, 2, 1) for first in (0, 2)]
    assert whole["confidence"] == halves[0]["confidence"] + halves[1]["confidence"]
