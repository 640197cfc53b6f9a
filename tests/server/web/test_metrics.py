from __future__ import annotations

import re
import secrets
from collections.abc import Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from sottovoce.errors import Reason
from sottovoce.model import Submission, pseudonym
from sottovoce.server.web.metrics import Metrics
from sottovoce.testing.server_thread import RunningServer, running_server

CANARY = "canary-7f3a"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("data")) as running:
        yield running


def _metrics(server: RunningServer) -> str:
    answer = httpx.get(server.url + "/metrics", headers={"Authorization": f"Bearer {server.token}"})
    assert answer.status_code == 200
    return answer.text


def _value(text: str, name: str, **labels: str) -> float:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == name and sample.labels == labels:
                return float(sample.value)
    raise AssertionError(f"{name}{labels} is not there")


def _outcome(text: str, outcome: str) -> float:
    return _value(text, "sottovoce_reports_total", outcome=outcome)


def test_metrics_need_a_requesters_token(server: RunningServer) -> None:
    assert httpx.get(server.url + "/metrics").status_code == 401
    wrong = {"Authorization": "Bearer svk_" + "A" * 43}
    assert httpx.get(server.url + "/metrics", headers=wrong).status_code == 403


def test_every_outcome_is_there_before_it_happens() -> None:
    text = Metrics().text().decode()
    for outcome in ("stored", "replayed", "cut_off", *Reason):
        assert _outcome(text, outcome) == 0


def test_each_submission_is_counted_by_what_became_of_it(server: RunningServer) -> None:
    campaign, link = server.campaign(tasks=3)
    receipt = "svr_" + secrets.token_urlsafe(32)
    policy_hash = server.requester.campaign(campaign)["policy_hash"]
    content = Submission(policy_hash, pseudonym(campaign, receipt), ("t0",), ("yes",)).text()
    path = f"{server.url}/api/v1/campaigns/{campaign}/reports/{secrets.token_hex(16)}"
    headers = {"Authorization": "Bearer " + link.partition("#")[2], "Sottovoce-Receipt": receipt}
    before = _metrics(server)
    answers = [
        httpx.put(path, content=content, headers=headers),
        httpx.put(path, content=content, headers=headers),
        httpx.put(path, content="{", headers=headers),
        httpx.put(path, content=content),
    ]
    assert [answer.status_code for answer in answers] == [201, 200, 422, 401]
    after = _metrics(server)
    for outcome in ("stored", "replayed", "malformed", "no_credential"):
        assert _outcome(after, outcome) - _outcome(before, outcome) == 1, outcome


def test_routes_are_counted_by_template_and_nothing_that_was_sent_is_a_label(
    server: RunningServer,
) -> None:
    for path in (f"/{CANARY}", f"/c/{CANARY}", f"/api/v1/campaigns/{CANARY}", f"/?{CANARY}"):
        httpx.get(server.url + path, headers={"User-Agent": CANARY, "Authorization": CANARY})
    httpx.request(CANARY.replace("-", ""), server.url + "/")
    text = _metrics(server)
    assert CANARY not in text
    assert CANARY.replace("-", "").upper() not in text.upper()
    assert "127.0.0.1" not in text
    counted = {"route": "/c/{campaign_id}", "method": "GET", "status": "404"}
    assert _value(text, "sottovoce_requests_total", **counted) == 1
    assert _value(text, "sottovoce_requests_total", route="none", method="GET", status="404") >= 1
    assert _value(text, "sottovoce_request_seconds_count", route="/c/{campaign_id}") == 1


def test_no_metric_tells_when_the_first_report_came(server: RunningServer) -> None:
    assert not re.search(r"_created\b", _metrics(server))


def test_what_runs_and_what_waits_is_shown(server: RunningServer) -> None:
    text = _metrics(server)
    assert _value(text, "sottovoce_submissions_waiting") == 0
    assert "sottovoce_build_info{" in text
    assert "sottovoce_campaigns_to_infer " in text
