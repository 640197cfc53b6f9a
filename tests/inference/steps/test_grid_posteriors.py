"""Posteriors on a grid: the kernels equal the specification, and chunks make the whole."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sottovoce.engines.local import arrange
from sottovoce.inference.steps import grid_posteriors
from sottovoce.inference.steps.grid_posteriors import GridPosteriors, Grids, GridTruths
from sottovoce.model import Domain, FloatArray, Part, Reports, labels_of
from sottovoce.seams import Step

WORKERS, TASKS, STATES, POINTS = 9, 30, 4, 23
GRID = np.linspace(-1, 2, POINTS)
MAPS = ("posteriors", "truths")
STEPS = ("sums", *MAPS)


def layout(symbols: int) -> Part:
    """Some tasks have no report, and one has more than there are symbols."""
    rng = np.random.default_rng(symbols)
    task = np.concatenate([np.full(60, 3), rng.integers(4, TASKS - 1, 150)]).astype(np.int32)
    worker = rng.integers(0, WORKERS, len(task)).astype(np.int32)
    domain = Domain.categorical(range(symbols))
    names: dict[str, Any] = {"workers": np.arange(WORKERS), "tasks": np.arange(TASKS)}
    value = rng.integers(0, symbols, len(task))
    return arrange(Reports.of(worker, task, value, domain=domain, **names), use_kernels=False)


def step(name: str, symbols: int) -> Step:
    rng = np.random.default_rng(symbols)
    law = rng.dirichlet(np.ones(symbols), (STATES, POINTS)).transpose(2, 0, 1)
    logs = np.ascontiguousarray(np.log(law + 1e-9))
    shares = rng.dirichlet(np.full(STATES, 0.3), WORKERS)
    shares[shares < 0.05] = 0.0
    log_prior = np.log(rng.dirichlet(np.ones(POINTS)))
    if name == "sums":
        return Grids(logs, shares, log_prior, GRID, TASKS)
    if name == "posteriors":
        return GridPosteriors(logs, shares, log_prior)
    return GridTruths(logs, shares, log_prior, GRID)


def assert_close(found: FloatArray, wanted: FloatArray) -> None:
    scale = max(float(np.abs(wanted).max()), 1.0)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("symbols", [3, 200])
@pytest.mark.parametrize("name", STEPS)
def test_a_kernel_equals_its_specification(name: str, symbols: int) -> None:
    made, table = step(name, symbols), layout(symbols)
    kernel = made.kernel()
    assert kernel is not None
    for first, last in ((0, TASKS), (0, 3), (3, 4), (5, 21)):
        part = table.between(first, last)
        rows = name in MAPS
        out = np.full((part.tasks, *made.shape), np.nan) if rows else np.zeros(made.shape)
        kernel(part, out)
        assert_close(out, made(part))


@pytest.mark.parametrize("name", STEPS)
def test_a_kernel_works_through_small_chunks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made, part = step(name, 5), layout(5).between(0, TASKS)
    wanted = made(part)
    monkeypatch.setattr(grid_posteriors, "_CELLS", 7 * POINTS)
    kernel = made.kernel()
    assert kernel is not None
    out = np.zeros(wanted.shape)
    kernel(part, out)
    assert_close(out, wanted)


@pytest.mark.parametrize("name", STEPS)
def test_chunks_make_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made, part = step(name, 5), layout(5).between(0, TASKS)
    whole = made(part)
    monkeypatch.setattr(grid_posteriors, "_CELLS", 7 * POINTS)
    assert_close(made(part), whole)


@pytest.mark.parametrize("name", STEPS)
def test_parts_of_whole_tasks_make_the_whole(name: str) -> None:
    made, table = step(name, 5), layout(5)
    parts = [made(table.between(a, b)) for a, b in pairwise((0, 3, 4, 17, TASKS))]
    joined = np.concatenate(parts) if name in MAPS else np.asarray(sum(parts))
    assert_close(joined, made(table.between(0, TASKS)))


def test_a_kernel_adds_to_what_is_there() -> None:
    made, part = step("sums", 5), layout(5).between(0, TASKS)
    kernel = made.kernel()
    assert kernel is not None
    out = np.full(made.shape, 7.0)
    kernel(part, out)
    assert_close(out - 7.0, made(part))


def test_a_round_says_what_its_equations_say() -> None:
    made, part = step("sums", 5), labels_of(layout(5).between(0, TASKS))
    assert isinstance(made, Grids)
    sums = made.views(made(part))
    scores = np.tile(made.log_prior, (TASKS, 1))
    reports = [
        (task, *divmod(int(code), 5)) for task, code in zip(part.task, part.report, strict=True)
    ]
    for task, worker, symbol in reports:
        scores[task] += made.shares[worker] @ made.logs[symbol]
    posterior = np.exp(scores - scores.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    workers = np.zeros((WORKERS, STATES))
    for task, worker, symbol in reports:
        workers[worker] += made.logs[symbol] @ posterior[task]
    np.testing.assert_allclose(sums.workers, workers, atol=1e-5)  # small posteriors are left out
    np.testing.assert_allclose(sums.points, posterior.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(sums.truths, posterior @ GRID, atol=1e-12)


def test_a_narrow_bell_between_points_is_found_to_a_hundredth_of_a_step() -> None:
    table = layout(3)
    width = GRID[1] - GRID[0]
    centre = GRID[10] + 0.3 * width
    bell = -np.square(GRID - centre) / (2 * (0.4 * width) ** 2)
    logs, shares = np.zeros((3, 1, POINTS)), np.ones((WORKERS, 1))
    rows = GridTruths(logs, shares, bell, GRID)(table.between(0, 2))
    np.testing.assert_allclose(rows, [[centre, 0.4 * width]] * 2, rtol=1e-9)


def test_a_truth_at_the_end_of_the_grid_is_not_sure_to_less_than_a_cell() -> None:
    rising = np.linspace(0, 10_000, POINTS)
    step = GridTruths(np.zeros((3, 1, POINTS)), np.ones((WORKERS, 1)), rising, GRID)
    ((truth, error),) = step(layout(3).between(0, 1))
    assert truth == GRID[-1]
    assert error == pytest.approx((GRID[1] - GRID[0]) / np.sqrt(12))
