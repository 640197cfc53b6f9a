"""Takes the pictures of the pages that the docs show: `make screens`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, sync_playwright
from tests.browser.chromium import NONE_FOUND, OPTIONS, find_chromium
from tests.browser.screens_dashboard import shoot_dashboard
from tests.browser.screens_drafting import shoot_drafting
from tests.browser.screens_sealed import shoot_sealed
from tests.browser.watched_page import Locale, Scheme, Size, watch
from tests.browser.worker_page import AtPage

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.testing.server_thread import RunningServer, running_server

PLACE = Path(__file__).parents[2] / "docs" / "screens"
MOST_BYTES = 150_000
LEAVES = {
    "en": (
        "Leaves in the park",
        "Which tree is this leaf from?",
        ["oak", "birch", "lime", "maple"],
        ["Broad, with round lobes", "Small, with a toothed edge", "Shaped like a heart"],
    ),
    "ja": (
        "公園の葉",
        "この葉はどの木のものですか。",
        ["ナラ", "シラカバ", "シナノキ", "カエデ"],
        ["丸い切れ込みのある広い葉", "縁がぎざぎざの小さな葉", "ハートの形の葉"],
    ),
}
CHOSEN = (0, 1, 2)
TRIES = 20


def _link(server: RunningServer, language: str) -> str:
    title, question, labels, tasks = LEAVES[language]
    made = server.requester.create(
        question,
        [{"task": f"leaf-{i}", "text": text} for i, text in enumerate(tasks)],
        title=title,
        domain=Domain.categorical(labels),
        target=Target(1.5, answers=len(tasks)),
    )
    server.requester.open(made["id"])
    return server.requester.invite(made["id"])[0]


def _take(page: Page, name: str) -> None:
    page.evaluate("() => Promise.allSettled(document.getAnimations().map((a) => a.finished))")
    place = PLACE / f"worker-{name}.png"
    page.screenshot(path=place, scale="css")
    assert place.stat().st_size < MOST_BYTES, f"{place.name} is too large"


def _walk(
    browser: Browser, server: RunningServer, link: str, size: Size, scheme: Scheme, language: str
) -> bool:
    """Take all views in one size and scheme; whether the draw shows both kinds of report."""
    locale: Locale = "ja-JP" if language == "ja" else "en-GB"
    watched = watch(browser, server.url, size, scheme, locale, reduced_motion=True)
    page, at = watched.page, AtPage(watched.page, language)
    name = f"{size}-{scheme}" + ("-ja" if language == "ja" else "")
    labels = LEAVES[language][2]
    at.open(link)
    _take(page, f"consent-{name}")
    at.press("agree")
    page.locator(".progress").wait_for()
    page.get_by_role("radio", name=labels[0]).check()
    _take(page, f"question-{name}")
    at.answer(*(labels[i] for i in CHOSEN))
    at.press("draw")
    at.button("send").wait_for()
    _take(page, f"leaving-{name}")
    differing = page.locator(".differs").count()
    at.send()
    page.locator(".copy").scroll_into_view_if_needed()
    _take(page, f"receipt-{name}")
    watched.close()
    return 0 < differing < len(CHOSEN)


def main() -> None:
    """Take every picture again."""
    program = find_chromium()
    assert program is not None, NONE_FOUND
    PLACE.mkdir(parents=True, exist_ok=True)
    looks: list[tuple[Size, Scheme, str]] = [
        ("phone", "light", "en"),
        ("phone", "dark", "en"),
        ("desktop", "light", "en"),
        ("phone", "light", "ja"),
    ]
    with (
        TemporaryDirectory() as folder,
        running_server(folder) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program, args=OPTIONS)
        for size, scheme, language in looks:
            link = _link(server, language)
            # The draw is random: a picture should show a report of each kind.
            assert any(
                _walk(browser, server, link, size, scheme, language) for _ in range(TRIES)
            ), "no draw showed both kinds of report; try again"
        shoot_drafting(browser, server, PLACE)
        shoot_dashboard(browser, server, PLACE)
        shoot_sealed(browser, server, PLACE)
        browser.close()


if __name__ == "__main__":
    main()
