"""Measure the dashboard of a large campaign in a real browser.

    python dashboard.py TASKS REPORTS

prints one JSON object: seconds until the API returns an overview, until the first paint, until the
figures of the overview or the first page of truths are shown, and until the next page is shown; and
the number of table rows in the browser.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

from playwright.sync_api import Page

from browsing import browser_page
from serving import Campaign, Server, requester_of, serving, started, wait_for_truths

ANSWERS, TURNS = 100, 20
FIRST_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
# The browser changes the page and checks every frame, because this process would check too rarely.
TURN = """(page) => new Promise((resolve) => {
  const [start, row] = [performance.now(), document.querySelector("tbody th").textContent];
  const look = () => {
    const now = document.querySelector("tbody th").textContent;
    if (now === row) requestAnimationFrame(look);
    else requestAnimationFrame(() => resolve(performance.now() - start));
  };
  location.hash = `truths?page=${page}`;
  requestAnimationFrame(look);
})"""


def main(tasks: int, reports: int) -> dict[str, Any]:
    with serving(tasks=tasks, answers=ANSWERS) as campaign:
        campaign.fill(reports)
        with started(campaign) as server:
            wait_for_truths(server, campaign)
            return {"asked": _asked(server, campaign), **_seen(server, campaign)}


def _asked(server: Server, campaign: Campaign) -> float:
    """Seconds of an overview over HTTP, without a browser."""
    latencies = []
    with requester_of(server, campaign) as requester:
        for _ in range(TURNS):
            start = time.perf_counter()
            requester.get("/overview").raise_for_status()
            latencies.append(time.perf_counter() - start)
    return statistics.median(latencies)


def _seen(server: Server, campaign: Campaign) -> dict[str, Any]:
    with browser_page(f"http://127.0.0.1:{server.port}") as page:
        page.goto("/static/icon.svg")
        page.evaluate(
            "(token) => sessionStorage.setItem('sottovoce:token:', token)", campaign.token
        )
        overview = _until(page, f"/campaigns/{campaign.id}", ".large dd")
        paint = page.evaluate(FIRST_PAINT) / 1000
        page.goto("/static/icon.svg")
        truths = _until(page, f"/campaigns/{campaign.id}#truths", "tbody tr")
        turns = [page.evaluate(TURN, place) / 1000 for place in range(2, TURNS + 2)]
        rows = page.locator("tbody tr").count()
    return {
        "first_paint": paint,
        "overview": overview,
        "truths": truths,
        "turn": statistics.median(turns),
        "slowest_turn": max(turns),
        "rows": rows,
    }


def _until(page: Page, address: str, selector: str) -> float:
    """Seconds from requesting a page until it shows data of the campaign."""
    start = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_selector(selector)
    return time.perf_counter() - start


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))))
