"""Requesters read truths and weights, page by page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.server.crowds import opened, report
from tests.server.drafts import running

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Terms
from sottovoce.server.campaigns.drafts import create_draft
from sottovoce.server.campaigns.lifecycle import delete_campaign
from sottovoce.server.campaigns.own_reports import erase
from sottovoce.server.campaigns.result_cache import CachedResult, ResultCache
from sottovoce.server.campaigns.results import Sort, found_result, truths_page, workers_page
from sottovoce.server.database import Database
from sottovoce.server.inference_process.scheduler import infer_now
from sottovoce.server.service import Service

LEAVES = make_policy(
    Domain.categorical(["oak", "birch", "lime"]), "randomized-response", Target(4.0, answers=9)
)
METRES = make_policy(Domain.numeric(0, 10), "piecewise", Target(4.0, answers=9))
TASKS = [f"t{place}" for place in (3, 1, 2, 9, 8, 7, 4, 6, 5)]


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as service:
        yield service


def inferred(service: Service, policy: object = LEAVES) -> str:
    id, invite = opened(service, METRES if policy is METRES else LEAVES, TASKS)
    report(service, id, invite, workers=8, seed=5)
    infer_now(service, id)
    return id


def test_truths_are_in_the_order_of_the_tasks(service: Service) -> None:
    page = truths_page(service, inferred(service))
    assert page.columns["task"] == TASKS
    assert set(page.columns["truth"]) <= {"oak", "birch", "lime"}
    assert page.columns["answers"] == [8] * 9
    assert (page.total, page.waiting) == (9, 0)


def test_the_least_sure_label_comes_first(service: Service) -> None:
    page = truths_page(service, inferred(service), sort=Sort.CONFIDENCE)
    assert page.columns["confidence"] == sorted(page.columns["confidence"])


def test_the_least_sure_number_comes_first(service: Service) -> None:
    page = truths_page(service, inferred(service, METRES), sort=Sort.CONFIDENCE)
    errors = page.columns["standard_error"]
    assert errors == sorted(errors, reverse=True)


def test_pages_add_up(service: Service) -> None:
    id = inferred(service)
    pages = [truths_page(service, id, offset, 4).columns["task"] for offset in (0, 4, 8, 12)]
    assert pages == [TASKS[:4], TASKS[4:8], TASKS[8:], []]
    pages = [workers_page(service, id, offset, 3).columns["worker"] for offset in (0, 3, 6)]
    whole = workers_page(service, id)
    assert (
        [worker for page in pages for worker in page]
        == whole.columns["worker"]
        == sorted(whole.columns["worker"])
    )
    assert (whole.total, whole.columns["answers"]) == (8, [9] * 8)


def test_reports_that_are_not_in_the_result_wait(service: Service) -> None:
    id, invite = opened(service, LEAVES, TASKS)
    assert truths_page(service, id).waiting == 0
    sent = report(service, id, invite, workers=2, seed=1)
    assert (truths_page(service, id).waiting, truths_page(service, id).summary) == (18, None)
    infer_now(service, id)
    report(service, id, invite, workers=1, seed=2)
    assert truths_page(service, id).waiting == 9
    erase(service, id, *sent[0])
    assert truths_page(service, id).waiting == 9
    infer_now(service, id)
    assert truths_page(service, id).waiting == 0


def test_a_newer_result_replaces_the_one_in_memory(service: Service) -> None:
    id, invite = opened(service, LEAVES, TASKS)
    for seed in (1, 2):
        report(service, id, invite, workers=3, seed=seed)
        infer_now(service, id)
        assert truths_page(service, id).columns["answers"] == [3 * seed] * 9


def test_a_draft_has_no_result(service: Service) -> None:
    draft = create_draft(service, Terms("Leaves", "Which?", LEAVES))
    page = truths_page(service, draft.id)
    assert (page.summary, page.rows(), page.total, page.waiting) == (None, "[]", 0, 0)


def test_a_deleted_campaign_is_not_found(service: Service) -> None:
    id = inferred(service)
    truths_page(service, id)
    delete_campaign(service, id)
    for page in (truths_page, workers_page):
        with pytest.raises(Refused) as refused:
            page(service, id)
        assert refused.value.reason is Reason.NOT_FOUND


def test_the_summary_says_where_a_result_comes_from(service: Service) -> None:
    summary = truths_page(service, inferred(service)).summary
    assert summary is not None
    assert (summary.method, summary.reports, summary.workers, summary.tasks) == (
        "aware-labels", 72, 8, 9,
    )  # fmt: skip
    assert summary.policy_hash == LEAVES.hash
    assert summary.problem is None


def cached(service: Service, cache: ResultCache, id: str) -> CachedResult:
    with service.database.reading() as connection:
        stored, found = found_result(connection, id)
        assert found is not None
        return cache.result(connection, stored, found)


def test_a_result_is_unpacked_once_and_the_one_asked_for_longest_ago_goes(service: Service) -> None:
    ids = [inferred(service) for _ in range(3)]
    size = cached(service, ResultCache(), ids[0]).nbytes
    cache = ResultCache(limit=2 * size)
    first, second = (cached(service, cache, id) for id in ids[:2])
    assert cached(service, cache, ids[0]) is first
    cached(service, cache, ids[2])
    assert cached(service, cache, ids[0]) is first
    assert cached(service, cache, ids[1]) is not second


def test_a_result_that_does_not_fit_is_given_and_not_kept(service: Service) -> None:
    id, cache = inferred(service), ResultCache(limit=10)
    one = cached(service, cache, id)
    assert cached(service, cache, id) is not one
    assert one.names == tuple(TASKS)
