"""From the setup link to an open campaign, and whatever goes wrong on the way."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Page, expect
from tests.browser.accessibility import axe
from tests.browser.fake_forecasts import quick_forecasts
from tests.browser.requester_pages import sign_in
from tests.browser.watched_page import OpenPage, Scheme, Size, Watched

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Unit
from sottovoce.server.credentials import make_setup
from sottovoce.server.database import Database
from sottovoce.server.service import Service
from sottovoce.testing.server_thread import RunningServer

REFUSED = "status of 422"
SIMULATING = 60_000
"""Milliseconds for the server's own first forecast: other tests run at the same time."""

LEAVES = "task,text,colour\n" + "".join(f"leaf-{i},Leaf number {i},green\n" for i in range(1, 31))


@pytest.fixture
def requester(open_page: OpenPage, server: RunningServer) -> Watched:
    watched = sign_in(open_page(), server)
    quick_forecasts(watched.page)
    return watched


def _setup_secret(server: RunningServer) -> str:
    def work() -> str:
        service = Service.on(Database.at(server.folder))
        try:
            return make_setup(service)
        finally:
            service.close()

    with ThreadPoolExecutor(1) as elsewhere:  # in this thread runs the browser's loop
        return elsewhere.submit(work).result()


def _give(page: Page, content: str, name: str = "autumn-leaves.csv") -> None:
    file = {"name": name, "mimeType": "text/plain", "buffer": content.encode()}
    page.locator("#file").set_input_files(file)  # type: ignore[arg-type]


def _continue(page: Page) -> None:
    page.get_by_role("button", name="Continue").click()


def _at(page: Page, heading: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(heading))


def _with_tasks(page: Page) -> None:
    page.goto("/campaigns/new")
    _give(page, LEAVES)
    expect(page.get_by_text("30 tasks")).to_be_visible()


def _with_question(page: Page) -> None:
    _with_tasks(page)
    _continue(page)
    page.get_by_label("Question").fill("Which tree is this leaf from?")


def _with_answers(page: Page) -> None:
    _with_question(page)
    _continue(page)
    _at(page, "Privacy")


@pytest.mark.parametrize(
    ("size", "scheme"),
    [("desktop", "light"), pytest.param("phone", "dark", marks=pytest.mark.slow)],
)
def test_a_requester_comes_from_the_setup_link_to_an_open_campaign(
    open_page: OpenPage, server: RunningServer, size: Size, scheme: Scheme
) -> None:
    watched = open_page(size, scheme)
    page = watched.page
    quick_forecasts(page)
    if size == "desktop":  # the first is the server's own: the others would take a while
        page.route("**/api/v1/forecasts", lambda route: route.continue_(), times=1)
    page.goto(f"/setup#{_setup_secret(server)}")
    axe(page)
    page.get_by_role("button", name="Make the token").click()
    expect(page.get_by_role("heading", name="Your token")).to_be_focused()
    axe(page)
    page.get_by_role("button", name="Continue to your campaigns").click()
    expect(page.get_by_role("heading", name="Campaigns")).to_be_visible()

    page.get_by_role("link", name="New", exact=True).click()
    _at(page, "Tasks")
    axe(page)
    _give(page, LEAVES)
    expect(page.get_by_text("Columns read: task, text. Ignored: colour.")).to_be_visible()
    axe(page)
    _continue(page)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.get_by_label("Question").fill("Which tree is this leaf from?")
    page.get_by_label("Label 1", exact=True).fill("Oak")
    page.get_by_label("Label 2", exact=True).fill("Birch")
    page.get_by_role("button", name="Add a label").click()
    page.get_by_label("Label 3", exact=True).fill("Lime")
    seen = page.locator(".phone")
    for words in ("Which tree is this leaf from?", "Leaf number 1", "Oak", "Birch", "Lime"):
        expect(seen).to_contain_text(words)
    axe(page)
    _continue(page)

    _at(page, "Privacy")
    expect(page.locator(".expected strong")).to_be_visible(timeout=SIMULATING)
    assert "Of 100 workers with the same answer 79 send it" in page.locator(".odds").inner_text()
    axe(page)
    _continue(page)
    _at(page, "Review and open")
    expect(page.get_by_text("epsilon 40", exact=True)).to_be_visible()
    expect(page.locator("code.hash")).to_have_text(re.compile("^[0-9a-f]{64}$"))
    axe(page)
    page.get_by_role("button", name="Open the campaign").click()
    expect(page).to_have_url(re.compile(r"/campaigns/[a-z0-9]{10}#invites$"))
    campaign = server.requester.campaign(page.url.split("/")[-1].partition("#")[0])
    assert campaign["state"] == "open"
    assert campaign["domain"]["labels"] == ["Oak", "Birch", "Lime"]
    assert (campaign["tasks"], campaign["block"]) == (30, 20)


