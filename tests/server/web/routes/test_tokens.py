"""Setup and tokens over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.server.drafts import TODAY
from tests.server.web.requests import Served, refused, served

from sottovoce.server.credentials import make_setup
from sottovoce.server.database import Database


@pytest.fixture
def server(database: Database) -> Iterator[Served]:
    with served(database) as made:
        yield made


def bearer(credential: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {credential}"}


def set_up(server: Served, secret: str, name: str = "Ada") -> httpx.Response:
    with server.anonymous() as client:
        return client.post("/setup", json={"name": name}, headers=bearer(secret))


def test_the_setup_secret_makes_one_token(server: Served) -> None:
    secret = make_setup(server.service)
    made = set_up(server, secret)
    assert made.status_code == 201
    token, id = made.json()["token"], made.json()["id"]
    listed = server.client.get("/tokens", headers=bearer(token)).json()["tokens"]
    assert {"id": id, "name": "Ada", "created_on": TODAY.isoformat()} in listed
    refused(set_up(server, secret), 403, "bad_credential")


def test_setup_needs_a_setup_secret(server: Served) -> None:
    made = server.client.post("/tokens", json={"name": "another"}).json()
    for credential in (made["token"], "sva_" + "A" * 43, "sva_", "x"):
        refused(set_up(server, credential), 403, "bad_credential")
    with server.anonymous() as client:
        refused(client.post("/setup", json={"name": "Eve"}), 401, "no_credential")


def test_a_token_is_made_listed_and_revoked(server: Served) -> None:
    made = server.client.post("/tokens", json={"name": "laptop"})
    assert made.status_code == 201
    token, id = made.json()["token"], made.json()["id"]
    assert "laptop" in [each["name"] for each in server.client.get("/tokens").json()["tokens"]]
    assert token not in server.client.get("/tokens").text
    assert server.client.delete(f"/tokens/{id}").status_code == 204
    refused(server.client.get("/tokens", headers=bearer(token)), 403, "bad_credential")
    refused(server.client.delete(f"/tokens/{id}"), 404, "not_found")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_names_that_are_none_are_refused(server: Served) -> None:
    for body in ({}, {"name": ""}, {"name": " "}, {"name": 7}, {"name": "x" * 201}, {"nom": "x"}):
        refused(server.client.post("/tokens", json=body), 422, "malformed")
    assert len(server.client.get("/tokens").json()["tokens"]) == 1


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_odd_identifiers_lead_nowhere(server: Served) -> None:
    for id in ("..%2f", "%00", "g" * 16, "0" * 17, "a" * 5000):
        reply = server.client.delete(f"/tokens/{id}")
        assert reply.status_code in (404, 405, 422)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_no_refusal_repeats_a_credential(server: Served) -> None:
    secret = "svk_" + "S" * 43
    for header in (f"Bearer {secret}", f"Basic {secret}", f"Bearer {secret}x", secret):
        reply = server.client.get("/tokens", headers={"Authorization": header})
        refused(reply, 403, "bad_credential")
        assert "SSSS" not in reply.text


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_every_body_is_described(server: Served) -> None:
    """Each requester's route says what it takes, what it answers and that it needs a token."""
    described = server.client.get("/openapi.json").json()
    tokened = [
        operation
        for path in described["paths"].values()
        for operation in path.values()
        if operation["tags"] in (["campaigns"], ["tokens"]) and "security" in operation
    ]
    assert len(tokened) >= 15
    for operation in tokened:
        assert operation["summary"]
        assert "4XX" in operation["responses"]
