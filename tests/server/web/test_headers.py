from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sottovoce.server.web.middleware import SecurityHeaders
from sottovoce.server.web.settings import Settings
from sottovoce.testing.server_thread import running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with (
        running_server(tmp_path_factory.mktemp("data")) as running,
        httpx.Client(base_url=running.url) as client,
    ):
        yield client


@pytest.mark.parametrize(
    "path", ["/", "/setup", "/api", "/api/v1/campaigns", "/static/sottovoce.css", "/x", "/healthz"]
)
def test_every_answer_says_what_browsers_must_not_do(server: httpx.Client, path: str) -> None:
    headers = server.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert not {"set-cookie", "access-control-allow-origin"} & headers.keys()


def test_pages_share_no_window_with_other_sites(server: httpx.Client) -> None:
    for path in ("/", "/setup", "/api"):
        assert server.get(path).headers["cross-origin-opener-policy"] == "same-origin"


def test_pages_run_only_our_own_scripts_under_trusted_types(server: httpx.Client) -> None:
    policy = server.get("/setup").headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "require-trusted-types-for 'script'; trusted-types sottovoce" in policy


def test_the_service_worker_may_serve_the_workers_page_and_ask_this_server_only(
    server: httpx.Client,
) -> None:
    headers = server.get("/static/service-worker.js").headers
    assert headers["service-worker-allowed"] == "../c/"
    assert headers["content-security-policy"].startswith("default-src 'none'; connect-src 'self'")


def test_static_files_travel_compressed(server: httpx.Client) -> None:
    answer = server.get("/static/sottovoce.css")
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in server.get("/api/v1/openapi.json").headers


def test_nothing_of_the_interface_is_kept_by_a_cache(server: httpx.Client) -> None:
    assert server.get("/api/v1/campaigns").headers["cache-control"] == "no-store"


def test_static_files_are_asked_for_again_and_not_sent_again(server: httpx.Client) -> None:
    first = server.get("/static/sottovoce.css")
    assert first.headers["cache-control"] == "no-cache"
    again = server.get("/static/sottovoce.css", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304


def test_another_site_is_not_allowed_to_ask(server: httpx.Client) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "PUT"}
    answer = server.options("/api/v1/campaigns", headers=asked)
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(("url", "said"), [("https://x.org", True), ("http://x.org", False)])
def test_tls_is_demanded_for_ever_only_where_there_is_tls(url: str, said: bool) -> None:
    middleware = SecurityHeaders(_no_app, Settings(Path("x"), public_url=url))
    for path in ("/", "/api", "/api/v1/x", "/static/x"):
        names = [name for name, _ in middleware._for(path)]
        assert (b"strict-transport-security" in names) is said


async def _no_app(*_: object) -> None: ...