UNREADABLE = [
    ("task,text\na,x\na,y\n", "t.csv", "Row 3, column task: task 'a' is here and in row 2"),
    ("name,text\na,x\n", "t.csv", "Row 1: there is no column task, only 'name', 'text'"),
    ("task,text,image\na,x,ftp://x\n", "t.csv", "Row 2, column image:"),
    ('{"task": "a"}\n{"task": }\n', "t.jsonl", "Row 2"),
    ("", "t.tsv", "The table is empty"),
    ("a,b", "t.xlsx", "Save the tasks as a .csv, .tsv, .jsonl or .json file."),
]


@pytest.mark.slow
def test_whatever_is_wrong_with_a_file_is_said_with_its_place_and_leaves_no_draft(
    requester: Watched, server: RunningServer
) -> None:
    requester.expect(REFUSED)
    before = len(server.requester.campaigns())
    requester.page.goto("/campaigns/new")
    for content, name, words in UNREADABLE:
        _give(requester.page, content, name)
        expect(requester.page.locator("#file-error")).to_contain_text(words)
    axe(requester.page)
    assert len(server.requester.campaigns()) == before


def test_errors_are_shown_next_to_their_fields(requester: Watched) -> None:
    page = requester.page
    _with_tasks(page)
    _continue(page)
    page.get_by_label("Title").fill(" ")
    page.get_by_label("Label 2", exact=True).fill("Yes")
    page.get_by_text("End of the campaign").click()
    page.get_by_label("Closes on").fill("2020-01-01")
    page.get_by_label("Maximum number of workers").fill("0")
    _continue(page)
    for words in (
        "Enter a title.", "Enter the question.", "“Yes” appears twice.",
        "This day has already begun.", "Enter a whole number from 1 to",
    ):  # fmt: skip
        page.get_by_text(words).wait_for()
    expect(page.get_by_label("Title")).to_be_focused()
    axe(page)
    page.get_by_label("Label 2", exact=True).fill("")
    _continue(page)
    page.get_by_text("Label 2 is empty.").wait_for()

    # Numbers need a range that their steps fill.
    page.get_by_label("Title").fill("Leaves")
    page.get_by_label("Question").fill("How warm?")
    page.get_by_label("Closes on").fill("")
    page.get_by_label("Maximum number of workers").fill("")
    page.get_by_label("Numbers").check()
    page.get_by_label("Lowest").fill("ten")
    page.get_by_label("Highest").fill("")
    _continue(page)
    expect(page.get_by_text("Enter a number.")).to_have_count(2)
    page.get_by_label("Lowest").fill("−5")
    page.get_by_label("Highest").fill("5")
    page.get_by_label("Step", exact=True).fill("3")
    _continue(page)
    page.get_by_text("The range must be").wait_for()
    page.get_by_label("Step", exact=True).fill("0.5")
    page.get_by_label("Unit").fill("°C")
    expect(page.locator(".phone")).to_contain_text("From −5 to 5 °C, in steps of 0.5.")
    axe(page)
    _continue(page)
    _at(page, "Privacy")
    expect(page.locator(".expected strong")).to_have_text(re.compile("°C$"))


