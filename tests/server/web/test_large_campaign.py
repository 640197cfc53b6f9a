"""A campaign of 100,000 tasks, from the draft to the export."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.web.hostile_server import Arena, bearer, new, problem
from tests.server.web.requests import DRAFT

from sottovoce.errors import Reason
from sottovoce.model import Submission
from sottovoce.testing.server_process import wait_until

MANY = 100_000
TASKS = [{"task": f"task-{place:06}", "text": f"Which tree is {place}?"} for place in range(MANY)]


@pytest.fixture(scope="module")
def large(arena: Arena) -> tuple[str, str]:
    """The open campaign, and an invite."""
    return arena.opened(tasks=TASKS, assignment="hash")


@pytest.fixture(scope="module")
def reported(arena: Arena, large: tuple[str, str]) -> dict[str, Any]:
    """A worker's block, on which it has reported."""
    id, invite = large
    receipt = new("svr_")
    headers = bearer(invite, receipt)
    block: dict[str, Any] = arena.ask("GET", f"/campaigns/{id}/block", headers=headers).json()
    names = sorted(task["task"] for task in block["tasks"])
    policy = arena.ask("GET", f"/campaigns/{id}").json()["policy_hash"]
    made = Submission(policy, block["worker"], tuple(names), ("oak",) * len(names))
    sent = arena.put(made.text().encode(), campaign=id, headers=headers)
    assert sent.status_code == 201, sent.text
    return block


def test_it_opens_with_all_its_tasks(arena: Arena, large: tuple[str, str]) -> None:
    shown = arena.ask("GET", f"/campaigns/{large[0]}").json()
    assert (shown["state"], shown["tasks"], shown["block"]) == ("open", MANY, 5)


def test_the_last_page_of_tasks_is_the_last(arena: Arena, large: tuple[str, str]) -> None:
    page = arena.ask("GET", f"/campaigns/{large[0]}/tasks", params={"offset": MANY - 1}).json()
    assert (page["total"], page["tasks"]) == (MANY, [{**TASKS[-1], "image": None, "known": None}])


def test_an_offer_does_not_grow_with_the_tasks(arena: Arena, large: tuple[str, str]) -> None:
    offer = arena.ask("GET", f"/campaigns/{large[0]}/offer", headers=bearer(large[1]))
    assert offer.json()["tasks"] == MANY
    assert len(offer.content) < 5_000


def test_a_worker_is_given_a_few_and_reports(reported: dict[str, Any]) -> None:
    assert len(reported["tasks"]) == 5


def test_a_report_on_tasks_that_were_not_given_is_refused(
    arena: Arena, large: tuple[str, str]
) -> None:
    id, invite = large
    receipt = new("svr_")
    body = arena.submission(id, receipt, tasks=["task-000000", "task-000001"])
    before = arena.ask("GET", f"/campaigns/{id}").json()
    problem(arena.put(body, campaign=id, headers=bearer(invite, receipt)), 422, Reason.NOT_ADMITTED)
    assert arena.ask("GET", f"/campaigns/{id}").json() == before


def test_results_have_the_tasks_that_have_reports(
    arena: Arena, large: tuple[str, str], reported: dict[str, Any]
) -> None:
    path = f"/campaigns/{large[0]}/results"
    wait_until(lambda: arena.ask("GET", path).json()["total"] > 0, "the truths")
    results = arena.ask("GET", path).json()
    assert results["total"] == 5
    given = {task["task"] for task in reported["tasks"]}
    assert {truth["task"] for truth in results["truths"]} == given


def test_exports_have_everything(
    arena: Arena, large: tuple[str, str], reported: dict[str, Any]
) -> None:
    tasks = arena.ask("GET", f"/campaigns/{large[0]}/exports/tasks.csv")
    assert tasks.headers["sottovoce-rows"] == str(MANY)
    assert tasks.text.count("\n") == MANY + 1
    reports = arena.ask("GET", f"/campaigns/{large[0]}/exports/reports.csv")
    assert reports.headers["sottovoce-rows"] == "5"


@pytest.mark.slow
def test_a_million_and_more_tasks_are_refused(arena: Arena) -> None:
    rows = "task\n" + "\n".join(map(str, range((1 << 20) + 1)))
    headers = {**arena.requester, "Content-Type": "text/csv"}
    path = f"/campaigns/{arena.ids['draft']}/tasks"
    with arena.unharmed():
        reply = arena.ask("PUT", path, content=rows, headers=headers)
        longer = arena.ask("PUT", path, content=b"x" * ((64 << 20) + 1), headers=headers)
    problem(reply, 422, Reason.MALFORMED)
    problem(longer, 413, Reason.OVERSIZE)


def test_a_body_of_nothing_but_tasks_is_bounded_too(arena: Arena) -> None:
    reply = arena.ask("POST", "/campaigns", json={**DRAFT, "tasks": [{"task": ""}] * MANY})
    assert problem(reply, 422, Reason.MALFORMED)["field"] == "tasks.0.task"
