"""The OpenAPI description and its page, without external files or inline scripts."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException

from sottovoce.model.submission import FORMAT
from sottovoce.server.web.page_templates import page
from sottovoce.server.web.problems import MEDIA_TYPE

TITLE = "Sottovoce"
DESCRIPTION = """\
Requesters create campaigns. Workers' clients randomise answers on the device and send reports.

Credentials are sent in the header `Authorization: Bearer …`. Each is a prefix and 256 random bits:
`svk_` a requester's token, `svi_` an invite to one campaign, `svr_` a worker's own receipt,
`svh_` a keyholder's credential for one sealed campaign, `svl_` a member's credential for one live
session, `sva_` the one-time secret of the setup link.

Every error has the format `application/problem+json`: `detail` is for people, `reason` for
programs. Sending the same report again is safe: the same bytes are stored once.
"""
TAGS = {
    "tokens": "Requesters' tokens.",
    "campaigns": "Campaigns: questions, policies and invites.",
    "sealed": "Sealed campaigns: links for keyholders, and the progress of rounds.",
    "live": "Live sessions: workers who are online together compute sums; nobody sees a single "
    "input.",
    "results": "Truths, weights and exports.",
    "webhooks": "Notifications of events.",
    "worker": "For workers' clients: an invite, a receipt, or both.",
    "keyholder": "For keyholders' clients.",
    "member": "For the clients of a live session's members and of its dealer.",
    "health": "For operators.",
}
_BEARER = {"type": "http", "scheme": "bearer"}
SCHEMES: dict[str, dict[str, str]] = {
    "token": {**_BEARER, "description": "A requester's token: svk_…"},
    "setup": {**_BEARER, "description": "The setup link's secret: sva_…"},
    "invite": {**_BEARER, "description": "An invite: svi_…"},
    "receipt": {**_BEARER, "description": "A worker's receipt: svr_…"},
    "keyholder": {**_BEARER, "description": "A keyholder's credential: svh_…"},
    "member": {**_BEARER, "description": "A live session member's credential: svl_…"},
    "own_receipt": {
        "type": "apiKey",
        "in": "header",
        "name": "Sottovoce-Receipt",
        "description": "A worker's receipt in addition to an invite: svr_…",
    },
}
NEEDED = {
    "token": "a requester's token (`svk_…`)",
    "setup": "the setup link's secret (`sva_…`)",
    "invite": "an invite to the campaign (`svi_…`)",
    "receipt": "the worker's receipt (`svr_…`)",
    "keyholder": "a keyholder's credential (`svh_…`)",
    "member": "a credential of the live session (`svl_…`)",
    "own_receipt": "the worker's receipt in the header `Sottovoce-Receipt` (`svr_…`)",
}
_CAMPAIGN = "/api/v1/campaigns/{campaign_id}"
_NOBODY: list[str] = []
SECURITY: dict[tuple[str, str], list[str]] = {
    ("post", "/api/v1/setup"): ["setup"],
    ("get", f"{_CAMPAIGN}/offer"): ["invite"],
    ("get", f"{_CAMPAIGN}/block"): ["invite", "own_receipt"],
    ("put", f"{_CAMPAIGN}/reports/{{report_id}}"): ["invite", "own_receipt"],
    ("get", f"{_CAMPAIGN}/reports"): ["receipt"],
    ("delete", f"{_CAMPAIGN}/reports/{{report_id}}"): ["receipt"],
    ("get", "/healthz"): _NOBODY,
    ("get", "/readyz"): _NOBODY,
}
"""The credentials that each operation needs, all together; by default those of its tag."""

BY_TAG = {"keyholder": ["keyholder"], "member": ["member"]}
"""The credentials of a tag's operations; all others need a requester's token."""

EITHER: dict[tuple[str, str], list[str]] = {("get", f"{_CAMPAIGN}/truths"): ["invite", "receipt"]}
"""Operations that accept one of several credentials."""

SUBMISSION: dict[str, Any] = {
    "title": "Submission",
    "description": "The reports of one worker, randomised on the device. It contains no answers.",
    "type": "object",
    "additionalProperties": False,
    "required": ["format", "policy", "worker", "tasks", "reports"],
    "properties": {
        "format": {"const": FORMAT},
        "policy": {
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
            "description": "The policy's hash.",
        },
        "worker": {
            "type": "string",
            "pattern": "^[0-9a-f]{32}$",
            "description": "The worker's pseudonym in this campaign, made from the receipt.",
        },
        "tasks": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "uniqueItems": True,
            "description": "Names of tasks, sorted.",
        },
        "reports": {
            "type": "array",
            "items": {"type": ["string", "number"]},
            "minItems": 1,
            "description": "One value per task.",
        },
        "simulated": {
            "type": "boolean",
            "description": "Whether the noise is seeded, which protects nobody. Refused if true, "
            "unless the campaign is simulated.",
        },
    },
}

_SIGNED: dict[str, Any] = {
    "signature": {"type": "string", "description": "Ed25519, in URL-safe base64."},
    "text": {"type": "string", "description": "Canonical JSON: what is signed."},
}
_SHARES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "One share per keyholder, sealed to it with HPKE. The text has their hashes.",
}
CONTRIBUTION: dict[str, Any] = {
    "title": "Contribution",
    "description": "The sealed answers of one worker. Nobody can read them, not even keyholders.",
    "type": "object",
    "additionalProperties": False,
    "required": ["shares", "signature", "text"],
    "properties": {**_SIGNED, "shares": _SHARES},
}
MESSAGE: dict[str, Any] = {
    "title": "Message",
    "description": "A keyholder's signed message: a deal, a check, a confirmation or an opening.",
    "type": "object",
    "additionalProperties": False,
    "required": ["signature", "text"],
    "properties": {**_SIGNED, "shares": {**_SHARES, "description": "In a deal only."}},
}

KEPT_NAMES = {
    "sottovoce__live__server__member_routes__": "sottovoce__web__routes__live_members__",
    "sottovoce__server__web__routes__worker__": "sottovoce__web__routes__worker__",
}
"""Schemas with the same name are distinguished by their modules. Clients know the original modules,
so the names stay when modules move."""

router = APIRouter(include_in_schema=False, tags=["pages"])

ASSETS = {
    name: (files("fastapi_swagger.resources").joinpath(name), media_type)
    for name, media_type in (
        ("swagger-ui-bundle.js", "text/javascript"),
        ("swagger-ui.css", "text/css"),
    )
}


@router.api_route("/api", methods=["GET", "HEAD"])
async def show(request: Request) -> Response:
    """The page with the API reference."""
    return page(request, "reference.html")


@router.api_route("/static/reference/{name}", methods=["GET", "HEAD"], tags=["files"])
def asset(name: str) -> Response:
    """Swagger UI's files, from its package."""
    if name not in ASSETS:
        raise HTTPException(404)
    file, media_type = ASSETS[name]
    return Response(file.read_bytes(), media_type=media_type)


