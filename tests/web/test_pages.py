from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sottovoce.mechanisms.targets import Target
from sottovoce.model import Domain
from sottovoce.testing.serving import RunningServer, running_server

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


@pytest.mark.parametrize("path", ["/", "/setup", "/api", "/c/none0", "/nothing"])
def test_a_page_has_no_inline_script_or_style_and_loads_nothing_from_elsewhere(
    server: RunningServer, path: str
) -> None:
    page = _page(server, path)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", page.text)
    for address in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert re.match(r"/(?!/)", address), address
        if address.startswith("/static"):
            assert httpx.get(server.url + address).status_code == 200


def test_an_open_campaigns_page_says_what_is_asked_and_promised(server: RunningServer) -> None:
    id = _draft(server)
    server.requester.open(id)
    page = _page(server, f"/c/{id}")
    assert page.status_code == 200
    for words in ("Leaves", "Is it?", "Of 100 workers with the same answer 73 send it",
                  "epsilon 1 per answer", "epsilon 1 per worker", "sottovoce answer"):  # fmt: skip
        assert words in page.text


def test_a_question_that_is_the_title_is_asked_once(server: RunningServer) -> None:
    id = _draft(server, question="Is it oak?", title="Is it oak?")
    server.requester.open(id)
    page = httpx.get(f"{server.url}/c/{id}").text
    assert page.partition("<body")[2].count("Is it oak?") == 1


def test_a_requesters_text_stays_text(server: RunningServer) -> None:
    id = _draft(server, '"><img src=x onerror=alert(1)>', "<script>alert(1)</script> {{ 7*7 }}")
    server.requester.open(id)
    page = _page(server, f"/c/{id}")
    assert "<img src=x" not in page.text
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; {{ 7*7 }}" in page.text


def test_a_draft_an_unknown_and_an_impossible_campaign_look_alike(server: RunningServer) -> None:
    pages = [_page(server, f"/c/{id}") for id in (_draft(server), "none0", "NONE0", "<b>")]
    assert [page.status_code for page in pages] == [404] * 4
    assert len({page.text for page in pages}) == 1
    assert "There is no campaign here" in pages[0].text


def test_a_closed_campaign_says_so(server: RunningServer) -> None:
    id = _draft(server)
    server.requester.open(id)
    server.requester.close(id)
    page = _page(server, f"/c/{id}")
    assert "This campaign is closed" in page.text
    assert "sottovoce answer" not in page.text


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
    for path in ("/", "/setup", "/api", "/c/none0"):
        assert "set-cookie" not in _page(server, path).headers
