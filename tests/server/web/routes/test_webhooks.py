"""Webhooks over HTTP, from registering to being told."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.server.webhook_receiver import Receiver, receiving, wait_until

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.requester.webhook_signatures import verify_signature
from sottovoce.testing import RunningServer, ServerProcess, running_server


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as made:
        yield made


@pytest.fixture
def http(server: RunningServer) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=f"{server.url}/api/v1", headers={"Authorization": f"Bearer {server.token}"}
    ) as client:
        yield client


def test_closing_a_campaign_tells_its_webhooks(server: RunningServer) -> None:
    campaign, _ = server.campaign()
    with receiving() as receiver:
        secret = server.requester.add_webhook(campaign, receiver.address + "/hook")["secret"]
        server.requester.close(campaign)
        [received] = receiver.wait_for(1)
        content = json.loads(received.body)
        server.requester.close(campaign)  # closed already: nothing happens
        time.sleep(0.1)
        assert len(receiver.received) == 1
    verify_signature(secret, received.headers, received.body)
    assert (content["event"], content["campaign"]) == ("campaign.closed", campaign)
    assert content["policy_hash"] == server.requester.campaign(campaign)["policy_hash"]


def test_what_is_told_names_no_worker_and_no_report(server: RunningServer, tmp_path: Path) -> None:
    campaign, link = server.campaign(labels=["unlikely-birch", "unlikely-oak"], tasks=3)
    with receiving() as receiver:
        server.requester.add_webhook(campaign, receiver.address)
        with server.client(link, tmp_path) as client:
            client.send(dict.fromkeys(client.offer.names, "unlikely-oak"))
            worker, receipt = client.worker, client.receipt
        server.requester.close(campaign)
        [received] = [
            each for each in receiver.wait_for(1) if b"campaign.closed" in each.body
        ]  # fmt: skip
    told = received.body.decode() + str(received.headers)
    for secret in (worker, receipt, "unlikely", link.partition("#")[2], server.token):
        assert secret not in told
    assert json.loads(received.body)["reports"] == 3


def test_webhooks_are_listed_with_their_deliveries(
    server: RunningServer, http: httpx.Client
) -> None:
    campaign, _ = server.campaign()
    with receiving(Receiver([500])) as receiver:
        made = http.post(f"/campaigns/{campaign}/webhooks", json={"address": receiver.address})
        server.requester.close(campaign)
        receiver.wait_for(1)

        def attempts() -> list[tuple[str, int]]:
            [webhook] = http.get(f"/campaigns/{campaign}/webhooks").json()["webhooks"]
            assert (webhook["id"], webhook["address"]) == (made.json()["id"], receiver.address)
            return [(each["state"], each["attempts"]) for each in webhook["deliveries"]]

        wait_until(lambda: attempts() == [("waiting", 1)])
    assert made.status_code == 201
    assert made.json()["secret"] not in http.get(f"/campaigns/{campaign}/webhooks").text


def test_a_removed_webhook_is_gone(server: RunningServer, http: httpx.Client) -> None:
    campaign, _ = server.campaign()
    path = f"/campaigns/{campaign}/webhooks"
    id = http.post(path, json={"address": "https://example.org/"}).json()["id"]
    assert http.delete(f"{path}/{id}").status_code == 204
    assert http.get(path).json() == {"webhooks": []}
    assert http.delete(f"{path}/{id}").status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"address": "http://example.org/"}, 422, "malformed"),
        ({"address": "javascript:alert(1)"}, 422, "malformed"),
        ({"address": 5}, 422, "malformed"),
        ({}, 422, "malformed"),
        ({"address": "https://example.org/" + "a" * 3_000}, 422, "malformed"),
        ({"address": "https://example.org/" + "a" * 100_000}, 413, "oversize"),
    ],
)
def test_a_bad_address_is_refused_with_its_field(
    server: RunningServer, http: httpx.Client, body: object, status: int, reason: str
) -> None:
    campaign, _ = server.campaign(tasks=1)
    refused = http.post(f"/campaigns/{campaign}/webhooks", json=body)
    assert (refused.status_code, refused.json()["reason"]) == (status, reason)
    assert refused.headers["content-type"] == "application/problem+json"
    assert "a" * 100 not in refused.text


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("POST", ""), ("DELETE", "/" + "0" * 16)]
)
def test_only_a_requester_may(server: RunningServer, method: str, path: str) -> None:
    campaign, link = server.campaign(tasks=1)
    url = f"{server.url}/api/v1/campaigns/{campaign}/webhooks{path}"
    invite = {"Authorization": f"Bearer {link.partition('#')[2]}"}
    body = {"address": "https://example.org/"} if method == "POST" else None
    assert httpx.request(method, url, json=body).status_code == 401
    assert httpx.request(method, url, json=body, headers=invite).status_code == 403


def test_a_campaign_that_is_not_there_has_none(http: httpx.Client) -> None:
    assert http.get("/campaigns/nowhere/webhooks").status_code == 404


def test_what_was_to_be_told_survives_a_kill(tmp_path: Path) -> None:
    with receiving(Receiver(pause=30)) as receiver, ServerProcess(tmp_path) as server:
        with server.requester() as requester:
            made = requester.create(
                "Which?", ["a"], domain=Domain.categorical(["no", "yes"]), target=Target(1.0)
            )
            requester.open(made["id"])
            secret = requester.add_webhook(made["id"], receiver.address)["secret"]
            requester.close(made["id"])
        receiver.wait_for(1)
        server.kill()  # while the receiver has it and has not answered
        receiver.pause = 0
        server.restart()
        first, second = receiver.wait_for(2, seconds=20)[:2]
    assert first.headers["Sottovoce-Delivery"] == second.headers["Sottovoce-Delivery"]
    verify_signature(secret, second.headers, second.body)
