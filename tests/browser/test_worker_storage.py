"""Reports are drawn once: through reloads, without a connection, and in two tabs."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.browser.campaigns import opened
from tests.browser.watched_page import OpenPage, Watched, watch
from tests.browser.worker_page import AtPage

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.testing.server_process import ServerProcess, free_port, wait_until
from sottovoce.testing.server_thread import RunningServer
from sottovoce.worker.client import Client

IS_KEPT = """async () => {
  const files = await caches.open("sottovoce-page");
  const { active } = (await navigator.serviceWorker.getRegistration()) ?? {};
  return active?.state === "activated" && (await files.match("./")) !== undefined;
}"""
"""The service worker runs, and the page's files are there for it."""


def _bytes_sent(watched: Watched) -> list[str]:
    return [r.post_data for r in watched.requests if r.method == "PUT" and r.post_data is not None]


def _stay(page: Page) -> None:
    # Not wait_for_function: to it a promise of false is something.
    wait_until(lambda: page.evaluate(IS_KEPT) is True, "the page's files")


def test_a_reload_loses_neither_answers_nor_the_language_nor_the_draw_which_stays_the_same(
    server: RunningServer, open_page: OpenPage
) -> None:
    _, link = opened(server, "labels", 3)
    watched = open_page()
    watched.expect("503")
    page, at = watched.page, AtPage(watched.page)
    at.open(link)
    at.press("agree")
    at.answer("oak", "birch")
    at.reload()
    expect(page.locator(".progress")).to_contain_text("3 of 3")
    page.get_by_role("button", name="日本語").click()
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    at = AtPage(page, "ja")
    at.reload()
    at.answer("lime")
    expect(page.locator(".answers strong")).to_have_text(["oak", "birch", "lime"])

    at.press("draw")
    at.button("send").wait_for()
    drawn, shown = at.parcel(), page.locator(".pairs").inner_text()
    at.reload()
    assert page.locator(".pairs").inner_text() == shown
    page.go_back()  # to the answers, which are locked now
    at.button("send").wait_for()
    assert page.locator(".pairs").inner_text() == shown

    # A server that is busy gets the same bytes later.
    problem = json.dumps({"reason": "unavailable", "detail": "storage is full"})

    def refuse(route: Route) -> None:
        route.fulfill(status=503, body=problem, content_type="application/problem+json")

    page.route("**/reports/*", refuse, times=1)
    at.press("send")
    at.button("again").wait_for()
    at.press("again")
    at.button("done").wait_for()
    assert at.parcel()["bytes"] == drawn["bytes"]
    assert _bytes_sent(watched) == [drawn["bytes"]] * 2

    # The invite has left the address, and no secret is in any.
    kept = at.kept()
    assert link.endswith(kept["invite"])
    for address in (*watched.addresses(), page.url):
        assert kept["invite"] not in address
        assert kept["receipt"] not in address


def test_without_a_connection_everything_works_but_the_sending_which_waits(
    server: RunningServer, open_page: OpenPage
) -> None:
    _, link = opened(server, "labels", 2)
    watched = open_page("phone")
    watched.expect("ERR_INTERNET_DISCONNECTED")
    page, at = watched.page, AtPage(watched.page)
    at.open(link)
    _stay(page)
    # The service worker keeps no answer of the interface.
    kept = "async () => (await (await caches.open('sottovoce-page')).keys()).map(({ url }) => url)"
    paths = {urlsplit(url).path for url in page.evaluate(kept)}
    assert "/c/" in paths
    assert all(path.startswith("/static/") for path in paths - {"/c/"})
    watched.context.set_offline(True)
    at.press("agree")
    at.answer("oak")
    at.reload()
    expect(page.locator(".progress")).to_contain_text("2 of 2")
    at.answer("lime")
    at.press("draw")
    at.button("send").wait_for()
    drawn = at.parcel()["bytes"]
    at.press("send")
    at.button("again").wait_for()
    at.reload()
    at.button("again").wait_for()
    assert at.parcel()["stage"] == "sending"
    watched.context.set_offline(False)  # the page hears of it, and needs nobody to press anything
    at.button("done").wait_for()
    assert set(_bytes_sent(watched)) == {drawn}


def test_two_tabs_cannot_draw_twice(server: RunningServer, open_page: OpenPage) -> None:
    _, link = opened(server, "labels", 1)
    watched = open_page()
    tabs = [AtPage(watched.page), AtPage(watched.context.new_page())]
    for tab, answer in zip(tabs, ("oak", "lime"), strict=True):
        tab.page.bring_to_front()
        tab.open(link)
        tab.press("agree")
        tab.answer(answer)
    for tab in tabs:  # without waiting for each other
        tab.page.evaluate("() => document.querySelector('.actions button').click()")
    for tab in tabs:
        tab.button("send").wait_for()
    assert tabs[0].parcel() == tabs[1].parcel()
    # The tab whose answer was not drawn from does not claim that it was.
    first, second = (tab.page.locator(".half strong").first.inner_text() for tab in tabs)
    assert sorted([first, second])[0] == "known to you only"
    for tab in tabs:
        tab.page.bring_to_front()
        tab.send()
    assert len(set(_bytes_sent(watched))) == 1


@pytest.mark.slow
@pytest.mark.slow
def test_a_server_behind_a_path_serves_the_page_and_serves_it_offline(
    chromium: Browser, tmp_path: Path
) -> None:
    port = free_port()
    options = ["--public-url", f"http://127.0.0.1:{port}/ask"]
    with (
        ServerProcess(tmp_path, port=port, options=options) as process,
        process.requester() as requester,
    ):
        made = requester.create(
            "Is it?", ["a"], domain=Domain.categorical(["no", "yes"]), target=Target(1.0, answers=1)
        )
        requester.open(made["id"])
        [link] = requester.invite(made["id"])
        watched = watch(chromium, process.url)
        at = AtPage(watched.page)
        at.open(link)
        assert watched.page.url == f"{process.url}/ask/c/{made['id']}"
        _stay(watched.page)
        watched.context.set_offline(True)
        watched.expect("ERR_INTERNET_DISCONNECTED")
        at.reload()
        at.draw("yes")
        watched.context.set_offline(False)
        at.send()
        watched.close()


def test_a_limit_that_does_not_cover_all_asks_the_most_needed_and_the_same_after_a_reload(
    server: RunningServer, open_page: OpenPage, tmp_path: Path
) -> None:
    id, link = opened(server, "labels", 12, target=Target(10.0, answers=12))

    def other(name: str) -> set[str]:
        with Client(link, folder=tmp_path / name, allow_http=True) as client:
            return {*client.send(dict.fromkeys(client.affordable(), "oak")).reports}

    before = other("first")
    watched = open_page()
    page, at = watched.page, AtPage(watched.page)
    at.open(link)
    expect(page.locator("main")).to_contain_text("covers 5 of 12 answers")
    at.press("agree")
    page.locator(".progress").wait_for()
    question = at.heading.inner_text()
    other("second")
    at.reload()
    expect(at.heading).to_have_text(question)
    at.answer("oak", "oak", "oak", "oak", "oak")
    at.press("draw")
    at.button("send").wait_for()
    assert len(before) == len(at.parcel()["tasks"]) == 5
    assert not before & {*at.parcel()["tasks"]}
    page.get_by_text("This is the whole request").or_(page.locator("details summary")).first.click()
    expect(page.locator("pre")).to_contain_text("Sottovoce-Cut-Short: yes")
    at.send()
    assert server.requester.campaign(id)["cut_short"] == 3
