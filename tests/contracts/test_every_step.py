"""Every step: its kernel equals its NumPy version, and parts of whole tasks add up to the whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sottovoce.engines.local import arrange
from sottovoce.inference.steps.coins import Coins, VoteCoins
from sottovoce.inference.steps.confusions import Confusions, Posteriors, VoteConfusions
from sottovoce.inference.steps.label_sets import KindCounts, SetCoins, SetPosteriors, Sets
from sottovoce.inference.steps.means import (
    SpreadBetween,
    SpreadFrom,
    SpreadWithin,
    SquaredErrors,
    TaskMeans,
    WeightedMeans,
)
from sottovoce.inference.steps.medians import AbsoluteErrors, WeightedMedians
from sottovoce.inference.steps.peers import LeaveOneOut, MeanVariances
from sottovoce.inference.steps.residuals import (
    LabelResiduals,
    NumberResiduals,
    WorkerLabels,
    WorkerMoments,
)
from sottovoce.inference.steps.votes import (
    Agreements,
    AnswerCounts,
    AnswersPerWorker,
    LabelCounts,
    Votes,
)
from sottovoce.model import Domain, FloatArray, Part, Reports
from sottovoce.seams import Step, WorkerStep

WORKERS, TASKS = 11, 40
EMPTY = (0, 17, 18, 39)

Rng = np.random.Generator
Maker = Callable[[Rng, int], Step]


def weights(rng: Rng) -> FloatArray:
    return rng.uniform(0.1, 3, WORKERS)


def errors(rng: Rng, labels: int) -> FloatArray:
    """Confusion matrices, with some answers all but impossible."""
    table = rng.dirichlet(np.full(labels, 0.3), (WORKERS, labels)).transpose(0, 2, 1)
    return np.maximum(table, 1e-12).reshape(-1, labels)


def prior(rng: Rng, labels: int) -> FloatArray:
    return rng.dirichlet(np.ones(labels))


def known(rng: Rng, labels: int) -> Any:
    return np.where(rng.random(TASKS) < 0.3, rng.integers(0, labels, TASKS), -1).astype(np.int32)


def sets(rng: Rng, symbols: int) -> Sets:
    """Symbols that are sets of some of four labels; one is empty."""
    held = rng.random((symbols, 4)) < 0.5
    held[0] = False
    rows, members = np.nonzero(held)
    starts = np.searchsorted(rows, np.arange(symbols + 1))
    kind = (np.arange(symbols) % 2).astype(np.int32)
    return Sets(starts, members.astype(np.int32), kind, 2)


def set_coins(kind: type[Any], rng: Rng, symbols: int) -> Any:
    return kind(rng.uniform(0.2, 9, (WORKERS, 2)), prior(rng, 4), sets(rng, symbols))


LABEL_SUMS: Mapping[str, Maker] = {
    "answers per worker": lambda rng, k: AnswersPerWorker(WORKERS),
    "label counts": lambda rng, k: LabelCounts(k),
    "agreements": lambda rng, k: Agreements(weights(rng), k),
    "agreements with ties": lambda rng, k: Agreements(np.ones(WORKERS), k),
    "agreements with the first of ties": lambda rng, k: Agreements(np.ones(WORKERS), k, True),
    "agreements with foes": lambda rng, k: Agreements(rng.normal(size=WORKERS), k),
    "coins": lambda rng, k: Coins(rng.uniform(0.2, 9, WORKERS), prior(rng, k)),
    "coins of sets": lambda rng, k: set_coins(SetCoins, rng, k),
    "kinds of sets": lambda rng, k: KindCounts(WORKERS, sets(rng, k)),
    "vote coins": lambda rng, k: VoteCoins(WORKERS, k),
    "confusions": lambda rng, k: Confusions(errors(rng, k), prior(rng, k)),
    "confusions with gold": lambda rng, k: Confusions(errors(rng, k), prior(rng, k), known(rng, k)),
    "vote confusions": lambda rng, k: VoteConfusions(WORKERS, k),
    "vote confusions with gold": lambda rng, k: VoteConfusions(WORKERS, k, known(rng, k)),
    "worker labels": lambda rng, k: WorkerLabels(WORKERS, 4, sets(rng, k)),
    "label residuals": lambda rng, k: LabelResiduals(rng.random((WORKERS, 4)), sets(rng, k)),
}
LABEL_MAPS: Mapping[str, Maker] = {
    "answer counts": lambda rng, k: AnswerCounts(),
    "votes": lambda rng, k: Votes(weights(rng), k),
    "posteriors of sets": lambda rng, k: set_coins(SetPosteriors, rng, k),
    "posteriors": lambda rng, k: Posteriors(errors(rng, k), prior(rng, k)),
    "posteriors with gold": lambda rng, k: Posteriors(errors(rng, k), prior(rng, k), known(rng, k)),
}
NUMBER_SUMS: Mapping[str, Maker] = {
    "answers per worker": lambda rng, k: AnswersPerWorker(WORKERS),
    "worker moments": lambda rng, k: WorkerMoments(WORKERS, 900.0),
    "number residuals": lambda rng, k: NumberResiduals(900 + weights(rng), weights(rng)),
    "squared errors": lambda rng, k: SquaredErrors(weights(rng)),
    "squared errors over variance": lambda rng, k: SquaredErrors(weights(rng), scaling="variance"),
    "squared errors over deviation": lambda rng, k: SquaredErrors(
        weights(rng), scaling="deviation"
    ),
    "squared errors with a prior": lambda rng, k: SquaredErrors(weights(rng), 1.0, "variance"),
    "task means": lambda rng, k: TaskMeans(),
    "spread within tasks": lambda rng, k: SpreadWithin(),
    "spread between tasks": lambda rng, k: SpreadBetween(1000.0),
    "spread from a centre": lambda rng, k: SpreadFrom(1000.0),
    "absolute errors": lambda rng, k: AbsoluteErrors(weights(rng)),
    "absolute errors with ties": lambda rng, k: AbsoluteErrors(np.ones(WORKERS)),
    "leave one out": lambda rng, k: LeaveOneOut(weights(rng)),
    "leave one out with a prior": lambda rng, k: LeaveOneOut(weights(rng), 2.5, 1.0),
}
NUMBER_MAPS: Mapping[str, Maker] = {
    "answer counts": lambda rng, k: AnswerCounts(),
    "weighted means": lambda rng, k: WeightedMeans(weights(rng)),
    "weighted means with a prior": lambda rng, k: WeightedMeans(weights(rng), prior=1.0),
    "variances of means": lambda rng, k: MeanVariances(weights(rng), rng.uniform(0.5, 2, WORKERS)),
    "weighted medians": lambda rng, k: WeightedMedians(weights(rng)),
    "plain medians": lambda rng, k: WeightedMedians(np.ones(WORKERS)),
}


def reports(rng: Rng, labels: int) -> Reports:
    """A table in which some tasks have no answer, one has 50 and one has all answers equal."""
    task = rng.integers(0, TASKS, 300).astype(np.int32)
    task[:50] = 3
    task = task[~np.isin(task, EMPTY)]
    worker = rng.integers(0, WORKERS, len(task)).astype(np.int32)
    names: dict[str, Any] = {"workers": np.arange(WORKERS), "tasks": np.arange(TASKS)}
    if labels:
        value = rng.integers(0, labels, len(task))
        return Reports.of(worker, task, value, domain=Domain.categorical(range(labels)), **names)
    number = np.where(task == 5, 0.1, rng.normal(1000, 3, len(task)).round(1))
    return Reports.of(worker, task, number, domain=Domain.numeric(), **names)


CASES = [
    *((name, make, k, False) for name, make in LABEL_SUMS.items() for k in (2, 5)),
    *((name, make, k, True) for name, make in LABEL_MAPS.items() for k in (2, 5)),
    *((name, make, 0, False) for name, make in NUMBER_SUMS.items()),
    *((name, make, 0, True) for name, make in NUMBER_MAPS.items()),
]
EVERY_STEP = pytest.mark.parametrize(
    ("make", "labels", "is_map"),
    [case[1:] for case in CASES],
    ids=[f"{'map' if is_map else 'sum'} of {name}, K={k}" for name, _, k, is_map in CASES],
)


def made(make: Maker, labels: int) -> tuple[Step, Part]:
    rng = np.random.default_rng(labels)
    layout = arrange(reports(rng, labels), use_kernels=False)
    return make(rng, labels), layout


def assert_close(found: FloatArray, wanted: FloatArray) -> None:
    scale = max(float(np.abs(wanted).max()), 1.0)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * scale)


@EVERY_STEP
def test_a_value_has_the_stated_shape(make: Maker, labels: int, is_map: bool) -> None:
    step, layout = made(make, labels)
    rows = (TASKS,) if is_map else ()
    assert step(layout.between(0, TASKS)).shape == (*rows, *step.shape)


@EVERY_STEP
def test_the_kernel_equals_the_specification(make: Maker, labels: int, is_map: bool) -> None:
    step, layout = made(make, labels)
    kernel = step.kernel()
    if kernel is None:
        pytest.skip("no kernel")
    for first, last in ((0, TASKS), (2, 9), (17, 19), (30, 40)):
        part = layout.between(first, last)
        out = np.full((part.tasks, *step.shape), np.nan) if is_map else np.zeros(step.shape)
        kernel(part, out)
        assert_close(out, step(part))


@EVERY_STEP
def test_a_kernel_adds_to_what_is_there(make: Maker, labels: int, is_map: bool) -> None:
    step, layout = made(make, labels)
    kernel = step.kernel()
    if kernel is None or is_map:
        pytest.skip("no kernel that adds")
    part = layout.between(0, TASKS)
    out = np.full(step.shape, 7.0)
    kernel(part, out)
    assert_close(out - 7.0, step(part))


@EVERY_STEP
def test_parts_of_whole_tasks_make_the_whole(make: Maker, labels: int, is_map: bool) -> None:
    step, layout = made(make, labels)
    whole = step(layout.between(0, TASKS))
    rng = np.random.default_rng(9)
    for _ in range(5):
        edges = [0, *np.sort(rng.choice(np.arange(1, TASKS), 6, replace=False)).tolist(), TASKS]
        parts = [step(layout.between(a, b)) for a, b in pairwise(edges)]
        joined = np.concatenate(parts) if is_map else np.asarray(sum(parts))
        assert_close(joined, whole)


@EVERY_STEP
def test_a_part_without_answers_is_taken(make: Maker, labels: int, is_map: bool) -> None:
    step, layout = made(make, labels)
    value = step(layout.between(17, 19))
    assert np.isfinite(value).all()


@EVERY_STEP
def test_sums_of_some_workers_come_first_and_those_of_all_last(
    make: Maker, labels: int, is_map: bool
) -> None:
    step, _ = made(make, labels)
    if is_map or not isinstance(step, WorkerStep):
        pytest.skip("has no sums of workers")
    some = np.array([2, 5, 7], np.int32)
    narrow = step.among(some, WORKERS)
    tail = math.prod(step.among(some[:0], WORKERS).shape)
    each = (math.prod(step.shape) - tail) // WORKERS
    assert math.prod(narrow.shape) == each * len(some) + tail
    # If no other worker answered, the sums of the subset are those of all.
    rng = np.random.default_rng(labels)
    table = reports(rng, labels)
    kept = np.isin(table.worker, some)
    few = replace(table, worker=table.worker[kept], task=table.task[kept], value=table.value[kept])
    worker = np.searchsorted(some, few.worker).astype(np.int32)
    renumbered = replace(few, worker=worker, workers=some)
    whole = step(arrange(few, use_kernels=False).between(0, TASKS)).reshape(-1)
    found = narrow(arrange(renumbered, use_kernels=False).between(0, TASKS)).reshape(-1)
    theirs = whole[: WORKERS * each].reshape(WORKERS, -1)[some].reshape(-1)
    assert_close(found, np.concatenate([theirs, whole[WORKERS * each :]]))


@pytest.mark.parametrize("answers", [15, 16, 17, 33, 5_000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_long_task_underflows_nothing(answers: int, dtype: type[np.floating[Any]]) -> None:
    rng = np.random.default_rng(answers)
    table = np.full((WORKERS * 3, 3), 1e-15)
    table[::3, 0] = 0.9
    worker = rng.integers(0, WORKERS, answers)
    value = (np.arange(answers) % 3).astype(np.int32)
    domain = Domain.categorical(range(3))
    long_task = Reports.of(
        worker, np.zeros(answers, int), value, domain=domain, workers=np.arange(WORKERS)
    )
    part = arrange(long_task, use_kernels=False).between(0, 1)
    step = Confusions(table.astype(dtype), np.array([0.2, 0.3, 0.5]))
    kernel = step.kernel()
    assert kernel is not None
    out = np.zeros(step.shape)
    kernel(part, out)
    rtol, atol = (1e-5, 1e-30) if dtype is np.float32 else (1e-12, 1e-30)
    np.testing.assert_allclose(out, step(part), rtol=rtol, atol=atol)


@pytest.mark.parametrize("label", [0, 2])
def test_gold_that_the_answers_deny_is_still_gold(label: int) -> None:
    domain = Domain.categorical(range(3))
    worker = np.arange(40) % WORKERS
    denied = Reports.of(worker, np.zeros(40, int), np.ones(40, int), domain=domain)
    table = np.full((WORKERS * 3, 3), 1e-12)
    table[1::3, 1] = 1.0
    part = arrange(denied, use_kernels=False).between(0, 1)
    step = Posteriors(table, np.full(3, 1 / 3), np.array([label], np.int32))
    kernel = step.kernel()
    assert kernel is not None
    out = np.empty((1, 3))
    kernel(part, out)
    np.testing.assert_array_equal(out, step(part))
    assert out[0, label] == 1.0
