"""The pictures of the requester's dashboard that the docs show."""

from __future__ import annotations

from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, expect
from tests.browser.campaigns import opened
from tests.browser.requester_pages import READY, crowd, headers, sign_in
from tests.browser.watched_page import Scheme, Size, watch

from sottovoce.mechanisms.policies import Target
from sottovoce.testing.server_thread import RunningServer

__all__ = ["shoot_dashboard"]

MOST_BYTES = 150_000
LOOKS: tuple[tuple[str, str, Size, Scheme], ...] = (
    ("sample", "overview", "desktop", "light"),
    ("sample", "overview", "phone", "dark"),
    ("sample", "truths", "desktop", "dark"),
    ("sample", "truths", "phone", "light"),
    ("sample", "workers", "desktop", "light"),
    ("sample", "methods", "phone", "light"),
    ("numbers", "overview", "phone", "light"),
    ("numbers", "truths", "desktop", "light"),
    ("numbers", "invites", "desktop", "light"),
    ("numbers", "exports", "phone", "dark"),
)


def shoot_dashboard(browser: Browser, server: RunningServer, folder: Path) -> None:
    """Every section of a simulated campaign or of one about numbers, and a sheet of cards."""
    ids = {"sample": _sample(server, browser), "numbers": _numbers(server)}
    for campaign, section, size, scheme in LOOKS:
        watched = sign_in(watch(browser, server.url, size, scheme), server)
        page = watched.page
        page.goto(f"/campaigns/{ids[campaign]}#{section}")
        expect(page.locator(f"#section-{section} {READY[section]}").first).to_be_visible()
        if section != "overview":
            page.evaluate("document.getElementById('sections').scrollIntoView()")
        what = section if campaign == "sample" else f"{section}-{campaign}"
        _take(page, folder / f"dashboard-{what}-{size}-{scheme}.png")
        watched.close()
    _sheet(browser, server, ids["numbers"], folder / "sheet.png")


def _sample(server: RunningServer, browser: Browser) -> str:
    """A sample campaign whose simulated workers have all reported."""
    address = f"{server.url}/api/v1/sample"
    id = str(httpx.post(address, headers=headers(server), timeout=60).json()["id"])
    watched = sign_in(watch(browser, server.url), server)
    watched.page.goto(f"/campaigns/{id}")
    figures = watched.page.locator("#section-overview .large dd")
    expect(figures.first).to_have_text("80", timeout=60_000)
    expect(figures.last).to_have_text("0", timeout=60_000)
    watched.close()
    return id


def _numbers(server: RunningServer) -> str:
    target, question = Target(3.0, answers=10), "How warm is it here, in your opinion?"
    campaign, link = opened(
        server, "piecewise", 40, question, title="Temperatures in the old town", target=target
    )
    crowd(server, campaign, link, workers=90)
    server.truths(campaign)
    return campaign


def _sheet(browser: Browser, server: RunningServer, campaign: str, place: Path) -> None:
    watched = sign_in(watch(browser, server.url), server)
    page = watched.page
    page.goto(f"/campaigns/{campaign}#invites")
    page.get_by_label("How many").fill("8")
    page.get_by_role("button", name="Make the links").click()
    page.get_by_role("link", name="Cards to print").click()
    expect(page.locator(".invite-card")).to_have_count(8)
    _take(page, place)
    watched.close()


def _take(page: Page, place: Path) -> None:
    page.evaluate("() => Promise.allSettled(document.getAnimations().map((a) => a.finished))")
    page.screenshot(path=place, scale="css")
    assert place.stat().st_size < MOST_BYTES, f"{place.name} is too large"
