"""Tests of study `adaptive-assignment`."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.datasets import CategoricalCrowd
from sottovoce_studies.beyond.adaptive_assignment import LEVELS, LIMIT, MARKS, PUBLIC, judged
from sottovoce_studies.beyond.assignment_trials import SimulatedCrowd, accuracies

CROWD = SimulatedCrowd(CategoricalCrowd(workers=60, tasks=20, labels=2, accuracy=0.6), 10)


def curves(*shifts: float, speed: float = 1.0) -> list[list[float]]:
    """Accuracies that rise with the answers, faster by `speed`, one trial for each shift."""
    rising = 0.5 + 0.01 * np.array(MARKS) * speed
    return [(rising + shift).tolist() for shift in shifts]


@pytest.mark.parametrize(("speed", "holds"), [(1.01 / LIMIT, True), (0.99 / LIMIT, False)])
def test_fewer_answers_must_be_as_accurate_at_the_most_answers(speed: float, holds: bool) -> None:
    found = {
        ("mixed workers", 1.0, False): curves(0.01, -0.01),
        ("mixed workers", 1.0, True): curves(0.01, -0.01, speed=speed),
    }
    outcome = judged(found)
    assert (outcome.rulings.numbers.verdict == "holds") is holds
    last = outcome.results[-1]
    assert last["answers by hash"] == LEVELS[-1]
    assert last["share"] == pytest.approx(1 / speed)


def test_simulated_crowds_and_bluebirds_are_judged_apart() -> None:
    found = {}
    for name, speed in (("mixed workers", 2.0), (PUBLIC, 1.0)):
        found[name, 1.0, False] = curves(0.01, -0.01)
        found[name, 1.0, True] = curves(0.01, -0.01, speed=speed)
    outcome = judged(found)
    assert outcome.rulings.numbers.verdict == "partly"


def test_a_campaign_that_asks_nothing_more_keeps_its_last_accuracy() -> None:
    found = {
        ("mixed workers", 1.0, False): curves(0.01, -0.01),
        ("mixed workers", 1.0, True): [[0.95], [0.95]],
    }
    assert judged(found).results[-1]["share"] == pytest.approx(MARKS[0] / LEVELS[-1])


def test_both_assignments_read_the_same_reports() -> None:
    """With every answer given, the choice of tasks does not matter."""
    everything = SimulatedCrowd(CROWD.crowd, 20)
    by_hash, by_need = (
        accuracies(everything, 0.5, (60.0,), by_need, 0, 1) for by_need in (False, True)
    )
    assert len(by_hash) == 1
    assert by_hash == by_need


def test_trials_are_repeated_exactly() -> None:
    first, again = (accuracies(CROWD, 2.0, (5.0, 15.0), True, 3, 1) for _ in range(2))
    assert first == again
    assert len(first) == 2
