"""Planned campaigns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.model import Domain
from sottovoce.planning.crowds import LabelAbility, NumberAbility
from sottovoce.planning.scenario import Scenario

LABELS = Domain.categorical("abcd")
NUMBERS = Domain.numeric(-5, 15)


def test_every_worker_answers_different_tasks() -> None:
    answers, truths = Scenario(LABELS, 30, 12, 7).draw(1)
    assert np.bincount(answers.worker).tolist() == [7] * 12
    assert len(set(zip(answers.worker.tolist(), answers.task.tolist(), strict=True))) == 84
    assert (len(answers.tasks), len(truths), answers.simulated) == (30, 30, True)


def test_the_same_seed_draws_the_same_campaign() -> None:
    scenario = Scenario(LABELS, 30, 12, 7)
    (first, truths), (again, others), (other, _) = (scenario.draw(seed) for seed in (3, 3, 4))
    assert (first.value == again.value).all()
    assert (truths == others).all()
    assert not (first.value == other.value).all()


def test_workers_are_right_as_often_as_their_ability_says() -> None:
    scenario = Scenario(LABELS, 200, 100, 200, LabelAbility((0.3, 0.9)))
    answers, truths = scenario.draw(5)
    right = (answers.value == truths[answers.task]).reshape(100, 200).mean(axis=1)
    assert np.abs(np.sort(right)[:20] - 0.3).max() < 0.2  # 6 sigma
    assert np.abs(np.sort(right)[-20:] - 0.9).max() < 0.13  # 6 sigma


def test_wrong_labels_are_equally_likely_where_order_means_nothing() -> None:
    answers, truths = Scenario(LABELS, 400, 100, 400, LabelAbility((0.0,))).draw(5)
    shifts = (answers.value - truths[answers.task]) % 4
    shares = np.bincount(shifts, minlength=4) / len(shifts)
    assert shares[0] == 0
    assert shares[1:] == pytest.approx([1 / 3] * 3, abs=0.015)  # 6 sigma


def test_ordinal_errors_are_likelier_near_the_truth() -> None:
    domain = Domain.ordinal(range(4))
    answers, truths = Scenario(domain, 400, 100, 400, LabelAbility((0.0,))).draw(5)
    seen = answers.value[truths[answers.task] == 0]
    shares = np.bincount(seen, minlength=4) / len(seen)
    assert shares == pytest.approx([0, 4 / 7, 2 / 7, 1 / 7], abs=0.03)  # 6 sigma


def test_numbers_are_cut_to_the_range() -> None:
    answers, truths = Scenario(NUMBERS, 50, 40, 50, NumberAbility((0.5,))).draw(2)
    assert answers.value.min() == -5
    assert answers.value.max() == 15
    assert -5 <= truths.min() < 0 < 10 < truths.max() <= 15


def test_numbers_err_by_their_share_of_the_range() -> None:
    answers, truths = Scenario(NUMBERS, 400, 50, 400, NumberAbility((0.05,))).draw(2)
    inside = np.abs(truths - 5)[answers.task] < 5  # far from the ends nothing is clipped
    errors = (answers.value - truths[answers.task])[inside]
    assert errors.std() == pytest.approx(1.0, abs=0.05)  # 6 sigma


def test_numbers_with_a_step_are_on_its_grid() -> None:
    answers, truths = Scenario(Domain.numeric(0, 10, 0.5), 20, 10, 5).draw(2)
    assert (np.mod(answers.value, 0.5) == 0).all()
    assert (np.mod(truths, 0.5) == 0).all()


def test_a_larger_crowd_judges_the_same_truths() -> None:
    few = Scenario(LABELS, 30, 10, 5)
    assert (few.draw(3)[1] == replace(few, workers=99).draw(3)[1]).all()


def test_a_large_campaign_shrinks_with_its_answers_per_task() -> None:
    large = Scenario(LABELS, 100_000, 20_000, 50)
    small = large.smaller(100_000)
    assert small.cells == pytest.approx(100_000, rel=0.01)
    assert small.answers_per_task == pytest.approx(large.answers_per_task, rel=0.01)
    assert small.answers_per_worker == pytest.approx(50, abs=1)


def test_a_large_campaign_that_hides_participation_keeps_its_share_of_answers() -> None:
    large = Scenario(LABELS, 10_000, 500, 1_000, hide_participation=True)
    small = large.smaller(100_000)
    assert (small.workers, small.tasks, small.answers_per_worker) == (500, 200, 20)


def test_numbers_are_simulated_on_smaller_campaigns_than_labels() -> None:
    labels, numbers = (Scenario(domain, 9000, 4000, 50).smaller() for domain in (LABELS, NUMBERS))
    assert labels.cells == pytest.approx(100_000, rel=0.02)
    assert numbers.cells == pytest.approx(20_000, rel=0.02)


def test_a_small_campaign_stays_as_it_is() -> None:
    small = Scenario(LABELS, 200, 50, 20)
    assert small.smaller() == small


def test_where_everybody_answers_everything_tasks_and_answers_shrink() -> None:
    small = Scenario(LABELS, 30, 10_000, 30).smaller(100_000)
    assert (small.workers, small.tasks, small.answers_per_worker) == (10_000, 10, 10)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"answers_per_worker": 31}, "at most the 30 tasks, not 31"),
        ({"tasks": 0}, "tasks must be from 1"),
        ({"workers": 1.5}, "workers must be an integer"),
        ({"domain": Domain.numeric()}, "public range"),
        ({"domain": Domain.categorical("a")}, "two labels or more"),
        ({"ability": NumberAbility()}, "need another crowd than NumberAbility"),
        ({"ability": "clever"}, "mixed, able, expert"),
    ],
)
def test_what_cannot_take_place_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        replace(Scenario(LABELS, 30, 12, 7), **change)  # type: ignore[arg-type]
