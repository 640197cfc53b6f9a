"""The interface described, and a page that shows it: no file from elsewhere, no inline script."""

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
A requester makes campaigns; workers' software randomises answers on the device and sends reports.

Credentials go into the header `Authorization: Bearer …`. Each is a prefix and 256 random bits:
`svk_` a requester's token, `svi_` an invite to one campaign, `svr_` a worker's own receipt,
`svh_` a keyholder's in one sealed campaign, `svl_` a member's of one live session, `sva_` the
one-time secret of the setup link.

Every refusal has one shape, `application/problem+json`: `detail` is for people, `reason` for
programs. Sending the same report again is safe: the same bytes are stored once.
"""
TAGS = {
    "tokens": "Who may ask.",
    "campaigns": "What is asked, what is promised, and who is invited.",
    "sealed": "Sealed campaigns: links for keyholders, and how their rounds go.",
    "live": "Live sessions: workers who are all there add up sums, and nobody sees a part.",
    "results": "Truths, weights and exports.",
    "webhooks": "Being told when something happens.",
    "worker": "For the software of who answers: an invite, a receipt, or both.",
    "keyholder": "For the software of who holds a share of a sealed campaign's totals.",
    "member": "For the software of who takes part in a live session, and of who deals its key.",
    "health": "For who runs the server.",
}
SCHEMES: dict[str, dict[str, str]] = {
    "token": {"type": "http", "scheme": "bearer", "description": "A requester's token: svk_…"},
    "setup": {"type": "http", "scheme": "bearer", "description": "The setup link's secret: sva_…"},
    "invite": {"type": "http", "scheme": "bearer", "description": "An invite: svi_…"},
    "receipt": {"type": "http", "scheme": "bearer", "description": "A worker's receipt: svr_…"},
    "keyholder": {"type": "http", "scheme": "bearer", "description": "A keyholder's: svh_…"},
    "member": {"type": "http", "scheme": "bearer", "description": "A live member's: svl_…"},
    "own_receipt": {
        "type": "apiKey",
        "in": "header",
        "name": "Sottovoce-Receipt",
        "description": "A worker's receipt beside an invite: svr_…",
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
"""What each operation takes, all of it together; where nothing is said, what its tag says."""

BY_TAG = {"keyholder": ["keyholder"], "member": ["member"]}
"""What the operations of a tag take; of all others, a requester's token."""

EITHER: dict[tuple[str, str], list[str]] = {("get", f"{_CAMPAIGN}/truths"): ["invite", "receipt"]}
"""Operations that take one of several credentials."""

SUBMISSION: dict[str, Any] = {
    "title": "Submission",
    "description": "The reports of one worker, randomised on the device: no answer is in it.",
    "type": "object",
    "additionalProperties": False,
    "required": ["format", "policy", "worker", "tasks", "reports"],
    "properties": {
        "format": {"const": FORMAT},
        "policy": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "Its hash."},
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
            "description": "One for each task.",
        },
        "simulated": {
            "type": "boolean",
            "description": "Noise from a seed, which protects nobody: refused if true, unless "
            "the campaign is simulated.",
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
    "description": "One for each keyholder, sealed to it by HPKE; the text has their hashes.",
}
CONTRIBUTION: dict[str, Any] = {
    "title": "Contribution",
    "description": "The sealed answers of one worker: nobody can read them, keyholders neither.",
    "type": "object",
    "additionalProperties": False,
    "required": ["shares", "signature", "text"],
    "properties": {**_SIGNED, "shares": _SHARES},
}
MESSAGE: dict[str, Any] = {
    "title": "Message",
    "description": "What a keyholder signs: a deal, a check, a confirmation or an opening.",
    "type": "object",
    "additionalProperties": False,
    "required": ["signature", "text"],
    "properties": {**_SIGNED, "shares": {**_SHARES, "description": "In a deal only."}},
}

KEPT_NAMES = {
    "sottovoce__live__server__member_routes__": "sottovoce__web__routes__live_members__",
    "sottovoce__server__web__routes__worker__": "sottovoce__web__routes__worker__",
}
"""Schemas of one name are told apart by their modules. Clients know those in which they were first:
wherever modules move, the names stay."""

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
    """The page."""
    return page(request, "reference.html")


@router.api_route("/static/reference/{name}", methods=["GET", "HEAD"], tags=["files"])
def asset(name: str) -> Response:
    """Swagger UI's files, from the package that carries them."""
    if name not in ASSETS:
        raise HTTPException(404)
    file, media_type = ASSETS[name]
    return Response(file.read_bytes(), media_type=media_type)


def describe(app: FastAPI) -> None:
    """Make the app describe itself as it is."""

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
    # FastAPI's own refusal is never sent: every refusal is a problem.
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
    # A docstring's first sentence says what an operation does; the rest explains.
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
