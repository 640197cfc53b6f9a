"""Every aggregator that learns from sums: truths inferred part by part equal those of one pass."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.contracts.test_every_engine_path import BOTH, labels_for, medium

from sottovoce.engines import LocalEngine, PartEngine
from sottovoce.engines.local import arrange
from sottovoce.errors import UsageError
from sottovoce.inference import METHODS, method_named
from sottovoce.inference.steps.votes import AnswerCounts, AnswersPerWorker
from sottovoce.model import Domain, LabelPart, NumberPart, Part, Reports, Result
from sottovoce.seams import SumsAggregator

IN_MEMORY = {"glad", "kos", "m-msr"}
"""Methods with a parameter per task, answer or pair of workers: sums do not suffice."""
EVERY = pytest.mark.parametrize(("method", "numeric"), [b for b in BOTH if b[0] not in IN_MEMORY])
EDGES = [0, 1, 300, 640, 895]
"""The tasks after the last have no answers, unlike any task of a large table."""


def answered(method: str, numeric: bool) -> Reports:
    reports = medium(numeric, labels_for(method))
    return Reports.of(
        reports.worker, reports.task, reports.value,
        domain=reports.domain, workers=reports.workers, tasks=reports.tasks[: EDGES[-1]],
    )  # fmt: skip


def truths_of(result: Result) -> Any:
    return result.truths if result.posterior is None else result.posterior


@pytest.mark.parametrize("method", METHODS)
def test_it_learns_and_tells_unless_it_needs_the_table(method: str) -> None:
    assert isinstance(method_named(method), SumsAggregator) == (method not in IN_MEMORY)


@EVERY
def test_truths_told_part_by_part_are_those_told_at_once(method: str, numeric: bool) -> None:
    reports = answered(method, numeric)
    engine, aggregator = LocalEngine(reports), METHODS[method]()
    learnt, layout = aggregator.learn(engine), arrange(reports, use_kernels=False)
    whole = aggregator.tell(engine, learnt)
    parts = [
        aggregator.tell(
            PartEngine(
                layout.between(a, b), reports.tasks[a:b], reports.domain, len(reports.tasks),
                use_kernels=False,
            ),
            learnt,
        )
        for a, b in pairwise(EDGES)
    ]  # fmt: skip
    found = np.concatenate([truths_of(part) for part in parts])
    np.testing.assert_allclose(found, truths_of(whole), rtol=1e-12, atol=1e-12)
    if numeric:
        errors = np.concatenate([part.standard_error for part in parts])
        np.testing.assert_allclose(errors, whole.standard_error, rtol=1e-9)


@EVERY
def test_a_part_needs_only_what_was_learnt_of_its_own_workers(method: str, numeric: bool) -> None:
    reports = answered(method, numeric)
    engine, aggregator = LocalEngine(reports), METHODS[method]()
    learnt, layout = aggregator.learn(engine), arrange(reports, use_kernels=False)
    part = layout.between(300, 303)
    narrow, own = _among_its_own(part)
    domain, count = reports.domain, len(reports.tasks)
    told = PartEngine(narrow, reports.tasks[300:303], domain, count, use_kernels=False)
    found = aggregator.tell(told, learnt.among(own, len(reports.workers)))
    whole = aggregator.tell(engine, learnt)
    np.testing.assert_allclose(truths_of(found), truths_of(whole)[300:303], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found.weights, whole.weights[own])


def _among_its_own(part: Part) -> tuple[Part, Any]:
    starts = part.starts - part.starts[0]
    if isinstance(part, NumberPart):
        own, worker = np.unique(part.reporters, return_inverse=True)
        return NumberPart(0, starts, worker.astype(np.int32), part.values), own
    worker, label = np.divmod(part.report.astype(np.int64), part.labels)
    own, worker = np.unique(worker, return_inverse=True)
    coded = (worker * part.labels + label).astype(np.uint32)
    return LabelPart(0, starts, coded, part.labels), own.astype(np.int32)


@EVERY
def test_without_tasks_at_hand_there_are_still_weights(method: str, numeric: bool) -> None:
    reports = answered(method, numeric)
    engine, aggregator = LocalEngine(reports), METHODS[method]()
    learnt = aggregator.learn(engine)
    nothing = arrange(reports, use_kernels=False).between(5, 5)
    elsewhere = PartEngine(nothing, np.empty(0), reports.domain, len(reports.tasks))
    found = aggregator.tell(elsewhere, learnt)
    assert len(found) == 0
    np.testing.assert_array_equal(found.weights, aggregator.tell(engine, learnt).weights)


def test_a_part_makes_no_sums() -> None:
    table = Reports.of([0], [0], [1], domain=Domain.categorical("ab"))
    part = PartEngine(arrange(table, use_kernels=False).between(0, 1), table.tasks, table.domain, 9)
    np.testing.assert_array_equal(part.map(AnswerCounts()), [1.0])
    with pytest.raises(UsageError, match="AnswersPerWorker need more tasks than this part has"):
        part.total(AnswersPerWorker(1))