def describe(app: FastAPI) -> None:
    """Give the app its OpenAPI description."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _described(app: FastAPI) -> dict[str, Any]:
    tags = [{"name": name, "description": words} for name, words in TAGS.items()]
    document = _with_kept_names(
        get_openapi(
            title=TITLE, version=app.version, description=DESCRIPTION, routes=app.routes, tags=tags
        )
    )
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    # FastAPI's own error format is never sent: every error is a problem document.
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Submission"], schemas["Contribution"] = SUBMISSION, CONTRIBUTION
    schemas["Message"] = MESSAGE
    components["securitySchemes"] = SCHEMES
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            place = (method, path)
            either = [[name] for name in EITHER.get(place, ())]
            usual = BY_TAG.get(operation.get("tags", [""])[0], ["token"])
            _correct(operation, either or [SECURITY.get(place, usual)])
    return document


def _with_kept_names(document: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(document)
    for now, kept in KEPT_NAMES.items():
        text = text.replace(now, kept)
    named: dict[str, Any] = json.loads(text)
    return named


def _correct(operation: dict[str, Any], ways: list[list[str]]) -> None:
    operation["security"] = [{name: [] for name in needed} for needed in ways if needed]
    # A docstring's first sentence is the summary; the rest is the description.
    line, _, rest = operation["description"].partition("\n")
    operation["summary"], _, more = line.removesuffix(".").partition(". ")
    shown = [" and ".join(NEEDED[name] for name in needed) for needed in ways]
    words = " or ".join(filter(None, shown)) or "no credential"
    explained = (f"{more}." if more else "", rest.strip(), f"Needs {words}.")
    operation["description"] = "\n\n".join(filter(None, explained))
    responses = operation["responses"]
    responses.pop("422", None)
    for status in ("4XX", "5XX"):
        content = responses[status]["content"]
        content[MEDIA_TYPE] = content.pop("application/json")
