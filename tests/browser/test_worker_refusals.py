"""The page explains each obstacle in words, and sends nothing."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Route, expect
from tests.browser.accessibility import axe
from tests.browser.campaigns import opened
from tests.browser.chromium import SOMEWHERE
from tests.browser.watched_page import OpenPage, Watched, watch
from tests.browser.worker_page import AtPage

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.server.web.worker_page import STATIC
from sottovoce.testing.server_process import wait_until
from sottovoce.testing.server_thread import RunningServer

MODULES = ["randomize.js", "worker/consent.js"]

LATER = "() => document.getAnimations().forEach((each) => each.finish())"
"""Finishes the animations of a page, which otherwise take some seconds."""


def _says(watched: Watched, title: str, *more: str) -> None:
    """The view of a trouble: readable, accessible, and with nothing to send."""
    page = watched.page
    expect(page.locator("h1")).to_have_text(title)
    for words in more:
        expect(page.locator("main")).to_contain_text(words)
    expect(page.locator("main").get_by_role("radio")).to_have_count(0)
    axe(page)
    assert not [request for request in watched.requests if request.method == "PUT"]


def test_a_worker_who_cannot_answer_sees_the_reason(
    server: RunningServer, open_page: OpenPage, tmp_path: Path
) -> None:
    watched = open_page()
    watched.expect("403", "ERR_FAILED")
    page = watched.page

    _, link = opened(server, tasks=1)
    page.goto(link.partition("#")[0])
    _says(watched, "This link is not complete", "invite after the # is missing")

    _, link = opened(server, tasks=1)
    page.goto(link[:-43] + "A" * 43)  # revoked, or for something else
    _says(watched, "This invite is not valid")

    campaign, _ = opened(server, tasks=1)
    [link] = server.requester.invite(campaign, "single")
    with server.client(link, tmp_path / "one") as client:
        client.send({"t0": "yes"})
    page.goto(link)
    _says(watched, "This invite has been used")

    campaign, link = opened(server, tasks=1)
    server.requester.close(campaign)
    page.goto(link)
    _says(watched, "This campaign is closed")

    _, link = opened(server, tasks=1, quota=1)
    with server.client(link, tmp_path / "other") as client:
        client.send({"t0": "yes"})
    page.goto(link)
    _says(watched, "This campaign is complete")

    _, link = opened(server, tasks=1)
    page.route("**/api/**", lambda route: route.abort())
    page.goto(link)
    _says(watched, "No connection")


@pytest.mark.slow
def test_a_campaign_that_closes_while_a_worker_answers(
    server: RunningServer, open_page: OpenPage
) -> None:
    campaign, link = opened(server, tasks=1)
    watched = open_page()
    watched.expect("409")
    at = AtPage(watched.page)
    at.open(link)
    at.draw("yes")
    server.requester.close(campaign)
    at.press("send")
    expect(watched.page.get_by_role("status").first).to_contain_text("accepts no more reports")
    assert at.parcel()["stage"] == "refused"


def test_a_policy_that_is_not_the_pinned_one(server: RunningServer, open_page: OpenPage) -> None:
    campaign, link = opened(server, tasks=1)
    watched = open_page()
    at = AtPage(watched.page)
    at.open(link)
    pinned = at.kept()["policy"]
    _, weaker = opened(server, tasks=1, target=Target(3.0, answers=1))
    other = server.requester.campaign(weaker.split("/c/")[1].partition("#")[0])

    def swap(route: Route) -> None:
        offer = route.fetch().json()
        offer.update(policy=other["policy"], policy_hash=offer["policy_hash"])
        route.fulfill(json=offer)

    watched.page.route("**/offer", swap)
    watched.page.reload()
    assert other["policy_hash"] != pinned
    _says(watched, "The policy has changed", pinned, other["policy_hash"])
    assert campaign in watched.page.url


def test_promises_that_cannot_be_verified_or_are_not_kept_are_refused(
    server: RunningServer, open_page: OpenPage
) -> None:
    watched = open_page()
    page = watched.page
    _, link = opened(server, tasks=1, target=Target(2.0, delta=1e-6, answers=1))
    page.goto(link)
    expect(page.locator("pre")).to_contain_text(f"sottovoce answer '{link}'")
    _says(watched, "This guarantee cannot be checked here", "(delta)")

    _, link = opened(server, tasks=1)

    def claim(route: Route) -> None:
        offer = route.fetch().json()
        offer["policy"]["promise"]["epsilon"] = "0.1"
        route.fulfill(json=offer)

    page.route("**/offer", claim)
    page.goto(link)
    _says(watched, "This guarantee cannot be checked here", "more than its mechanism provides")


def test_a_server_that_singles_a_worker_out_and_a_sample_are_refused(
    server: RunningServer, open_page: OpenPage
) -> None:
    watched = open_page()
    page = watched.page
    _, link = opened(server, tasks=1)
    page.route(
        "**/offer", lambda route: route.fulfill(json={**route.fetch().json(), "simulated": True})
    )
    page.goto(link)
    _says(watched, "This is a sample")
    page.unroute("**/offer")

    _, link = opened(server, tasks=3)

    def fewer(route: Route) -> None:
        block = route.fetch().json()
        route.fulfill(json={**block, "tasks": block["tasks"][:1]})

    page.route("**/block", fewer)
    page.goto(link)
    _says(watched, "The server’s offer is inconsistent")


@pytest.mark.slow
def test_storage_that_is_full_refuses_to_start_and_storage_that_fills_up_refuses_to_draw(
    server: RunningServer, open_page: OpenPage
) -> None:
    _, link = opened(server, tasks=1)
    watched = open_page()
    at = AtPage(watched.page)
    at.open(link)
    at.press("agree")
    at.answer("yes")
    watched.page.evaluate(
        "() => { Storage.prototype.setItem = () => { throw new DOMException('', 'Quota') } }"
    )
    at.press("draw")
    _says(watched, "This browser stores no data")
    assert at.kept()["parcels"] == []

    _, link = opened(server, tasks=1)
    watched.page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError') }"
    )
    watched.page.goto(link)
    _says(watched, "This browser stores no data", "sottovoce answer")


@pytest.mark.parametrize(
    "name",
    ["worker/english.js", *(pytest.param(n, marks=pytest.mark.slow) for n in MODULES)],
)
def test_a_file_that_was_altered_on_its_way_is_not_run(
    server: RunningServer, open_page: OpenPage, name: str
) -> None:
    _, link = opened(server, tasks=1)
    watched = open_page()
    watched.expect("integrity", "Failed to fetch dynamically imported module")
    altered = (STATIC / name).read_text("utf-8") + "\n"
    watched.page.route(
        f"**/static/{name}",
        lambda route: route.fulfill(body=altered, content_type="text/javascript"),
    )
    watched.page.goto(link)
    wait_until(lambda: watched.page.evaluate(LATER) is None and bool(watched.told), "a refusal")
    expect(watched.page.locator(".late")).to_be_visible()  # after some seconds, in two languages
    expect(watched.page.locator("h1")).to_have_count(0)
    assert not [address for address in watched.addresses() if "/api/" in address]


def test_an_error_in_the_page_says_nothing_of_answers_and_no_thanks_leaves_nothing_on_the_device(
    server: RunningServer, open_page: OpenPage
) -> None:
    _, link = opened(server, tasks=1)
    watched = open_page()
    at = AtPage(watched.page)
    at.open(link)
    watched.page.evaluate("() => setTimeout(() => { throw new TypeError('I chose yes') })")
    _says(watched, "Something went wrong on this page", "TypeError")
    assert "I chose yes" not in watched.page.locator("body").inner_text()
    at.reload()
    at.press("no")
    _says(watched, "Thank you anyway")
    assert watched.page.evaluate("() => [localStorage.length, sessionStorage.length]") == [0, 0]


def test_the_limit_of_this_device_counts_all_campaigns_and_is_raised_on_purpose(
    server: RunningServer, open_page: OpenPage
) -> None:
    target = Target(30.0, answers=1)
    links = [opened(server, "labels", 1, target=target)[1] for _ in range(2)]
    watched = open_page()
    page, at = watched.page, AtPage(watched.page)
    at.open(links[0])
    at.draw("oak")
    at.open(links[1])
    expect(page.locator("main")).to_contain_text("exceed your limit")
    expect(at.button("agree")).to_have_count(0)
    page.get_by_text("Raise my limit").click()
    axe(page)
    expect(page.get_by_label("New limit")).to_have_value("60")
    page.get_by_role("button", name="Raise it").click()
    at.draw("oak")
    assert at.kept()["spent"] == pytest.approx(30, rel=1e-6)


def test_the_requesters_words_stay_words_and_an_image_elsewhere_is_a_link_that_says_who_will_see(
    server: RunningServer, open_page: OpenPage
) -> None:
    title, question = "<script>alert(1)</script> {{ 7*7 }}", '"><img src=x onerror=alert(1)>'
    rows = [
        {"task": "<b>t</b>", "text": "A <b>t</b>", "image": "https://images.example/a.jpg"},
        {"task": "u", "text": "Here", "image": f"{server.url}/static/icon.svg"},
    ]
    domain, target = Domain.categorical("ab"), Target(1.0, answers=2)
    made = server.requester.create(question, rows, domain=domain, target=target, title=title)
    server.requester.open(made["id"])
    [link] = server.requester.invite(made["id"])
    page = open_page().page
    at = AtPage(page)
    at.open(link)
    expect(at.heading).to_have_text(title)
    expect(page.locator(".question")).to_have_text(question)
    at.press("agree")
    expect(at.heading).to_have_text(re.compile(r"^(A <b>t</b>|Here)$"))
    for _ in rows:  # in the worker's own order
        if at.heading.inner_text() == "Here":
            expect(page.get_by_role("img", name="Image for this question")).to_be_visible()
        else:
            expect(at.heading).to_have_text("A <b>t</b>")
            expect(page.locator("main img")).to_have_count(0)
            expect(page.get_by_role("link")).to_have_text(
                "Open the image on images.example: that site will see your visit"
            )
        at.answer("a")


def test_a_connection_that_is_not_secure(server: RunningServer, chromium: Browser) -> None:
    somewhere = f"http://{SOMEWHERE}:{urlsplit(server.url).port}"
    _, link = opened(server, tasks=1)
    watched = watch(chromium, somewhere)
    watched.expect("Cross-Origin-Opener-Policy")
    watched.page.goto(link.replace(server.url, somewhere))
    _says(watched, "This connection is not secure", "https")
    watched.close()


def test_a_browser_without_javascript_is_told_in_both_languages(
    server: RunningServer, chromium: Browser
) -> None:
    _, link = opened(server, tasks=1)
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(link)
    expect(page.locator("h1")).to_have_count(2)
    expect(page.locator("h1").first).to_have_text("This page needs JavaScript")
    context.close()
