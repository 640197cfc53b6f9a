"""A sealed campaign over HTTP: requester, workers and keyholders each with their own credential."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.server.sealed.committees import (
    Holder,
    OverHttp,
    Sent,
    cards,
    go_on,
    sealed_answers,
    until,
)
from tests.server.web.requests import Served, refused, served

from sottovoce.model import Policy
from sottovoce.server.database import Database
from sottovoce.server.inference_process.scheduler import infer_now
from sottovoce.server.sealed.transitions import advance

TASKS = ("t1", "t2", "t3")


@pytest.fixture
def server(database: Database) -> Iterator[Served]:
    with served(database) as made:
        yield made


pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def sealing(**others: Any) -> dict[str, Any]:
    """The privacy section of a draft."""
    sealed = {"keyholders": [card.as_json() for card in cards()], "minimum": 3, **others}
    return {"epsilon": 40.0, "answers": 5, "mechanism": "sealed-sum", "sealed": sealed}


class Campaign:
    """An open sealed campaign, and everybody in it."""

    def __init__(self, server: Served) -> None:
        self.server, self.client = server, server.client
        domain = {"kind": "categorical", "labels": ["no", "yes"]}
        tasks = [{"task": name} for name in TASKS]
        self.id = server.draft(domain=domain, privacy=sealing(), tasks=tasks)
        shown = self.post("open", params={"over_budget": True})
        assert (shown["sealed"], shown["published"]) == (True, False)
        self.policy = Policy.of_json(shown["policy"])
        self.invite = self.post("invites", json={"kind": "open"})["links"][0].partition("#")[2]
        links = self.post("keyholders")["links"]
        assert [each["name"] for each in links] == [card.name for card in cards()]
        assert links[0]["link"].startswith(f"https://answers.example/k/{self.id}#svh_")
        self.holders = [
            Holder(OverHttp(server.anonymous(), self.id, each["link"].partition("#")[2]), at)
            for at, each in enumerate(links, 1)
        ]

    def post(self, below: str, **options: Any) -> Any:
        reply = self.client.post(f"/campaigns/{self.id}/{below}", **options)
        assert reply.status_code in (200, 201), reply.text
        return reply.json()

    def get(self, below: str) -> Any:
        return self.client.get(f"/campaigns/{self.id}/{below}").json()

    def put(self, sent: Sent) -> int:
        headers = {"Authorization": f"Bearer {self.invite}", "Sottovoce-Receipt": sent.receipt}
        path = f"/campaigns/{self.id}/reports/{sent.report_id}"
        reply = self.client.put(path, content=sent.content, headers=headers)
        return reply.status_code

    def answer(self, *codes: int) -> Sent:
        sent = sealed_answers(self.id, self.policy, TASKS, codes)
        assert self.put(sent) == 201
        return sent

    def rows(self, name: str) -> list[list[str]]:
        text = self.client.get(f"/campaigns/{self.id}/exports/{name}").text
        return list(csv.reader(io.StringIO(text)))


@pytest.fixture
def campaign(server: Served) -> Iterator[Campaign]:
    made = Campaign(server)
    yield made
    for holder in made.holders:
        holder.server.client.close()


def test_a_sealed_campaign_over_http(server: Served, campaign: Campaign) -> None:
    sent = [campaign.answer(1, 0, 1) for _ in range(4)]
    assert campaign.put(sent[0]) == 200
    go_on(campaign.holders)
    overview = campaign.get("overview")
    assert (overview["coverage"]["least"], overview["certainty"]) == (4, None)
    campaign.post("close")
    go_on(campaign.holders)
    found = campaign.get("rounds")
    assert (found["phase"], found["checked"], found["quorum"]) == (
        "opened", 4, {"needed": 2, "opened": 3},
    )  # fmt: skip
    assert found["problem"] is None
    assert [(each["dealt"], each["is_here"], each["opened"]) for each in found["keyholders"]] == [
        (True, True, True)
    ] * 3
    assert campaign.rows("totals.csv") == [
        ["task", "slot", "noised_total"], ["t1", "yes", "4"], ["t2", "yes", "0"],
        ["t3", "yes", "4"],
    ]  # fmt: skip
    infer_now(server.service, campaign.id)
    assert [row[:2] for row in campaign.rows("truths.csv")[1:]] == [
        ["t1", "yes"], ["t2", "no"], ["t3", "yes"],
    ]  # fmt: skip
    for name in ("reports.csv", "crowdkit.csv"):
        reply = campaign.client.get(f"/campaigns/{campaign.id}/exports/{name}")
        assert "nobody" in refused(reply, 404, "not_found")["detail"]
    assert "opened totals of 4 workers" in campaign.get("methods")["paragraph"]
    assert campaign.get("overview")["weights"]["why_none"] is not None
    anonymous = server.anonymous()
    shown = {"Authorization": f"Bearer {sent[0].receipt}"}
    path = f"/campaigns/{campaign.id}/truths"
    refused(anonymous.get(path, headers=shown), 404, "not_found")
    assert campaign.post("publish")["published"]
    assert anonymous.get(path, headers=shown).json() == {
        "truths": [
            {"task": "t1", "truth": "yes"}, {"task": "t2", "truth": "no"},
            {"task": "t3", "truth": "yes"},
        ]
    }  # fmt: skip
    stranger = {"Authorization": "Bearer svr_" + "A" * 43}
    refused(anonymous.get(path, headers=stranger), 403, "bad_credential")
    anonymous.close()


def test_a_keyholder_that_waits_for_work_is_woken(campaign: Campaign) -> None:
    campaign.answer(1, 1, 1)
    until(campaign.holders, lambda: campaign.get("rounds")["phase"] == "collecting")
    first = campaign.holders[0].server
    assert first.work() == ("wait", None)
    with ThreadPoolExecutor(1) as waiting:
        reply = waiting.submit(first.ask, "GET", "/next", params={"wait": 20}, timeout=30)
        campaign.post("close")
        assert reply.result(25).json() == {"work": "check", "number": 1}
    assert reply.result().elapsed.total_seconds() < 10


def test_a_keyholder_says_one_thing_once(campaign: Campaign) -> None:
    one, two = campaign.holders[:2]
    deal = one.message("deal", None)
    assert [one.server.send(deal), one.server.send(deal)] == [False, True]
    other = Holder(one.server, 1).message("deal", None)
    refused(_send(one, other), 409, "conflict")
    refused(_send(two, deal), 403, "bad_credential")
    refused(_send(one, deal[:-2]), 422, "malformed")
    refused(_send(one, b"[" * 3_000_000), 413, "oversize")
    refused(_send(two, two.message("deal", None), "text/plain"), 415, "unsupported")


def _send(holder: Holder, content: bytes, kind: str = "application/json") -> Any:
    server = holder.server
    headers = {"Content-Type": kind, "Authorization": f"Bearer {server.credential}"}
    return server.client.post(
        f"/campaigns/{server.id}/sealed/messages", content=content, headers=headers
    )


def test_what_is_not_there_yet_is_not_found(server: Served, campaign: Campaign) -> None:
    first = campaign.holders[0].server
    refused(first.ask("GET", "/batches/0"), 404, "not_found")
    refused(first.ask("GET", "/close"), 404, "not_found")
    refused(first.ask("GET", "/next", params={"wait": 61}), 422, "malformed")
    plain = server.draft()
    refused(campaign.client.post(f"/campaigns/{plain}/keyholders"), 404, "not_found")
    refused(campaign.client.get(f"/campaigns/{plain}/rounds"), 404, "not_found")
    refused(campaign.client.post(f"/campaigns/{plain}/publish"), 409, "not_open")


def test_drafts_say_what_is_wrong_with_their_keyholders(server: Served) -> None:
    domain = {"kind": "categorical", "labels": ["no", "yes"]}
    two = [card.as_json() for card in cards()[:2]]
    same = [cards()[0].as_json()] * 3
    for privacy, words in (
        (sealing(keyholders=two), "seats"),
        (sealing(keyholders=same), "two keyholders"),
        (sealing(layout="sum"), "sum"),
        ({**sealing(), "mechanism": "randomized-response"}, "sealed-sum"),
    ):
        body = {"title": "x", "question": "x", "domain": domain, "privacy": privacy}
        reply = server.client.post("/campaigns", json=body)
        assert words in refused(reply, 422, "malformed")["detail"]
    unnamed = server.draft(domain=domain, privacy=sealing(keyholders=[]))
    reply = server.client.post(f"/campaigns/{unnamed}/open")
    assert "no keyholders" in refused(reply, 422, "malformed")["detail"]


def test_a_batch_is_due_when_the_last_one_has_rested(campaign: Campaign) -> None:
    service, id = campaign.server.service, campaign.id
    until(campaign.holders, lambda: campaign.get("rounds")["phase"] == "collecting")
    campaign.answer(1, 1, 1)
    assert not advance(service, id)
    service.attendance._rest = 0.0
    assert advance(service, id)
    assert campaign.get("rounds")["phase"] == "checking"
