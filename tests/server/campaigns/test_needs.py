"""Needs of tasks, from reports that the server already has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from tests.server.crowds import opened, report
from tests.server.drafts import running

from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Task
from sottovoce.model.campaign import Assignment
from sottovoce.server.campaigns.needs import FEW, Needs, doubt_of, needed, needs_of
from sottovoce.server.campaigns.offers import block_for
from sottovoce.server.campaigns.own_reports import erase
from sottovoce.server.database import Database
from sottovoce.server.database.campaigns import set_tasks, the_campaign
from sottovoce.server.database.results import Columns
from sottovoce.server.inference_process.scheduler import infer_now
from sottovoce.server.service import Service

LABELS = Domain.categorical(["oak", "birch"])
CLEAR = make_policy(LABELS, "randomized-response", Target(6.0, answers=9))
TASKS = [f"t{place}" for place in range(9)]
RECEIPT = "svr_" + "R" * 43


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as service:
        yield service


def needs(service: Service, id: str) -> Needs:
    with service.database.reading() as connection:
        stored = the_campaign(connection, id)
        return service.need_cache.needs(connection, stored, service.result_cache)


def counts(service: Service, id: str) -> list[int]:
    with service.database.reading() as connection:
        counted = service.need_cache.counts(connection, the_campaign(connection, id))
    return [int(count) for count in counted]


def columns(certainty: list[float], truth: list[float] | list[int]) -> Columns:
    place = np.arange(len(certainty), dtype=np.int32)
    return replace(
        Columns.none(), place=place, truth=np.array(truth), certainty=np.array(certainty)
    )


def test_too_few_reports_come_before_any_doubt() -> None:
    found = needs_of(np.array([FEW - 1, FEW]), np.array([0.01, 0.5]))
    assert found[0] > found[1]


def test_doubt_decides_once_there_are_enough_and_hard_tasks_wait() -> None:
    found = needs_of(np.array([10, 10, 10, 60]), np.array([0.4, 0.1, 0.0, 0.5]))
    assert found[0] > found[1] > found[3] > found[2] == 0


def test_of_tasks_alike_every_worker_gets_a_random_subset() -> None:
    alike = np.ones(100, np.int64)
    taken = np.concatenate([needed("leaf", f"w{number}", alike, 10) for number in range(400)])
    assert np.bincount(taken, minlength=100) == pytest.approx(40, abs=36)  # 6 sigma
    assert len(set(taken[:10])) == 10


def test_the_doubt_of_labels_is_the_chance_of_an_error_and_settled_ones_have_none() -> None:
    found = doubt_of(columns([0.96, 0.6], [0, 1]), LABELS, 2)
    assert found.tolist() == pytest.approx([0.0, 0.4])


def test_the_doubt_of_numbers_is_their_standard_error() -> None:
    found = doubt_of(columns([0.1, 0.6], [1.0, 2.0]), Domain.numeric(0, 10), 2)
    assert found.tolist() == pytest.approx([0.0, 0.6])


def test_a_task_without_a_truth_is_in_the_largest_doubt() -> None:
    found = doubt_of(columns([0.6, 0.99], [1, 0]), LABELS, 3)
    assert found.tolist() == pytest.approx([0.4, 0.0, 0.4])
    assert doubt_of(columns([0.99], [1]), LABELS, 2).tolist() == [0.0, 1.0]


def test_counts_follow_reports_and_erasures(service: Service) -> None:
    id, invite = opened(service, CLEAR, TASKS, Assignment.NEED)
    assert counts(service, id) == [0] * 9
    sent = report(service, id, invite, workers=3, seed=1)
    assert counts(service, id) == [3] * 9
    report(service, id, invite, workers=2, seed=2)
    erase(service, id, *sent[0])
    assert counts(service, id) == [4] * 9


def test_settled_tasks_are_listed_as_not_needed(service: Service) -> None:
    id, invite = opened(service, CLEAR, TASKS, Assignment.NEED)
    report(service, id, invite, workers=30, seed=1, right=0.95)
    assert needs(service, id).min() > 0
    infer_now(service, id)
    block = block_for(service, id, invite, RECEIPT)
    assert [task.need for task in block.tasks] == [0] * 9


def test_needs_do_not_depend_on_known_truths(service: Service) -> None:
    ids = [opened(service, CLEAR, TASKS, Assignment.NEED) for _ in range(2)]
    with service.database.writing() as connection:
        number = the_campaign(connection, ids[1][0]).number
        known = [Task(name, "?", known="oak" if name == "t0" else None) for name in TASKS]
        set_tasks(connection, number, known)
    for id, invite in ids:
        report(service, id, invite, workers=30, seed=1, right=0.95)
        infer_now(service, id)
    assert needs(service, ids[0][0]).tolist() == [0] * 9
    assert needs(service, ids[1][0]).tolist() == [21] * 9


def test_a_result_that_warns_settles_nothing(service: Service) -> None:
    faint = make_policy(LABELS, "randomized-response", Target(0.1, answers=9))
    id, invite = opened(service, faint, TASKS, Assignment.NEED)
    report(service, id, invite, workers=30, seed=1, right=0.0)
    infer_now(service, id)
    assert needs(service, id).min() > 0


def test_any_task_is_accepted_if_tasks_are_given_by_need(service: Service) -> None:
    id, invite = opened(service, CLEAR, [f"t{place:02}" for place in range(40)], Assignment.NEED)
    report(service, id, invite, workers=3, seed=1)  # on tasks that a hash chose
    assert sum(counts(service, id)) == 27
