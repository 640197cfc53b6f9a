"""Every route is described, is on the page that lists them, and asks for the right credential."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Mount, Route
from tests.server.web.hostile_server import Arena, bearer, new, problem

from sottovoce.errors import Reason
from sottovoce.live.server.feature import FEATURE
from sottovoce.server.credentials import make_setup, make_token, token_id
from sottovoce.server.web.app import API, build_app
from sottovoce.server.web.openapi import NEEDED, SCHEMES
from sottovoce.server.web.problems import STATUS
from sottovoce.server.web.routes import health
from sottovoce.server.web.settings import Settings

ROOT = Path(__file__).parents[3]
PAGES = {
    "/", "/setup", "/campaigns", "/campaigns/new", "/campaigns/{campaign_id}",
    "/campaigns/{campaign_id}/sheet", "/lab", "/c/{campaign_id}",
    "/k/{campaign_id}", "/l/{session_id}", "/api",
    "/static/reference/{name}",
}  # fmt: skip
"""For people: they show nothing that needs a credential, and are in no description."""

APP = build_app(Settings(Path("unused")))
DOCUMENT = APP.openapi()
OPERATIONS: dict[str, dict[str, Any]] = {
    f"{method.upper()} {path}": operation
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
}
KINDS = ["none", "token", "invite", "receipt", "setup", "keyholder", "member"]
NEEDS: dict[str, str] = {
    "POST /api/v1/setup": "setup",
    "GET /api/v1/campaigns/{campaign_id}/offer": "invite",
    "GET /api/v1/campaigns/{campaign_id}/block": "invite",
    "PUT /api/v1/campaigns/{campaign_id}/reports/{report_id}": "invite",
    "GET /api/v1/campaigns/{campaign_id}/reports": "receipt",
    "DELETE /api/v1/campaigns/{campaign_id}/reports/{report_id}": "receipt",
    "GET /api/v1/campaigns/{campaign_id}/sealed": "keyholder",
    "GET /api/v1/campaigns/{campaign_id}/sealed/next": "keyholder",
    "GET /api/v1/campaigns/{campaign_id}/sealed/batches/{number}": "keyholder",
    "GET /api/v1/campaigns/{campaign_id}/sealed/close": "keyholder",
    "POST /api/v1/campaigns/{campaign_id}/sealed/messages": "keyholder",
    "GET /api/v1/live/{session_id}/offer": "member",
    "POST /api/v1/live/{session_id}/join": "member",
    "GET /api/v1/live/{session_id}/terms": "member",
    "POST /api/v1/live/{session_id}/deal": "member",
    "GET /api/v1/live/{session_id}/turn": "member",
    "POST /api/v1/live/{session_id}/replies": "member",
    "GET /healthz": "none",
    "GET /readyz": "none",
}
"""The needed credentials, listed by hand; the default is a requester's token."""

EITHER = {"GET /api/v1/campaigns/{campaign_id}/truths": ["invite", "receipt"]}
"""Those that take one of several credentials."""

LIVE: dict[str, str] = {}
"""Live sessions that were made for one request, and who may make it."""

