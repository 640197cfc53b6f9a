"""The responses of a fresh server."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families
from tests.frozen.recordings import Files, as_json, is_sqlite, sha256

from sottovoce.testing import RunningServer, running_server

__all__ = ["service"]

LARGEST = 300_000
"""The largest description of the interface that is kept whole."""

PAGES = (
    "/", "/setup", "/campaigns", "/campaigns/new", "/campaigns/none0", "/campaigns/none0/sheet",
    "/lab", "/api", "/c/none0", "/c/CAMPAIGN", "/k/none0", "/l/none0", "/nothing",
)  # fmt: skip
REQUESTS = (
    ("GET", "/healthz", ""), ("GET", "/readyz", ""), ("GET", "/metrics", ""),
    ("GET", "/api/v1/campaigns", ""), ("GET", "/api/v1/campaigns/none0", ""),
    ("POST", "/api/v1/campaigns", "{}"), ("POST", "/api/v1/campaigns", "nonsense"),
    ("DELETE", "/api/v1/campaigns", ""), ("GET", "/api/v1/nothing", ""),
    ("PUT", f"/api/v1/campaigns/none0/reports/{'0' * 32}", "{}"),
    ("GET", "/api/v1/campaigns/none0/offer", ""),
)  # fmt: skip
_LOADED = re.compile(r"<(?:script|link)\b[^>]*>(?:</script>)?\n?")
_ADDRESS = re.compile(r'(?:src|href)="([^"]+)"')
_IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}/[^"']+)["']""")
_PASSING = {"date", "content-length", "etag", "last-modified", "server"}
KEPT = {"/static/randomize.js", "/static/seal.js", "/static/service-worker.js"}
"""Modules whose bytes stay. Others may merge: `modules.txt` lists them, without their hashes."""


def _page(client: httpx.Client, path: str) -> dict[str, Any]:
    answer = client.get(path, headers={"Accept": "text/html"})
    return {
        "status": answer.status_code,
        "headers": {k: v for k, v in sorted(answer.headers.items()) if k not in _PASSING},
        # The files that a page loads are listed separately; merged modules change their hashes.
        "sha256 without what it loads": sha256(_LOADED.sub("", answer.text)),
        "text": answer.text,
    }


def _loaded(client: httpx.Client, pages: Mapping[str, Any]) -> dict[str, httpx.Response]:
    """Everything that the pages name and import."""
    waiting = [
        str(httpx.URL(f"http://host{path}").join(address).path)
        for path, page in pages.items()
        for tag in re.findall(r"<(?:script|link|img)\b[^>]*>", page["text"])
        for address in _ADDRESS.findall(tag)
    ]
    found: dict[str, httpx.Response] = {}
    waiting.append("/static/service-worker.js")
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = client.get(path)
        if path.endswith(".js") and "/static/reference/" not in path:
            base = httpx.URL(f"http://host{path}")
            waiting += [str(base.join(each).path) for each in _IMPORT.findall(found[path].text)]
    return dict(sorted(found.items()))


def _metrics(text: str) -> dict[str, Any]:
    """Names, types and labels, but no counts."""
    passing = {"le", "python", "version"}
    return {
        family.name: {
            "type": family.type,
            "help": family.documentation,
            "samples": sorted(
                {
                    f"{each.name} "
                    + json.dumps({k: "…" if k in passing else v for k, v in each.labels.items()})
                    for each in family.samples
                }
            ),
        }
        for family in text_string_to_metric_families(text)
    }


def _openapi(document: Any) -> Files:
    text = as_json(document)
    if len(text) <= LARGEST:
        return {"openapi.json": text}
    parts = {**document["paths"], **document["components"]["schemas"]}
    hashes = {name: sha256(as_json(part)) for name, part in parts.items()}
    return {"openapi.json": as_json({"sha256": sha256(text), "parts": hashes})}


def _events(folder: Path) -> list[str]:
    [file] = (each for each in folder.iterdir() if is_sqlite(each))
    with contextlib.closing(sqlite3.connect(file)) as connection:
        return [
            row[0] for row in connection.execute("SELECT DISTINCT event FROM events ORDER BY 1")
        ]


def _answer(client: httpx.Client, request: tuple[str, str, str], known: dict[str, str]) -> Any:
    """A status and a document; of a list of campaigns (with random identifiers), fields only."""
    method, path, body = request
    headers = {"Content-Type": "application/json", **known}
    answer = client.request(method, path, content=body, headers=headers)
    told: Any = answer.json() if "json" in answer.headers.get("content-type", "") else None
    if path.endswith("/campaigns") and answer.is_success:
        told = {name: [sorted(each) for each in listed] for name, listed in told.items()}
    return [answer.status_code, told]


def _served(server: RunningServer, client: httpx.Client) -> Files:
    campaign, _ = server.campaign()
    pages = {path: _page(client, path.replace("CAMPAIGN", campaign)) for path in PAGES}
    loaded = _loaded(client, pages)
    known = {"Authorization": f"Bearer {server.token}"}
    answers = {
        " ".join((*request, who)): _answer(client, request, headers)
        for request in REQUESTS
        for who, headers in (("as nobody", {}), ("as requester", known))
    }
    metrics = client.get("/metrics", headers=known).text
    server.requester.close(campaign)
    return {
        "pages.json": as_json(
            {path: {k: v for k, v in page.items() if k != "text"} for path, page in pages.items()}
        ),
        "files.json": as_json(
            {
                path: [each.status_code, each.headers["content-type"], sha256(each.content)]
                for path, each in loaded.items()
                if path in KEPT or not path.endswith(".js")
            }
        ),
        "modules.txt": "".join(
            f"{path} {each.status_code}\n"
            for path, each in loaded.items()
            if path not in KEPT and path.endswith(".js")
        ),
        "requests.json": as_json(answers),
        "metrics.json": as_json(_metrics(metrics)),
        "events.json": as_json(_events(server.folder)),
        **_openapi(client.get("/api/v1/openapi.json").json()),
    }


def service() -> Files:
    """The responses of a fresh server: interface, pages, files, refusals, metrics."""
    logging.disable(logging.CRITICAL)
    with running_server() as server, httpx.Client(base_url=server.url, timeout=30) as client:
        return _served(server, client)
