"""EM: the evidence never falls, and the stopping rule is as documented."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.engines import LocalEngine
from sottovoce.inference import DawidSkene, LatentLabel, OneCoin
from sottovoce.model import Domain, Reports

ROUNDING = 1e-8
"""A count raised to the floor of 1e-10 costs the bound about that much."""


def crowd(labels: int, seed: int, workers: int = 8, tasks: int = 25) -> LocalEngine:
    rng = np.random.default_rng(seed)
    worker, task = np.nonzero(rng.random((workers, tasks)) < rng.uniform(0.3, 1))
    ability = rng.uniform(0, 1, workers)[worker]
    truth = rng.integers(0, labels, tasks)[task]
    guess = rng.integers(0, labels, len(task))
    value = np.where(rng.random(len(task)) < ability, truth, guess)
    return LocalEngine(Reports.of(worker, task, value, domain=Domain.categorical(range(labels))))


@settings(max_examples=40, deadline=None)
@given(labels=st.integers(2, 5), seed=st.integers(0, 10**6))
def test_dawid_skenes_evidence_never_falls(labels: int, seed: int) -> None:
    engine = crowd(labels, seed)
    method = DawidSkene(bound="tasks", tolerance=0.0, max_rounds=50)
    bounds = method.expect(engine, method.start(engine)).bounds
    assert (np.diff(bounds) >= -ROUNDING).all()


@settings(max_examples=40, deadline=None)
@given(labels=st.integers(2, 5), seed=st.integers(0, 10**6))
def test_one_coins_evidence_never_falls(labels: int, seed: int) -> None:
    bounds = OneCoin(bound="tasks", tolerance=0.0, max_rounds=50).expect(crowd(labels, seed)).bounds
    assert (np.diff(bounds) >= -ROUNDING).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_evidence_is_below_the_log_likelihood(seed: int) -> None:
    engine = crowd(3, seed)
    method = DawidSkene(bound="tasks", tolerance=0.0, max_rounds=20)
    ended = method.expect(engine, method.start(engine))
    assert max(ended.bounds) <= 0


@pytest.mark.parametrize("seed", range(3))
def test_a_fixed_point_stays(seed: int) -> None:
    engine = crowd(2, seed, workers=15, tasks=200)
    method = DawidSkene(bound="tasks", tolerance=1e-13, max_rounds=5_000)
    ended = method.expect(engine, method.start(engine))
    assert ended.converged
    used, fitted = (method.posterior(engine, p) for p in (ended.used, ended.fitted))
    np.testing.assert_allclose(used, fitted, rtol=0, atol=1e-4)


def test_latent_label_is_dawid_skene_for_two_labels() -> None:
    engine = crowd(2, 5, workers=20, tasks=100)
    ours = LatentLabel(max_rounds=500, tolerance=1e-14).fit(engine)
    theirs = DawidSkene(bound="tasks", max_rounds=500, tolerance=1e-14).fit(engine)
    assert ours.truths.tolist() == theirs.truths.tolist()


@pytest.mark.parametrize("labels", [2, 4])
def test_dawid_skene_learns_the_confusions_of_a_large_crowd(labels: int) -> None:
    rng = np.random.default_rng(1)
    workers, tasks = 10, 3_000
    confusions = rng.dirichlet(np.ones(labels), (workers, labels)) * 0.4
    confusions += 0.6 * np.eye(labels)
    gold = rng.integers(0, labels, tasks)
    worker, task = np.divmod(np.arange(workers * tasks), tasks)
    edges = confusions.cumsum(axis=2)[worker, gold[task]]
    value = (rng.random((len(task), 1)) > edges).sum(axis=1).clip(max=labels - 1)
    domain = Domain.categorical(range(labels))
    result = DawidSkene().fit(LocalEngine(Reports.of(worker, task, value, domain=domain)))
    assert result.confusions is not None
    np.testing.assert_allclose(result.confusions, confusions, atol=0.12)  # 6 sigma of 3,000 / 4
