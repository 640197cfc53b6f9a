"""Credentials and reports that must not pass: each is refused by name and changes nothing."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import insert
from tests.server.web.hostile_server import CANARY, Arena, bearer, new, problem

from sottovoce.errors import Reason
from sottovoce.model import digest
from sottovoce.server.credentials import make_setup
from sottovoce.server.database.campaigns import the_campaign
from sottovoce.server.database.schema import invites

REQUESTERS = ["/campaigns", "/tokens"]


def test_what_is_written_is_noticed(arena: Arena) -> None:
    with pytest.raises(AssertionError), arena.unharmed():
        arena.draft()


@pytest.mark.parametrize("path", REQUESTERS)
def test_a_token_that_nobody_made_is_refused(arena: Arena, path: str) -> None:
    with arena.unharmed():
        reply = arena.ask("GET", path, headers=bearer(new("svk_")))
    problem(reply, 403, Reason.BAD_CREDENTIAL)


@pytest.mark.parametrize(
    "credential",
    ["", "svk_", f"svk_{CANARY}", "svk_" + "A" * 44, "svk_" + "é" * 43, "A" * 20_000],
    ids=["empty", "prefix", "short", "long", "not-ascii", "huge"],
)
def test_what_is_no_token_at_all_is_refused_without_being_quoted(
    arena: Arena, credential: str
) -> None:
    """Raw: a client would refuse to send some of them."""
    head = "GET /api/v1/tokens HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    with arena.unharmed():
        told = arena.raw(f"{head}Authorization: Bearer {credential}\r\n\r\n".encode("latin-1"))
    assert told.startswith(b"HTTP/1.1 403 ")
    assert json.loads(told.partition(b"\r\n\r\n")[2])["reason"] == "bad_credential"
    assert CANARY.encode() not in told
    assert len(told) < 2_000


def test_a_revoked_token_ends_at_once(arena: Arena) -> None:
    made = arena.ask("POST", "/tokens", json={"name": "short-lived"}).json()
    headers = bearer(made["token"])
    assert arena.ask("GET", "/tokens", headers=headers).status_code == 200
    assert arena.ask("DELETE", f"/tokens/{made['id']}", headers=headers).status_code == 204
    with arena.unharmed():
        reply = arena.ask("GET", "/tokens", headers=headers)
        again = arena.ask("DELETE", f"/tokens/{made['id']}")
    problem(reply, 403, Reason.BAD_CREDENTIAL)
    problem(again, 404, Reason.NOT_FOUND)


def test_a_setup_secret_works_once(arena: Arena) -> None:
    headers = bearer(make_setup(arena.service))
    assert arena.ask("POST", "/setup", headers=headers, json={"name": "first"}).status_code == 201
    with arena.unharmed():
        reply = arena.ask("POST", "/setup", headers=headers, json={"name": CANARY})
    problem(reply, 403, Reason.BAD_CREDENTIAL)


def test_a_setup_secret_that_was_replaced_does_not_work(arena: Arena) -> None:
    first = make_setup(arena.service)
    make_setup(arena.service)
    with arena.unharmed():
        reply = arena.ask("POST", "/setup", headers=bearer(first), json={"name": CANARY})
    problem(reply, 403, Reason.BAD_CREDENTIAL)


def _try_everything(arena: Arena, campaign: str, invite: str, reason: Reason, status: int) -> None:
    """With this invite a client learns nothing and sends nothing."""
    receipt = new("svr_")
    headers, body = bearer(invite, receipt), arena.submission(campaign, receipt)
    with arena.unharmed():
        replies = [
            arena.ask("GET", f"/campaigns/{campaign}/offer", headers=headers),
            arena.ask("GET", f"/campaigns/{campaign}/block", headers=headers),
            arena.put(body, campaign=campaign, headers=headers),
        ]
    for reply in replies:
        problem(reply, status, reason)


def test_an_invite_that_expired_lets_nobody_in(arena: Arena) -> None:
    id, _ = arena.opened()
    expired = new("svi_")
    with arena.service.database.writing() as connection:
        number = the_campaign(connection, id).number
        yesterday = arena.service.today().toordinal() - 1
        row = {"digest": digest(expired), "campaign": number, "kind": "open"}
        connection.execute(insert(invites), {**row, "expires_on": yesterday})
    _try_everything(arena, id, expired, Reason.INVITE_EXPIRED, 403)


def test_an_invite_that_was_revoked_lets_nobody_in(arena: Arena) -> None:
    id, invite = arena.opened()
    assert arena.ask("DELETE", f"/campaigns/{id}/invites").json() == {"revoked": 1}
    _try_everything(arena, id, invite, Reason.BAD_CREDENTIAL, 403)


def test_an_invite_of_another_campaign_lets_nobody_in(arena: Arena) -> None:
    id, _ = arena.opened()
    _try_everything(arena, id, arena.invites["open"], Reason.BAD_CREDENTIAL, 403)


def test_an_invite_that_nobody_made_lets_nobody_in(arena: Arena) -> None:
    _try_everything(arena, arena.ids["open"], new("svi_"), Reason.BAD_CREDENTIAL, 403)


def test_an_invite_for_one_worker_lets_no_second_one_in(arena: Arena) -> None:
    id, _ = arena.opened()
    single, first = arena.invite(id, kind="single"), new("svr_")
    sent = arena.put(arena.submission(id, first), campaign=id, headers=bearer(single, first))
    assert sent.status_code == 201
    second = new("svr_")
    headers = bearer(single, second)
    with arena.unharmed():
        block = arena.ask("GET", f"/campaigns/{id}/block", headers=headers)
        report = arena.put(arena.submission(id, second), campaign=id, headers=headers)
    problem(block, 403, Reason.INVITE_USED)
    problem(report, 403, Reason.INVITE_USED)


@pytest.mark.parametrize("state", ["draft", "closed"])
def test_a_campaign_that_is_not_open_takes_no_report(arena: Arena, state: str) -> None:
    receipt, id = new("svr_"), arena.ids[state]
    headers, body = bearer(arena.invites[state], receipt), arena.submission(id, receipt)
    with arena.unharmed():
        block = arena.ask("GET", f"/campaigns/{id}/block", headers=headers)
        report = arena.put(body, campaign=id, headers=headers)
    problem(block, 409, Reason.NOT_OPEN)
    problem(report, 409, Reason.NOT_OPEN)


def test_a_draft_is_nobodys_business(arena: Arena) -> None:
    id, invite = arena.ids["draft"], arena.invites["draft"]
    with arena.unharmed():
        offer = arena.ask("GET", f"/campaigns/{id}/offer", headers=bearer(invite))
        page = arena.http.get(f"/c/{id}", headers={"Accept": "text/html"})
    problem(offer, 409, Reason.NOT_OPEN)
    assert page.status_code == 404
    assert "A campaign that is" not in page.text


@pytest.mark.parametrize("state", ["open", "closed"])
def test_what_is_open_or_closed_does_not_change(arena: Arena, state: str) -> None:
    id = arena.ids[state]
    terms = arena.ask("GET", f"/campaigns/{id}").json()
    draft = {"title": CANARY, "question": CANARY, "policy": terms["policy"]}
    with arena.unharmed():
        replies = [
            arena.ask("PUT", f"/campaigns/{id}", json=draft),
            arena.ask("PUT", f"/campaigns/{id}/tasks", json=[{"task": CANARY}]),
        ]
    for reply in replies:
        problem(reply, 409, Reason.NOT_A_DRAFT)


def test_what_is_closed_does_not_open_again(arena: Arena) -> None:
    with arena.unharmed():
        reply = arena.ask("POST", f"/campaigns/{arena.ids['closed']}/open")
    assert reply.status_code == 409
    assert reply.json()["reason"] == "not_a_draft"


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], object], int, Reason]] = {
    "simulated": (lambda s: {**s, "simulated": True}, 422, Reason.SIMULATED),
    "foreign policy": (lambda s: {**s, "policy": "f" * 64}, 409, Reason.FOREIGN_POLICY),
    "another worker": (lambda s: {**s, "worker": "f" * 32}, 403, Reason.BAD_CREDENTIAL),
    "no policy": (lambda s: {k: v for k, v in s.items() if k != "policy"}, 422, Reason.MALFORMED),
    "unknown field": (lambda s: {**s, CANARY: CANARY}, 422, Reason.MALFORMED),
    "unknown task": (lambda s: {**s, "tasks": ["t1", "t3"]}, 422, Reason.NOT_ADMITTED),
    "tasks twice": (lambda s: {**s, "tasks": ["t1", "t1"]}, 422, Reason.MALFORMED),
    "unsorted": (lambda s: {**s, "tasks": ["t2", "t1"]}, 422, Reason.MALFORMED),
    "too few reports": (lambda s: {**s, "reports": ["oak"]}, 422, Reason.MALFORMED),
    "no reports": (lambda s: {**s, "tasks": [], "reports": []}, 422, Reason.NOT_ADMITTED),
    "unknown label": (lambda s: {**s, "reports": ["oak", CANARY]}, 422, Reason.NOT_ADMITTED),
    "numbers": (lambda s: {**s, "reports": [1, 2.5]}, 422, Reason.NOT_ADMITTED),
    "a huge number": (lambda s: {**s, "reports": [10**300, 1]}, 422, Reason.NOT_ADMITTED),
    "truths": (lambda s: {**s, "reports": [True, None]}, 422, Reason.MALFORMED),
    "nested": (lambda s: {**s, "reports": [["oak"], {}]}, 422, Reason.MALFORMED),
    "half characters": (lambda s: {**s, "tasks": ["\ud800", "t1"]}, 422, Reason.MALFORMED),
    "half a label": (lambda s: {**s, "reports": ["oak", "\udfff"]}, 422, Reason.NOT_ADMITTED),
    "a list": (lambda s: [s], 422, Reason.MALFORMED),
    "nothing": (lambda s: None, 422, Reason.MALFORMED),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_submission_that_is_not_as_it_should_be_is_refused(
    arena: Arena, change: tuple[Callable[[dict[str, Any]], object], int, Reason]
) -> None:
    make, status, reason = change
    receipt = new("svr_")
    body = make(arena.submission(arena.ids["open"], receipt))
    with arena.unharmed():
        reply = arena.put(json.dumps(body).encode(), headers=bearer(arena.invites["open"], receipt))
    problem(reply, status, reason)


def test_an_oversized_submission_is_refused_before_it_is_read(arena: Arena) -> None:
    with arena.unharmed():
        reply = arena.put(b'"' + CANARY.encode() * 1000 + b'"')
    problem(reply, 413, Reason.OVERSIZE)


def test_a_second_report_of_a_worker_is_refused(arena: Arena) -> None:
    body = arena.submission(arena.ids["open"], arena.receipt, reports=["birch", "oak"])
    with arena.unharmed():
        reply = arena.put(body)
    problem(reply, 409, Reason.ALREADY_REPORTED)


def test_other_bytes_under_a_used_identifier_are_refused(arena: Arena) -> None:
    receipt, id = new("svr_"), secrets.token_hex(16)
    headers, body = bearer(arena.invites["open"], receipt), arena.ids["open"]
    submission = arena.submission(body, receipt)
    assert arena.put(submission, id=id, headers=headers).status_code == 201
    with arena.unharmed():
        reply = arena.put({**submission, "reports": ["birch", "oak"]}, id=id, headers=headers)
        replayed = arena.put(submission, id=id, headers=headers)
    problem(reply, 409, Reason.CONFLICT)
    assert (replayed.status_code, replayed.json()["replayed"]) == (200, True)


TRICKS = {
    "dots": "..",
    "encoded dots": "%2e%2e%2f",
    "doubly encoded": "%252e%252e%252f",
    "up and away": "..%2f..%2f..%2fetc%2fpasswd",
    "backslashes": "..%5c..%5cwindows",
    "nul": "0" * 31 + "%00",
    "nul after": "0" * 32 + "%00",
    "new line after": "0" * 32 + "%0a",
    "capitals": "A" * 32,
    "wide digits": quote("０" * 32),
    "invalid utf-8": "%ff%fe" * 8,
    "half of a character": "%ed%a0%80",
    "bidirectional": quote("\u202e" + "0" * 31),
    "long": "a" * 10_000,
    "short": "0",
    "a query": "%3fx=1",
    "sql": quote("' OR 1=1 --"),
    "script": quote(f"<script>{CANARY}</script>"),
}


@pytest.mark.parametrize("trick", TRICKS.values(), ids=TRICKS.keys())
def test_an_identifier_with_tricks_is_refused(arena: Arena, trick: str) -> None:
    """Raw: a client would put the address in order first."""
    body = json.dumps(arena.submission(arena.ids["open"], arena.receipt)).encode()
    shown = "".join(f"{name}: {value}\r\n" for name, value in arena.worker.items())
    with arena.unharmed():
        for place in (
            f"/api/v1/campaigns/{arena.ids['open']}/reports/{trick}",
            f"/api/v1/campaigns/{trick}/reports/{'0' * 32}",
        ):
            head = f"PUT {place} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{shown}"
            told = arena.raw(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            status = int(told.split()[1])
            assert status in (404, 405, 422), told[:200]
            assert json.loads(told.partition(b"\r\n\r\n")[2])["reason"] in (
                "malformed", "not_found", "unsupported",
            )  # fmt: skip
            assert CANARY.encode() not in told
            assert trick.encode() not in told.partition(b"\r\n\r\n")[2] or len(trick) < 3


@pytest.mark.parametrize("trick", TRICKS.values(), ids=TRICKS.keys())
@pytest.mark.parametrize(
    "place",
    ["/c/{}", "/static/{}", "/static/reference/{}", "/api/v1/tokens/{}",
     "/api/v1/campaigns/{}/exports/reports.csv", "/{}"],
)  # fmt: skip
def test_an_address_with_tricks_leads_nowhere(arena: Arena, place: str, trick: str) -> None:
    shown = f"Authorization: Bearer {arena.token}\r\n"
    head = f"GET {place.format(trick)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{shown}\r\n"
    told = arena.raw(head.encode())
    assert int(told.split()[1]) in (404, 405, 422), told[:300]
    for quoted in (CANARY.encode(), b"root:", b"<script>c", b"site-packages"):
        assert quoted not in told
