"""Signal: noise is flagged, agreement is not, on every kind of report and in any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce
from sottovoce import Target
from sottovoce.datasets import SeededRandomness
from sottovoce.engines import LocalEngine
from sottovoce.inference.signal import signal
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Domain, Reports, SetChannel, Signal


def table(
    seed: int, labels: int, per_task: int, answers: int, accuracy: float | None = None
) -> Reports:
    """Workers with about 30 answers each; uniform labels unless an accuracy is given."""
    rng = np.random.default_rng(seed)
    tasks, workers = answers // per_task, max(answers // 30, per_task)
    task = np.repeat(np.arange(tasks), per_task)
    worker = rng.random((tasks, workers)).argsort(axis=1)[:, :per_task].ravel()
    value = rng.integers(0, labels, len(task))
    if accuracy is not None:
        gold = rng.integers(0, labels, tasks)[task]
        wrong = (gold + rng.integers(1, labels, len(task))) % labels
        value = np.where(rng.random(len(task)) < accuracy, gold, wrong)
    return Reports.of(worker, task, value, domain=Domain.categorical(range(labels)))


def seen(reports: Reports, **how: Any) -> Signal:
    return signal(LocalEngine(reports), **how)


@pytest.mark.parametrize(("labels", "per_task"), [(2, 3), (2, 5), (3, 4), (5, 3), (5, 5)])
def test_noise_is_flagged(labels: int, per_task: int) -> None:
    found = [seen(table(seed, labels, per_task, 600)).verdict for seed in range(60)]
    assert found.count("none") >= 55  # 98 of 100 are promised


def test_workers_who_favour_a_label_do_not_look_like_a_signal() -> None:
    flagged = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        plain = table(seed, 3, 5, 1500)
        habits = np.cumsum(rng.dirichlet(np.full(3, 0.4), len(plain.workers)), axis=1)
        drawn = (rng.random(len(plain))[:, None] > habits[plain.worker, :2]).sum(axis=1)
        biased = Reports.of(plain.worker, plain.task, drawn, domain=plain.domain)
        flagged += seen(biased).verdict == "none"
    assert flagged >= 36


@pytest.mark.parametrize("labels", [2, 5])
def test_workers_who_are_often_right_are_not_flagged(labels: int) -> None:
    for seed in range(20):
        assert seen(table(seed, labels, 3, 600, accuracy=1 / labels + 0.4)).z > 4


def test_detectable_is_the_mean_z_of_workers_right_one_tenth_above_chance() -> None:
    found = [seen(table(seed, 3, 10, 3000, accuracy=1 / 3 + 0.1)) for seed in range(60)]
    assert np.mean([each.z for each in found]) == pytest.approx(found[0].detectable, abs=0.6)


@pytest.mark.parametrize(
    ("mechanism", "labels", "epsilon", "above", "hidden"),
    [
        ("randomized-response", 4, 3.0, 0.1, False),
        ("subset-selection", 8, 1.0, 0.5, False),  # sets of two labels
        ("null-randomized-response", 4, 3.0, 0.3, True),
    ],
)
def test_detectable_accounts_for_the_noise_of_reports(
    mechanism: str, labels: int, epsilon: float, above: float, hidden: bool
) -> None:
    """A crowd that is right `above` chance is expected at (above / 0.1)² of `detectable`."""
    z, expected = [], []
    for seed in range(30):
        answers = table(seed, labels, 20, 6000, accuracy=1 / labels + above)
        target = Target(epsilon, hide_participation=hidden)
        policy = sottovoce.make_policy(answers.domain, mechanism, target)
        reports = sottovoce.perturb(answers, policy, SeededRandomness(seed))
        evidence = mechanism_of(policy).evidence(reports, policy.domain)
        assert evidence is not None
        assert isinstance(evidence.channel, SetChannel)
        found = seen(evidence.symbols, channel=evidence.channel)
        z.append(found.z)
        expected.append(found.detectable * (above / 0.1) ** 2)
    assert np.mean(expected) > 4
    assert np.mean(z) == pytest.approx(np.mean(expected), rel=0.2)


def test_numbers_that_ignore_the_task_are_flagged_and_others_are_not() -> None:
    rng = np.random.default_rng(1)
    noise: list[str] = []
    kept: list[str] = []
    for seed in range(40):
        plain = table(seed, 2, 4, 800)
        bias = rng.normal(50, 20, len(plain.workers))[plain.worker]
        scale = rng.uniform(0.5, 9, len(plain.workers))[plain.worker]
        values = bias + scale * rng.normal(size=len(plain))
        truths = rng.normal(0, 1, len(plain.tasks))[plain.task]
        for found, number in ((noise, values), (kept, values + scale * truths)):
            numbers = Reports.of(plain.worker, plain.task, number, domain=Domain.numeric())
            found.append(seen(numbers).verdict)
    assert noise.count("none") >= 36
    assert kept.count("some") == 40


@given(seed=st.integers(0, 10**6), shift=st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_neither_the_order_of_rows_nor_the_names_of_labels_matter(seed: int, shift: int) -> None:
    plain = table(seed, 4, 3, 120, accuracy=0.5)
    order = np.random.default_rng(seed).permutation(len(plain))
    renamed = (plain.value[order] + shift) % 4
    other = Reports.of(plain.worker[order], plain.task[order], renamed, domain=plain.domain)
    assert seen(other).z == pytest.approx(seen(plain).z, abs=1e-9)


@pytest.mark.parametrize("value", [0, 1])
def test_equal_answers_are_no_signal(value: int) -> None:
    worker, task = np.divmod(np.arange(60), 20)
    labels = Reports.of(worker, task, np.full(60, value), domain=Domain.categorical("ab"))
    numbers = Reports.of(worker, task, np.full(60, value / 3), domain=Domain.numeric())
    assert [seen(each).z for each in (labels, numbers)] == [0.0, 0.0]


def test_a_table_without_shared_tasks_says_so() -> None:
    found = seen(Reports.of([0, 1], [0, 1], [0, 1], domain=Domain.categorical("ab")))
    assert (found.z, found.tasks, found.detectable) == (0.0, 0, 0.0)
    assert "no task has two answers" in str(found.warning())


def test_unanimous_answers_to_a_few_tasks_are_a_signal() -> None:
    worker, task = np.divmod(np.arange(18), 6)
    found = seen(Reports.of(worker, task, task % 2, domain=Domain.categorical("ab")))
    assert (found.verdict, found.warning()) == ("some", None)


def test_few_answers_are_not_called_noise() -> None:
    assert "too few to tell" in str(seen(table(3, 2, 3, 300)).warning())


def test_many_answers_without_a_signal_are_called_noise() -> None:
    assert "carry no signal" in str(seen(table(3, 2, 30, 3000)).warning())


def test_a_kernel_gives_the_same_signal() -> None:
    plain = table(5, 3, 5, 900, accuracy=0.6)
    fast = signal(LocalEngine(plain, use_kernels=True))
    assert fast.z == pytest.approx(seen(plain).z, rel=1e-12)
