"""Campaigns over HTTP."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.server.drafts import TODAY, terms
from tests.server.web.requests import DRAFT, Served, refused, served

from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Calibration, Domain, Guarantee, Unit
from sottovoce.server.database import Database
from sottovoce.server.web.routes.campaigns import HeldBody

JSON = {"Content-Type": "application/json"}
HTML = "<img src=x onerror=alert(1)>"


@pytest.fixture
def server(database: Database) -> Iterator[Served]:
    with served(database) as made:
        yield made


def test_a_campaign_from_draft_to_end(server: Served) -> None:
    client = server.client
    made = client.post("/campaigns", json=DRAFT)
    id = made.json()["id"]
    assert made.status_code == 201
    assert client.get("/campaigns").json() == {"campaigns": [made.json()]}
    opened = client.post(f"/campaigns/{id}/open")
    assert (opened.status_code, opened.json()["state"]) == (200, "open")
    assert client.post(f"/campaigns/{id}/open").json() == opened.json()
    closed = client.post(f"/campaigns/{id}/close")
    assert (closed.json()["state"], closed.json()["closed_on"]) == ("closed", TODAY.isoformat())
    assert client.post(f"/campaigns/{id}/close").json() == closed.json()
    assert client.delete(f"/campaigns/{id}").status_code == 204
    refused(client.get(f"/campaigns/{id}"), 404, "not_found")


def test_a_campaign_says_what_it_promises_per_answer_and_per_worker(server: Served) -> None:
    shown = server.client.get(f"/campaigns/{server.draft()}").json()
    guarantee = shown["guarantee"]
    assert guarantee["per_answer"] == {
        "epsilon": pytest.approx(1.0), "delta": 0.0, "exact": True, "answers": 5,
    }  # fmt: skip
    assert guarantee["per_worker"]["epsilon"] == pytest.approx(5.0)
    assert guarantee["odds"].startswith("Of 100 workers")
    assert guarantee["warning"] is None
    assert (shown["answers"], shown["block"], shown["tasks"]) == (5, 2, 2)
    assert shown["domain"] == DRAFT["domain"]


def test_where_no_finite_epsilon_holds_it_is_null() -> None:
    body = HeldBody.of(Guarantee(Unit.WORKER, 3, math.inf, 1e-6), 3)
    assert json.loads(body.model_dump_json())["epsilon"] is None


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_numbers_have_a_range_a_step_and_a_unit(server: Served) -> None:
    domain = {"kind": "numeric", "low": -10.0, "high": 40.0, "step": 0.5}
    id = server.draft(domain=domain, unit="°C", quota=7, closes_on="2031-06-01")
    shown = server.client.get(f"/campaigns/{id}").json()
    assert (shown["domain"], shown["unit"]) == (domain, "°C")
    assert (shown["quota"], shown["closes_on"]) == (7, "2031-06-01")
    assert shown["policy"]["mechanism"]["name"] == "piecewise"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_policy_can_be_given(server: Served) -> None:
    policy = terms().policy
    body = {"title": "t", "question": "q", "policy": policy.as_json()}
    made = server.client.post("/campaigns", json=body)
    assert (made.status_code, made.json()["policy_hash"]) == (201, policy.hash)
    assert made.json()["policy"] == policy.as_json()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_draws_may_be_shown_after_sending(server: Served) -> None:
    later = {"epsilon": 1.0, "answers": 5, "show_draw": "after_send"}
    id = server.draft(privacy=later)
    shown = server.client.get(f"/campaigns/{id}").json()
    assert shown["policy"]["show_draw"] == "after_send"
    before = server.client.get(f"/campaigns/{server.draft()}").json()
    assert "show_draw" not in before["policy"]
    assert shown["policy_hash"] != before["policy_hash"]
    never = {**DRAFT, "privacy": {**later, "show_draw": "never"}}
    refused(server.client.post("/campaigns", json=never), 422, "malformed")


def test_a_policy_that_promises_nothing_is_refused(server: Served) -> None:
    published = make_policy(
        Domain.numeric(0, 1), "laplace", Target(1.0), calibration=Calibration.AS_PUBLISHED
    )
    body = {"title": "t", "question": "q", "policy": published.as_json()}
    told = refused(server.client.post("/campaigns", json=body), 422, "malformed")
    assert "as published" in told["detail"]


def test_a_draft_changes_and_keeps_its_tasks(server: Served) -> None:
    id = server.draft()
    others = {name: value for name, value in DRAFT.items() if name != "tasks"} | {"title": "Trees"}
    changed = server.client.put(f"/campaigns/{id}", json=others)
    assert (changed.status_code, changed.json()["title"], changed.json()["tasks"]) == (
        200,
        "Trees",
        2,
    )


def test_an_open_campaign_does_not_change(server: Served) -> None:
    id = server.draft()
    before = server.client.post(f"/campaigns/{id}/open").json()
    changed = server.client.put(f"/campaigns/{id}", json={**DRAFT, "title": "Trees"})
    refused(changed, 409, "not_a_draft")
    assert server.client.get(f"/campaigns/{id}").json() == before


def test_states_that_do_not_follow_are_refused(server: Served) -> None:
    id = server.draft()
    refused(server.client.post(f"/campaigns/{id}/close"), 409, "not_open")
    server.client.post(f"/campaigns/{id}/open")
    server.client.post(f"/campaigns/{id}/close")
    refused(server.client.post(f"/campaigns/{id}/open"), 409, "not_a_draft")
    late = server.draft(closes_on=(TODAY - timedelta(days=1)).isoformat())
    told = refused(server.client.post(f"/campaigns/{late}/open"), 422, "malformed")
    assert told["field"] == "closes_on"
    empty = server.draft(tasks=None)
    told = refused(server.client.post(f"/campaigns/{empty}/open"), 422, "malformed")
    assert told["field"] == "tasks"


def test_html_goes_in_and_comes_out_as_text(server: Served) -> None:
    id = server.draft(title=HTML, question=HTML, tasks=[{"task": HTML, "text": HTML}])
    shown = server.client.get(f"/campaigns/{id}")
    assert (shown.json()["title"], shown.json()["question"]) == (HTML, HTML)
    assert shown.headers["content-type"] == "application/json"
    listed = server.client.get(f"/campaigns/{id}/tasks").json()["tasks"]
    assert listed == [{"task": HTML, "text": HTML, "image": None, "known": None}]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a text for a number": ({"quota": "7"}, "quota"),
    "a fraction for a count": ({"quota": 7.5}, "quota"),
    "truth for a number": ({"quota": True}, "quota"),
    "a quota of none": ({"quota": 0}, "quota"),
    "a quota beyond counting": ({"quota": 1 << 40}, "quota"),
    "a number for a day": ({"closes_on": 20310101}, "closes_on"),
    "a time for a day": ({"closes_on": "2031-01-01T00:00:00"}, "closes_on"),
    "no such day": ({"closes_on": "2031-02-30"}, "closes_on"),
    "an unknown field": ({"colour": "red"}, "colour"),
    "no title": ({"title": ""}, "title"),
    "a long title": ({"title": "x" * 201}, "title"),
    "no tasks": ({"tasks": []}, "tasks"),
    "a task of numbers": ({"tasks": [{"task": 7}]}, "tasks.0.task"),
    "a wrong image": ({"tasks": [{"task": "a"}, {"task": "b", "image": "ftp://x"}]}, "tasks.1"),
    "an unknown field of a task": ({"tasks": [{"task": "a", "gold": 1}]}, "tasks.0.gold"),
    "both ways to a policy": ({"policy": {}}, "body"),
    "privacy without a domain": ({"domain": None}, "body"),
    "epsilon of nothing": ({"privacy": {"epsilon": 0, "answers": 1}}, "privacy.epsilon"),
    "epsilon as text": ({"privacy": {"epsilon": "1", "answers": 1}}, "privacy.epsilon"),
    "no answers": ({"privacy": {"epsilon": 1}}, "privacy.answers"),
    "a unit of another kind": (
        {"privacy": {"epsilon": 1, "answers": 1, "unit": "task"}},
        "privacy.unit",
    ),
    "a domain of another kind": ({"domain": {"kind": "free text"}}, "domain"),
    "a number without a range": ({"domain": {"kind": "numeric"}}, "domain.numeric.low"),
}
SENSELESS: dict[str, tuple[dict[str, Any], str]] = {
    "tasks twice": ({"tasks": [{"task": "a"}, {"task": "a"}]}, "twice"),
    "a blank title": ({"title": "  "}, "the title is empty"),
    "a character that is none": ({"title": "a\x00b"}, "no text"),
    "a unit for labels": ({"unit": "°C"}, "unit is for numbers"),
    "labels twice": ({"domain": {"kind": "ordinal", "labels": ["a", "a"]}}, "must differ"),
    "a range the wrong way": ({"domain": {"kind": "numeric", "low": 2, "high": 1}}, "low < high"),
    "no such mechanism": (
        {"privacy": {"epsilon": 1, "answers": 1, "mechanism": "magic"}},
        "no mechanism 'magic'",
    ),
    "no such parameter": (
        {"privacy": {"epsilon": 1, "answers": 1, "parameters": {"x": 1}}},
        "no parameter 'x'",
    ),
    "more than can be computed": (
        {
            "domain": {"kind": "numeric", "low": 0, "high": 1e300, "step": 1e-300},
            "privacy": {"epsilon": 1, "answers": 1},
        },
        "too large or too small",
    ),
}


def test_a_wrong_field_is_named_and_nothing_is_stored(server: Served) -> None:
    for change, field in WRONG.values():
        told = refused(server.client.post("/campaigns", json={**DRAFT, **change}), 422, "malformed")
        assert told["field"] == field
    assert server.client.get("/campaigns").json() == {"campaigns": []}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_makes_no_sense_is_said_and_nothing_is_stored(server: Served) -> None:
    for change, words in SENSELESS.values():
        told = refused(server.client.post("/campaigns", json={**DRAFT, **change}), 422, "malformed")
        assert words in told["detail"]
    assert server.client.get("/campaigns").json() == {"campaigns": []}


UNREADABLE = [
    (b"", "not JSON"),
    (b"{", "not JSON"),
    (b"[]", "JSON object"),
    (b"null", "JSON object"),
    (b"[" * 100_000, "not JSON"),
    (b'{"quota": ' + b"9" * 5000 + b"}", "not JSON"),
    (b'{"quota": NaN}', "finite"),
    (b'{"privacy": {"epsilon": -Infinity}}', "finite"),
    (b'{"privacy": {"epsilon": 1e999}}', "finite"),
    (b'{"title": "a", "title": "b"}', "twice"),
    (b'{"title": "\xff"}', "UTF-8"),
    (b'{"title": "\\ud800"}', "half of a character"),
    (b'{"\\ud800": 1}', "half of a character"),
]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_is_no_plain_json_is_refused(server: Served) -> None:
    for content, words in UNREADABLE:
        reply = server.client.post("/campaigns", content=content, headers=JSON)
        assert words in refused(reply, 422, "malformed")["detail"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_compressed_bodies_are_not_opened(server: Served) -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    headers = {**JSON, "Content-Encoding": "gzip"}
    reply = server.client.post("/campaigns", content=bomb, headers=headers)
    refused(reply, 415, "unsupported")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_other_kinds_of_content_are_refused(server: Served) -> None:
    content = json.dumps(DRAFT).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""):
        headers = {"Content-Type": kind}
        refused(
            server.client.post("/campaigns", content=content, headers=headers), 415, "unsupported"
        )


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_huge_body_is_refused_before_it_is_read(server: Served) -> None:
    headers = {**JSON, "Content-Length": str((64 << 20) + 1), **server.client.headers}
    assert server.head_only("POST", "/campaigns", headers) == (413, "oversize")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_without_a_token_no_body_is_read(server: Served) -> None:
    headers = {**JSON, "Content-Length": str(60 << 20)}
    assert server.head_only("POST", "/campaigns", headers) == (401, "no_credential")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_every_route_needs_a_token(server: Served) -> None:
    id = server.draft()
    routes = [
        ("GET", "/campaigns"), ("POST", "/campaigns"), ("GET", f"/campaigns/{id}"),
        ("PUT", f"/campaigns/{id}"), ("DELETE", f"/campaigns/{id}"),
        ("POST", f"/campaigns/{id}/open"), ("POST", f"/campaigns/{id}/close"),
        ("GET", f"/campaigns/{id}/tasks"), ("PUT", f"/campaigns/{id}/tasks"),
        ("GET", f"/campaigns/{id}/invites"), ("POST", f"/campaigns/{id}/invites"),
        ("DELETE", f"/campaigns/{id}/invites"),
        ("GET", "/tokens"), ("POST", "/tokens"), ("DELETE", "/tokens/" + "0" * 16),
    ]  # fmt: skip
    wrong = {"Authorization": "Bearer svk_" + "A" * 43}
    with server.anonymous() as client:
        for method, path in routes:
            refused(client.request(method, path), 401, "no_credential")
            refused(client.request(method, path, headers=wrong), 403, "bad_credential")
    assert server.client.get(f"/campaigns/{id}").json()["state"] == "draft"


ODD = ("..%2f..%2fetc%2fpasswd", "%00", "abcd%00", "abcd%0a", "ABCD", "abc", "a" * 33, "a" * 5000,
       "%2e%2e", "%f0%9f%8d%83", "ab'--", "%5c..%5c")  # fmt: skip


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_odd_identifiers_lead_nowhere(server: Served) -> None:
    for path in ODD:
        for method, rest in (("GET", ""), ("DELETE", ""), ("POST", "/open"), ("GET", "/tasks")):
            reply = server.client.request(method, f"/campaigns/{path}{rest}")
            assert reply.status_code in (404, 405, 422)
            assert reply.headers["content-type"] == "application/problem+json"
