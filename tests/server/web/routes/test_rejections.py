"""Refused reports as a requester sees them over HTTP: how many, and why."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import event, select
from tests.server.web.requests import Served, refused, served

from sottovoce.model import Submission, pseudonym
from sottovoce.server.campaigns.rejections import write_rejections
from sottovoce.server.database import Database
from sottovoce.server.database.schema import rejections
from sottovoce.testing import running_server


class Sender:
    """A client that sends arbitrary bodies to a campaign."""

    def __init__(self, server: Served) -> None:
        self.server, self.http = server, server.anonymous()
        self.id = server.draft()
        made = server.client.post(f"/campaigns/{self.id}/invites", json={"kind": "open"})
        self.receipt = "svr_" + secrets.token_urlsafe(32)
        self.headers = {
            "Authorization": f"Bearer {made.json()['links'][0].partition('#')[2]}",
            "Sottovoce-Receipt": self.receipt,
        }
        policy = server.client.get(f"/campaigns/{self.id}").json()["policy_hash"]
        worker = pseudonym(self.id, self.receipt)
        self.content = Submission(policy, worker, ("t1", "t2"), ("oak", "lime")).text()

    def open(self) -> None:
        self.server.client.post(f"/campaigns/{self.id}/open").raise_for_status()

    def put(
        self,
        content: str | None = None,
        headers: dict[str, str] | None = None,
        campaign: str | None = None,
        report_id: str | None = None,
    ) -> httpx.Response:
        return self.http.put(
            f"/campaigns/{campaign or self.id}/reports/{report_id or secrets.token_hex(16)}",
            content=self.content if content is None else content,
            headers=self.headers if headers is None else headers,
        )

    def counted(self) -> dict[str, int]:
        write_rejections(self.server.service)
        reply = self.server.client.get(f"/campaigns/{self.id}/rejections")
        assert reply.status_code == 200
        body = reply.json()
        assert body["total"] == sum(one["count"] for one in body["rejections"])
        assert all(one["words"] for one in body["rejections"])
        return {one["reason"]: one["count"] for one in body["rejections"]}


@pytest.fixture
def sender(database: Database) -> Iterator[Sender]:
    with served(database) as server:
        made = Sender(server)
        yield made
        made.http.close()


def test_every_refusal_of_a_report_is_counted_by_its_reason(sender: Sender) -> None:
    assert sender.counted() == {}
    assert sender.put().status_code == 409  # a draft takes no reports
    sender.open()
    assert sender.put(headers={}).status_code == 401  # also before the campaign was ever read
    assert sender.put("{}").status_code == 422
    assert sender.put("[]").status_code == 422
    assert sender.put(report_id="no-identifier").status_code == 422
    assert sender.put("x" * 100_000).status_code == 413
    wrong = {**sender.headers, "Authorization": "Bearer svi_" + "A" * 43}
    assert sender.put(headers=wrong).status_code == 403
    text = {**sender.headers, "Content-Type": "text/plain"}
    assert sender.put(headers=text).status_code == 415
    simulated = json.dumps({**json.loads(sender.content), "simulated": True})
    assert sender.put(simulated).status_code == 422
    assert sender.put().status_code == 201
    assert sender.put().status_code == 409
    assert sender.counted() == {
        "not_open": 1, "no_credential": 1, "malformed": 3, "oversize": 1, "bad_credential": 1,
        "unsupported": 1, "simulated": 1, "already_reported": 1,
    }  # fmt: skip


def test_what_is_stored_or_replayed_is_no_refusal(sender: Sender) -> None:
    sender.open()
    id = secrets.token_hex(16)
    assert [sender.put(report_id=id).status_code for _ in range(2)] == [201, 200]
    assert sender.counted() == {}


def test_a_refusal_at_a_campaign_that_is_not_there_is_nobodys(sender: Sender) -> None:
    for campaign in ("nowhere1", "NOT-A-NAME", "nowhere2"):
        assert sender.put(campaign=campaign).status_code in (404, 422)
        sender.put(campaign=campaign, headers={})
    assert not sender.server.service.rejections.taken()


def test_a_flood_of_bad_reports_is_no_flood_of_transactions(sender: Sender) -> None:
    sender.open()
    commits: list[object] = []
    event.listen(sender.server.service.database.engine, "commit", commits.append)
    for _ in range(200):
        assert sender.put("{}").status_code == 422
    assert sender.counted() == {"malformed": 200}
    assert len(commits) <= 4  # one here, and those that the server writes every few seconds


def test_nothing_of_a_refused_report_is_kept_but_its_reason(sender: Sender) -> None:
    sender.open()
    sender.put(sender.content.replace("oak", "CANARY"))
    assert sender.counted() == {"not_admitted": 1}
    with sender.server.service.database.reading() as connection:
        (row,) = connection.execute(select(rejections))
    assert set(row._mapping) == {"campaign", "reason", "count"}


def test_counts_go_with_the_campaign(sender: Sender) -> None:
    sender.put()
    assert sender.counted() == {"not_open": 1}
    sender.server.client.delete(f"/campaigns/{sender.id}").raise_for_status()
    refused(sender.server.client.get(f"/campaigns/{sender.id}/rejections"), 404, "not_found")


def test_counts_survive_the_server(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        id, _ = server.campaign()
        sent = httpx.put(f"{server.url}/api/v1/campaigns/{id}/reports/{secrets.token_hex(16)}")
        assert sent.status_code == 401
    with running_server(tmp_path) as server:
        found = server.requester.rejections(id)
    words = "without an invite or a receipt"
    assert found == {
        "rejections": [{"reason": "no_credential", "words": words, "count": 1}],
        "total": 1,
    }
