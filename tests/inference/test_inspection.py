"""Inspection: agreement as defined, outliers named, honest workers not."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from sottovoce.engines import LocalEngine
from sottovoce.inference.agreement import agreement_of
from sottovoce.inference.inspection import Inspection, inspect_answers
from sottovoce.model import Domain, Reports


def look(worker: Any, task: Any, value: Any, domain: Domain, **names: Any) -> Inspection:
    reports = Reports.of(worker, task, value, domain=domain, **names)
    return inspect_answers(LocalEngine(reports), agreement_of(reports))


def labels_of_crowd(
    seed: int, workers: int = 30, tasks: int = 100, labels: int = 4, accuracy: float = 0.75
) -> tuple[Any, Any, Any, Any]:
    """An honest crowd that answers half of the cells: worker, task, value, gold of each answer."""
    rng = np.random.default_rng(seed)
    worker, task = np.nonzero(rng.random((workers, tasks)) < 0.5)
    gold = rng.integers(0, labels, tasks)[task]
    wrong = (gold + rng.integers(1, labels, len(task))) % labels
    return worker, task, np.where(rng.random(len(task)) < accuracy, gold, wrong), gold


FOUR = Domain.categorical("abcd")


def test_counts_what_there_is() -> None:
    found = look([0, 0, 1, 2], [0, 1, 1, 1], [0, 1, 1, 2], FOUR, tasks=range(3))
    assert (found.workers, found.tasks, found.answers) == (3, 3, 4)
    assert found.sparsity == pytest.approx(5 / 9)
    spreads = [found.answers_per_task, found.answers_per_worker]
    assert spreads == [(0, 1.0, 3), (1, 1.0, 2)]


def test_agreement_is_the_mean_share_of_others_who_say_the_same() -> None:
    worker, task, value, _ = labels_of_crowd(1, workers=6, tasks=12)
    shares = []
    for k, j, v in zip(worker, task, value, strict=True):
        others = [u for w, t, u in zip(worker, task, value, strict=True) if t == j and w != k]
        if others:
            shares.append(sum(u == v for u in others) / len(others))
    assert look(worker, task, value, FOUR).agreement == pytest.approx(np.mean(shares))


def test_agreement_is_that_of_pairs_when_tasks_have_equally_many_answers() -> None:
    rng = np.random.default_rng(2)
    value = rng.integers(0, 4, (5, 30))
    pairs = [np.mean(value[a] == value[b]) for a, b in combinations(range(5), 2)]
    worker, task = np.divmod(np.arange(150), 30)
    assert look(worker, task, value.ravel(), FOUR).agreement == pytest.approx(np.mean(pairs))


def test_chance_is_that_of_two_answers_to_any_tasks() -> None:
    found = look([0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1], Domain.categorical("ab"))
    assert found.chance == pytest.approx(0.75**2 + 0.25**2)


def test_nothing_to_compare_is_no_agreement() -> None:
    found = look([0, 1], [0, 1], [0, 1], FOUR)
    assert (found.agreement, found.suspicious) == (None, ())


def test_a_spammer_is_named() -> None:
    worker, task, value, _ = labels_of_crowd(3)
    own = worker == 7
    value[own] = np.random.default_rng(4).integers(0, 4, own.sum())
    found = look(worker, task, value, FOUR)
    assert [s.worker for s in found.suspicious] == ["7"]
    assert "agrees with" in found.suspicious[0].reason


def test_a_constant_answerer_is_named() -> None:
    worker, task, value, _ = labels_of_crowd(5)
    value[worker == 3] = 2
    found = look(worker, task, value, FOUR)
    assert [s.worker for s in found.suspicious] == ["3"]
    assert "always answers 'c'" in found.suspicious[0].reason


def test_an_adversary_is_named() -> None:
    worker, task, value, gold = labels_of_crowd(6)
    value[worker == 9] = (gold[worker == 9] + 1) % 4
    found = look(worker, task, value, FOUR)
    assert [s.worker for s in found.suspicious] == ["9"]


@pytest.mark.parametrize("accuracy", [0.5, 0.75, 0.98])
def test_honest_crowds_are_left_in_peace(accuracy: float) -> None:
    alarms = 0
    for seed in range(40):
        worker, task, value, _ = labels_of_crowd(seed, accuracy=accuracy)
        alarms += bool(look(worker, task, value, FOUR).suspicious)
    assert alarms <= 3  # one in a hundred is promised


def test_who_answered_little_is_left_in_peace() -> None:
    worker, task, value, gold = labels_of_crowd(8)
    kept = (worker != 9) | (np.cumsum(worker == 9) <= 9)
    value[worker == 9] = (gold[worker == 9] + 1) % 4
    assert look(worker[kept], task[kept], value[kept], FOUR).suspicious == ()


def numbers_of_crowd(seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    worker, task = np.nonzero(rng.random((30, 100)) < 0.5)
    return worker, task, rng.normal(50, 5, 100)[task] + rng.normal(size=len(task))


def test_a_worker_far_off_is_named() -> None:
    worker, task, value = numbers_of_crowd(1)
    value[worker == 4] += np.random.default_rng(2).normal(0, 5, (worker == 4).sum())
    found = look(worker, task, value, Domain.numeric())
    assert [s.worker for s in found.suspicious] == ["4"]


def test_honest_numbers_are_left_in_peace() -> None:
    alarms = 0
    for seed in range(60):
        found = look(*numbers_of_crowd(seed), Domain.numeric())
        alarms += bool(found.suspicious)
    assert alarms <= 4  # one in a hundred is promised


def test_agreement_of_numbers_is_the_share_of_variance_between_tasks() -> None:
    found = look(*numbers_of_crowd(3), Domain.numeric())
    assert found.agreement == pytest.approx(25 / 26, abs=0.02)


def test_equal_numbers_agree_altogether() -> None:
    found = look([0, 1, 0, 1], [0, 0, 1, 1], [3.0, 3.0, 4.0, 4.0], Domain.numeric())
    assert (found.agreement, found.suspicious) == (1.0, ())


def test_a_task_nobody_answered_adds_no_agreement() -> None:
    worker, task, value = numbers_of_crowd(4)
    plain = look(worker, task, value, Domain.numeric())
    padded = look(worker, task, value, Domain.numeric(), tasks=range(120))
    assert padded.agreement == pytest.approx(plain.agreement)


def test_an_idle_worker_is_no_trouble() -> None:
    found = look([0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1], FOUR, workers=range(3))
    assert found.suspicious == ()


def test_labels_that_look_alike_are_named() -> None:
    labels = ["yes", "Yes", " yes", "1", "1.0", "no"]
    reports = Reports.of([0, 0], [0, 1], [0, 5], domain=Domain.categorical(labels))
    seen = inspect_answers(LocalEngine(reports), agreement_of(reports))
    assert seen.alike == (("yes", "Yes"), ("yes", " yes"), ("1", "1.0"))
