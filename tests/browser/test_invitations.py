"""Links, codes and cards in a real browser."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
import segno
from playwright.sync_api import Locator, expect
from tests.browser.accessibility import axe
from tests.browser.campaigns import drafted, opened
from tests.browser.requester_pages import sign_in
from tests.browser.watched_page import OpenPage, Watched

from sottovoce.testing.server_thread import RunningServer

LINK = re.compile(r"http://127\.0\.0\.1:\d+/c/[a-z0-9]+#svi_[A-Za-z0-9_-]{43}", re.ASCII)

# Asks the drawing itself what is dark, whatever commands its path is made of.
DARK_MODULES = """(code) => {
  const path = code.querySelector("path");
  const side = code.viewBox.baseVal.width + 2 * code.viewBox.baseVal.x;
  const modules = Array.from({length: side}, (_, i) => i + 0.5);
  return modules.map((y) => modules.map((x) => path.isPointInFill(new DOMPoint(x, y)) ? 1 : 0));
}"""


@pytest.fixture
def requester(open_page: OpenPage, server: RunningServer) -> Watched:
    watched = sign_in(open_page(), server)
    watched.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return watched


def _drawn(code: Locator) -> Any:
    return code.evaluate(DARK_MODULES)


def _expected(link: str) -> list[list[int]]:
    """The code of a link as segno draws it, readable with 15 % of it damaged."""
    code = segno.make_qr(link, error="m", boost_error=False)
    return [[int(module) for module in row] for row in code.matrix]


def _count(watched: Watched, name: str) -> Locator:
    page = watched.page
    return page.locator(".large div", has=page.get_by_text(name, exact=True)).locator("dd:visible")


def _made(watched: Watched, campaign: str, count: int) -> None:
    page = watched.page
    page.goto(f"/campaigns/{campaign}#invites")
    page.get_by_label("How many").fill(str(count))
    page.get_by_role("button", name="Make the links").click()
    expect(page.get_by_role("heading", name=f"{count} links, made in this tab")).to_be_focused()


def _clipboard(watched: Watched) -> str:
    return str(watched.page.evaluate("navigator.clipboard.readText()"))


def test_the_worker_link_is_copied_and_stays_the_same_in_this_tab(
    requester: Watched, server: RunningServer
) -> None:
    campaign, _ = opened(server)
    page = requester.page
    page.goto(f"/campaigns/{campaign}")
    page.get_by_role("button", name="Copy the worker link").click()
    expect(page.get_by_text("Anyone with the link can answer")).to_be_visible()
    link = _clipboard(requester)
    assert LINK.fullmatch(link)
    page.get_by_role("link", name="Invites").click()
    expect(page.get_by_text(link)).to_be_visible()
    expect(_count(requester, "Open links")).to_have_text("2")
    assert _drawn(page.locator("svg.qr")) == _expected(link)


@pytest.mark.slow
def test_links_are_saved_copied_printed_stay_in_their_tab_and_are_revoked(
    requester: Watched, open_page: OpenPage, server: RunningServer, tmp_path: Path
) -> None:
    campaign, _ = opened(server, title="Leaves & <b>more</b>")
    _made(requester, campaign, 10)
    page = requester.page
    expect(_count(requester, "Unused")).to_have_text("10")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    assert download.value.suggested_filename == f"{campaign}-links.csv"
    download.value.save_as(tmp_path / "links.csv")
    with (tmp_path / "links.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["link", "number"]
    assert [number for _, number in rows] == [str(i) for i in range(1, 11)]
    links = [link for link, _ in rows]
    assert all(LINK.fullmatch(link) for link in links)
    assert len(set(links)) == 10
    page.get_by_role("button", name="Copy all").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert _clipboard(requester).split() == links

    page.get_by_role("link", name="Cards to print").click()
    cards = page.locator(".invite-card")
    expect(cards).to_have_count(10)
    for link, card in zip(links, cards.all(), strict=True):
        assert _drawn(card.locator("svg.qr")) == _expected(link)
    expect(cards.first).to_contain_text("Leaves & <b>more</b>")
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 2  # 8 on each

    assert "svi_" not in page.evaluate("JSON.stringify({...localStorage})")
    page.goto(f"/campaigns/{campaign}#invites")
    expect(page.locator(".links li")).to_have_count(8)  # the first of the ten
    other = sign_in(open_page(), server).page
    other.goto(f"/campaigns/{campaign}/sheet")
    expect(other.get_by_role("heading", level=1)).to_have_text("No cards in this tab")
    other.goto(f"/campaigns/{campaign}#invites")
    expect(other.locator(".large dd:visible")).to_have_text(["1", "10", "0", "10"])
    expect(other.locator(".links li")).to_have_count(0)

    page.get_by_role("button", name="Revoke all links").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke all links").click()
    expect(page.get_by_text("11 links no longer work.")).to_be_visible()
    expect(page.locator(".links li")).to_have_count(0)
    assert server.requester.invites(campaign) == {"open": 0, "single": 0, "used": 0}
    assert "svi_" not in page.evaluate("JSON.stringify({...sessionStorage})")


@pytest.mark.slow
def test_a_last_day_in_the_past_and_a_closed_campaign_are_refused_in_words(
    requester: Watched, server: RunningServer
) -> None:
    page = requester.page
    page.goto(f"/campaigns/{drafted(server)}#invites")
    requester.expect("422")
    page.get_by_label("Last day").fill("2020-02-28")
    page.get_by_role("button", name="Make the links").click()
    expect(page.get_by_role("alert").filter(visible=True)).to_contain_text("2020-02-29")

    campaign, _ = opened(server)
    server.requester.close(campaign)
    page.goto(f"/campaigns/{campaign}#invites")
    expect(page.get_by_text("nobody can be invited")).to_be_visible()
    expect(page.get_by_role("button", name="Make")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.slow
def test_links_and_cards_are_accessible_on_a_phone_and_in_the_dark(
    open_page: OpenPage, server: RunningServer
) -> None:
    page = (watched := sign_in(open_page("phone"), server)).page
    campaign, _ = opened(server)
    _made(watched, campaign, 9)
    page.get_by_role("button", name="Make an open link").click()
    expect(page.locator("svg.qr")).to_be_visible()
    axe(page)
    page.emulate_media(color_scheme="dark")
    axe(page)
    page.get_by_role("link", name="Cards to print").click()
    expect(page.locator(".invite-card")).to_have_count(9)
    axe(page)
    page.emulate_media(color_scheme="light")
    axe(page)
