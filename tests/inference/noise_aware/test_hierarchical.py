"""Clean labels and skewed ones: what the default for labels does beyond the channel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce import infer
from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference.noise_aware.hierarchical import (
    channel_law,
    first_shares,
    kind_shares,
    kinds_of_tasks,
)
from sottovoce.inference.noise_aware.labels import AwareLabels
from sottovoce.inference.signal import named_labels
from sottovoce.model import Codes, Domain, Reports


def crowd(
    seed: int,
    *,
    tasks: int = 300,
    workers: int = 30,
    each: int = 5,
    accuracy: float = 0.8,
    shares: tuple[float, ...] = (0.5, 0.5),
) -> tuple[Reports, Codes]:
    """Answers of workers who are right with one probability, and the truths."""
    rng, labels = np.random.default_rng(seed), len(shares)
    truth = rng.choice(labels, tasks, p=shares).astype(np.int32)
    task = np.repeat(np.arange(tasks), each)
    worker = np.concatenate([rng.choice(workers, each, replace=False) for _ in range(tasks)])
    wrong = (truth[task] + rng.integers(1, labels, len(task))) % labels
    value = np.where(rng.random(len(task)) < accuracy, truth[task], wrong)
    domain = Domain.categorical([str(label) for label in range(labels)])
    return Reports.of(worker, task, value, domain=domain), truth


def noise(seed: int, labels: int, each: int) -> Reports:
    """Labels that do not depend on the task."""
    return crowd(seed, each=each, accuracy=1 / labels, shares=(1 / labels,) * labels)[0]


@pytest.mark.parametrize("labels", [2, 5])
@pytest.mark.parametrize("each", [3, 5])
def test_on_pure_noise_confidence_is_that_of_chance(labels: int, each: int) -> None:
    found = [infer(noise(seed, labels, each)) for seed in range(10)]
    confidence = [float(r.confidence.mean()) for r in found if r.confidence is not None]
    assert np.mean(confidence) == pytest.approx(1 / labels, abs=0.05)
    assert sum("chance" in " ".join(result.warnings) for result in found) >= 8


def test_answers_with_a_signal_bring_no_warning() -> None:
    assert all(infer(crowd(seed)[0]).warnings == () for seed in range(10))


def test_one_answer_per_task_is_taken_as_the_truth() -> None:
    answers, _ = crowd(1, each=1)
    result = infer(answers)
    assert np.array_equal(result.truths[answers.task], answers.value)


def test_a_rare_label_is_not_taken_for_a_habit_of_the_crowd() -> None:
    answers, truth = crowd(2, tasks=1000, each=3, shares=(0.9, 0.1))
    result = infer(answers)
    assert result.prior is not None
    assert result.prior[0] > 0.75
    vote = infer(answers, "majority-vote")
    assert np.mean(result.truths == truth) > np.mean(vote.truths == truth) + 0.01


def test_a_slight_preference_for_a_label_is_a_habit_and_not_a_share() -> None:
    law = channel_law(np.eye(2), named_labels(2), 2)
    slight = first_shares(np.array([570.0, 430.0]), law, 2)
    clear = first_shares(np.array([850.0, 150.0]), law, 2)
    assert slight == pytest.approx([0.5, 0.5], abs=0.02)
    assert clear[0] > 0.9


def test_many_workers_who_agree_are_less_sure_than_if_they_were_independent() -> None:
    answers, truth = crowd(3, each=15, accuracy=0.65)
    ours, independent = infer(answers), infer(answers, "one-coin")
    assert ours.confidence is not None
    assert independent.confidence is not None
    assert ours.confidence.mean() < independent.confidence.mean() - 0.03
    assert np.mean(ours.truths == truth) > np.mean(independent.truths == truth) - 0.02


def test_known_truths_keep_their_labels_and_teach_the_workers() -> None:
    answers, truth = crowd(4, accuracy=0.3)  # the crowd is wrong more often than right
    known = np.where(np.arange(len(truth)) < 60, truth, -1).astype(np.int32)
    result = AwareLabels(known=known).fit(LocalEngine(answers))
    assert np.array_equal(result.truths[:60], truth[:60])
    assert np.mean(result.truths[60:] == truth[60:]) > 0.6
    assert np.mean(infer(answers).truths == truth) < 0.4


def test_known_truths_need_confusion_matrices() -> None:
    answers, truth = crowd(5)
    with pytest.raises(UsageError, match="does not learn from known truths"):
        AwareLabels(model="one-coin", known=truth).fit(LocalEngine(answers))


def test_many_clean_labels_are_inferred_with_one_accuracy_per_worker() -> None:
    answers, truth = crowd(6, tasks=200, shares=(1 / 80,) * 80)
    result = infer(answers)
    assert result.confusions is None
    assert np.mean(result.truths == truth) > 0.9


@given(
    st.lists(st.floats(0.01, 1), min_size=2, max_size=6).map(lambda x: np.array(x) / np.sum(x)),
)
@settings(max_examples=50, deadline=None)
def test_kinds_of_tasks_keep_the_shares_of_truths(
    shares: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> None:
    origins = kinds_of_tasks(len(shares), rows=1)
    kinds = kind_shares(shares, origins, 0.3)
    assert kinds.sum() == pytest.approx(1)
    assert kinds @ origins == pytest.approx(shares)
