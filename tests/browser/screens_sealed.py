"""Pictures of a sealed campaign: what a worker agrees to, and the rounds of its requester."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect
from tests.browser.requester_pages import sign_in
from tests.browser.sealed_campaigns import sealed_campaign, seated, send_alike
from tests.browser.watched_page import Locale, Scheme, Size, watch
from tests.browser.worker_page import AtPage

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.testing.server_thread import RunningServer

__all__ = ["shoot_sealed"]

MOST_BYTES = 150_000
BIRDS = {"t0": "wren", "t1": "robin", "t2": "wren"}
NAMES = ("City Library", "Union", "University")
LOOKS: tuple[tuple[Size, Scheme, Locale], ...] = (
    ("phone", "light", "en-GB"),
    ("phone", "dark", "ja-JP"),
    ("desktop", "light", "en-GB"),
)


def shoot_sealed(browser: Browser, server: RunningServer, place: Path) -> None:
    """A worker's consent and receipt, and the rounds before and after the opening."""
    domain = Domain.categorical(["robin", "wren"])
    target = Target(1.0, answers=len(BIRDS))
    campaign = sealed_campaign(server, domain, target, len(BIRDS), names=NAMES)
    with seated(server, campaign.id) as committee:
        committee.work()
        for size, scheme, locale in LOOKS:
            _worker(browser, server, campaign.link, size, scheme, locale, place)
        send_alike(server, campaign, BIRDS, 30)
        committee.work()
        _rounds(browser, server, campaign.id, "collecting", place)
        server.requester.close(campaign.id)
        committee.work()
        server.truths(campaign.id)
        _rounds(browser, server, campaign.id, "opened", place)


def _worker(
    browser: Browser, server: RunningServer, link: str, size: Size, scheme: Scheme, locale: Locale,
    place: Path,
) -> None:  # fmt: skip
    watched = watch(browser, server.url, size, scheme, locale, reduced_motion=True)
    at = AtPage(watched.page, locale[:2])
    at.open(link)
    _take(watched.page, place / f"sealed-consent-{size}-{scheme}.png")
    at.press("agree")
    at.answer(*BIRDS.values())
    _take(watched.page, place / f"sealed-review-{size}-{scheme}.png")
    watched.close()


def _rounds(browser: Browser, server: RunningServer, id: str, moment: str, place: Path) -> None:
    looks: tuple[tuple[Size, Scheme], ...] = (("desktop", "light"), ("phone", "dark"))
    for size, scheme in looks:
        watched = sign_in(watch(browser, server.url, size, scheme), server)
        watched.page.goto(f"/campaigns/{id}#rounds")
        expect(watched.page.locator("table.keyholders .fingerprint")).to_have_count(3)
        watched.page.evaluate("document.getElementById('sections').scrollIntoView()")
        _take(watched.page, place / f"rounds-{moment}-{size}-{scheme}.png")
        watched.close()


def _take(page: Page, place: Path) -> None:
    page.evaluate("() => Promise.allSettled(document.getAnimations().map((a) => a.finished))")
    page.screenshot(path=place, scale="css")
    assert place.stat().st_size < MOST_BYTES, f"{place.name} is too large"
