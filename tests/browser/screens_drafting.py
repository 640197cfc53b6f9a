"""The pictures of the first page, the list, the drafting of a campaign, and the lab."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect
from tests.browser.requester_pages import sign_in
from tests.browser.watched_page import Scheme, Size, watch

from sottovoce.testing.server_thread import RunningServer

__all__ = ["shoot_drafting"]

MOST_BYTES = 150_000
LOOKS: tuple[tuple[Size, Scheme], ...] = (("desktop", "light"), ("phone", "dark"))
SIMULATING = 180_000
"""Milliseconds for a line of forecasts."""

KINDS = ("round lobes", "a toothed edge", "the shape of a heart", "five fingers")
LEAVES = "task,text\n" + "".join(
    f"leaf-{i + 1},A leaf with {KINDS[i % len(KINDS)]}\n" for i in range(120)
)
TREES = ("Oak", "Birch", "Lime", "Maple")


def shoot_drafting(browser: Browser, server: RunningServer, folder: Path) -> None:
    """Every page on the way to an open campaign; forecasts are the server's own."""
    for size, scheme in LOOKS:
        watched = watch(browser, server.url, size, scheme)
        page, look = watched.page, f"{size}-{scheme}"
        page.goto("/")
        _take(page, folder / f"home-{look}.png")
        sign_in(watched, server)
        _draft(page, folder, look)
        _lab(page, folder / f"lab-{look}.png")
        page.goto("/campaigns")
        expect(page.locator(".row").first).to_be_visible()
        _take(page, folder / f"campaigns-{look}.png")
        watched.close()


def _draft(page: Page, folder: Path, look: str) -> None:
    page.goto("/campaigns/new")
    file = {"name": "leaves-in-the-park.csv", "mimeType": "text/csv", "buffer": LEAVES.encode()}
    page.locator("#file").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_text("120 tasks")).to_be_visible()
    _take(page, folder / f"drafting-tasks-{look}.png")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Question").fill("Which tree is this leaf from?")
    for place, tree in enumerate(TREES, start=1):
        if place > 2:
            page.get_by_role("button", name="Add a label").click()
        page.get_by_label(f"Label {place}", exact=True).fill(tree)
    page.evaluate("scrollTo(0, 0)")
    _take(page, folder / f"drafting-answers-{look}.png")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".chart circle.point")).to_have_count(12 + 1, timeout=SIMULATING)
    _take(page, folder / f"drafting-privacy-{look}.png")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".lock")).to_be_visible()
    _take(page, folder / f"drafting-review-{look}.png")
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.locator("h1")).to_have_text("Leaves in the park")


def _lab(page: Page, place: Path) -> None:
    page.goto("/lab")
    page.get_by_label("Subset selection").check()
    points = page.locator(".chart svg[role=img] circle.point")
    expect(points).to_have_count(2 * 8, timeout=SIMULATING)
    is_phone = page.viewport_size is not None and page.viewport_size["width"] < 800
    seen = page.locator(".lab-results" if is_phone else "header")
    seen.evaluate("(part) => part.scrollIntoView()")
    _take(page, place)


def _take(page: Page, place: Path) -> None:
    page.evaluate("() => Promise.allSettled(document.getAnimations().map((a) => a.finished))")
    page.screenshot(path=place, scale="css")
    assert place.stat().st_size < MOST_BYTES, f"{place.name} is too large"
