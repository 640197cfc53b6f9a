"""A campaign's terms, its tasks, and which of them a worker is given."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Calibration, Campaign, Domain, State, Task, Terms, assigned
from sottovoce.model.campaign import check_tasks

POLICY = make_policy(
    Domain.categorical(["no", "yes"]), "randomized-response", Target(1.0, answers=3)
)
TERMS = Terms("Leaves", "Is it an oak's?", POLICY)
WORKERS = [f"{i:032x}" for i in range(4_000)]


def test_everybody_computes_the_same_tasks() -> None:
    given = assigned("leaf", "c1d2", tasks=1000, count=6)
    assert given == [276, 291, 341, 397, 435, 823] == sorted(given)


@pytest.mark.parametrize(("tasks", "count"), [(10, 3), (10, 5), (10, 9), (1000, 999), (3, 1)])
def test_tasks_are_given_once_each(tasks: int, count: int) -> None:
    for worker in WORKERS[:50]:
        given = assigned("leaf", worker, tasks, count)
        assert len(given) == len(set(given)) == count
        assert set(given) <= set(range(tasks))


@pytest.mark.parametrize("count", [5, 6, 100])
def test_few_tasks_are_all_given(count: int) -> None:
    assert assigned("leaf", "ada", 5, count) == [0, 1, 2, 3, 4]


@pytest.mark.statistical
@pytest.mark.parametrize("count", [2, 5, 9])
def test_every_task_and_every_pair_is_as_likely(count: int) -> None:
    tasks = 10
    seen = np.zeros((tasks, tasks))
    for worker in WORKERS:
        given = assigned("leaf", worker, tasks, count)
        seen[np.ix_(given, given)] += 1
    single, pair = count / tasks, count * (count - 1) / (tasks * (tasks - 1))
    for chance, found in ((single, seen.diagonal()), (pair, seen[np.triu_indices(tasks, 1)])):
        spread = 6 * (chance * (1 - chance) * len(WORKERS)) ** 0.5
        assert np.abs(found - chance * len(WORKERS)).max() <= spread


@pytest.mark.statistical
def test_what_a_worker_is_given_in_one_campaign_tells_nothing_of_another() -> None:
    both = sum(len({*assigned("leaf", w, 20, 5)} & {*assigned("tree", w, 20, 5)}) for w in WORKERS)
    mean, variance = 25 / 20, 5 * 0.25 * 0.75 * 15 / 19
    assert abs(both - mean * len(WORKERS)) <= 6 * (variance * len(WORKERS)) ** 0.5


@pytest.mark.parametrize(("tasks", "count"), [(1 << 20, 100), (100_000, 99_990)])
def test_many_tasks_are_given_quickly(tasks: int, count: int) -> None:
    start = time.process_time()
    assigned("leaf", "ada", tasks, count)
    assert time.process_time() - start < 0.5


def test_a_worker_is_given_no_more_than_was_promised_for() -> None:
    campaign = Campaign("leaf", State.OPEN, TERMS, 10)
    assert campaign.block == TERMS.answers == 3
    assert replace(campaign, tasks=2).block == 2


def test_reports_are_taken_while_open_and_before_the_day_of_closing() -> None:
    terms = replace(TERMS, closes_on=date(2026, 3, 2))
    campaign = Campaign("leaf", State.OPEN, terms, 2)
    assert campaign.takes_reports(date(2026, 3, 1))
    assert not campaign.takes_reports(date(2026, 3, 2))
    assert not replace(campaign, state=State.CLOSED).takes_reports(date(2026, 3, 1))


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"title": ""}, "the title is empty: it must have 1 to 200"),
        ({"title": " \n"}, "the title is empty: it must have 1 to 200"),
        ({"title": "x" * 201}, "not 201"),
        ({"title": None}, "the title must be a text"),
        ({"title": "a\x1b[31m"}, "the title has a character that is no text"),
        ({"title": "a\x9b31m"}, "the title has a character that is no text"),
        ({"question": "a\0"}, "the question has a character that is no text"),
        ({"question": "a\ud800"}, "the question has a character that is no text"),
        ({"unit": "kg"}, "a unit is for numbers"),
        ({"quota": 0}, "the quota must be 1 to"),
        ({"quota": 1 << 31}, "the quota must be 1 to"),
        ({"quota": True}, "the quota must be an integer"),
        ({"quota": 2.5}, "the quota must be an integer"),
    ],
)
def test_terms_that_make_no_sense_are_refused(changed: dict[str, Any], fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        replace(TERMS, **changed)


def test_a_policy_that_promises_nothing_is_refused() -> None:
    unsound = replace(POLICY, calibration=Calibration.AS_PUBLISHED, promise=None)
    with pytest.raises(UsageError, match="a policy that promises something"):
        replace(TERMS, policy=unsound)


def test_numbers_have_a_unit() -> None:
    numbers = make_policy(Domain.numeric(0, 4, step=1), "laplace", Target(1.0))
    assert Terms("Leaves", "How long?", numbers, "cm").unit == "cm"


@pytest.mark.parametrize(
    "address",
    ["", "leaf.png", "//host/leaf.png", "javascript:alert(1)", "data:image/png;base64,AA",
     "file:///etc/passwd", "https://", "https://me:secret@host/", "https://host:port/",
     "https://host/a b", "https://ho\nst/", "https://host/\x9b", 7],
)  # fmt: skip
def test_an_image_is_an_address_on_the_web(address: Any) -> None:
    with pytest.raises(UsageError, match="the image of task 't1' must"):
        Task("t1", "This?", address)


def test_tasks_have_names_of_their_own() -> None:
    task = Task("t1", "This?", "https://host/leaf.png?x=1")
    check_tasks([task, Task("t2", "A\n\ttree 🌳?")])
    with pytest.raises(UsageError, match="task 't1' is there twice"):
        check_tasks([task, task])
    with pytest.raises(UsageError, match="1 to 1,048,576 tasks, not 0"):
        check_tasks([])
