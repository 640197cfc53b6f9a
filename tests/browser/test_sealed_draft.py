"""Drafting a campaign whose answers are sealed for keyholders."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.accessibility import axe
from tests.browser.fake_forecasts import quick_forecasts
from tests.browser.requester_pages import sign_in
from tests.browser.watched_page import OpenPage, Scheme, Size
from tests.securesum.sealed_policies import KEYS

from sottovoce.model.keyholder import Keyholder
from sottovoce.testing.server_thread import RunningServer

CARDS = [keys.keyholder for keys in KEYS]
TWO_BAD = '"degree":2'
SIMULATING = 60_000
"""Milliseconds for the server's own first forecast: other tests run at the same time."""


def _continue(page: Page) -> None:
    page.get_by_role("button", name="Continue").click()


def _at(page: Page, heading: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(heading))


def _to_privacy(page: Page, *, numbers: bool = False) -> None:
    page.goto("/campaigns/new")
    page.get_by_label("Or paste them").fill("The first\nThe second\nThe third\n")
    _continue(page)
    page.get_by_text("3 tasks").wait_for()
    _continue(page)
    page.get_by_label("Question").fill("Is it true?")
    page.get_by_label("Title").fill("Sealed")
    if numbers:
        page.get_by_label("Numbers").check()
    _continue(page)
    _at(page, "Privacy")


def _paste(page: Page, text: str) -> None:
    page.get_by_label("Paste a card").fill(text)
    page.get_by_role("button", name="Add this card").click()


def _draft(page: Page, server: RunningServer) -> dict[str, object]:
    [id] = re.findall("#([a-z0-9]+)", page.url)
    mechanism: dict[str, object] = server.requester.campaign(id)["policy"]["mechanism"]
    return mechanism


def _fingerprints(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(".fingerprint").all_inner_texts()]


def test_a_sealed_campaign_is_drafted_with_cards_of_keyholders_and_opened(
    open_page: OpenPage, server: RunningServer
) -> None:
    watched = sign_in(open_page(), server)
    page, asked = watched.page, quick_forecasts(watched.page)
    _to_privacy(page)
    expect(page.get_by_label("Randomised on each device")).to_be_checked()
    page.get_by_label("Sealed: shared among keyholders").check()
    cards = CARDS[:3]

    _paste(page, cards[0].card())
    expect(page.get_by_role("status")).to_contain_text("1 keyholder of 3")
    _continue(page)
    expect(page.get_by_text("At least 3 keyholders are needed: add 2 more cards.")).to_be_visible()
    expect(page.get_by_label("Paste a card")).to_be_focused()
    files = [
        {"name": f"card-{i}.json", "mimeType": "application/json", "buffer": card.card().encode()}
        for i, card in enumerate(cards[1:])
    ]
    page.locator("#cards").set_input_files(files)  # type: ignore[arg-type]
    expect(page.locator(".seats .seat-name")).to_have_text([card.name for card in cards])
    expect(page.locator(".seats .fingerprint")).to_have_count(3)
    assert _fingerprints(page) == [card.fingerprint for card in cards]
    expect(page.locator(".compared")).to_contain_text("Randomised on each device")
    expect(page.locator(".legend li")).to_have_text(["sealed", "randomised on each device"])
    assert {"seats": 3, "degree": 1} in [each["privacy"].get("parameters") for each in asked]
    axe(page)

    _continue(page)
    _at(page, "Review and open")
    expect(page.locator(".seats .fingerprint")).to_have_count(3)
    assert _fingerprints(page) == [card.fingerprint for card in cards]
    for words in ("any one keyholder of the 3", "For one answer", "epsilon 2"):
        expect(page.locator(".promise")).to_contain_text(words)
    axe(page)
    page.get_by_role("button", name="Open the campaign").click()
    page.wait_for_url("**/campaigns/*#rounds")
    campaign = server.requester.campaign(page.url.split("/")[-1].partition("#")[0])
    mechanism = campaign["policy"]["mechanism"]
    assert (campaign["state"], mechanism["name"]) == ("open", "sealed-sum")
    assert mechanism["keyholders"] == [card.as_json() for card in cards]


def _damaged(card: Keyholder) -> str:
    return card.card().replace(card.sealing, card.sealing[:-1])


