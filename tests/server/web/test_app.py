from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter

from sottovoce.server.database import upgrade
from sottovoce.server.service import Service
from sottovoce.server.web.app import Feature, build_app
from sottovoce.server.web.settings import Settings


def _get(prefix: str, path: str, **headers: str) -> httpx.Response:
    """The reply at a path of a server that is reached under a prefix."""

    async def ask() -> httpx.Response:
        app = build_app(Settings(Path("unused"), public_url=f"https://example.org{prefix}"))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://inside") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(ask())


PROXIES = {"stripped": "", "kept": "/ask"}


@pytest.mark.parametrize("sent", PROXIES.values(), ids=PROXIES.keys())
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/setup", 200),
        ("/api", 200),
        ("/healthz", 200),
        ("/api/v1/openapi.json", 200),
        ("/static/sottovoce.css", 200),
        ("/static/reference/swagger-ui.css", 200),
        ("/api/v1/nothing", 404),
    ],
)
def test_a_server_behind_a_prefix_finds_itself_whether_or_not_the_proxy_strips_it(
    sent: str, path: str, status: int
) -> None:
    assert _get("/ask", sent + path).status_code == status


@pytest.mark.parametrize("sent", PROXIES.values(), ids=PROXIES.keys())
def test_a_page_behind_a_prefix_links_under_the_prefix(sent: str) -> None:
    text = _get("/ask", f"{sent}/setup").text
    links = re.findall(r'(?:src|href|data-setup)="([^"#]+)"', text)
    assert links
    assert all(link.startswith("/ask/") for link in links)


@pytest.mark.parametrize("sent", PROXIES.values(), ids=PROXIES.keys())
def test_the_description_behind_a_prefix_says_where_the_server_is(sent: str) -> None:
    assert _get("/ask", f"{sent}/api/v1/openapi.json").json()["servers"] == [{"url": "/ask"}]


def test_the_prefix_alone_is_the_start() -> None:
    assert _get("/ask", "/ask").status_code == 200


def test_a_name_that_only_begins_like_the_prefix_is_not_it() -> None:
    assert _get("/ask", "/asking").status_code == 404


@pytest.mark.parametrize("sent", PROXIES.values(), ids=PROXIES.keys())
def test_headers_follow_the_path_behind_a_prefix(sent: str) -> None:
    assert _get("/ask", f"{sent}/static/icon.svg").headers["cache-control"] == "no-cache"
    assert _get("/ask", f"{sent}/api/v1/x").headers["content-security-policy"].count("'self'") == 0


def test_no_redirect_repeats_the_host_that_was_sent() -> None:
    answer = _get("", "/api/v1/campaigns/", Host="evil.example")
    assert answer.status_code == 404
    assert "evil" not in answer.text


def test_a_server_without_features_knows_nothing_of_live_sessions() -> None:
    settings = Settings(Path("unused"))
    paths = build_app(settings, features=()).openapi()["paths"]
    everything = build_app(settings).openapi()["paths"]
    assert {path for path in everything if path not in paths} == {
        path for path in everything if path.startswith("/api/v1/live")
    }


def test_a_feature_brings_routes_pages_and_a_job_that_ends_with_the_server(tmp_path: Path) -> None:
    settings, said = Settings(tmp_path), list[str]()
    database = settings.database()
    upgrade(database)
    database.close()
    api, pages = APIRouter(), APIRouter(include_in_schema=False)

    @api.get("/echo")
    async def echo() -> str:
        """Say something."""
        return "echo"

    @pages.get("/hall")
    async def hall() -> str:
        return "hall"

    @contextmanager
    def job(service: Service) -> Iterator[None]:
        assert service.database.file is not None
        said.append(f"begun on {service.database.file.name}")
        yield
        said.append("ended")

    app = build_app(settings, features=[Feature([api], [pages], [job])])

    async def ask() -> list[str]:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://inside") as client,
        ):
            said.append("asked")
            return [(await client.get(path)).json() for path in ("/api/v1/echo", "/hall")]

    assert asyncio.run(ask()) == ["echo", "hall"]
    assert said == ["begun on sottovoce.db", "asked", "ended"]
    assert "/api/v1/echo" in app.openapi()["paths"]
