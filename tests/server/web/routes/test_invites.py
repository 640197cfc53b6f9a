"""Links over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import pytest
from tests.server.web.requests import PUBLIC, Served, refused, served

from sottovoce.server.campaigns.invites import qr_code
from sottovoce.server.database import Database


@pytest.fixture
def server(database: Database) -> Iterator[Served]:
    with served(database) as made:
        yield made


def test_links_are_made_counted_and_revoked(server: Served) -> None:
    id, client = server.draft(), server.client
    path = f"/campaigns/{id}/invites"
    one = client.post(path, json={"kind": "open", "expires_on": "2032-01-01"})
    many = client.post(path, json={"kind": "single", "count": 3})
    assert (one.status_code, many.status_code) == (201, 201)
    links = one.json()["links"] + many.json()["links"]
    assert len(set(links)) == 4
    assert all(link.startswith(f"{PUBLIC}/c/{id}#svi_") for link in links)
    assert client.get(path).json() == {"open": 1, "single": 3, "used": 0}
    assert client.delete(path).json() == {"revoked": 4}
    assert client.get(path).json() == {"open": 0, "single": 0, "used": 0}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_links_that_make_no_sense_are_refused(server: Served) -> None:
    path = f"/campaigns/{server.draft()}/invites"
    for body, field in (
        ({}, "kind"),
        ({"kind": "double"}, "kind"),
        ({"kind": "single", "count": 0}, "count"),
        ({"kind": "single", "count": 100_001}, "count"),
        ({"kind": "single", "count": "3"}, "count"),
        ({"kind": "open", "count": 2}, "count"),
        ({"kind": "open", "expires_on": "1999-01-01"}, "expires_on"),
        ({"kind": "open", "expires_on": "tomorrow"}, "expires_on"),
        ({"kind": "open", "colour": 1}, "colour"),
    ):
        told = refused(server.client.post(path, json=body), 422, "malformed")
        assert told["field"] == field
    assert server.client.get(path).json() == {"open": 0, "single": 0, "used": 0}


def test_closed_and_absent_campaigns_invite_nobody(server: Served) -> None:
    id = server.draft()
    server.client.post(f"/campaigns/{id}/open")
    server.client.post(f"/campaigns/{id}/close")
    asked = {"kind": "open"}
    refused(server.client.post(f"/campaigns/{id}/invites", json=asked), 409, "not_open")
    refused(server.client.post("/campaigns/absent/invites", json=asked), 404, "not_found")
    refused(server.client.get("/campaigns/absent/invites"), 404, "not_found")
    refused(server.client.delete("/campaigns/absent/invites"), 404, "not_found")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_long_body_is_refused(server: Served) -> None:
    path = f"/campaigns/{server.draft()}/invites"
    content = b'{"kind": "open"' + b" " * (64 << 10) + b"}"
    headers = {"Content-Type": "application/json"}
    refused(server.client.post(path, content=content, headers=headers), 413, "oversize")
    pieces = (content[start : start + 9999] for start in range(0, len(content), 9999))
    refused(server.client.post(path, content=pieces, headers=headers), 413, "oversize")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_links_come_with_codes_where_asked_for(server: Served) -> None:
    path = f"/campaigns/{server.draft()}/invites"
    plain = server.client.post(path, json={"kind": "single", "count": 2}).json()
    assert plain["codes"] is None
    found = server.client.post(path, json={"kind": "single", "count": 2, "codes": True}).json()
    assert found["codes"] == [asdict(qr_code(link)) for link in found["links"]]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_too_many_codes_are_refused_before_any_link_is_made(server: Served) -> None:
    path = f"/campaigns/{server.draft()}/invites"
    body = {"kind": "single", "count": 1001, "codes": True}
    told = refused(server.client.post(path, json=body), 422, "malformed")
    assert told["field"] == "count"
    assert server.client.get(path).json()["single"] == 0