@pytest.mark.slow
def test_pasted_lines_become_tasks_and_labels_are_moved_removed_and_pasted(
    requester: Watched,
) -> None:
    page = requester.page
    page.goto("/campaigns/new")
    _continue(page)
    page.get_by_text("Choose a file or paste some tasks.").wait_for()
    page.get_by_label("Or paste them").fill("The first, with a comma\n\nThe second\n")
    page.reload()
    _continue(page)  # what was typed is still there, and is read
    page.get_by_text("2 tasks").wait_for()
    expect(page.locator("tbody")).to_have_text("t1The first, with a commat2The second")

    _continue(page)
    page.get_by_label("Label 2", exact=True).wait_for()
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.setData("text", "never\\nseldom\\noften");
          const field = document.querySelector("[aria-label='Label 2']");
          field.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, cancelable: true}));
        }"""
    )
    page.get_by_role("button", name="Remove Yes").click()
    page.get_by_role("button", name="Move up often").click()
    page.get_by_role("button", name="Move up often").click()
    expect(page.get_by_label("Label 1", exact=True)).to_be_focused()  # it can go no farther
    labels = [page.get_by_label(f"Label {i}", exact=True).input_value() for i in (1, 2, 3)]
    assert labels == ["often", "never", "seldom"]


def test_a_crowd_that_devices_afford_is_proposed_and_taken_over_with_one_click(
    requester: Watched, server: RunningServer
) -> None:
    page = requester.page
    _with_answers(page)
    tasks = page.get_by_label("How many tasks does each worker get?")
    tasks.fill("30")
    expect(page.locator(".devices")).to_contain_text("Devices stop after 25 tasks.")
    axe(page)
    _continue(page)
    expect(page.locator(".devices")).to_contain_text("stops after 25 of its 30 tasks")
    expect(page.get_by_role("button", name="Open anyway")).to_be_visible()
    page.get_by_role("button", name="48 workers × 25 tasks each").click()
    expect(page.locator(".devices")).to_have_count(0)
    expect(page.get_by_role("button", name="Open the campaign")).to_be_visible()
    assert server.requester.campaigns()[0]["block"] == 25
    page.get_by_role("button", name="Back").click()
    expect(tasks).to_have_value("25")
    tasks.fill("30")
    page.get_by_role("button", name="48 workers × 25 tasks each").click()
    expect(tasks).to_have_value("25")
    expect(page.locator(".devices")).to_have_count(0)


@pytest.mark.slow
def test_the_slider_asks_for_the_stop_in_sight_first_and_then_its_neighbours(
    open_page: OpenPage, server: RunningServer
) -> None:
    watched = sign_in(open_page(), server)
    page, questions = watched.page, quick_forecasts(watched.page)
    _with_answers(page)
    expect(page.locator(".chart circle.point")).to_have_count(12 + 1)
    asked = [question["privacy"]["epsilon"] for question in questions]
    assert asked[:3] == [2, 1.5, 2.5]
    assert sorted(asked) == [0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6]

    slider = page.get_by_role("slider", name="Privacy")
    slider.press("Home")
    expect(page.locator(".odds")).to_contain_text("56 send it")
    expect(page.get_by_text("hardly better than guessing")).to_be_visible()
    slider.press("End")
    expect(page.get_by_text("This hides little.")).to_be_visible()
    assert len(questions) == 12  # what was answered once is not asked again
    page.get_by_label("How many workers do you expect?").fill("400")
    expect(page.locator(".chart circle.point")).to_have_count(12 + 1)
    assert {question["workers"] for question in questions[12:]} == {400}
    assert questions[12]["privacy"]["epsilon"] == 6


@pytest.mark.slow
def test_a_busy_server_is_asked_again_and_wrong_sizes_and_other_choices_of_privacy(
    requester: Watched,
) -> None:
    requester.expect("status of 503")
    page = requester.page
    busy = {"reason": "unavailable", "detail": "too many forecasts are waiting"}
    page.route(
        "**/api/v1/forecasts",
        lambda route: route.fulfill(status=503, json=busy, headers={"Retry-After": "1"}),
        times=1,
    )
    _with_answers(page)
    page.locator(".expected strong").wait_for()
    page.get_by_label("How many tasks does each worker get?").fill("31")
    page.get_by_label("How many workers do you expect?").fill("many")
    _continue(page)
    expect(page.get_by_text("Enter a whole number from 1 to 30.")).to_be_visible()
    expect(page.get_by_text("Enter a whole number from 1 to 2,147,483,647.")).to_be_visible()
    page.get_by_label("How many tasks does each worker get?").fill("5")
    page.get_by_label("How many workers do you expect?").fill("50")
    page.get_by_label("Yes, hide it").check()
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Mechanism").select_option("two-layer")
    expect(page.get_by_text("does not run in a browser")).to_be_visible()
    axe(page)
    page.get_by_label("Mechanism").select_option("")
    page.get_by_label("For all answers of a worker").check()
    page.get_by_label("After it was sent").check()
    expect(page.locator(".chart circle.point")).to_have_count(12 + 1)
    _continue(page)
    _at(page, "Review and open")
    for words in ("private", "after sending", "5 tasks"):
        expect(page.get_by_text(words, exact=True)).to_be_visible()


@pytest.mark.slow
def test_a_draft_is_saved_found_again_and_deleted(
    requester: Watched, open_page: OpenPage, server: RunningServer
) -> None:
    page = requester.page
    _with_question(page)
    page.get_by_label("Title").fill("Leaves to go on with")
    page.reload()
    expect(page.get_by_label("Title")).to_have_value("Leaves to go on with")
    page.get_by_role("button", name="Save and leave").click()
    expect(page.get_by_role("link", name="Leaves to go on with")).to_be_visible()

    elsewhere = sign_in(open_page("phone"), server)  # another tab knows only what was saved
    quick_forecasts(elsewhere.page)
    elsewhere.page.goto("/campaigns")
    axe(elsewhere.page)
    elsewhere.page.get_by_role("link", name="Leaves to go on with").click()
    _at(elsewhere.page, "Privacy")
    elsewhere.page.go_back()
    elsewhere.page.go_forward()
    elsewhere.page.get_by_role("link", name="Answers").click()
    expect(elsewhere.page.get_by_label("Question")).to_have_value("Which tree is this leaf from?")
    elsewhere.page.get_by_role("button", name="Delete this draft").click()
    axe(elsewhere.page)
    elsewhere.page.get_by_role("button", name="Delete the draft").click()
    expect(elsewhere.page.get_by_role("heading", name="Campaigns")).to_be_visible()
    assert "Leaves to go on with" not in {one["title"] for one in server.requester.campaigns()}


@pytest.mark.parametrize(
    ("mechanism", "unit", "hides"),
    [
        ("null-randomized-response", Unit.WORKER, True),
        ("two-layer", Unit.ANSWER, True),
        ("two-layer", Unit.ANSWER, False),
    ],
)
def test_a_draft_found_again_has_its_mechanism_and_hides_what_it_hid(
    requester: Watched, server: RunningServer, mechanism: str, unit: Unit, hides: bool
) -> None:
    made = server.requester.create(
        "Which tree?",
        [{"task": f"t{i}", "text": f"Leaf {i}"} for i in range(9)],
        domain=Domain.categorical(["elm", "oak"]),
        target=Target(4.0, unit, answers=9, hide_participation=hides),
        mechanism=mechanism,
    )
    page = requester.page
    page.goto(f"/campaigns/new#{made['id']}/privacy")
    hidden = page.get_by_label("Yes, hide it")
    expect(hidden).to_be_checked(checked=hides)
    expect(page.get_by_label("Mechanism")).to_have_value(mechanism)


def test_a_revoked_token_leads_to_the_sign_in_and_back(
    open_page: OpenPage, server: RunningServer
) -> None:
    watched = sign_in(open_page("desktop", "dark"), server, "svk_" + "a" * 43)
    watched.expect("status of 403")
    page = watched.page
    page.goto("/campaigns")
    expect(page).to_have_url(re.compile("/#sign-in$"))
    field = page.get_by_label("Your requester token")
    expect(field).to_be_focused()
    axe(page)
    field.fill("password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("A token starts with svk_")).to_be_visible()
    field.fill("svk_" + "b" * 43)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The server does not know this token.")).to_be_visible()
    axe(page)
    field.fill(server.token)
    page.get_by_label("Stay signed in on this device").check()
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile("/campaigns$"))
    again = watched.context.new_page()
    again.goto("/campaigns")
    again.get_by_role("button", name="Sign out").click()
    expect(again.get_by_label("Your requester token")).to_be_visible()
    assert page.evaluate("() => localStorage.length") == 0


@pytest.mark.slow
def test_a_sample_campaign_is_one_click_away(requester: Watched, server: RunningServer) -> None:
    page = requester.page
    page.goto("/")
    page.get_by_role("button", name="Try a sample campaign").click()
    expect(page).to_have_url(re.compile("/campaigns/[a-z0-9]{10}"))
    page.goto("/campaigns")
    expect(page.locator(".row .stamp").first).to_have_text("Simulated")
    axe(page)


def test_whatever_was_typed_stays_text(requester: Watched) -> None:
    page = requester.page
    evil = "<img src=x onerror=alert(1)>{{7*7}}"
    page.goto("/campaigns/new")
    page.get_by_label("Or paste them").fill(evil)
    _continue(page)
    expect(page.locator("tbody")).to_contain_text(evil)
    _continue(page)
    page.get_by_label("Title").fill(evil)
    page.get_by_label("Question").fill(evil)
    page.get_by_label("Label 1", exact=True).fill(evil)
    expect(page.locator(".phone")).to_contain_text(evil)
    _continue(page)
    _continue(page)
    expect(page.locator(".question")).to_have_text(evil)
    page.goto("/campaigns")
    expect(page.get_by_role("link", name=evil)).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
