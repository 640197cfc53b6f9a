"""Every aggregator on medium tables: compiled kernels agree with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce.engines import LocalEngine
from sottovoce.inference import METHODS, method_named, suits
from sottovoce.model import Domain, Kind, Reports, Result

BOTH = [
    (name, numeric)
    for name in METHODS
    for numeric in (False, True)
    if (Kind.NUMERIC if numeric else Kind.CATEGORICAL) in METHODS[name].takes
]


def labels_for(method: str) -> int:
    """Four labels, or two for methods that take no more."""
    return 4 if suits(method, Domain.categorical(range(4))) else 2


def medium(numeric: bool, labels: int, seed: int = 0) -> Reports:
    """6,000 answers of a crowd with spammers and adversaries; some tasks have 60, some none."""
    rng = np.random.default_rng(seed)
    workers, tasks, answers = 60, 900, 6_000
    task = rng.integers(0, tasks - 5, answers)
    task[:120] = np.repeat([0, 1], 60)
    worker = rng.integers(0, workers, answers)
    names: dict[str, Any] = {"workers": np.arange(workers), "tasks": np.arange(tasks)}
    if numeric:
        deviation = rng.exponential(1, workers)[worker]
        number = rng.normal(50, 10, tasks)[task] + deviation * rng.normal(size=answers)
        return Reports.of(worker, task, number.round(2), domain=Domain.numeric(), **names)
    ability = rng.choice([0.05, 1 / labels, 0.6, 0.9, 1.0], workers)[worker]
    truth = rng.choice(labels, tasks, p=rng.dirichlet(np.ones(labels)))[task]
    wrong = (truth + rng.integers(1, labels, answers)) % labels
    value = np.where(rng.random(answers) < ability, truth, wrong)
    return Reports.of(worker, task, value, domain=Domain.categorical(range(labels)), **names)


def fits(method: str, reports: Reports, **parameters: Any) -> tuple[Result, Result]:
    aggregator = method_named(method, **parameters)
    engines = (LocalEngine(reports, use_kernels=kernels) for kernels in (True, False))
    compiled, plain = (aggregator.fit(engine) for engine in engines)
    return compiled, plain


@pytest.mark.parametrize(("method", "numeric"), BOTH)
def test_kernels_and_numpy_find_the_same(method: str, numeric: bool) -> None:
    compiled, plain = fits(method, medium(numeric, labels_for(method)))
    found = compiled.truths if numeric else compiled.posterior
    wanted = plain.truths if numeric else plain.posterior
    assert found is not None
    assert wanted is not None
    np.testing.assert_allclose(found, wanted, rtol=1e-10 if numeric else 0, atol=1e-9)


@pytest.mark.parametrize(("method", "numeric"), BOTH)
def test_kernels_and_numpy_weigh_workers_the_same(method: str, numeric: bool) -> None:
    compiled, plain = fits(method, medium(numeric, labels_for(method)))
    np.testing.assert_allclose(compiled.weights, plain.weights, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("method", "numeric"), BOTH)
def test_kernels_and_numpy_stop_at_the_same_round(method: str, numeric: bool) -> None:
    compiled, plain = fits(method, medium(numeric, labels_for(method)))
    assert (compiled.rounds, compiled.converged) == (plain.rounds, plain.converged)


@pytest.mark.parametrize("use_kernels", [True, False])
def test_float32_comes_within_a_hundred_thousandth(use_kernels: bool) -> None:
    engine = LocalEngine(medium(numeric=False, labels=4), use_kernels=use_kernels)
    fast = method_named("dawid-skene", precision="float32", max_rounds=10, tolerance=0.0)
    full = method_named("dawid-skene", max_rounds=10, tolerance=0.0)
    found, wanted = fast.fit(engine).posterior, full.fit(engine).posterior
    assert found is not None
    assert wanted is not None
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5)
