"""The rounds of a sealed campaign, as its requester watches them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.accessibility import axe
from tests.browser.requester_pages import sign_in
from tests.browser.sealed_campaigns import (
    SEATED,
    Committee,
    SealedCampaign,
    sealed_campaign,
    seated,
    send_alike,
)
from tests.browser.watched_page import OpenPage, Scheme, Size

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.securesum.ballot import Ballot
from sottovoce.testing.server_thread import RunningServer

YES_NO = Domain.categorical(["no", "yes"])
ANSWERS = {"t0": "yes", "t1": "no", "t2": "yes"}
WORKERS = 12
"""Of one mind: with an epsilon of 4 noise turns a truth less than once in 10^9 campaigns."""

MINIMUM = 10


def _opened(server: RunningServer, minimum: int = MINIMUM) -> SealedCampaign:
    tasks = len(ANSWERS)
    return sealed_campaign(server, YES_NO, Target(4.0, answers=tasks), tasks, minimum)


def _send(server: RunningServer, campaign: SealedCampaign, workers: int = 1) -> None:
    send_alike(server, campaign, ANSWERS, workers)


@contextmanager
def _cheating() -> Iterator[None]:
    """Workers' software that writes 2 where a 1 belongs."""
    honest = Ballot.encode

    def twice(self: Ballot, codes: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
        return honest(self, codes) * np.uint8(2)

    with patch.object(Ballot, "encode", twice):
        yield


def _figure(page: Page, name: str) -> Locator:
    rows = page.locator("section:not([hidden]) .large div", has=page.get_by_text(name, exact=True))
    return rows.locator("dd")


def _look(page: Page) -> None:
    """A user who returns to a page need not wait for its next poll."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def _step(page: Page, name: str) -> None:
    _look(page)
    expect(page.locator(".phases [aria-current]")).to_have_text(re.compile(f"^{name}"))


def _say_yes(page: Page, action: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=action).click()


def _work_until(server: RunningServer, campaign: str, committee: Committee, phase: str) -> None:
    for keyholder in cycle(committee.keyholders):
        if server.requester.rounds(campaign)["phase"] == phase:
            return
        keyholder.work()


def test_rounds_are_watched_from_the_links_of_keyholders_to_published_truths(
    open_page: OpenPage, server: RunningServer
) -> None:
    campaign = _opened(server)
    page = sign_in(open_page(), server).page
    page.goto(f"/campaigns/{campaign.id}#rounds")
    _step(page, "Dealing noise")
    expect(page.locator("table.keyholders .fingerprint")).to_have_count(3)
    page.get_by_role("button", name="Make the links").click()
    links = page.locator(".seat-links code")
    expect(links).to_have_count(3)
    axe(page)
    with seated(server, campaign.id, links.all_inner_texts()) as committee:
        committee.work()  # all deal their noise, and confirm it
        _send(server, campaign, MINIMUM - 1)
        _step(page, "Collecting")
        expect(_figure(page, "Waiting")).to_have_text(str(MINIMUM - 1))
        expect(page.locator("table.keyholders .chip.open")).to_have_count(3)
        expect(page.get_by_role("button", name="Close, and open the total")).to_have_count(0)
        page.get_by_role("link", name="Truths", exact=True).click()
        expect(page.get_by_role("heading", name="The truths are still sealed")).to_be_visible()
        page.get_by_role("link", name="See the progress").click()

        # The others, and among them one whose answers are none.
        _send(server, campaign, WORKERS - MINIMUM + 1)
        with _cheating():
            _send(server, campaign)
        _look(page)
        expect(_figure(page, "Uploads")).to_have_text(str(WORKERS + 1))
        page.get_by_role("button", name="Close, and open the total").click()
        _say_yes(page, "Close it for good")
        expect(page.locator(".campaign-head .chip")).to_have_text("Closed")
        _work_until(server, campaign.id, committee, "opening")
        _step(page, "Opening")
        expect(_figure(page, "Checked")).to_have_text(str(WORKERS))
        expect(_figure(page, "Dropped")).to_have_text("1")
        [dropped] = server.requester.rounds(campaign.id)["dropped"]
        expect(page.locator(".reasons dt")).to_contain_text(dropped["worker"][:8])
        expect(page.locator(".reasons dd")).to_contain_text("not valid")

        # Two of three open the total.
        committee.keyholders[0].work()
        _look(page)
        expect(page.locator(".quorum")).to_have_text("1 of 2 shares in")
        axe(page)
        committee.keyholders[1].work()
        _step(page, "Opened")
    page.get_by_role("button", name="Publish the truths to workers").click()
    _say_yes(page, "Publish the truths")
    expect(page.get_by_text("The truths are published")).to_be_visible()
    page.get_by_role("link", name="Truths", exact=True).click()
    expect(page.locator("section:not([hidden]) td.truth")).to_have_text(["yes", "no", "yes"])


@pytest.mark.slow
@pytest.mark.parametrize("how", [("desktop", "dark"), ("phone", "light")])
def test_the_other_sections_of_a_sealed_campaign_say_what_there_is_and_what_not(
    open_page: OpenPage, server: RunningServer, how: tuple[Size, Scheme]
) -> None:
    campaign = _opened(server)
    _send(server, campaign)
    page = sign_in(open_page(*how), server).page
    names = [keys.name for keys in SEATED]
    said = {
        "overview": "truths appear once",
        "rounds": f"Waiting for the noise of {names[0]}, {names[1]} and {names[2]}",
        "truths": "They appear once, all together",
        "workers": "Workers compute their own weights",
        "exports": "No reports to export",
        "methods": "Paragraph",
    }
    page.goto(f"/campaigns/{campaign.id}")
    for section, words in said.items():
        page.evaluate("(name) => {location.hash = name}", section)
        expect(page.locator(f"#section-{section}").get_by_text(words).first).to_be_visible()
        width, most = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width <= most, f"{section} is {width} wide"
        axe(page)
    page.evaluate("location.hash = 'exports'")
    expect(page.locator("#section-exports h3")).to_have_text(
        ["Truths", "Tasks", "Policy", "No reports to export"]
    )

    # New links end the old ones, and closing too early says what it would cost.
    page.evaluate("location.hash = 'rounds'")
    page.get_by_role("button", name="Make the links").click()
    expect(page.locator(".seat-links code")).to_have_count(3)
    [old, *_] = page.locator(".seat-links code").all_inner_texts()
    page.get_by_role("button", name="Make new links").click()
    _say_yes(page, "Make new links")
    expect(page.locator(".seat-links code").first).not_to_have_text(old)
    page.get_by_role("button", name="Close", exact=True).click()
    few = f"Only 1 upload can be in the total, and the minimum is {MINIMUM}"
    expect(page.get_by_role("dialog")).to_contain_text(few)
    axe(page)


@pytest.mark.slow
def test_what_a_keyholder_that_is_gone_never_checked_is_given_up_after_a_question(
    open_page: OpenPage, server: RunningServer
) -> None:
    [checked, unchecked] = [5, 2]
    campaign = _opened(server, minimum=checked)
    page = sign_in(open_page("phone", "dark"), server).page
    with seated(server, campaign.id) as committee:
        committee.work()
        _send(server, campaign, checked)
        while server.requester.rounds(campaign.id)["checked"] < checked:
            committee.work()
        _send(server, campaign, unchecked)
        server.requester.close(campaign.id)
        for keyholder in committee.keyholders[:2]:  # the third is gone
            keyholder.work()
        page.goto(f"/campaigns/{campaign.id}#rounds")
        _step(page, "Checking")
        button = page.get_by_role("button", name=f"Open without {unchecked} unchecked uploads")
        button.click()
        expect(page.get_by_role("dialog")).to_contain_text("discarded for good")
        axe(page)
        page.keyboard.press("Escape")
        button.click()
        _say_yes(page, f"Discard {unchecked} uploads")
        _step(page, "Opening")
        for keyholder in committee.keyholders[:2]:
            keyholder.work()
        _step(page, "Opened")
        expect(page.locator(".forecast").filter(visible=True)).to_contain_text(
            f"The total of {checked} workers is open."
        )
        axe(page)
