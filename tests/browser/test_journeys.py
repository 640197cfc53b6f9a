"""A requester asks, twenty workers answer, the requester sees the truth: in pages."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.fake_forecasts import quick_forecasts
from tests.browser.requester_pages import sign_in
from tests.browser.watched_page import OpenPage, Watched
from tests.browser.worker_page import AtPage

from sottovoce.testing.server_thread import RunningServer

WORKERS = 20
SOME = 4
"""Of them, two in each language: a page takes seconds, and the others may as well use Python."""

TASKS = "task,text\nfinch,A small one\nowl,A round one\ncrane,A tall one\n"
LABELS = ["zeisig", "kauz", "kranich"]
"""Found nowhere else; the right answers, in the order of the tasks."""


def _drafted(page: Page) -> str:
    """A campaign from its tasks to the review, opened; returns its identifier."""
    page.goto("/campaigns/new")
    file = {"name": "birds.csv", "mimeType": "text/csv", "buffer": TASKS.encode()}
    page.locator("#file").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_text("3 tasks")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Question").fill("Which bird is it?")
    for place, label in enumerate(LABELS, 1):
        if place == 3:
            page.get_by_role("button", name="Add a label").click()
        page.get_by_label(f"Label {place}", exact=True).fill(label)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Privacy")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Open the campaign").click()
    expect(page).to_have_url(re.compile(r"/campaigns/[a-z0-9]{10}#invites$"))
    return page.url.split("/")[-1].partition("#")[0]


def _links(page: Page, count: int) -> list[str]:
    """Links for one worker each, as the requester's CSV file has them."""
    page.get_by_label("How many").fill(str(count))
    page.get_by_role("button", name="Make the links").click()
    with page.expect_download() as downloading:
        page.get_by_role("button", name=re.compile("CSV")).click()
    text = Path(downloading.value.path()).read_text(encoding="utf-8")
    return [row["link"] for row in csv.DictReader(text.splitlines())]


def _answered(watched: Watched, language: str, link: str) -> dict[str, str]:
    """One worker from its link to its receipt; what its device had drawn, by task."""
    at, before = AtPage(watched.page, language), len(watched.requests)
    at.open(link)
    at.press("agree")
    watched.page.locator(".progress").wait_for()
    for _ in LABELS:
        words = watched.page.locator("main").inner_text()
        right = next(i for i, size in enumerate(("small", "round", "tall")) if size in words)
        at.answer(LABELS[right])
    at.press("draw")
    at.button("send").wait_for()
    drawn = json.loads(at.parcel()["bytes"])
    at.send()
    bodies = [request.post_data for request in watched.requests[before:] if request.post_data]
    assert [json.loads(body) for body in bodies] == [drawn]
    # The next worker has the same device, and is a stranger to it.
    watched.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    return dict(zip(drawn["tasks"], drawn["reports"], strict=True))


def _answered_in_python(server: RunningServer, link: str, folder: Path) -> dict[str, str]:
    """The same without a page."""
    with server.client(link, folder) as client:
        receipt = client.send(dict(zip(("finch", "owl", "crane"), LABELS, strict=True)))
    return {task: str(report) for task, report in receipt.reports.items()}


def _in_order(reports: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(reports.items())


@pytest.mark.parametrize("in_pages", [SOME, pytest.param(WORKERS, marks=pytest.mark.slow)])
def test_twenty_workers_answer_in_pages_and_the_requester_sees_the_truth(
    server: RunningServer, open_page: OpenPage, tmp_path: Path, in_pages: int
) -> None:
    requester = sign_in(open_page(), server)
    quick_forecasts(requester.page)
    campaign = _drafted(requester.page)
    sent = []
    devices = {"en": open_page(), "ja": open_page("phone", "dark", "ja-JP")}
    for place, link in enumerate(_links(requester.page, WORKERS)):
        if place >= in_pages:
            sent.append(_answered_in_python(server, link, tmp_path / f"worker {place}"))
            continue
        language = "ja" if place % 2 else "en"
        sent.append(_answered(devices[language], language, link))

    # What the server has is what the devices had drawn, worker by worker.
    table = tmp_path / "reports.csv"
    server.requester.export(campaign, "reports.csv", table)
    stored: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(table.read_text(encoding="utf-8").splitlines()):
        stored.setdefault(row["worker"], {})[row["task"]] = row["report"]
    assert sorted(map(_in_order, stored.values())) == sorted(map(_in_order, sent))

    page = requester.page
    page.goto(f"/campaigns/{campaign}")
    figures = page.locator(".large:visible")
    expect(figures).to_contain_text(f"Workers\n{WORKERS}", use_inner_text=True)
    expect(figures).to_contain_text(f"Reports\n{3 * WORKERS}", use_inner_text=True)
    page.get_by_role("link", name="Truths").click()
    # With the usual promise 79 of 100 reports are the answer: all twenty agree in what they chose.
    for label in LABELS:
        expect(page.locator("tbody:visible")).to_contain_text(label)
