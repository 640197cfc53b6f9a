"""Labels through their channel: one coin or confusions, chosen by evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce import Target, infer, make_policy, perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference.noise_aware.labels import AwareLabels
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Codes, Domain, Evidence, Kind, Policy, Reports, Result, SetChannel

Rng = np.random.Generator


def crowd(
    rng: Rng, accuracy: Any, tasks: int, answers: int, labels: int = 3
) -> tuple[Reports, Codes]:
    """Workers of these accuracies, each with `answers` random tasks, and the truths."""
    truth = rng.integers(0, labels, tasks).astype(np.int32)
    accuracy = np.asarray(accuracy)
    task = np.argsort(rng.random((len(accuracy), tasks)), axis=1)[:, :answers].reshape(-1)
    worker = np.repeat(np.arange(len(accuracy)), answers)
    wrong = (truth[task] + rng.integers(1, labels, len(task))) % labels
    value = np.where(rng.random(len(task)) < accuracy[worker], truth[task], wrong)
    domain = Domain.categorical([f"l{i}" for i in range(labels)])
    return Reports.of(worker, task, value, domain=domain, tasks=np.arange(tasks)), truth


def seen(reports: Reports, policy: Policy) -> Evidence:
    found = mechanism_of(policy).evidence(reports, policy.domain)
    assert found is not None
    return found


def fitted(reports: Reports, policy: Policy, **parameters: Any) -> Result:
    found = seen(reports, policy)
    assert isinstance(found.channel, SetChannel)
    return AwareLabels(found.channel, policy.domain, **parameters).fit(LocalEngine(found.symbols))


def policy_for(reports: Reports, name: str, epsilon: float, **target: Any) -> Policy:
    return make_policy(reports.domain, name, Target(epsilon, **target))


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("randomized-response", {}),
        ("subset-selection", {}),
        ("two-layer", {"answers": 40}),
        ("null-randomized-response", {"answers": 60, "hide_participation": True}),
        ("subset-selection", {"answers": 60, "hide_participation": True}),
        ("two-layer", {"answers": 60, "hide_participation": True}),
    ],
)
def test_truths_are_found_through_every_mechanism_for_labels(
    name: str, target: dict[str, Any]
) -> None:
    answers, truth = crowd(np.random.default_rng(1), [0.8] * 80, 60, 40)
    policy = policy_for(answers, name, 4.0, **target)
    result = infer(perturb(answers, policy, SeededRandomness(1)), policy=policy)
    assert result.provenance.method == "aware-labels"
    assert np.mean(result.truths == truth) > 0.9


def test_able_workers_weigh_more() -> None:
    accuracy = np.where(np.arange(60) < 20, 0.95, 0.4)
    answers, _ = crowd(np.random.default_rng(2), accuracy, 80, 60)
    policy = policy_for(answers, "randomized-response", 3.0)
    weights = fitted(perturb(answers, policy, SeededRandomness(2)), policy).weights
    assert weights[:20].mean() > weights[20:].mean() + 0.2


def test_a_weight_is_the_accuracy_of_answers_and_not_of_reports() -> None:
    answers, _ = crowd(np.random.default_rng(3), [0.85] * 40, 200, 150)
    policy = policy_for(answers, "randomized-response", 2.0)
    reports = perturb(answers, policy, SeededRandomness(3))
    assert fitted(reports, policy).weights.mean() == pytest.approx(0.85, abs=0.04)
    assert infer(reports, "one-coin", policy=policy).weights.mean() < 0.75


def test_workers_who_confuse_labels_in_their_own_way_get_a_confusion_matrix() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 150)
    # Half of the workers answer 1 in doubt, half answer 0: neither has one accuracy.
    lean = np.arange(40) % 2
    worker, task = np.repeat(np.arange(40), 150), np.tile(np.arange(150), 40)
    doubt = rng.random(len(task)) < 0.55
    value = np.where(doubt, lean[worker], truth[task])
    answers = Reports.of(worker, task, value, domain=Domain.categorical(["no", "yes"]))
    policy = policy_for(answers, "randomized-response", 3.0)
    result = fitted(perturb(answers, policy, SeededRandomness(4)), policy)
    assert result.confusions is not None
    assert result.confusions[lean == 1, 0, 1].min() > result.confusions[lean == 0, 0, 1].max()


def test_workers_with_one_accuracy_get_rows_that_are_nearly_alike() -> None:
    answers, _ = crowd(np.random.default_rng(5), np.linspace(0.4, 0.95, 50), 100, 60)
    policy = policy_for(answers, "randomized-response", 2.0)
    result = fitted(perturb(answers, policy, SeededRandomness(5)), policy)
    assert result.confusions is not None
    diagonals = np.diagonal(result.confusions, axis1=1, axis2=2)
    assert diagonals.mean(axis=1).std() > 1.5 * diagonals.std(axis=1).mean()


def test_where_reports_say_nothing_confidence_is_that_of_chance() -> None:
    answers, _ = crowd(np.random.default_rng(6), [0.8] * 20, 50, 30, labels=4)
    policy = policy_for(answers, "randomized-response", 0.01)
    result = fitted(perturb(answers, policy, SeededRandomness(6)), policy)
    assert result.confidence is not None
    assert result.confidence.max() < 0.3


def test_a_task_without_reports_gets_the_prior() -> None:
    answers, _ = crowd(np.random.default_rng(7), [0.9] * 10, 6, 6)
    answers = replace(answers, tasks=np.arange(7))
    policy = policy_for(answers, "randomized-response", 2.0)
    result = fitted(perturb(answers, policy, SeededRandomness(7)), policy)
    assert result.posterior is not None
    assert result.prior is not None
    assert result.posterior[6].argmax() == result.prior.argmax()
    assert np.abs(result.posterior[6] - 1 / 3).max() <= np.abs(result.prior - 1 / 3).max()


def test_participation_is_estimated_where_it_is_private() -> None:
    answers, truth = crowd(np.random.default_rng(8), [0.85] * 150, 60, 12)
    policy = policy_for(
        answers, "null-randomized-response", 3.0, answers=60, hide_participation=True
    )
    reports = perturb(answers, policy, SeededRandomness(8))
    estimated, given = (fitted(reports, policy, participation=p) for p in (0.0, 0.2))
    assert np.mean(estimated.truths == truth) > np.mean(given.truths == truth) - 0.06


def test_knowing_the_channel_beats_the_vote_where_workers_differ() -> None:
    accuracy = np.where(np.arange(100) < 40, 0.9, 0.35)
    wrong = []
    for seed in range(3):
        answers, truth = crowd(np.random.default_rng(seed), accuracy, 200, 60, labels=5)
        policy = policy_for(answers, "randomized-response", 2.0)
        reports = perturb(answers, policy, SeededRandomness(seed))
        vote = infer(reports, "majority-vote", policy=policy)
        wrong.append([np.mean(r.truths != truth) for r in (fitted(reports, policy), vote)])
    aware, voted = np.mean(wrong, axis=0)
    assert aware < 0.75 * voted


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_the_order_of_rows_and_names_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers, _ = crowd(rng, rng.uniform(0.3, 0.95, 9), 12, 8)
    policy = policy_for(answers, "randomized-response", 1.0)
    reports = perturb(answers, policy, SeededRandomness(seed))
    rows, who, what = (rng.permutation(size) for size in (len(reports), 9, 12))
    mixed = Reports.of(
        who[reports.worker][rows], what[reports.task][rows], reports.value[rows],
        domain=reports.domain, workers=np.argsort(who), tasks=np.argsort(what),
    )  # fmt: skip
    one, other = fitted(reports, policy), fitted(mixed, policy)
    np.testing.assert_array_equal(other.truths[what], one.truths)
    np.testing.assert_allclose(other.weights[who], one.weights, rtol=1e-9)


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=1, unique=True
    ),
    epsilon=st.sampled_from([0.05, 1.0, 20.0]),
)
@settings(max_examples=25, deadline=None)
def test_any_table_gives_probabilities(rows: list[tuple[int, int, int]], epsilon: float) -> None:
    worker, task, value = zip(*rows, strict=True)
    domain = Domain.categorical(["a", "b", "c"])
    reports = Reports.of(
        worker, task, value, domain=domain, workers=np.arange(4), tasks=np.arange(4)
    )
    result = fitted(reports, make_policy(domain, "randomized-response", Target(epsilon)))
    assert result.posterior is not None
    np.testing.assert_allclose(result.posterior.sum(axis=1), 1.0)
    assert np.isfinite(result.weights).all()
    assert (0 <= result.weights).all()
    assert (result.weights <= 1).all()


def test_kernels_and_numpy_agree() -> None:
    answers, _ = crowd(np.random.default_rng(9), np.linspace(0.3, 0.95, 30), 60, 40)
    policy = policy_for(answers, "subset-selection", 1.0)
    reports = perturb(answers, policy, SeededRandomness(9))
    plain, kernels = (infer(reports, policy=policy, compiled=on) for on in (False, True))
    assert plain.posterior is not None
    assert kernels.posterior is not None
    np.testing.assert_allclose(kernels.posterior, plain.posterior, atol=1e-6)


def test_ordinal_labels_are_read_as_labels_by_default() -> None:
    answers, truth = crowd(np.random.default_rng(10), [0.8] * 60, 40, 30, labels=5)
    ordinal = replace(answers, domain=Domain(Kind.ORDINAL, (1, 2, 3, 4, 5)))
    policy = policy_for(ordinal, "randomized-response", 3.0)
    result = infer(perturb(ordinal, policy, SeededRandomness(10)), policy=policy)
    assert (result.provenance.method, result.domain.kind) == ("aware-labels", Kind.ORDINAL)
    assert np.mean(result.truths == truth) > 0.85


def test_many_labels_take_one_coin() -> None:
    answers, _ = crowd(np.random.default_rng(11), [0.7] * 30, 40, 20, labels=20)
    policy = policy_for(answers, "subset-selection", 2.0)
    found = seen(perturb(answers, policy, SeededRandomness(11)), policy)
    assert isinstance(found.channel, SetChannel)
    with pytest.raises(UsageError, match="at most 10 labels"):
        AwareLabels(found.channel, policy.domain, model="confusion")


def test_a_table_of_other_symbols_is_refused() -> None:
    answers, _ = crowd(np.random.default_rng(12), [0.7] * 5, 8, 4)
    policy = policy_for(answers, "subset-selection", 3.0, hide_participation=True, answers=8)
    found = seen(perturb(answers, policy, SeededRandomness(1)), policy)
    assert isinstance(found.channel, SetChannel)
    with pytest.raises(UsageError, match="symbols"):
        AwareLabels(found.channel, policy.domain).fit(LocalEngine(answers))


def test_a_participation_that_is_no_share_is_refused() -> None:
    answers, _ = crowd(np.random.default_rng(13), [0.7] * 5, 8, 4)
    policy = policy_for(answers, "randomized-response", 1.0)
    with pytest.raises(UsageError, match="participation must be from 0 to 1, not 2"):
        fitted(answers, policy, participation=2.0)
