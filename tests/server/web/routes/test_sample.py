"""A sample campaign over HTTP: one request, and truths a few seconds later."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from tests.server.web.requests import Served, refused, served

from sottovoce.server.campaigns import sample_campaign
from sottovoce.server.database import Database
from sottovoce.testing import running_server
from sottovoce.testing.server_process import wait_until


@pytest.fixture
def server(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(sample_campaign, "LENGTH", 0.5)
    with served(database) as server:
        yield server
        server.service.rehearsals.close()


def test_one_request_makes_a_campaign_with_truths_in_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sample_campaign, "LENGTH", 0.5)
    with running_server() as server:
        made = server.requester.sample()
        assert (made["simulated"], made["state"], made["tasks"]) == (True, "open", 60)
        assert made["guarantee"]["per_answer"]["epsilon"] == pytest.approx(2.0)
        wait_until(
            lambda: server.requester.campaign(made["id"])["reports"] == 1600, "all the reports"
        )
        found = server.truths(made["id"])
        assert (len(found.tasks), len(found.workers)) == (60, 80)
        assert found.provenance.simulated


def test_a_server_that_ends_leaves_no_simulated_worker() -> None:
    with running_server() as server:
        server.requester.sample()
        assert "sottovoce-rehearsal" in {thread.name for thread in threading.enumerate()}
    assert "sottovoce-rehearsal" not in {thread.name for thread in threading.enumerate()}


def test_a_sample_campaign_takes_no_invites_and_its_files_are_stamped(server: Served) -> None:
    id = server.client.post("/sample").json()["id"]
    asked = server.client.post(f"/campaigns/{id}/invites", json={"kind": "open"})
    assert "nobody can be invited" in refused(asked, 422, "simulated")["detail"]
    exported = server.client.get(f"/campaigns/{id}/exports/reports.csv")
    assert f'filename="{id}-reports-SIMULATED.csv"' in exported.headers["content-disposition"]
    assert exported.text.startswith("worker,task,simulated_report\n")


def test_a_campaign_that_asks_people_is_not_simulated(server: Served) -> None:
    id = server.draft()
    assert server.client.get(f"/campaigns/{id}").json()["simulated"] is False
