"""What a pilot shows of a crowd."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Gold, Reports
from sottovoce.planning.pilot import read_pilot
from sottovoce.planning.scenario import LabelAbility, NumberAbility, Scenario

LABELS = Domain.categorical(["no", "yes"])


def gold_of(truths: np.ndarray, domain: Domain) -> Gold:
    values = truths if domain.is_numeric else np.array([domain.labels[code] for code in truths])
    return Gold(np.arange(len(truths)), values)


def test_accuracies_come_from_gold() -> None:
    scenario = Scenario(LABELS, 400, 30, 400, LabelAbility((0.6, 0.9)))
    answers, truths = scenario.draw(3)
    pilot = read_pilot(answers, gold_of(truths, LABELS))
    assert isinstance(pilot.ability, LabelAbility)
    right = (answers.value == truths[answers.task]).reshape(30, 400).mean(axis=1)
    assert pilot.ability.accuracies == pytest.approx(right, abs=0.005)  # 4 answers of 404
    assert len(pilot.truths) == 402
    assert "against gold" in pilot.note


def test_few_answers_make_nobody_perfect() -> None:
    answers = Reports.of([0, 1, 2], [0, 0, 0], [1, 1, 0], domain=LABELS)
    pilot = read_pilot(answers, Gold(np.array([0]), np.array(["yes"])))
    mean = 2 / 3
    assert isinstance(pilot.ability, LabelAbility)
    assert pilot.ability.accuracies == pytest.approx(
        ((1 + 4 * mean) / 5, (1 + 4 * mean) / 5, 4 * mean / 5)
    )


def test_without_gold_workers_are_compared_with_inferred_truths() -> None:
    scenario = Scenario(LABELS, 200, 20, 100, LabelAbility((0.7, 0.95)))
    answers, truths = scenario.draw(3)
    pilot = read_pilot(answers)
    assert isinstance(pilot.ability, LabelAbility)
    right = (answers.value == truths[answers.task]).reshape(20, 100).mean(axis=1)
    assert np.abs(np.array(pilot.ability.accuracies) - right).max() < 0.1
    assert pilot.truths == ()
    assert "inferred truths" in pilot.note


def test_deviations_are_shares_of_the_range() -> None:
    domain = Domain.numeric(0, 100)
    answers, truths = Scenario(domain, 400, 20, 400, NumberAbility((0.02, 0.08))).draw(3)
    pilot = read_pilot(answers, gold_of(truths, domain))
    assert isinstance(pilot.ability, NumberAbility)
    seen = np.array(pilot.ability.deviations)
    near = np.minimum(np.abs(seen - 0.02), np.abs(seen - 0.08))
    assert near.max() < 0.02  # 6 sigma
    assert set(pilot.truths) == set(truths.tolist())


def test_a_truth_that_nobody_may_answer_is_nobodys_success() -> None:
    answers = Reports.of([0, 1], [0, 0], [1, 1], domain=LABELS)
    pilot = read_pilot(answers, Gold(np.array([0]), np.array(["perhaps"])))
    assert pilot.ability == LabelAbility((0.0, 0.0))
    assert pilot.truths == (0.0, 1.0)  # each label once, besides gold


def test_gold_of_other_tasks_is_refused() -> None:
    answers = Reports.of([0, 1], [0, 0], [1, 1], domain=LABELS)
    with pytest.raises(DataError, match="task"):
        read_pilot(answers, Gold(np.array([7]), np.array(["yes"])))


def test_numbers_without_a_range_are_refused() -> None:
    answers = Reports.of([0, 1], [0, 0], [1.0, 2.0], domain=Domain.numeric())
    with pytest.raises(UsageError, match="public range"):
        read_pilot(answers)


def test_a_scenario_takes_what_a_pilot_shows() -> None:
    answers, truths = Scenario(LABELS, 30, 10, 10).draw(3)
    pilot = read_pilot(answers, gold_of(truths, LABELS))
    scenario = Scenario(LABELS, 50, 20, 10, pilot.ability, truths=pilot.truths)
    assert len(scenario.draw(1)[0]) == 200
