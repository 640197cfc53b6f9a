"""Forecasts over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.web.requests import Served, refused, served

from sottovoce.errors import Reason, Refused
from sottovoce.server.campaigns.forecasts import MOST_WAITING, Forecaster
from sottovoce.server.database import Database
from sottovoce.testing.server_process import ServerProcess

ASKED: dict[str, Any] = {
    "domain": {"kind": "categorical", "labels": ["no", "yes"]},
    "privacy": {"epsilon": 2.0, "answers": 5},
    "tasks": 10,
    "workers": 20,
}

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture
def server(database: Database) -> Iterator[Served]:
    with served(database) as made:
        yield made


def test_a_forecast_can_be_drafted_as_it_is(server: Served) -> None:
    reply = server.client.post("/forecasts", json=ASKED)
    assert reply.status_code == 200
    found = reply.json()
    assert found.keys() == {
        "score", "expected", "band", "trials", "clean", "constant", "mechanism", "guarantee",
        "devices", "policy", "in_browser", "simulated", "notes",
    }  # fmt: skip
    assert (found["score"], found["trials"], found["simulated"]) == ("accuracy", 20, True)
    assert (found["mechanism"], found["in_browser"]) == ("randomized-response", True)
    assert found["guarantee"]["per_answer"]["epsilon"] == pytest.approx(2.0)
    draft = {"title": "Leaves", "question": "Is it?", "policy": found["policy"]}
    made = server.client.post("/campaigns", json=draft)
    assert made.status_code == 201
    assert made.json()["guarantee"] == found["guarantee"]


def test_tasks_beyond_the_default_budget_are_not_simulated_but_explained(server: Served) -> None:
    asked = {**ASKED, "tasks": 100, "workers": 40, "privacy": {"epsilon": 2.0, "answers": 100}}
    found = server.client.post("/forecasts", json=asked, timeout=120).json()
    devices = found["devices"]
    assert "stops after 25 of its 100 tasks" in devices.pop("warning")
    assert devices == {"budget": 50.0, "answered": 25, "most": 25, "workers": 160}
    assert any("answers 25 tasks" in note for note in found["notes"])
    assert "hide little about a worker as a whole" in found["guarantee"]["warning"]
    taken = {**asked, "workers": 160, "privacy": {"epsilon": 2.0, "answers": 25}}
    better = server.client.post("/forecasts", json=taken, timeout=120).json()
    assert better["devices"]["warning"] is None
    assert better["expected"] > found["expected"]


def test_sealed_answers_are_forecast_without_keyholders(server: Served) -> None:
    sealed = {"mechanism": "sealed-sum", "sealed": {"minimum": 5}, "hide_participation": True}
    asked = {**ASKED, "privacy": {**ASKED["privacy"], **sealed}}
    reply = server.client.post("/forecasts", json=asked, timeout=120)
    assert reply.status_code == 200, reply.text
    found = reply.json()
    assert (found["mechanism"], found["in_browser"]) == ("sealed-sum", True)
    mechanism = found["policy"]["mechanism"]
    assert (mechanism["minimum"], mechanism["seats"], mechanism["keyholders"]) == (5, 3, [])
    assert found["expected"] > 0.5


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"domain": {"kind": "categorical", "labels": ["no"]}}, "domain"),
    ({"domain": {"kind": "categorical", "labels": ["no", "no"]}}, "domain"),
    ({"domain": {"kind": "numeric", "low": 1, "high": 0}}, "domain"),
    ({"privacy": {"epsilon": 0, "answers": 5}}, "privacy.epsilon"),
    ({"privacy": {"epsilon": 1.0, "answers": 0}}, "privacy.answers"),
    ({"privacy": {"epsilon": 1.0, "answers": 5, "mechanism": "none"}}, "privacy.mechanism"),
    ({"privacy": {"epsilon": 1.0, "answers": 5, "mechanism": "duchi"}}, "privacy"),
    ({"tasks": 0}, "tasks"),
    ({"workers": "many"}, "workers"),
    ({"ability": "careful"}, "ability"),
    ({"colour": 1}, "colour"),
]
"""Changes, and the field that the error names. They share one server, which is slow to start."""


def test_a_question_that_makes_no_sense_names_its_field(server: Served) -> None:
    for change, field in WRONG:
        reply = server.client.post("/forecasts", json={**ASKED, **change})
        assert refused(reply, 422, "malformed")["field"] == field


def test_a_forecast_needs_a_token(server: Served) -> None:
    with server.anonymous() as nobody:
        refused(nobody.post("/forecasts", json=ASKED), 401, "no_credential")


def test_too_many_questions_are_told_when_to_come_again(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise Refused(Reason.UNAVAILABLE, f"{MOST_WAITING} forecasts are waiting")

    monkeypatch.setattr(Forecaster, "_enqueued", full)
    reply = server.client.post("/forecasts", json=ASKED)
    refused(reply, 503, "unavailable")
    assert int(reply.headers["retry-after"]) > 0


@pytest.mark.slow
def test_a_server_that_ends_leaves_no_process(database: Database, tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "own") as server:
        headers = {"Authorization": f"Bearer {server.token}"}
        url = f"{server.url}/api/v1/forecasts"
        assert httpx.post(url, json=ASKED, headers=headers, timeout=60).status_code == 200
        children = _children(server.pid)
        assert children
        assert server.stop() == 0
    assert [child for child in children if Path(f"/proc/{child}").exists()] == []


def _children(pid: int) -> list[int]:
    """Of all threads of a process."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for each in threads for child in (each / "children").read_text().split()]
