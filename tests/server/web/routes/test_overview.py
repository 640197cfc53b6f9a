"""A campaign at a glance and in words, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.server.crowds import report
from tests.server.web.requests import Served, refused, served

from sottovoce.server.database import Database
from sottovoce.server.inference_process.scheduler import infer_now


@pytest.fixture
def server(database: Database) -> Iterator[Served]:
    with served(database) as made:
        yield made


def reported(server: Served, workers: int, seed: int = 4) -> str:
    id = server.draft(
        tasks=[{"task": f"t{place}"} for place in range(8)],
        privacy={"epsilon": 2.0, "answers": 8},
    )
    assert server.client.post(f"/campaigns/{id}/open").status_code == 200
    [link] = server.client.post(f"/campaigns/{id}/invites", json={"kind": "open"}).json()["links"]
    if workers:
        report(server.service, id, link.partition("#")[2], workers=workers, seed=seed)
        infer_now(server.service, id)
    return id


def test_an_overview_has_everything_a_dashboard_shows(server: Served) -> None:
    id = reported(server, 6)
    seen = server.client.get(f"/campaigns/{id}/overview").json()
    assert (seen["tasks"], seen["workers"], seen["reports"], seen["reports_waiting"]) == (
        8, 6, 48, 0,
    )  # fmt: skip
    assert seen["summary"]["method"] == "aware-labels"
    assert seen["coverage"] == {
        "hidden": False, "untouched": 0, "least": 6, "median": 6.0, "most": 6,
        "strip": [
            {"first": f"t{place}", "last": f"t{place}", "tasks": 1, "mean": 6.0}
            for place in range(8)
        ],
        "histogram": [{"answers": 6, "tasks": 8}],
    }  # fmt: skip
    assert (seen["certainty"]["kind"], seen["certainty"]["threshold"]) == ("confidence", 0.95)
    assert sum(bin["tasks"] for bin in seen["certainty"]["histogram"]) == 8
    assert sum(bin["workers"] for bin in seen["weights"]["histogram"]) == 6
    assert seen["more"]["words"].startswith("About ")
    assert seen["more"]["open"] == seen["certainty"]["open"]
    assert seen["changed"] is None


def test_a_result_that_warns_is_no_ground_for_a_forecast(server: Served) -> None:
    seen = server.client.get(f"/campaigns/{reported(server, 6, seed=3)}/overview").json()
    assert seen["summary"]["warnings"]
    assert seen["certainty"]["open"]
    assert seen["more"] is None


def test_an_overview_without_reports_says_why_there_are_no_weights(server: Served) -> None:
    seen = server.client.get(f"/campaigns/{reported(server, 0)}/overview").json()
    assert (seen["summary"], seen["certainty"], seen["more"]) == (None, None, None)
    assert seen["weights"]["why_none"]


def test_a_draft_without_tasks_has_an_overview(server: Served) -> None:
    seen = server.client.get(f"/campaigns/{server.draft(tasks=None)}/overview").json()
    assert (seen["tasks"], seen["coverage"]["strip"]) == (0, [])


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_methods_are_plain_text_to_cite(server: Served) -> None:
    said = server.client.get(f"/campaigns/{reported(server, 6)}/methods").json()
    assert "48 reports from 6 workers" in said["paragraph"]
    assert said["citation"].startswith("@software{sottovoce,")
    assert {"name": "tasks", "value": "8"} in said["facts"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", ["overview", "methods"])
def test_absent_campaigns_are_not_found(server: Served, name: str) -> None:
    refused(server.client.get(f"/campaigns/absent/{name}"), 404, "not_found")
