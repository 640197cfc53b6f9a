"""The requester's dashboard in a real browser, on a real server with real inference."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.accessibility import axe
from tests.browser.campaigns import drafted, opened
from tests.browser.chromium import NONE_FOUND, find_chromium
from tests.browser.requester_pages import READY, crowd, headers, sign_in
from tests.browser.watched_page import OpenPage, Scheme, Size, Watched

from sottovoce.mechanisms.policies import Target
from sottovoce.testing.server_thread import RunningServer

MANY = 120
"""Tasks: three pages of truths."""


@pytest.fixture(scope="module")
def trees(server: RunningServer) -> str:
    """An open campaign with truths on three pages."""
    target = Target(3.0, answers=60)
    campaign, link = opened(
        server, "labels", MANY, "Which tree is it?", title="Trees", target=target
    )
    crowd(server, campaign, link, workers=30)
    server.truths(campaign)
    return campaign


@pytest.fixture(scope="module")
def few(server: RunningServer) -> str:
    """An open campaign of five tasks, with truths."""
    campaign, link = opened(server, "labels", title="Few")
    crowd(server, campaign, link, workers=12)
    server.truths(campaign)
    return campaign


@pytest.fixture
def requester(open_page: OpenPage, server: RunningServer) -> Watched:
    return sign_in(open_page(), server)


def _figure(page: Page, name: str) -> Locator:
    return page.locator("section:not([hidden]) .large div", has=page.get_by_text(name, exact=True))


def _rows(page: Page) -> Locator:
    return page.locator("section:not([hidden]) tbody tr")


@pytest.mark.slow
def test_a_sample_campaign_fills_with_truths_before_ones_eyes(requester: Watched) -> None:
    page = requester.page
    # As on a server on which nobody has been asked anything yet.
    page.route("**/api/v1/campaigns", lambda route: route.fulfill(json={"campaigns": []}), times=1)
    page.goto("/campaigns")
    page.get_by_role("button", name="Sample campaign").click()
    page.wait_for_url(re.compile(r"/campaigns/[a-z0-9]{4,}$"))
    expect(page.locator(".campaign-head .stamp")).to_be_visible()
    page.get_by_role("link", name="Truths", exact=True).click()
    expect(_rows(page)).to_have_count(50)
    expect(page.locator(".pager .where").first).to_have_text("1–50 of 60")
    page.get_by_role("link", name="Overview").click()
    expect(_figure(page, "Workers").locator("dd")).to_have_text("80")
    expect(_figure(page, "Reports waiting").locator("dd")).to_have_text("0")
    for section in READY:
        page.goto(f"{page.url.partition('#')[0]}#{section}")
        expect(page.locator("section:not([hidden]) .stamp")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator("section:not([hidden]) .stamp")).to_be_visible()
    page.goto("/campaigns")
    expect(page.locator(".row .stamp").first).to_have_text("Simulated")


def test_truths_are_cut_into_pages_by_the_server_and_the_least_sure_come_first_if_one_wants(
    requester: Watched, server: RunningServer, trees: str
) -> None:
    page = requester.page
    page.goto(f"/campaigns/{trees}#truths")
    expect(_rows(page)).to_have_count(50)
    expect(_rows(page).first.get_by_role("rowheader")).to_contain_text("t0")
    following = page.get_by_role("navigation", name="Pages of truths").get_by_text("Next")
    following.focus()
    page.keyboard.press("Enter")
    expect(_rows(page).first.get_by_role("rowheader")).to_contain_text("t50")
    expect(following).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(_rows(page)).to_have_count(20)
    assert page.url.endswith("#truths?page=3")
    page.reload()
    expect(_rows(page).first.get_by_role("rowheader")).to_contain_text("t100")
    page.go_back()
    expect(_rows(page).first.get_by_role("rowheader")).to_contain_text("t50")
    page.evaluate("location.hash = 'truths?page=99'")  # one behind the last is the last
    expect(_rows(page)).to_have_count(20)

    page.get_by_role("link", name="Least certain first").click()
    view = server.requester.results_page(trees, limit=50, order="confidence")
    names = [truth["task"] for truth in view["truths"]]
    expect(_rows(page).locator("th")).to_have_text(
        [re.compile(rf"^{name}(?!\d)") for name in names]
    )
    assert "order=least-sure" in page.url


@pytest.mark.slow
def test_numbers_have_a_standard_error_and_an_interval(
    requester: Watched, server: RunningServer
) -> None:
    campaign, link = opened(server, "piecewise", 5, target=Target(4.0, answers=5))
    crowd(server, campaign, link, workers=40)
    server.truths(campaign)
    page = requester.page
    page.goto(f"/campaigns/{campaign}#truths")
    expect(_rows(page)).to_have_count(5)
    [first, *_] = server.requester.results_page(campaign)["truths"]
    truth, error = float(first["truth"]), first["standard_error"]
    assert error is not None
    cells = [text.replace("−", "-") for text in _rows(page).first.locator("td").all_inner_texts()]
    assert float(cells[0].split()[0]) == pytest.approx(truth, abs=0.06 * error)
    assert float(cells[1].removeprefix("± ")) == pytest.approx(error, rel=0.06)
    low, high = map(float, cells[2].split(" to "))
    assert (low, high) == pytest.approx(
        (max(-10, truth - 1.96 * error), min(40, truth + 1.96 * error)), abs=0.06 * error
    )


@pytest.mark.slow
def test_hidden_participation_shows_no_counts(requester: Watched, server: RunningServer) -> None:
    campaign, link = opened(server, "hidden")
    crowd(server, campaign, link, workers=20)
    server.truths(campaign)
    page = requester.page
    for section in ("overview", "truths", "workers"):
        page.goto(f"/campaigns/{campaign}#{section}")
        why = page.get_by_text("hides which tasks a worker answered").filter(visible=True)
        expect(why).to_have_count(1)
        expect(page.get_by_text("Reports per task")).to_have_count(0)
    for section, columns in (
        ("truths", ["Task", "Truth", "Confidence", "State"]),
        ("workers", ["Pseudonym", "Weight"]),
    ):
        page.goto(f"/campaigns/{campaign}#{section}")
        expect(page.locator("section:not([hidden]) thead th")).to_have_text(columns)


def test_downloads_and_the_methods_paragraph_are_what_the_interface_sends(
    requester: Watched, server: RunningServer, trees: str, tmp_path: Path
) -> None:
    page, address = requester.page, f"{server.url}/api/v1/campaigns/{trees}"
    page.goto(f"/campaigns/{trees}#exports")
    for name in ("truths.csv", "reports.parquet", "workers.jsonl", "policy.json"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save {name}").click()
        assert download.value.suggested_filename == f"{trees}-{name}"
        download.value.save_as(tmp_path / name)
        sent = httpx.get(f"{address}/exports/{name}", headers=headers(server)).content
        assert (tmp_path / name).read_bytes() == sent
        page.get_by_text(f"Saved {trees}-{name}").wait_for()

    page.get_by_role("link", name="Methods").click()
    said = httpx.get(f"{address}/methods", headers=headers(server)).json()
    expect(page.locator("blockquote")).to_have_text(said["paragraph"])
    assert page.locator("section:not([hidden]) pre").inner_text() == said["citation"].rstrip()


def test_a_draft_opens_and_then_closes_for_good_and_deleting_it_needs_the_title(
    requester: Watched, server: RunningServer
) -> None:
    campaign, page = drafted(server, title="Gone soon"), requester.page
    page.goto(f"/campaigns/{campaign}")
    page.get_by_role("button", name="Open the campaign").click()
    page.get_by_role("dialog").get_by_role("button", name="Open it").click()
    expect(page.locator(".chip")).to_have_text("Open")
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("Escape")
    assert server.requester.campaign(campaign)["state"] == "open"
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Close it for good").click()
    expect(page.locator(".chip")).to_have_text("Closed")
    expect(page.locator(".campaign-head .actions")).to_be_focused()
    assert server.requester.campaign(campaign)["state"] == "closed"

    page.get_by_role("button", name="Delete").click()
    certain = page.get_by_role("button", name="Delete everything")
    page.get_by_role("textbox").fill("Gone")
    expect(certain).to_be_disabled()
    page.get_by_role("textbox").fill("Gone soon")
    certain.click()
    page.wait_for_url("**/campaigns")
    assert campaign not in [each["id"] for each in server.requester.campaigns()]


@pytest.mark.slow
def test_refusals_are_counted_by_reason_and_news_moves_neither_the_focus_nor_the_page(
    requester: Watched, server: RunningServer
) -> None:
    campaign, link = opened(server, "labels", 5)
    crowd(server, campaign, link, workers=10)
    server.truths(campaign)
    address = f"{server.url}/api/v1/campaigns/{campaign}/reports/{'0' * 32}"
    unknown = {
        "Authorization": f"Bearer svi_{'x' * 43}",
        "Sottovoce-Receipt": f"svr_{'y' * 43}",
        "Content-Type": "application/json",
    }
    assert httpx.put(address, headers=unknown, content=b"{}").status_code in (403, 422)
    page = requester.page
    page.goto(f"/campaigns/{campaign}")
    expect(page.locator(".reasons dt")).to_have_text(re.compile("^1 "))
    expect(page.locator(".reasons dd")).not_to_be_empty()
    unfolded = page.locator(".chart details").first
    unfolded.locator("summary").click()
    expect(unfolded).to_have_attribute("open", "")
    before = page.evaluate("scrollTo(0, 300), scrollY")
    crowd(server, campaign, link, workers=7, seed=4)
    expect(_figure(page, "Workers").locator("dd")).to_have_text("17")
    expect(unfolded).to_have_attribute("open", "")
    expect(unfolded.locator("summary")).to_be_focused()
    assert page.evaluate("scrollY") == before
    assert page.locator("[aria-live], [role=status]").filter(has_text="sent").count() == 1


@pytest.mark.slow
def test_a_hidden_page_asks_for_nothing(requester: Watched, few: str) -> None:
    page = requester.page
    page.add_init_script(
        "Object.defineProperty(document, 'hidden', {get: () => globalThis.away ?? false})"
    )
    page.goto(f"/campaigns/{few}")
    expect(_figure(page, "Workers")).to_be_visible()
    turn = (
        "(away) => {globalThis.away = away; document.dispatchEvent(new Event('visibilitychange'))}"
    )
    page.evaluate(turn, True)
    page.wait_for_timeout(300)  # what was on its way
    asked = len(requester.requests)
    page.wait_for_timeout(2500)
    assert len(requester.requests) == asked
    with page.expect_request("**/overview"):
        page.evaluate(turn, False)


@pytest.mark.slow
def test_a_server_that_is_away_a_campaign_deleted_meanwhile_and_an_unknown_one_are_said_to_be(
    requester: Watched, server: RunningServer
) -> None:
    campaign, page = drafted(server, title="Short-lived"), requester.page
    page.goto(f"/campaigns/{campaign}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Short-lived")
    requester.expect("ERR_INTERNET_DISCONNECTED", "404")
    requester.context.set_offline(True)
    expect(page.get_by_role("alert")).to_contain_text(
        re.compile(r"not responded since \d\d:\d\d:\d\d UTC")
    )
    expect(page.get_by_role("heading", level=1)).to_have_text("Short-lived")
    requester.context.set_offline(False)
    expect(page.locator("#trouble")).to_be_hidden()

    server.requester.delete(campaign)
    expect(page.get_by_role("alert")).to_contain_text("has been deleted")
    expect(page.get_by_role("heading", level=1)).to_have_text("Short-lived")
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)

    page.goto("/campaigns/none0#truths")
    expect(page.get_by_role("heading", level=1)).to_have_text("Campaign not found")


@pytest.mark.slow
def test_a_revoked_token_leads_to_the_sign_in_and_back(
    open_page: OpenPage, server: RunningServer, few: str
) -> None:
    made = server.requester.make_token("for a moment")
    watched = sign_in(open_page(), server, made["token"])
    watched.page.goto(f"/campaigns/{few}#workers")
    expect(_rows(watched.page)).to_have_count(12)
    watched.expect("403", "401")
    server.requester.revoke_token(made["id"])
    watched.page.wait_for_url("**/#sign-in")
    assert watched.page.evaluate("JSON.stringify({...sessionStorage})").find(made["token"]) < 0


@pytest.mark.parametrize(
    "how",
    [pytest.param(("desktop", "light"), marks=pytest.mark.slow), ("phone", "dark")],
    ids="-".join,
)
def test_every_section_is_accessible_and_found_by_keyboard(
    open_page: OpenPage, server: RunningServer, few: str, how: tuple[Size, Scheme]
) -> None:
    page = sign_in(open_page(*how), server).page
    page.goto(f"/campaigns/{few}")
    for section, something in READY.items():
        page.evaluate("(name) => {location.hash = name}", section)
        expect(page.locator(f"#section-{section} {something}").first).to_be_visible()
        width, most = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width <= most, f"{section} is {width} wide"
    page.get_by_role("link", name="Methods").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Methods")).to_be_focused()
    assert page.url.endswith("#methods")
    page.go_back()
    expect(page.get_by_role("heading", name="Settings")).to_be_focused()
    # Looked at together: one look takes seconds.
    page.evaluate("document.querySelectorAll('section').forEach((each) => {each.hidden = false})")
    axe(page)
    page.get_by_role("button", name="Delete").click()
    axe(page)


@pytest.mark.slow
@pytest.mark.skipif(find_chromium() is None, reason=NONE_FOUND)
def test_a_million_reports_on_ten_thousand_tasks_keep_nobody_waiting() -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "dashboard.py"
    command = [sys.executable, str(script), "10000", "1000000"]
    seen = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert seen["first_paint"] < 1
    assert seen["turn"] < 0.3  # the median of 20
    assert seen["rows"] == 50
