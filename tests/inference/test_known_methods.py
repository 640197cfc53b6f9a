"""Methods that practitioners know: equal to their formulas in loops, better than a plain vote."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import digamma

from sottovoce.datasets import CategoricalCrowd, generate
from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference import (
    BWA,
    EBCC,
    GLAD,
    IBCC,
    KOS,
    MACE,
    METHODS,
    MMSR,
    MajorityVote,
    Wawa,
    ZeroBasedSkill,
    score,
)
from sottovoce.inference.ebcc import Beliefs
from sottovoce.inference.steps.confusions import Confusions, ConfusionSums
from sottovoce.inference.steps.subtypes import VoteSubtypes
from sottovoce.model import Domain, FloatArray, Reports

WORKERS, TASKS, LABELS = 6, 12, 3


def crowd(seed: int, labels: int = LABELS) -> tuple[Reports, list[tuple[int, int, int]]]:
    """A table, and its rows (worker, task, label)."""
    rng = np.random.default_rng(seed)
    worker, task = np.nonzero(rng.random((WORKERS, TASKS)) < 0.7)
    right = rng.random(len(task)) < rng.uniform(0.4, 0.95, WORKERS)[worker]
    label = np.where(right, task % labels, rng.integers(0, labels, len(task)))
    names: dict[str, Any] = {"workers": np.arange(WORKERS), "tasks": np.arange(TASKS)}
    table = Reports.of(worker, task, label, domain=Domain.categorical(range(labels)), **names)
    return table, list(zip(worker.tolist(), task.tolist(), label.tolist(), strict=True))


def assert_close(found: FloatArray | None, expected: Any) -> None:
    assert found is not None
    assert found == pytest.approx(np.asarray(expected), rel=1e-9, abs=1e-9)


def vote_shares(rows: list[tuple[int, int, int]]) -> FloatArray:
    shares = np.zeros((TASKS, LABELS))
    for _, j, v in rows:
        shares[j, v] += 1
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def expected_logs(counts: FloatArray) -> FloatArray:
    return np.asarray(digamma(counts) - digamma(counts.sum(axis=-1, keepdims=True)))


def combined(rows: list[tuple[int, int, int]], start: FloatArray, rounds: int) -> FloatArray:
    """P(truth, subtype | task) by loops; `start` has the axes task, truth and subtype."""
    joint, subtypes = start, start.shape[2]
    for _ in range(rounds):
        answers = np.where(np.eye(LABELS), 4.0, 1.0)[None, :, None].repeat(WORKERS, 0)
        answers = answers.repeat(subtypes, 2)
        for k, j, v in rows:
            answers[k, :, :, v] += joint[j]
        log_truth = expected_logs(1 + joint.sum(axis=(0, 2)))
        log_subtype = expected_logs(0.1 / subtypes + joint.sum(axis=0))
        log_answer = expected_logs(answers)
        scores = np.zeros_like(joint) + log_truth[:, None] + log_subtype
        for k, j, v in rows:
            scores[j] += log_answer[k, :, :, v]
        joint = np.exp(scores - scores.max(axis=(1, 2), keepdims=True))
        joint /= joint.sum(axis=(1, 2), keepdims=True)
    return joint


@pytest.mark.parametrize("seed", range(3))
def test_ibcc_follows_its_formulas(seed: int) -> None:
    table, rows = crowd(seed)
    found = IBCC(max_rounds=4, tolerance=-math.inf).fit(LocalEngine(table)).posterior
    expected = combined(rows, vote_shares(rows)[:, :, None], 4).sum(axis=2)
    assert_close(found, expected)


@pytest.mark.parametrize("seed", range(3))
def test_ebcc_follows_its_formulas_from_products_of_vote_shares(seed: int) -> None:
    table, rows = crowd(seed)
    found = EBCC(max_rounds=4, tolerance=-math.inf).fit(LocalEngine(table)).posterior
    shares = vote_shares(rows)
    expected = combined(rows, shares[:, :, None] * shares[:, None, :], 4).sum(axis=2)
    assert_close(found, expected)


@pytest.mark.parametrize("subtypes", [1, 2, LABELS])
def test_the_variational_bound_never_falls(subtypes: int) -> None:
    engine = LocalEngine(crowd(7)[0])
    sums = ConfusionSums(engine.total(VoteSubtypes(WORKERS, LABELS, subtypes)))
    prior = Beliefs.after(ConfusionSums(np.zeros_like(sums.array)), 4.0, 1.0, subtypes)
    bounds = []
    for _ in range(30):
        beliefs = Beliefs.after(sums, 4.0, 1.0, subtypes)
        sums = ConfusionSums(engine.total(Confusions(*beliefs.table)))
        bounds.append(sums.log_likelihood - beliefs.divergence(prior))
    assert np.diff(bounds).min() > -1e-9


@pytest.mark.parametrize("seed", range(3))
def test_bwa_follows_its_formulas(seed: int) -> None:
    table, rows = crowd(seed)
    z, answered = vote_shares(rows), np.zeros(WORKERS)
    spread = np.zeros(LABELS)
    for k, j, _ in rows:
        answered[k] += 1
        spread += z[j] * (1 - z[j]) / len(rows)
    least = 15 * spread * 4 * (1 - 1 / LABELS)
    for _ in range(5):
        errors, mean = np.tile(least, (WORKERS, 1)), z.mean(axis=0)
        for k, j, v in rows:
            errors[k] += np.square(np.eye(LABELS)[v] - z[j])
        weights = (15 + answered[:, None]) / errors
        top, bottom = np.tile(mean, (TASKS, 1)), np.ones((TASKS, LABELS))
        for k, j, v in rows:
            top[j, v] += weights[k, v]
            bottom[j] += weights[k]
        z = top / bottom
    found = BWA(max_rounds=5, tolerance=-math.inf).fit(LocalEngine(table))
    assert_close(found.posterior, z / z.sum(axis=1, keepdims=True))
    assert_close(found.weights, weights.mean(axis=1))


@pytest.mark.parametrize("seed", range(3))
def test_mace_by_em_follows_its_formulas(seed: int) -> None:
    table, rows = crowd(seed)
    knows, habit = np.full((WORKERS, 2), 0.5), np.full((WORKERS, LABELS), 1 / LABELS)
    smoothing = 0.01 / LABELS
    for _ in range(4):
        posterior = np.ones((TASKS, LABELS))
        for k, j, v in rows:
            posterior[j] *= knows[k, 0] * habit[k, v] + knows[k, 1] * np.eye(LABELS)[v]
        posterior /= posterior.sum(axis=1, keepdims=True)
        known, habits = np.zeros(WORKERS), np.zeros((WORKERS, LABELS))
        for k, j, v in rows:
            by_knowledge = knows[k, 1] / (knows[k, 1] + knows[k, 0] * habit[k, v])
            known[k] += posterior[j, v] * by_knowledge
            habits[k, v] += 1 - posterior[j, v] * by_knowledge
        knows = np.stack([habits.sum(axis=1), known], axis=1) + smoothing
        knows /= knows.sum(axis=1, keepdims=True)
        habit = (habits + smoothing) / (habits + smoothing).sum(axis=1, keepdims=True)
    found = MACE(max_rounds=4, tolerance=-math.inf, training="em").fit(LocalEngine(table))
    assert_close(found.posterior, posterior)
    assert_close(found.weights, knows[:, 1])


def test_wawa_weighs_a_vote_by_agreement_with_the_majority() -> None:
    engine = LocalEngine(crowd(1)[0])
    found, majority = Wawa().fit(engine), MajorityVote().fit(engine)
    np.testing.assert_array_equal(found.weights, majority.weights)
    table, rows = crowd(1)
    votes = np.zeros((TASKS, LABELS))
    for k, j, v in rows:
        votes[j, v] += majority.weights[k]
    assert_close(found.posterior, votes / votes.sum(axis=1, keepdims=True))
    assert len(table) == len(rows)


def test_zero_based_skill_ends_at_the_agreement_with_its_own_vote() -> None:
    table, rows = crowd(2)
    result = ZeroBasedSkill().fit(LocalEngine(table))
    assert result.converged
    for worker in range(WORKERS):
        mine = [v == result.truths[j] for k, j, v in rows if k == worker]
        assert result.weights[worker] == pytest.approx(np.mean(mine), abs=1e-6)


def simulated(**sizes: Any) -> tuple[LocalEngine, Any]:
    table, gold = generate(CategoricalCrowd(**sizes))
    return LocalEngine(table), gold


def accuracy(method: str, labels: int) -> float:
    """On a crowd of which half are spammers."""
    engine, gold = simulated(
        workers=40, tasks=400, labels=labels, redundancy=8, ability="spammers", share=0.5, seed=3
    )
    return float(score(METHODS[method]().fit(engine), gold).accuracy or 0.0)


@pytest.mark.parametrize("method", ["mace", "glad", "ibcc", "ebcc", "kos"])
def test_models_of_workers_beat_the_majority_where_half_are_spammers(method: str) -> None:
    assert accuracy(method, labels=2) > accuracy("majority-vote", labels=2)


@pytest.mark.parametrize("method", ["wawa", "zero-based-skill", "bwa"])
def test_weighted_votes_beat_the_majority_where_half_are_spammers(method: str) -> None:
    assert accuracy(method, labels=4) > accuracy("majority-vote", labels=4)


def test_glad_finds_the_tasks_on_which_able_workers_disagree() -> None:
    rows = [(k, j, j % 2) for k in range(8) for j in range(20)]
    rows = [(k, j, (v + (k % 2)) % 2 if j < 3 else v) for k, j, v in rows]  # the first three split
    worker, task, label = zip(*rows, strict=True)
    table = Reports.of(worker, task, label, domain=Domain.categorical("ab"))
    confidence = GLAD().fit(LocalEngine(table)).confidence
    assert confidence is not None
    assert confidence[:3].max() < 0.6 < 0.99 < confidence[3:].min()


def test_m_msr_estimates_the_log_odds_of_known_accuracies() -> None:
    rng = np.random.default_rng(0)
    accuracy = np.array([0.9, 0.8, 0.7, 0.6, 0.2, 0.75, 0.85])
    truth = rng.integers(0, 2, 4_000)
    worker, task = np.indices((7, 4_000)).reshape(2, -1)
    label = np.where(rng.random(28_000) < accuracy[worker], truth[task], 1 - truth[task])
    table = Reports.of(worker, task, label, domain=Domain.categorical("ab"))
    weights = MMSR().fit(LocalEngine(table)).weights
    # The trimmed mean of six ratios, each with a standard error of about .03.
    np.testing.assert_allclose(1 / (1 + np.exp(-weights)), accuracy, atol=0.06)


def test_kos_refuses_three_labels() -> None:
    with pytest.raises(UsageError, match="kos takes two labels, and the domain has 3; mace and"):
        KOS().fit(LocalEngine(crowd(0)[0]))


def test_kos_keeps_the_votes_where_no_message_arrives() -> None:
    table = Reports.of([0, 1, 2], [0, 0, 1], [1, 1, 0], domain=Domain.categorical("ab"))
    assert KOS().fit(LocalEngine(table)).truths.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("method", "given", "words"),
    [
        (ZeroBasedSkill, {"rate": 0.0}, r"rate must lie in \(0, 1\], not 0.0"),
        (BWA, {"strength": 0.0}, "strength must be positive and finite, not 0.0"),
        (BWA, {"pull": math.inf}, "pull must be positive and finite, not inf"),
        (MACE, {"habit_prior": -1.0}, "habit_prior must be positive and finite, not -1.0"),
        (MACE, {"training": "vb"}, "training must be variational or em, not 'vb'"),
        (IBCC, {"prior_right": 0.0}, "prior_right must be positive and finite, not 0.0"),
        (EBCC, {"prior_wrong": 0.0}, "prior_wrong must be positive and finite, not 0.0"),
        (GLAD, {"steps": 0}, "steps must be at least 1, not 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(
    method: Any, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        method(**given)
