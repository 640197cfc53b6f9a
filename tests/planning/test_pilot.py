"""Pilots that are replayed."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Gold, Reports
from sottovoce.planning.crowds import Design, LabelAbility, NumberAbility
from sottovoce.planning.pilot import Pilot, read_pilot
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import TrialCase

LABELS = Domain.categorical(["no", "yes"])
NUMBERS = Domain.numeric(0, 100)


def gold_of(truths: np.ndarray, domain: Domain) -> Gold:
    values = truths if domain.is_numeric else np.array([domain.labels[code] for code in truths])
    return Gold(np.arange(len(truths)), values)


def tricky(tasks: int = 60, workers: int = 10) -> tuple[Reports, np.ndarray]:
    """Everyone errs on every fourth task, and on no other."""
    truths = np.arange(tasks) % 2
    wrong = np.arange(tasks) % 4 == 0
    task = np.tile(np.arange(tasks), workers)
    value = np.where(wrong, 1 - truths, truths)[task]
    worker = np.repeat(np.arange(workers), tasks)
    return Reports.of(worker, task, value, domain=LABELS), truths


def errors(scenario: Scenario, trials: int = 20) -> np.ndarray:
    return np.array([TrialCase(scenario).error(1, trial) for trial in range(trials)])


def test_errors_that_workers_share_come_true_again() -> None:
    """Ten workers who erred independently 25 % of the time would be right together."""
    answers, truths = tricky()
    found = errors(Scenario(LABELS, 100, 10, 100, read_pilot(answers, gold_of(truths, LABELS))))
    assert found.mean() == pytest.approx(0.25, abs=0.08)
    assert found.std() > 0.035  # the pilot is a sample too: √(.19 / 60) = .056


def test_a_perfect_pilot_of_few_tasks_leaves_doubt() -> None:
    answers = Reports.of([0, 1, 2] * 4, np.repeat(range(4), 3), [1] * 6 + [0] * 6, domain=LABELS)
    pilot = read_pilot(answers, gold_of(np.array([1, 1, 0, 0]), LABELS))
    assert errors(Scenario(LABELS, 50, 15, 10, pilot)).max() > 0.05
    assert "say little" in pilot.sentence(LABELS)


def test_answers_per_task_are_those_planned() -> None:
    answers, truths = tricky()
    pilot = read_pilot(answers, gold_of(truths, LABELS))
    for workers, each in ((4, 30), (30, 40), (70, 40)):
        drawn, _ = pilot.draw(Design(LABELS, 40, workers, each), 2)
        assert len(drawn) == pytest.approx(workers * each, rel=0.05)
        pairs = set(zip(drawn.worker.tolist(), drawn.task.tolist(), strict=True))
        assert len(pairs) == len(drawn)


def test_workers_keep_their_ability() -> None:
    scenario = Scenario(LABELS, 200, 12, 200, LabelAbility((0.5, 0.98)))
    answers, truths = scenario.draw(3)
    pilot = read_pilot(answers, gold_of(truths, LABELS))
    drawn, known = pilot.draw(Design(LABELS, 300, 12, 300), 5)
    right = np.bincount(drawn.worker, drawn.value == known[drawn.task]) / np.bincount(drawn.worker)
    assert np.minimum(np.abs(right - 0.5), np.abs(right - 0.98)).max() < 0.18


def test_numbers_keep_the_errors_of_their_tasks() -> None:
    answers, truths = Scenario(NUMBERS, 80, 20, 80, NumberAbility("mixed")).draw(3)
    pilot = read_pilot(answers, gold_of(truths, NUMBERS))
    seen = np.abs(np.bincount(answers.task, answers.value) / 20 - truths).mean()
    drawn, known = pilot.draw(Design(NUMBERS, 400, 20, 400), 5)
    replayed = np.abs(np.bincount(drawn.task, drawn.value) / 20 - known).mean()
    assert replayed == pytest.approx(seen, rel=0.35)


def test_without_gold_the_band_is_wider() -> None:
    answers, truths = Scenario(LABELS, 60, 20, 20, LabelAbility((0.8,))).draw(3)
    with_gold, without = (
        errors(Scenario(LABELS, 200, 20, 70, pilot), 30)
        for pilot in (read_pilot(answers, gold_of(truths, LABELS)), read_pilot(answers))
    )
    assert np.ptp(without) > np.ptp(with_gold)
    assert "no gold" in read_pilot(answers).sentence(LABELS)


def test_numbers_without_gold_lie_as_far_as_their_answers() -> None:
    answers, _ = Scenario(NUMBERS, 60, 20, 20, NumberAbility((0.05,))).draw(3)
    drawn, known = read_pilot(answers).draw(Design(NUMBERS, 300, 20, 100), 1)
    assert 3 < np.abs(drawn.value - known[drawn.task]).mean() < 15


def test_a_pilot_of_guesses_without_gold_cannot_tell() -> None:
    answers, truths = Scenario(LABELS, 100, 20, 20, LabelAbility((0.5,))).draw(4)
    with pytest.raises(UsageError, match="without gold cannot tell"):
        read_pilot(answers)
    assert len(read_pilot(answers, gold_of(truths, LABELS)).truths) > 80


def test_tasks_without_gold_are_left_out() -> None:
    answers, truths = tricky()
    pilot = read_pilot(answers, gold_of(truths[:20], LABELS))
    assert (len(pilot.truths), int(pilot.task.max()), len(pilot.value)) == (20, 19, 200)


def test_a_truth_that_nobody_may_answer_is_nobodys_success() -> None:
    answers = Reports.of([0, 1], [0, 0], [1, 1], domain=LABELS)
    pilot = read_pilot(answers, Gold(np.array([0]), np.array(["perhaps"])))
    assert errors(Scenario(LABELS, 30, 2, 30, pilot), 2).tolist() == [1.0, 1.0]


def test_the_cache_tells_pilots_apart() -> None:
    answers, truths = tricky()
    first, same = (read_pilot(answers, gold_of(truths, LABELS)) for _ in range(2))
    assert repr(first) == repr(same) != repr(read_pilot(answers, gold_of(1 - truths, LABELS)))
    assert isinstance(first, Pilot)


def test_gold_of_other_tasks_is_refused() -> None:
    answers = Reports.of([0, 1], [0, 0], [1, 1], domain=LABELS)
    with pytest.raises(DataError, match="task"):
        read_pilot(answers, Gold(np.array([7]), np.array(["yes"])))


def test_numbers_without_a_range_are_refused() -> None:
    answers = Reports.of([0, 1], [0, 0], [1.0, 2.0], domain=Domain.numeric())
    with pytest.raises(UsageError, match="public range"):
        read_pilot(answers)


def test_a_pilot_of_another_domain_is_refused() -> None:
    answers, truths = tricky()
    pilot = read_pilot(answers, gold_of(truths, LABELS))
    with pytest.raises(UsageError, match="need another crowd"):
        Scenario(Domain.categorical("abc"), 50, 20, 10, pilot)
