"""Agreement: published examples, crowd-kit's alpha, and what every statistic must keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce
from sottovoce import UsageError
from sottovoce.inference.agreement import agreement_of
from sottovoce.model import Agreement, Domain, Reports

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "alpha.json").read_text())

KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
"""Four observers, twelve units (Krippendorff 2011, section C)."""

FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
"""Fourteen raters, ten subjects, five categories: kappa is 0.210."""


def matrix(text: str) -> tuple[list[int], list[int], list[int]]:
    cells = [
        (worker, task, int(cell))
        for worker, line in enumerate(text.split("\n")[1:-1])
        for task, cell in enumerate(line.split())
        if cell != "."
    ]
    worker, task, value = map(list, zip(*cells, strict=True))
    return worker, task, value


def from_counts(counts: Any) -> Reports:
    """A table with these counts of labels, a row per task; who gave which label is arbitrary."""
    counts = np.asarray(counts)
    value = np.concatenate([np.repeat(np.arange(counts.shape[1]), row) for row in counts])
    each = counts.sum(axis=1)
    worker = np.concatenate([np.arange(n) for n in each])
    task = np.repeat(np.arange(len(counts)), each)
    return Reports.of(worker, task, value, domain=Domain.categorical(range(counts.shape[1])))


def crowd(seed: int, accuracy: float = 0.7, tasks: int = 40, labels: int = 3) -> Reports:
    """Six workers who answer four fifths of the tasks."""
    rng = np.random.default_rng(seed)
    worker, task = np.nonzero(rng.random((6, tasks)) < 0.8)
    gold = rng.integers(0, labels, tasks)[task]
    value = np.where(rng.random(len(task)) < accuracy, gold, rng.integers(0, labels, len(task)))
    return Reports.of(worker, task, value, domain=Domain.categorical(range(labels)))


@pytest.mark.parametrize(
    ("metric", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_that_of_krippendorffs_example(metric: Any, alpha: float) -> None:
    worker, task, value = matrix(KRIPPENDORFF)
    codes = np.array(value) - 1
    labels = Reports.of(worker, task, codes, domain=Domain.ordinal([1, 2, 3, 4, 5]))
    assert agreement_of(labels, metric).alpha.value == pytest.approx(alpha, abs=5e-4)


@pytest.mark.parametrize(("metric", "alpha"), [("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_numbers_is_that_of_the_labels_they_are(metric: Any, alpha: float) -> None:
    numbers = Reports.of(*matrix(KRIPPENDORFF), domain=Domain.numeric())
    assert agreement_of(numbers, metric).alpha.value == pytest.approx(alpha, abs=5e-4)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=range(len(VECTORS["cases"])))
@pytest.mark.parametrize("metric", ["nominal", "interval"])
def test_alpha_equals_that_of_crowd_kit(case: Any, metric: Any) -> None:
    domain = Domain.ordinal(range(case["labels"]))
    table = Reports.of(case["worker"], case["task"], case["label"], domain=domain)
    assert agreement_of(table, metric).alpha.value == pytest.approx(case[metric], abs=1e-9)


def test_fleiss_kappa_is_that_of_the_published_table() -> None:
    assert agreement_of(from_counts(FLEISS)).fleiss.value == pytest.approx(0.210, abs=5e-4)


def test_fleiss_kappa_of_unequal_counts_weighs_tasks_alike() -> None:
    votes = np.array([[3, 0], [1, 1], [0, 5], [1, 0]])
    each = votes.sum(axis=1)
    shared = each > 1
    equal = np.mean([(n * (n - 1)).sum() / (n.sum() * (n.sum() - 1)) for n in votes[shared]])
    chance = np.sum(np.mean(votes / each[:, None], axis=0) ** 2)
    found = agreement_of(from_counts(votes)).fleiss.value
    assert found == pytest.approx((equal - chance) / (1 - chance))


def test_cohens_kappa_is_that_of_the_published_table() -> None:
    """Cohen (1960, table 1): 200 joint judgements; observed 0.70, by chance 0.41, kappa 0.492."""
    joint = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
    first, second = (np.repeat(side.ravel(), joint.ravel()) for side in np.indices((3, 3)))
    value = np.concatenate([first, second])
    worker, task = np.divmod(np.arange(400), 200)
    found = agreement_of(Reports.of(worker, task, value, domain=Domain.categorical("abc")))
    assert found.cohen.value == pytest.approx((0.70 - 0.41) / (1 - 0.41))
    assert [(pair.tasks, pair.kappa.value) for pair in found.pairs] == [(200, found.cohen.value)]


def test_cohens_kappa_of_a_crowd_is_the_mean_over_pairs_by_shared_tasks() -> None:
    found = agreement_of(crowd(1))
    kappas = np.array([pair.kappa.value for pair in found.pairs], float)
    tasks = [pair.tasks for pair in found.pairs]
    assert len(found.pairs) == 15
    assert found.cohen.value == pytest.approx(np.average(kappas, weights=tasks))


def test_a_workers_agreement_is_with_the_others_on_shared_tasks() -> None:
    table = Reports.of(
        [0, 1, 2, 0, 1, 0], [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 0], domain=Domain.categorical("ab")
    )
    found = agreement_of(table)
    assert found.shares.tolist() == [0.75, 0.75, 0.0]
    assert found.compared.tolist() == [2, 2, 1]


def test_the_mean_of_workers_agreement_on_numbers_is_alpha() -> None:
    numbers = Reports.of(*matrix(KRIPPENDORFF), domain=Domain.numeric())
    found = agreement_of(numbers)
    assert np.average(found.shares, weights=found.compared) == pytest.approx(found.alpha.value)


def statistics(found: Agreement) -> list[Any]:
    return [found.alpha, found.fleiss, found.cohen]


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_intervals_contain_the_estimate(seed: int) -> None:
    found = agreement_of(crowd(seed, tasks=12))
    for each in statistics(found):
        assert each.low <= each.value <= each.high
    assert ((found.low <= found.shares) & (found.shares <= found.high)).all()


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    table = crowd(seed)
    order = np.random.default_rng(seed).permutation(len(table))
    rows = list(zip(table.worker, table.task, table.value, strict=True))
    first, second = (
        sottovoce.agreement(
            {
                "worker": [f"w{rows[i][0]}" for i in places],
                "task": [f"t{rows[i][1]}" for i in places],
                "answer": ["abc"[rows[i][2]] for i in places],
            }
        )
        for places in (range(len(rows)), order)
    )
    for a, b in zip(statistics(first), statistics(second), strict=True):
        assert [a.value, a.low, a.high] == pytest.approx([b.value, b.low, b.high])
    by_name = (dict(zip(each.workers, each.low, strict=True)) for each in (first, second))
    assert next(by_name) == pytest.approx(next(by_name))


@given(seed=st.integers(0, 10**6), shift=st.integers(1, 2))
@settings(max_examples=10, deadline=None)
def test_the_names_of_labels_do_not_matter(seed: int, shift: int) -> None:
    table = crowd(seed)
    renamed = Reports.of(table.worker, table.task, (table.value + shift) % 3, domain=table.domain)
    for a, b in zip(*(statistics(agreement_of(each)) for each in (table, renamed)), strict=True):
        assert [a.value, a.low, a.high] == pytest.approx([b.value, b.low, b.high])


@given(scale=st.floats(0.01, 100), shift=st.floats(-1e4, 1e4))
@settings(max_examples=10, deadline=None)
def test_the_unit_of_numbers_does_not_matter(scale: float, shift: float) -> None:
    worker, task, value = matrix(KRIPPENDORFF)
    moved = Reports.of(worker, task, np.array(value) * scale + shift, domain=Domain.numeric())
    assert agreement_of(moved).alpha.value == pytest.approx(0.8491, abs=1e-4)


def test_complete_agreement_is_one() -> None:
    worker, task = np.divmod(np.arange(80), 20)
    labels = agreement_of(Reports.of(worker, task, task % 3, domain=Domain.categorical("abc")))
    numbers = agreement_of(Reports.of(worker, task, task / 7, domain=Domain.numeric()))
    assert [each.value for each in (*statistics(labels), numbers.alpha)] == [1.0] * 4
    assert labels.shares.tolist() == numbers.shares.tolist() == [1.0] * 4


def test_answers_that_ignore_the_task_are_at_zero() -> None:
    found = agreement_of(crowd(3, accuracy=0.0, tasks=3000))
    for each in statistics(found):
        assert each.value == pytest.approx(0, abs=0.03)
        assert each.low < 0 < each.high


def test_intervals_hold_as_often_as_they_say() -> None:
    """Complete tables of workers right with one probability: alpha is (q − chance)/(1 − chance)."""
    held = []
    right = 0.7 + 0.3 / 3
    truth = (right**2 + (1 - right) ** 2 / 2 - 1 / 3) / (1 - 1 / 3)
    for seed in range(80):
        alpha = agreement_of(crowd(seed, tasks=100)).alpha
        held.append(alpha.low is not None and alpha.low <= truth <= (alpha.high or 0))
    assert np.mean(held) > 0.85  # 0.95 less 4 standard errors


def test_many_tasks_in_groups_have_the_intervals_of_single_tasks() -> None:
    """2,500 tasks are resampled in 1,000 groups: the width is that of the normal approximation."""
    table = crowd(5, tasks=2500)
    alpha = agreement_of(table).alpha
    quarters = [
        agreement_of(
            Reports.of(
                table.worker[own],
                table.task[own],
                table.value[own],
                domain=table.domain,
                tasks=range(2500),
            )
        ).alpha.value
        for own in (table.task % 25 == part for part in range(25))
    ]
    wanted = 2 * 1.96 * np.std(np.array(quarters, float), ddof=1) / 5
    assert (alpha.high or 0) - (alpha.low or 0) == pytest.approx(wanted, rel=0.5)


def test_a_seed_gives_the_same_intervals_again() -> None:
    first, again, other = (agreement_of(crowd(2), seed=seed).alpha for seed in (4, 4, 5))
    assert first == again
    assert first.value == other.value
    assert first != other


@pytest.mark.parametrize("domain", [Domain.categorical("ab"), Domain.numeric()])
def test_tasks_with_one_answer_say_that_nothing_can_be_computed(domain: Domain) -> None:
    found = agreement_of(Reports.of([0, 1], [0, 1], [0, 1], domain=domain))
    assert str(found.alpha) == "cannot be computed: no task has two answers"
    assert (found.observed, found.tasks, found.compared.tolist()) == (None, 0, [0, 0])
    assert np.isnan(found.shares).all()


@pytest.mark.parametrize("domain", [Domain.categorical("ab"), Domain.numeric()])
def test_equal_answers_say_that_nothing_can_be_computed(domain: Domain) -> None:
    worker, task = np.divmod(np.arange(20), 10)
    found = agreement_of(Reports.of(worker, task, np.ones(20, int), domain=domain))
    assert "all answers are equal" in str(found.alpha)


def test_kappas_of_numbers_say_why_there_are_none() -> None:
    found = agreement_of(Reports.of(*matrix(KRIPPENDORFF), domain=Domain.numeric()))
    assert "the answers are numbers" in str(found.fleiss)
    assert "the answers are numbers" in str(found.cohen)


@pytest.mark.parametrize(
    ("domain", "metric"),
    [
        (Domain.categorical("ab"), "nominal"),
        (Domain.ordinal("ab"), "ordinal"),
        (Domain.numeric(), "interval"),
    ],
)
def test_the_metric_follows_the_domain(domain: Domain, metric: str) -> None:
    assert agreement_of(Reports.of([0, 1], [0, 0], [0, 1], domain=domain)).metric == metric


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": "ratio"}, "nominal, ordinal or interval"),
        ({"confidence": 1.0}, "between 0 and 1"),
    ],
)
def test_impossible_options_are_refused(options: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        agreement_of(crowd(1), **options)


def test_the_repr_fits_on_a_screen() -> None:
    shown = repr(agreement_of(crowd(1)))
    assert "Krippendorff's alpha, nominal" in shown
    assert len(shown) <= 1000