@pytest.mark.slow
def test_an_invalid_card_is_explained_and_changes_nothing(
    open_page: OpenPage, server: RunningServer
) -> None:
    watched = sign_in(open_page("phone", "dark"), server)
    page = watched.page
    quick_forecasts(page)
    _to_privacy(page)
    page.get_by_label("Sealed: shared among keyholders").check()
    [first, second, third] = CARDS[:3]
    _paste(page, first.card())
    wrong = {
        "": "Paste a keyholder’s card first.",
        "hello": "This is not a keyholder card.",
        "[]": "This is not a keyholder card.",
        '{"format":"sottovoce-keyholder-keys/1"}': "must never leave the keyholder",
        '{"format":"sottovoce-keyholder/2"}': "its format is \"sottovoce-keyholder/2\"",
        _damaged(second): f"The card of {second.name} is damaged: “sealing” is not a valid key.",
        json.dumps({**json.loads(second.card()), "age": 4}): "This card has an unknown field",
        first.card(): f"The card of {first.name} has already been added.",
        Keyholder("Other", first.sealing, second.signing).card(): f"already been added, as "
                                                                  f"{first.name}",
        Keyholder(first.name, second.sealing, second.signing).card(): "already has the name",
        second.card() + second.card(): f"The card of {second.name} has already been added.",
    }  # fmt: skip
    for text, words in wrong.items():
        _paste(page, text)
        expect(page.locator(".sealing .field .error").last).to_contain_text(words)
        expect(page.locator(".seats .seat-name")).to_have_text([first.name])
    file = {"name": "a.json", "mimeType": "application/json", "buffer": b"{}"}
    page.locator("#cards").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_role("alert").filter(has_text="a.json: ")).to_be_visible()
    axe(page)

    page.get_by_label("Paste a card").fill("")
    page.get_by_role("button", name="Save and leave").click()
    page.get_by_text("A draft is saved with all its keyholders or none").wait_for()
    expect(page.get_by_label("Paste a card")).to_be_focused()
    _paste(page, f"{second.card()}\n{third.card()}")
    page.get_by_label("Minimum number of workers").fill("1")
    _continue(page)
    expect(page.get_by_text("Enter a whole number from 2 to 1,000,000.")).to_be_visible()
    page.get_by_role("button", name=f"Remove {second.name}").click()
    expect(page.get_by_role("button", name=f"Remove {third.name}")).to_be_focused()


@pytest.mark.slow
@pytest.mark.parametrize(("size", "scheme"), [("desktop", "dark"), ("phone", "light")])
def test_five_keyholders_of_whom_two_may_be_bad_a_robust_middle_and_a_draft_to_go_on_with(
    open_page: OpenPage, server: RunningServer, size: Size, scheme: Scheme
) -> None:
    page = sign_in(open_page(size, scheme), server).page
    quick_forecasts(page)
    _to_privacy(page, numbers=True)
    page.get_by_label("Sealed: shared among keyholders").check()
    page.get_by_label("Their median (robust)").check()
    expect(page.locator(".compared")).to_be_visible()
    page.get_by_label("Minimum number of workers").fill("25")
    _paste(page, "\n".join(card.card() for card in CARDS))
    # The first forecast with these keyholders is the server's own: the others would take a while.
    real: list[Route] = []

    def first_is_real(route: Route) -> None:
        if real or TWO_BAD not in (route.request.post_data or ""):
            return route.fallback()
        real.append(route)
        return route.continue_()

    page.route("**/api/v1/forecasts", first_is_real)
    with page.expect_response(
        lambda answer: TWO_BAD in (answer.request.post_data or ""), timeout=SIMULATING
    ) as forecast:
        page.get_by_label("2 of 5").check()
    assert forecast.value.json()["mechanism"] == "sealed-sum"
    expect(page.locator(".expected strong").first).to_have_text(re.compile(r"^[\d.]+$"))
    axe(page)
    parameters = json.loads(forecast.value.request.post_data or "{}")["privacy"]["parameters"]
    assert parameters == {"seats": 5, "degree": 2, "layout": "histogram"}
    _continue(page)
    _at(page, "Review and open")
    expect(page.locator(".promise")).to_contain_text("any 2 keyholders together of the 5")
    axe(page)
    width, most = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= most
    mechanism = _draft(page, server)
    found = {name: mechanism[name] for name in ("seats", "degree", "minimum", "layout")}
    assert found == {"seats": 5, "degree": 2, "minimum": 25, "layout": "histogram"}

    page.evaluate(
        """() => Object.keys(sessionStorage).filter((key) => key.includes("draft"))
          .forEach((key) => sessionStorage.removeItem(key))"""
    )
    page.reload()  # what the server knows is all there is
    _at(page, "Privacy")
    expect(page.get_by_label("Sealed: shared among keyholders")).to_be_checked()
    expect(page.get_by_label("Their median (robust)")).to_be_checked()
    expect(page.get_by_label("2 of 5")).to_be_checked()
    expect(page.get_by_label("Minimum number of workers")).to_have_value("25")
    expect(page.locator(".seats .fingerprint")).to_have_count(5)
