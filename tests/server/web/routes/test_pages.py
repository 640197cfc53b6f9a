from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.server.web.integrity import with_integrity

from sottovoce.mechanisms.policies import Target
from sottovoce.mechanisms.registry import RELEASES
from sottovoce.model import Domain
from sottovoce.server.web.worker_page import PAGE, STATIC, worker_files
from sottovoce.testing.server_thread import RunningServer, running_server

HTML = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("data")) as running:
        yield running


def _draft(server: RunningServer, question: str = "Is it?", title: str = "Leaves") -> str:
    made = server.requester.create(
        question,
        [{"task": "t1", "text": "Task"}],
        title=title,
        domain=Domain.categorical(["no", "yes"]),
        target=Target(1.0, answers=1),
    )
    return str(made["id"])


def _page(server: RunningServer, path: str) -> httpx.Response:
    return httpx.get(server.url + path, headers=HTML)


@pytest.mark.parametrize(
    "path",
    ["/", "/setup", "/campaigns", "/campaigns/new", "/campaigns/none0", "/campaigns/none0/sheet",
     "/lab", "/api", "/c/none0", "/nothing"],
)  # fmt: skip
def test_a_page_has_no_inline_script_or_style_and_loads_nothing_from_elsewhere(
    server: RunningServer, path: str
) -> None:
    page = _page(server, path)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", page.text)
    for address in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert re.match(r"/(?!/)|#", address), address
        if address.startswith("/static"):
            assert httpx.get(server.url + address).status_code == 200


def test_the_workers_page_is_one_file_whatever_the_campaign_is(server: RunningServer) -> None:
    ids = [_draft(server), _draft(server, "Is it so?", "<script>alert(1)</script>")]
    for id in ids:
        server.requester.open(id)
    server.requester.close(ids[1])
    for id in ids:
        page = _page(server, f"/c/{id}")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.content == (STATIC / PAGE).read_bytes()


def test_the_workers_page_loads_its_own_files_and_checks_each(server: RunningServer) -> None:
    id = _draft(server)
    server.requester.open(id)
    page = _page(server, f"/c/{id}")
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", page.text)
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    # The service worker is registered by a module, and is not in the page.
    named = {address.removeprefix("../static/") for address in addresses}
    assert named == set(worker_files()) - {"service-worker.js"}
    for address in addresses:
        assert httpx.get(f"{server.url}/c/{address}").status_code == 200
    assert with_integrity(page.text) == page.text, "run `python -m tests.server.web.integrity`"
    assert page.text.count(" integrity=") == len(named) - 1  # an icon has none


def test_a_draft_an_unknown_and_an_impossible_campaign_look_alike(server: RunningServer) -> None:
    pages = [_page(server, f"/c/{id}") for id in (_draft(server), "none0", "NONE0", "<b>")]
    assert [page.status_code for page in pages] == [404] * 4
    assert len({page.text for page in pages}) == 1
    assert "Campaign not found" in pages[0].text


def test_a_campaign_page_shows_nothing_of_reports(server: RunningServer, tmp_path: Path) -> None:
    campaign, link = server.campaign(tasks=3)
    before = _page(server, f"/c/{campaign}").text
    with server.client(link, tmp_path) as client:
        client.send({"t0": "yes"})
    assert _page(server, f"/c/{campaign}").text == before


def test_errors_are_pages_for_browsers_and_problems_for_programs(server: RunningServer) -> None:
    assert "<h1>Not Found</h1>" in _page(server, "/nothing").text
    assert httpx.get(server.url + "/nothing").json()["reason"] == "not_found"
    assert _page(server, "/api/v1/nothing").json()["reason"] == "not_found"


def test_pages_answer_to_head_without_a_body(server: RunningServer) -> None:
    answer = httpx.head(server.url + "/")
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/", "/static"]
)
def test_static_files_are_those_and_no_others(server: RunningServer, path: str) -> None:
    assert httpx.get(server.url + path).status_code == 404


def test_no_page_sets_a_cookie(server: RunningServer) -> None:
    for path in ("/", "/setup", "/campaigns", "/campaigns/new", "/lab", "/api", "/c/none0"):
        assert "set-cookie" not in _page(server, path).headers


# The modules of the pages ----------------------------------------------------------------------

TEMPLATES = STATIC.parent / "templates"
_STATIC_IMPORT = re.compile(r'^import [^"]*"(\.{1,2}/[^"]+)";', re.M)
_SCRIPT = re.compile(r'<script[^>]* src="(?:\{\{ base \}\}|\.\.)/static/([^"]+)"')
_PRELOADED = re.compile(r'"([a-z-]+/[a-z-]+)"')


def _modules(*first: str) -> set[str]:
    """Modules that are loaded with the first, by their place below `static`."""
    waiting, seen = set(first), set[str]()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for address in _STATIC_IMPORT.findall((STATIC / name).read_text("utf-8")):
            found = (STATIC / name).parent.joinpath(address).resolve()
            waiting |= {found.relative_to(STATIC).as_posix()} - seen
    return seen


def _scripts(*pages: Path) -> set[str]:
    named = {name for page in pages for name in _SCRIPT.findall(page.read_text("utf-8"))}
    return {name for name in named if not name.startswith("reference/")}  # Swagger UI's own


def test_a_requesters_page_and_the_workers_page_share_no_module() -> None:
    requester = _modules(*_scripts(*TEMPLATES.glob("*.html")))
    assert len(requester) > 20
    assert not requester & set(worker_files())


def test_every_module_is_loaded_by_a_page() -> None:
    loaded = _modules(*_scripts(*TEMPLATES.glob("*.html"))) | set(worker_files())
    there = {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js")}
    assert loaded >= there


def test_the_dashboard_preloads_the_modules_that_it_imports_and_no_others() -> None:
    page = TEMPLATES / "dashboard.html"
    [script] = _scripts(page)
    [named] = re.findall(r"\{% for module in (.*) %\}", page.read_text("utf-8"))
    preloaded = {f"{name}.js" for name in _PRELOADED.findall(named)}
    assert preloaded == _modules(script) - {script}


# What the requester's pages know of mechanisms ---------------------------------------------------

LISTED = '<meta name="mechanisms" content="{{ mechanisms() }}">'


def test_the_pages_that_speak_of_mechanisms_are_told_of_them() -> None:
    for page in TEMPLATES.glob("*.html"):
        asks = "requester/policy.js" in _modules(*_scripts(page))
        assert (LISTED in page.read_text("utf-8")) == asks, page.name


def test_a_page_lists_the_registered_mechanisms_in_the_order_to_show_them(
    server: RunningServer,
) -> None:
    [content] = re.findall(
        r'<meta name="mechanisms" content="([^"]*)">', _page(server, "/lab").text
    )
    listed = json.loads(html.unescape(content))
    shown = {name: kind.listing for name, kind in RELEASES.items() if kind.listing is not None}
    assert {one["name"]: one["words"] for one in listed} == {
        name: listing.words for name, listing in shown.items()
    }
    assert len({listing.place for listing in shown.values()}) == len(shown)
    assert [one["place"] for one in listed] == sorted(one["place"] for one in listed)
    assert [one["name"] for one in listed if one["needs_keyholders"]] == ["sealed-sum"]
    assert {one["name"] for one in listed if not one["in_browser"]} == {
        "two-layer", "matrix-factorization",
    }  # fmt: skip
