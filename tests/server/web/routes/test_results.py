"""Results and exports over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from tests.server.crowds import opened, report
from tests.server.web.requests import Served, refused, served

from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain
from sottovoce.server.campaigns.exports import EXPORTS
from sottovoce.server.database import Database
from sottovoce.server.inference_process.scheduler import infer_now

LEAVES = make_policy(
    Domain.categorical(["oak", "birch", "lime"]), "randomized-response", Target(4.0, answers=9)
)
TASKS = [f"<b>t{place}</b>" for place in range(9)]


@pytest.fixture
def server(database: Database) -> Iterator[Served]:
    with served(database) as made:
        yield made


@pytest.fixture
def campaign(server: Served) -> str:
    id, invite = opened(server.service, LEAVES, TASKS)
    report(server.service, id, invite, workers=5, seed=1)
    infer_now(server.service, id)
    return id


def test_results_say_everything(server: Served, campaign: str) -> None:
    reply = server.client.get(f"/campaigns/{campaign}/results", params={"limit": 2})
    content = reply.json()
    assert reply.headers["content-type"] == "application/json"
    assert content["total"] == 9
    assert content["reports_waiting"] == 0
    assert set(content["truths"][0]) == {"task", "truth", "confidence", "answers"}
    assert content["truths"][1]["task"] == TASKS[1]
    assert content["summary"]["reports"] == 45
    assert set(content["summary"]) == {
        "method", "rounds", "converged", "settled", "reports", "left_out", "workers", "tasks",
        "warnings", "policy_hash", "version", "alpha", "problem", "known", "calibration",
    }  # fmt: skip


def test_weights_are_by_pseudonym(server: Served, campaign: str) -> None:
    content = server.client.get(f"/campaigns/{campaign}/results/workers").json()
    assert content["total"] == len(content["workers"]) == 5
    assert set(content["workers"][0]) == {"worker", "weight", "answers"}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "query", ["limit=0", "limit=100001", "offset=-1", "sort=weight", "offset=9" + "9" * 40]
)
def test_a_page_that_cannot_be_is_refused(server: Served, campaign: str, query: str) -> None:
    refused(server.client.get(f"/campaigns/{campaign}/results?{query}"), 422, "malformed")


def test_exports_are_files(server: Served, campaign: str) -> None:
    for name in EXPORTS:
        reply = server.client.get(f"/campaigns/{campaign}/exports/{name}")
        assert reply.status_code == 200
        assert reply.headers["content-disposition"] == f'attachment; filename="{campaign}-{name}"'
        assert reply.headers["cache-control"] == "no-store"
        if name.endswith(".jsonl"):
            lines = [json.loads(line) for line in reply.text.splitlines()]
            assert len(lines) == int(reply.headers["sottovoce-rows"])


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_only_requesters_read_results(server: Served, campaign: str) -> None:
    for path in ("results", "results/workers", "exports/reports.csv"):
        with server.anonymous() as client:
            refused(client.get(f"/campaigns/{campaign}/{path}"), 401, "no_credential")
            token = {"Authorization": "Bearer svk_" + "A" * 43}
            reply = client.get(f"/campaigns/{campaign}/{path}", headers=token)
            refused(reply, 403, "bad_credential")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_is_not_there_is_not_found(server: Served, campaign: str) -> None:
    nobody = [f"nobody/{path}" for path in ("results", "results/workers", "exports/reports.csv")]
    for path in (*nobody, f"{campaign}/exports/x.csv", f"{campaign}/exports/..%2Fpolicy.json"):
        refused(server.client.get(f"/campaigns/{path}"), 404, "not_found")


@pytest.mark.parametrize("name", ["reports.csv", "reports.parquet"])
def test_a_client_that_hangs_up_gives_its_place_back(
    server: Served, campaign: str, name: str
) -> None:
    path = f"/campaigns/{campaign}/exports/{name}"
    for _ in range(8):
        with server.client.stream("GET", path) as reply:
            assert reply.status_code == 200
    end = time.monotonic() + 10
    while (reply := server.client.get(path)).status_code in (429, 503):  # 503: no connection yet
        assert time.monotonic() < end, "the places were not given back"
        time.sleep(0.02)
    assert reply.status_code == 200