BESIDE = [name for name, needed in NEEDS.items() if needed == "invite" and "offer" not in name]
"""Operations that need a receipt in addition to the invite."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_route_has_a_summary_and_a_description(name: str) -> None:
    operation = OPERATIONS[name]
    summary, description = operation["summary"], operation["description"]
    assert summary[0].isupper()
    assert not summary.endswith(".")
    assert "\n" not in summary
    assert len(summary) <= 100
    assert description.endswith(".")


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_route_documents_its_success(name: str) -> None:
    responses = OPERATIONS[name]["responses"]
    successes = {code: each for code, each in responses.items() if code.startswith("2")}
    assert successes
    for code, each in successes.items():
        if code == "204":
            assert "content" not in each
        elif name.endswith("/exports/{name}"):
            assert len(each["content"]) == 4
        else:
            [content] = each["content"].values()
            assert content["schema"]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_route_names_the_credential_it_needs(name: str) -> None:
    named = [scheme for each in OPERATIONS[name]["security"] for scheme in each]
    needed = NEEDS.get(name, "token")
    beside = ["own_receipt"] if name in BESIDE else []
    assert named == ([] if needed == "none" else EITHER.get(name, [needed, *beside]))
    for scheme in named:
        assert NEEDED[scheme] in OPERATIONS[name]["description"]


def test_every_scheme_has_words() -> None:
    assert NEEDED.keys() == SCHEMES.keys()


def test_every_route_but_pages_is_described() -> None:
    described = {
        f"{method} /api/v1{route.path}"
        for router in (*(module.router for module in API), *FEATURE.api)
        for route in router.routes
        if isinstance(route, Route)
        for method in route.methods or ()
    }
    own = {
        f"{method} {route.path}"
        for route in health.router.routes
        if isinstance(route, Route)
        for method in route.methods or ()
    }
    assert described | own == OPERATIONS.keys()


def test_what_is_not_described_is_a_page_or_a_file(arena: Arena) -> None:
    others = [route for route in APP.router.routes if isinstance(route, Route | Mount)]
    assert {route.path for route in others} == {"/api/v1/openapi.json", "/static"}
    for path in PAGES - {"/c/{campaign_id}", "/static/reference/{name}"}:
        assert arena.http.get(path).headers["content-type"].startswith("text/html")


def test_every_reason_has_a_status() -> None:
    assert STATUS.keys() == set(Reason)


def test_the_page_lists_every_route_and_every_reason() -> None:
    reference = runpy.run_path(str(ROOT / "tests" / "docs" / "api_reference.py"))
    written = (ROOT / "docs" / "reference" / "http-api.md").read_text(encoding="utf-8")
    assert reference["MEANINGS"].keys() == set(Reason)
    assert written == reference["api_reference"](), "run `make docs`"
    for name in OPERATIONS:
        assert f"| `{name}` |" in written
    for reason in Reason:
        assert f"| `{reason}` | {STATUS[reason].value} |" in written


def _credential(arena: Arena, kind: str, campaign: str) -> str:
    match kind:
        case "token":
            return make_token(arena.service, "for one request")
        case "invite":
            return (
                arena.invites["open"] if campaign == arena.ids["open"] else arena.invite(campaign)
            )
        case "receipt":
            return arena.receipt
        case "keyholder":
            return arena.keyholder(campaign)
        case "member":
            return LIVE.get(campaign) or arena.live()[1]["worker"]
        case _:
            return make_setup(arena.service)


def _headers(arena: Arena, name: str, kind: str, campaign: str) -> dict[str, str]:
    own = arena.receipt if name in BESIDE else None
    if kind == "none":
        return {} if own is None else {"Sottovoce-Receipt": own}
    return bearer(_credential(arena, kind, campaign), own)


def _path(arena: Arena, name: str, campaign: str) -> str:
    places = {
        "campaign_id": campaign, "report_id": "0" * 32, "webhook_id": "0" * 16,
        "token_id": token_id(make_token(arena.service, "expendable")), "name": "reports.csv",
        "number": "0", "session_id": campaign,
    }  # fmt: skip
    return name.partition(" ")[2].format(**places)


def _campaign(arena: Arena, kind: str, name: str) -> str:
    """A resource that any holder of the credential may see."""
    if "{session_id}" in name:
        id, shown = arena.live()
        LIVE[id] = shown["dealer" if name.endswith("/deal") else "worker"]
        return id
    if kind == "keyholder":
        return arena.sealed()
    return arena.ids["open"] if name in EITHER else arena.opened()[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_route_takes_the_right_credential_and_no_other(
    arena: Arena, name: str, kind: str
) -> None:
    needed, method = EITHER.get(name, [NEEDS.get(name, "token")]), name.partition(" ")[0]
    if {kind, "none"} & set(needed):
        id = _campaign(arena, kind, name)
        headers = _headers(arena, name, kind, id)
        reply = arena.http.request(method, _path(arena, name, id), headers=headers)
        assert reply.status_code not in (401, 403), reply.text
        assert reply.status_code < 500
        return
    id = arena.ids["open"]
    path, headers = _path(arena, name, id), _headers(arena, name, kind, id)
    with arena.unharmed():
        reply = arena.http.request(method, path, headers=headers)
    if kind == "none":
        problem(reply, 401, Reason.NO_CREDENTIAL)
        assert reply.headers["www-authenticate"] == "Bearer"
    else:
        problem(reply, 403, Reason.BAD_CREDENTIAL)


@pytest.mark.parametrize("scheme", ["Basic", "Token", "bearerish", ""])
@pytest.mark.parametrize("name", [each for each in OPERATIONS if NEEDS.get(each) != "none"])
def test_a_credential_comes_as_bearer(arena: Arena, name: str, scheme: str) -> None:
    headers = {
        "Authorization": f"{scheme} {arena.token}".strip(),
        "Sottovoce-Receipt": arena.receipt,
    }
    path = _path(arena, name, arena.ids["open"])
    with arena.unharmed():
        reply = arena.http.request(name.partition(" ")[0], path, headers=headers)
    problem(reply, 403, Reason.BAD_CREDENTIAL)


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("receipt", [None, "", "svr_short", "svi", "another kind"])
def test_a_receipt_is_needed_in_addition_to_an_invite(
    arena: Arena, name: str, receipt: str | None
) -> None:
    shown = new("svi_") if receipt == "another kind" else receipt
    path = _path(arena, name, arena.ids["open"])
    with arena.unharmed():
        reply = arena.http.request(
            name.partition(" ")[0], path, headers=bearer(arena.invites["open"], shown)
        )
    if shown is None:
        problem(reply, 401, Reason.NO_CREDENTIAL)
    else:
        problem(reply, 403, Reason.BAD_CREDENTIAL)
