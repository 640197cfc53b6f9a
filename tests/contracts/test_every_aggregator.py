"""Every aggregator: valid numbers for any valid table, true round counts, reproducible."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference import METHODS, method_named, suits
from sottovoce.model import Domain, Kind, Reports, Result

LABEL_METHODS = [name for name in METHODS if Kind.CATEGORICAL in METHODS[name].takes]
NUMBER_METHODS = [name for name in METHODS if Kind.NUMERIC in METHODS[name].takes]
ANY_LABELS = [m for m in LABEL_METHODS if suits(m, Domain.categorical(range(3)))]
ITERATIVE = [name for name in METHODS if "max_rounds" in METHODS[name].__dataclass_fields__]
BOTH = [(m, False) for m in LABEL_METHODS] + [(m, True) for m in NUMBER_METHODS]
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
WIDE = Domain.numeric(-1e9, 1e9)

Names: TypeAlias = dict[str, Any]


def fit(method: str, reports: Reports, **parameters: Any) -> Result:
    return method_named(method, **parameters).fit(LocalEngine(reports))


def label_table(rows: Sequence[tuple[int, int, int]], labels: int = 2, **names: Any) -> Reports:
    worker, task, value = zip(*rows, strict=True)
    return Reports.of(worker, task, value, domain=Domain.categorical(range(labels)), **names)


def number_table(rows: Sequence[tuple[int, int, float]], **names: Any) -> Reports:
    worker, task, value = zip(*rows, strict=True)
    return Reports.of(worker, task, value, domain=WIDE, **names)


def table_for(method: str, rows: Sequence[tuple[int, int, int]], **names: Any) -> Reports:
    """The rows as labels, or as numbers for methods that take numbers only."""
    if method in LABEL_METHODS:
        return label_table(rows, **names)
    return number_table([(k, j, float(v)) for k, j, v in rows], **names)


def crowd(workers: int, tasks: int, seed: int, *, numeric: bool, labels: int = 2) -> Reports:
    """A crowd of differing ability that answers about two thirds of the tasks."""
    rng = np.random.default_rng(seed)
    worker, task = np.nonzero(rng.random((workers, tasks)) < 0.67)
    ability = rng.uniform(0.5, 0.95, workers)[worker]
    names: Names = {"workers": np.arange(workers), "tasks": np.arange(tasks)}
    if numeric:
        number = rng.normal(5, 2, tasks)[task] + rng.normal(0, 1, len(task)) / ability
        return Reports.of(worker, task, number, domain=WIDE, **names)
    truth = rng.integers(0, labels, tasks)[task]
    noise = rng.integers(0, labels, len(task))
    value = np.where(rng.random(len(task)) < ability, truth, noise)
    return Reports.of(worker, task, value, domain=Domain.categorical(range(labels)), **names)


def check_sound(result: Result) -> None:
    """No NaN, no infinity, probabilities that are probabilities, truths within the domain."""
    arrays = (result.truths, result.weights, result.confidence, result.posterior)
    for array in (*arrays, result.standard_error, result.confusions, result.prior):
        assert array is None or np.isfinite(array).all()
    if result.domain.is_numeric:
        assert result.standard_error is not None
        assert (result.standard_error >= 0).all()
        assert (result.truths >= result.domain.low).all()
        assert (result.truths <= result.domain.high).all()
        return
    assert result.posterior is not None
    assert result.confidence is not None
    np.testing.assert_allclose(result.posterior.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert (result.posterior >= 0).all()
    assert ((result.confidence >= 0) & (result.confidence <= 1)).all()
    assert ((result.truths >= 0) & (result.truths < result.domain.size)).all()


@st.composite
def any_tables(draw: st.DrawFn, method: str, *, numeric: bool) -> Reports:
    """Any valid small table: repeated pairs, unseen labels, unanswered tasks, idle workers."""
    workers, tasks = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    labels = draw(st.integers(1, 8)) if method in ANY_LABELS else 2
    size = st.floats(-1e6, 1e6, allow_subnormal=False)
    rounded = st.sampled_from([0.0, 0.1, 0.3, 1e6, 1e6 + 0.1, 1e-6])
    value = st.one_of(rounded, size) if numeric else st.integers(0, labels - 1)
    row = st.tuples(st.integers(0, workers - 1), st.integers(0, tasks - 1), value)
    worker, task, values = zip(*draw(st.lists(row, min_size=1, max_size=30)), strict=True)
    domain = WIDE if numeric else Domain.categorical(range(labels))
    names: Names = {"workers": np.arange(workers), "tasks": np.arange(tasks)}
    return Reports.of(worker, task, values, domain=domain, **names)


@pytest.mark.parametrize(("method", "numeric"), BOTH)
@SOME
@given(data=st.data())
def test_is_sound_on_any_valid_table(method: str, numeric: bool, data: st.DataObject) -> None:
    check_sound(fit(method, data.draw(any_tables(method, numeric=numeric))))


SMALL: Mapping[str, Sequence[tuple[int, int, int]]] = {
    "one answer": [(0, 0, 1)],
    "one worker alone": [(0, 0, 1), (0, 1, 0), (0, 2, 1)],
    "a worker with one answer": [(0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 0), (2, 1, 1)],
    "a task with one answer": [(0, 0, 1), (1, 0, 1), (2, 0, 0), (1, 1, 0)],
    "all answers equal": [(k, j, 1) for k in range(3) for j in range(4)],
    "two who never agree": [(0, j, 0) for j in range(5)] + [(1, j, 1) for j in range(5)],
    "no two share a task": [(0, 0, 1), (1, 1, 0), (2, 2, 1)],
    "repeated pairs": [(0, 0, 1), (0, 0, 1), (0, 0, 0), (1, 0, 0), (1, 1, 1), (1, 1, 1)],
}


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("method", METHODS)
def test_is_sound_on_a_table_with(method: str, case: str) -> None:
    check_sound(fit(method, table_for(method, SMALL[case])))


@pytest.mark.parametrize("method", [m for m in METHODS if m != "constant"])
def test_believes_a_crowd_that_agrees(method: str) -> None:
    rows = [(k, j, j % 2) for k in range(3) for j in range(6)]
    result = fit(method, table_for(method, rows))
    np.testing.assert_array_equal(result.truths, np.arange(6) % 2)


@pytest.mark.parametrize("method", NUMBER_METHODS)
def test_is_certain_of_a_constant(method: str) -> None:
    result = fit(method, number_table([(k, j, 0.1) for k in range(3) for j in range(4)]))
    np.testing.assert_allclose(result.truths, 0.1, rtol=1e-15)
    assert result.standard_error is not None
    np.testing.assert_allclose(result.standard_error, 0, atol=1e-15)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "inverse-deviation"])
def test_an_idle_worker_changes_no_truth(method: str) -> None:
    reports = crowd(6, 10, seed=1, numeric=method not in LABEL_METHODS)
    extended = Reports(
        reports.worker, reports.task, reports.value, np.arange(7), reports.tasks, reports.domain
    )
    with_idle, without = fit(method, extended), fit(method, reports)
    np.testing.assert_allclose(with_idle.truths, without.truths, rtol=1e-12)


def test_an_idle_worker_does_not_end_inverse_deviation_early() -> None:
    reports = crowd(6, 10, seed=1, numeric=True)
    extended = Reports(
        reports.worker, reports.task, reports.value, np.arange(7), reports.tasks, reports.domain
    )
    with_idle, without = fit("inverse-deviation", extended), fit("inverse-deviation", reports)
    np.testing.assert_allclose(with_idle.truths, without.truths, rtol=1e-12)


@pytest.mark.parametrize(("method", "numeric"), BOTH)
def test_an_idle_worker_is_not_the_most_trusted(method: str, numeric: bool) -> None:
    reports = crowd(6, 10, seed=1, numeric=numeric)
    extended = Reports(
        reports.worker, reports.task, reports.value, np.arange(7), reports.tasks, reports.domain
    )
    weights = fit(method, extended).weights
    assert weights[6] <= weights[:6].max()


@pytest.mark.parametrize("method", METHODS)
def test_a_task_nobody_answered_has_a_truth_of_the_domain(method: str) -> None:
    rows = [(0, 0, 1), (1, 0, 1), (2, 0, 0), (0, 2, 0), (1, 2, 0)]
    result = fit(method, table_for(method, rows, tasks=np.arange(3)))
    check_sound(result)
    assert result.answers.tolist() == [3, 0, 2]


@pytest.mark.parametrize("method", [m for m in NUMBER_METHODS if m != "constant"])
def test_a_number_nobody_gave_is_the_least_certain(method: str) -> None:
    values = [(k, j, 1000.0 + 100 * j + k) for k in range(4) for j in range(4)]
    result = fit(method, number_table(values, tasks=np.arange(5)))
    assert result.standard_error is not None
    assert abs(result.truths[4] - 1150) <= 2 * result.standard_error[4]


def test_a_number_nobody_gave_does_not_spoil_the_constant() -> None:
    values = [(k, j, 1000.0 + k) for k in range(4) for j in range(4)]
    plain, padded = number_table(values), number_table(values, tasks=np.arange(9))
    with_none, without = fit("constant", padded), fit("constant", plain)
    assert with_none.standard_error is not None
    assert without.standard_error is not None
    assert with_none.standard_error[0] == pytest.approx(without.standard_error[0], abs=1e-9)


@pytest.mark.parametrize("labels", [2, 3, 17, 100])
@pytest.mark.parametrize("method", LABEL_METHODS)
def test_takes_any_number_of_labels(method: str, labels: int) -> None:
    if not suits(method, Domain.categorical(range(labels))):
        pytest.skip(f"{method} does not take {labels} labels")
    reports = crowd(8, 40, seed=labels, numeric=False, labels=labels)
    result = fit(method, reports)
    check_sound(result)


@pytest.mark.parametrize("method", ANY_LABELS)
def test_never_chooses_a_label_nobody_gave(method: str) -> None:
    reports = label_table([(k, j, 3 + (k + j) % 2) for k in range(3) for j in range(6)], labels=9)
    assert set(fit(method, reports).truths) <= {3, 4}


@pytest.mark.parametrize("method", NUMBER_METHODS)
def test_is_sound_on_the_largest_numbers_there_may_be(method: str) -> None:
    big = 3e149
    rows = [(0, 0, big), (1, 0, 2 * big), (2, 0, 3 * big), (0, 1, -big), (1, 1, big)]
    worker, task, value = zip(*rows, strict=True)
    check_sound(fit(method, Reports.of(worker, task, value, domain=Domain.numeric())))


@pytest.mark.parametrize("method", NUMBER_METHODS)
def test_keeps_numbers_within_their_range(method: str) -> None:
    rng = np.random.default_rng(5)
    value = rng.choice([0.1, 0.3], 60)
    domain = Domain.numeric(0.1, 0.3)
    reports = Reports.of(np.arange(60) % 6, np.arange(60) // 6, value, domain=domain)
    truths = fit(method, reports).truths
    assert ((truths >= 0.1) & (truths <= 0.3)).all()


@pytest.mark.parametrize(("method", "numeric"), BOTH)
def test_gives_the_same_bits_again(method: str, numeric: bool) -> None:
    reports = crowd(9, 30, seed=3, numeric=numeric)
    once, again = fit(method, reports), fit(method, reports)
    assert once.truths.tobytes() == again.truths.tobytes()
    assert once.weights.tobytes() == again.weights.tobytes()


@pytest.mark.parametrize(("method", "numeric"), BOTH)
def test_leaves_the_reports_alone(method: str, numeric: bool) -> None:
    reports = crowd(9, 30, seed=4, numeric=numeric)
    columns = (reports.worker, reports.task, reports.value)
    before = [column.copy() for column in columns]
    for column in columns:
        column.flags.writeable = False
    fit(method, reports)
    assert all((now == then).all() for now, then in zip(columns, before, strict=True))


@pytest.mark.parametrize(("method", "numeric"), [b for b in BOTH if b[0] in ITERATIVE])
def test_stops_at_the_round_limit_and_says_so(method: str, numeric: bool) -> None:
    reports = crowd(9, 30, seed=6, numeric=numeric)
    result = fit(method, reports, max_rounds=1)
    assert (result.rounds, result.converged) == (1, False)


@pytest.mark.parametrize(("method", "numeric"), [b for b in BOTH if b[0] in ITERATIVE])
def test_says_when_it_has_settled(method: str, numeric: bool) -> None:
    reports = crowd(12, 60, seed=7, numeric=numeric)
    result = fit(method, reports, max_rounds=5_000)
    assert result.converged is True
    assert 1 < result.rounds < 5_000


@pytest.mark.parametrize(("method", "numeric"), [b for b in BOTH if b[0] not in ITERATIVE])
def test_needs_one_round_when_nothing_is_iterated(method: str, numeric: bool) -> None:
    result = fit(method, crowd(5, 8, seed=8, numeric=numeric))
    assert (result.rounds, result.converged) == (1, True)


@pytest.mark.parametrize("limits", [{"max_rounds": 0}, {"max_rounds": -3}])
@pytest.mark.parametrize("method", ITERATIVE)
def test_refuses_to_compute_nothing(method: str, limits: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="max_rounds must be at least 1, not"):
        method_named(method, **limits)


@pytest.mark.parametrize("method", ITERATIVE)
def test_refuses_a_tolerance_that_is_no_number(method: str) -> None:
    with pytest.raises(UsageError, match="tolerance must be"):
        method_named(method, tolerance=float("nan"))


@pytest.mark.parametrize(("method", "numeric"), [b for b in BOTH if b[0] in ITERATIVE])
def test_a_negative_tolerance_runs_all_rounds(method: str, numeric: bool) -> None:
    reports = crowd(9, 30, seed=6, numeric=numeric)
    result = fit(method, reports, max_rounds=40, tolerance=-1.0)
    assert (result.rounds, result.converged) == (40, False)


@pytest.mark.parametrize(("method", "numeric"), BOTH)
def test_says_where_the_result_comes_from(method: str, numeric: bool) -> None:
    result = fit(method, crowd(5, 8, seed=9, numeric=numeric))
    assert result.provenance.method == method
    settings_ = json.loads(json.dumps(dict(result.provenance.parameters)))
    data = {"known", "start", "channel", "domain"}
    expected = {field.name for field in fields(METHODS[method])} - data
    assert set(settings_) == expected
