"""The trade-off lab."""

from __future__ import annotations

import re
import shlex

import pytest
from playwright.sync_api import expect
from tests.browser.accessibility import axe
from tests.browser.fake_forecasts import quick_forecasts
from tests.browser.requester_pages import sign_in
from tests.browser.watched_page import OpenPage, Watched
from typer.testing import CliRunner

from sottovoce.cli.app import app
from sottovoce.testing.server_thread import RunningServer


@pytest.fixture
def lab(open_page: OpenPage, server: RunningServer) -> Watched:
    watched = sign_in(open_page(), server)
    quick_forecasts(watched.page)
    watched.page.goto("/lab")
    return watched


@pytest.mark.slow
def test_up_to_three_mechanisms_are_compared_in_the_dark_and_on_a_phone(
    open_page: OpenPage, server: RunningServer
) -> None:
    page = sign_in(open_page("desktop", "dark"), server).page
    questions = quick_forecasts(page)
    page.goto("/lab")
    page.get_by_label("Numbers").check()
    for name in ("Laplace noise", "Two ends"):
        page.get_by_label(name).check()
    expect(page.get_by_label("Threshold")).to_be_disabled()
    expect(page.locator(".chart svg[role=img] circle.point")).to_have_count(3 * 8)
    expect(page.locator(".lab-table tbody tr")).to_have_count(8)
    wanted = {question["privacy"]["mechanism"] for question in questions}
    assert wanted >= {"piecewise", "laplace", "duchi"}
    axe(page)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 844})
    axe(page)


def test_wrong_sizes_are_shown_next_to_their_fields(lab: Watched) -> None:
    page = lab.page
    page.get_by_label("Tasks").fill("10")
    expect(page.get_by_text("Enter a whole number from 1 to 10.")).to_be_visible()
    page.get_by_label("How many labels").fill("1")
    expect(page.get_by_text("Enter a whole number from 2 to 1,000.")).to_be_visible()
    page.get_by_label("Numbers").check()
    page.get_by_label("Highest").fill("-3")
    expect(page.get_by_text("Must be greater than the lowest.")).to_be_visible()
    axe(page)


def test_the_line_to_copy_is_one_that_runs(lab: Watched) -> None:
    page = lab.page
    for label, value in (("Answers per worker", 3), ("Tasks", 6), ("Workers", 4)):
        page.get_by_label(label, exact=True).fill(str(value))
    page.get_by_label("Private").check()
    for kind in ("Labels", "Ordered labels", "Numbers"):
        page.get_by_label(kind, exact=True).check()
        if kind == "Numbers":
            page.get_by_label("Lowest").fill("-5")
        program, *words = shlex.split(page.locator("pre code").inner_text())
        assert program == "sottovoce"
        # The trials are looked at once all the rest is understood; to run them takes a while.
        ran = CliRunner().invoke(app, [*words, "--trials", "0"])
        assert "trials" in str(ran.exception), ran.output


@pytest.mark.slow
def test_a_scenario_is_carried_over_to_a_new_campaign(lab: Watched) -> None:
    page = lab.page
    page.get_by_label("How many labels").fill("3")
    page.get_by_label("Workers", exact=True).fill("77")
    page.get_by_label("Answers per worker").fill("2")
    page.get_by_label("Experts").check()
    page.reload()
    page.get_by_role("button", name="Use for a new campaign").click()
    page.get_by_label("Or paste them").fill("one\ntwo\nthree")
    page.get_by_role("button", name="Use these lines").click()
    expect(page.get_by_text("3 tasks")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Title").fill("From the lab")
    page.get_by_label("Question").fill("Is it?")
    expect(page.get_by_label(re.compile(r"^Label \d$"))).to_have_count(3)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_label("How many workers do you expect?")).to_have_value("77")
    expect(page.get_by_label("How many tasks does each worker get?")).to_have_value("2")
    expect(page.get_by_label("Experts")).to_be_checked()
