"""Iterated methods against the simplest code for their equations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import exp, log, prod, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from sottovoce.engines import LocalEngine
from sottovoce.inference import (
    CATD,
    CRH,
    GTM,
    TD,
    DawidSkene,
    InverseDeviation,
    LatentLabel,
    OneCoin,
    WeightedMedian,
)
from sottovoce.model import Domain, Reports

Answers = dict[int, dict[int, Any]]
"""answers[task][worker]"""

WORKERS, TASKS, ROUNDS = 7, 15, 6


def table(labels: int, seed: int = 0) -> tuple[Reports, Answers]:
    rng = np.random.default_rng(seed)
    worker, task = np.nonzero(rng.random((WORKERS, TASKS)) < 0.75)
    if labels:
        truth = rng.integers(0, labels, TASKS)[task]
        guess = rng.integers(0, labels, len(task))
        value: Any = np.where(rng.random(len(task)) < 0.6, truth, guess)
        domain = Domain.categorical(range(labels))
    else:
        value = rng.normal(5, 2, TASKS)[task] + rng.normal(size=len(task)) * (1 + worker)
        domain = Domain.numeric()
    answers: Answers = defaultdict(dict)
    for k, j, v in zip(worker.tolist(), task.tolist(), value.tolist(), strict=True):
        answers[j][k] = v
    names: dict[str, Any] = {"workers": range(WORKERS), "tasks": range(TASKS)}
    return Reports.of(worker, task, value, domain=domain, **names), answers


def per_worker(answers: Answers, score: Callable[[int, Any], float]) -> list[list[float]]:
    """The score of each answer, by worker."""
    scores: list[list[float]] = [[] for _ in range(WORKERS)]
    for task, given in answers.items():
        for worker, value in given.items():
            scores[worker].append(score(task, value))
    return scores


def voted(given: dict[int, int], weights: list[float], labels: int) -> dict[int, float]:
    """1 for the winner; tied labels share it."""
    votes = [sum(weights[k] for k, v in given.items() if v == x) for x in range(labels)]
    best = [x for x in range(labels) if votes[x] >= max(votes) - 1e-9 * abs(max(votes))]
    return {x: (1 / len(best) if x in best else 0.0) for x in range(labels)}


def averaged(given: dict[int, float], weights: list[float]) -> float:
    return sum(weights[k] * v for k, v in given.items()) / sum(weights[k] for k in given)


def variance(given: dict[int, float]) -> float:
    return float(np.var(list(given.values())))


@pytest.mark.parametrize("labels", [2, 4])
def test_td(labels: int) -> None:
    reports, answers = table(labels)
    weights = [1.0] * WORKERS
    for _ in range(ROUNDS):
        truths = {j: voted(given, weights, labels) for j, given in answers.items()}
        right = per_worker(answers, lambda j, v, t=truths: t[j][v])  # type: ignore[misc]
        rates = [min(max(sum(r) / len(r), 0.02), 0.98) for r in right]
        weights = [log(p * (labels - 1) / (1 - p)) for p in rates]
    found = TD(max_rounds=ROUNDS, tolerance=0.0).fit(LocalEngine(reports))
    assert found.weights == pytest.approx(weights, rel=1e-9)


@pytest.mark.parametrize("labels", [3, 0])
def test_crh(labels: int) -> None:
    reports, answers = table(labels)
    weights = [1.0] * WORKERS
    for _ in range(ROUNDS):
        if labels:
            votes = {j: voted(given, weights, labels) for j, given in answers.items()}
            scores = per_worker(answers, lambda j, v, t=votes: 1 - t[j][v])  # type: ignore[misc]
        else:
            means = {j: averaged(given, weights) for j, given in answers.items()}
            scores = per_worker(
                answers,
                lambda j, v, t=means: (v - t[j]) ** 2 / variance(answers[j]),  # type: ignore[misc]
            )
        losses = [sum(s) / len(s) for s in scores]
        weights = [-log(loss / sum(losses)) for loss in losses]
    found = CRH(max_rounds=ROUNDS, tolerance=0.0).fit(LocalEngine(reports))
    assert found.weights == pytest.approx(weights, rel=1e-9)


def test_gtm() -> None:
    reports, answers = table(0)
    scores = {
        j: {k: (v - np.mean(list(g.values()))) / sqrt(variance(g)) for k, v in g.items()}
        for j, g in answers.items()
    }
    precision = [1.0] * WORKERS
    for _ in range(ROUNDS):
        mu = {
            j: sum(precision[k] * z for k, z in g.items()) / (1 + sum(precision[k] for k in g))
            for j, g in scores.items()
        }
        squares = per_worker(scores, lambda j, z, m=mu: (z - m[j]) ** 2)  # type: ignore[misc]
        precision = [(2 * 11 + len(s)) / (2 * 10 + sum(s)) for s in squares]
    found = GTM(max_rounds=ROUNDS, tolerance=0.0).fit(LocalEngine(reports))
    assert found.weights == pytest.approx(precision, rel=1e-9)


def test_catd() -> None:
    reports, answers = table(0)
    weights = [1 / WORKERS] * WORKERS
    for _ in range(ROUNDS):
        means = {j: averaged(given, weights) for j, given in answers.items()}
        squares = per_worker(answers, lambda j, v, t=means: (v - t[j]) ** 2)  # type: ignore[misc]
        # One worker comes to dominate, so the floor of a millionth of the mean is reached.
        least = 1e-6 * sum(map(sum, squares)) / WORKERS
        raw = [chi2.ppf(0.025, len(s)) / max(sum(s), least) for s in squares]
        weights = [w / sum(raw) for w in raw]
    found = CATD(max_rounds=ROUNDS, tolerance=0.0).fit(LocalEngine(reports))
    assert found.weights == pytest.approx(weights, rel=1e-8)


def test_inverse_deviation() -> None:
    reports, answers = table(0)
    weights = [1 / WORKERS] * WORKERS
    for _ in range(ROUNDS):
        means = {j: averaged(given, weights) for j, given in answers.items()}
        squares = per_worker(answers, lambda j, v, t=means: (v - t[j]) ** 2)  # type: ignore[misc]
        raw = [1 / sqrt(sum(s) / len(s)) for s in squares]
        weights = [w / sum(raw) for w in raw]
    found = InverseDeviation(max_rounds=ROUNDS, tolerance=0.0).fit(LocalEngine(reports))
    assert found.weights == pytest.approx(weights, rel=1e-8)


def middle(given: dict[int, float], weights: list[float]) -> float:
    losses = {v: sum(weights[k] * abs(u - v) for k, u in given.items()) for v in given.values()}
    best = [v for v, loss in losses.items() if loss <= min(losses.values()) * (1 + 1e-9)]
    return (min(best) + max(best)) / 2


def test_weighted_median() -> None:
    reports, answers = table(0)
    weights = [1.0] * WORKERS
    for _ in range(ROUNDS):
        medians = {j: middle(given, weights) for j, given in answers.items()}
        scores = per_worker(
            answers,
            lambda j, v, t=medians: abs(v - t[j]) / sqrt(variance(answers[j])),  # type: ignore[misc]
        )
        losses = [sum(s) / len(s) for s in scores]
        weights = [-log(loss / sum(losses)) for loss in losses]
    found = WeightedMedian(max_rounds=ROUNDS, tolerance=0.0).fit(LocalEngine(reports))
    assert found.weights == pytest.approx(weights, rel=1e-9)


def vote_start(answers: Answers, labels: int) -> dict[int, list[float]]:
    return {
        j: [sum(v == x for v in g.values()) / len(g) for x in range(labels)]
        for j, g in answers.items()
    }


def even_sum(numbers: list[float]) -> list[float]:
    return [x / sum(numbers) for x in numbers]


@pytest.mark.parametrize("labels", [2, 4])
def test_dawid_skene(labels: int) -> None:
    reports, answers = table(labels)
    posterior = vote_start(answers, labels)
    every = range(labels)
    for _ in range(ROUNDS):
        counts = np.zeros((WORKERS, labels, labels))
        for j, given in answers.items():
            for k, v in given.items():
                counts[k, v] += posterior[j]
        used = counts.sum(axis=2, keepdims=True) > 0
        counts = np.where(used, np.maximum(counts, 1e-10), 0)
        errors = counts / counts.sum(axis=1, keepdims=True)
        prior = [sum(p[t] for p in posterior.values()) / TASKS for t in every]
        posterior = {
            j: even_sum([prior[t] * prod(errors[k, v, t] for k, v in g.items()) for t in every])
            for j, g in answers.items()
        }
    # The bound counted by answers may fall, which would end it early.
    found = DawidSkene(max_rounds=ROUNDS, tolerance=0.0, bound="tasks").fit(LocalEngine(reports))
    expected = np.array([posterior[j] for j in range(TASKS)])
    assert found.posterior == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("labels", [2, 4])
def test_one_coin(labels: int) -> None:
    reports, answers = table(labels)
    posterior = vote_start(answers, labels)
    every = range(labels)
    for _ in range(ROUNDS):
        right = per_worker(answers, lambda j, v, p=posterior: p[j][v])  # type: ignore[misc]
        skill = [sum(r) / len(r) for r in right]
        prior = [sum(p[t] for p in posterior.values()) / TASKS for t in every]

        def chance(k: int, v: int, t: int, skill: list[float] = skill) -> float:
            return skill[k] if v == t else (1 - skill[k]) / (labels - 1)

        posterior = {
            j: even_sum([prior[t] * prod(chance(k, v, t) for k, v in g.items()) for t in every])
            for j, g in answers.items()
        }
    found = OneCoin(max_rounds=ROUNDS, tolerance=0.0, bound="tasks").fit(LocalEngine(reports))
    expected = np.array([posterior[j] for j in range(TASKS)])
    assert found.posterior == pytest.approx(expected, abs=1e-9)


def latent_label(answers: Answers, tolerance: float) -> tuple[dict[int, float], int]:
    """P2 §2.2 line by line: mu of every task, and the round it stopped at."""
    floor = 1e-6
    mu = {j: sum(g.values()) / len(g) for j, g in answers.items()}
    quality = float("inf")
    for rounds in range(1, 1_000):
        alpha, beta = [], []
        for k in range(WORKERS):
            own = [(mu[j], g[k]) for j, g in answers.items() if k in g]
            ones, zeros = sum(m for m, _ in own), sum(1 - m for m, _ in own)
            alpha.append(sum(m * v for m, v in own) / ones if ones else 0.5)
            beta.append(sum((1 - m) * (1 - v) for m, v in own) / zeros if zeros else 0.5)
        alpha = [min(max(a, floor), 1 - floor) for a in alpha]
        beta = [min(max(b, floor), 1 - floor) for b in beta]
        p = sum(mu.values()) / len(mu)
        log_a = {
            j: sum(log(alpha[k] if v else 1 - alpha[k]) for k, v in g.items())
            for j, g in answers.items()
        }
        log_b = {
            j: sum(log(1 - beta[k] if v else beta[k]) for k, v in g.items())
            for j, g in answers.items()
        }
        mu = {j: 1 / (1 + (1 - p) / p * exp(log_b[j] - log_a[j])) for j in answers}
        fresh = sum(mu.values()) / len(mu)
        before = quality
        quality = sum(
            mu[j] * (log(fresh) + log_a[j]) + (1 - mu[j]) * (log(1 - fresh) + log_b[j])
            for j in answers
        )
        if abs(quality - before) < tolerance * abs(quality):
            return mu, rounds
    raise AssertionError


@pytest.mark.parametrize("seed", range(4))
def test_latent_label(seed: int) -> None:
    reports, answers = table(2, seed)
    mu, _ = latent_label(answers, 1e-8)
    found = LatentLabel(max_rounds=1_000).fit(LocalEngine(reports))
    assert found.posterior is not None
    assert found.posterior[:, 1] == pytest.approx([mu[j] for j in range(TASKS)], abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_latent_label_stops_at_the_round_the_paper_does(seed: int) -> None:
    reports, answers = table(2, seed)
    _, rounds = latent_label(answers, 1e-8)
    assert LatentLabel(max_rounds=1_000).fit(LocalEngine(reports)).rounds == rounds
