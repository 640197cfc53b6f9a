"""From the link to the receipt: what a worker sees, and what leaves its device."""

from __future__ import annotations

import json
from urllib.parse import unquote

import pytest
from playwright.sync_api import Request, expect
from tests.browser.accessibility import axe
from tests.browser.campaigns import FEW, KINDS, opened
from tests.browser.watched_page import Locale, OpenPage, Scheme, Size, Watched
from tests.browser.worker_page import AtPage

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.model.policy import ShowDraw
from sottovoce.server.web.worker_page import STATIC, fingerprint, worker_files
from sottovoce.testing.server_thread import RunningServer

CANARIES = ["zeisig", "pirol", "kleiber"]
"""Labels found nowhere else."""

MOST_BYTES = 60_000
"""Limit on the bytes that a phone loads: files travel compressed, the page itself as it is."""

DIFFERENT = {"subset"}
"""Kinds whose reports are most unlike answers: a set of labels."""

ANSWERS = {
    "yes-no": "yes", "labels": "birch", "ordinal": "often", "hidden": "lime",
    "subset": "species 3", "sampled": "oak", "laplace": "21.5", "piecewise": "-10",
    "duchi": "40", "threshold": "0",
}  # fmt: skip


@pytest.mark.parametrize(
    ("size", "scheme", "locale"),
    [
        pytest.param("desktop", "light", "en-GB", marks=pytest.mark.slow),
        ("phone", "dark", "ja-JP"),
    ],
)
def test_a_worker_answers_sees_what_leaves_sends_it_and_takes_it_back_and_loads_little(
    server: RunningServer, open_page: OpenPage, size: Size, scheme: Scheme, locale: Locale
) -> None:
    domain = Domain.categorical(CANARIES)
    campaign, link = opened(
        server, tasks=3, question="Which bird?", domain=domain, target=Target(1.0, answers=3)
    )
    watched = open_page(size, scheme, locale, reduced_motion=size == "phone", empty_cache=True)
    page, at = watched.page, AtPage(watched.page, locale[:2])
    at.open(link)
    assert page.evaluate("() => document.documentElement.lang") == locale[:2]
    assert page.url == link.partition("#")[0]
    expect(page.locator(".odds")).to_contain_text("58")  # e / (e + 2) of 100
    for summary in page.locator("summary").all():
        summary.click()
    expect(page.locator(".card details .hash").last).to_have_text(_published("randomize.js"))
    axe(page)
    at.press("agree")
    page.locator(".progress").wait_for()
    axe(page)
    at.answer("zeisig", "pirol", None)
    axe(page)
    at.press("draw")
    at.button("send").wait_for()
    page.locator("summary").click()
    axe(page)
    drawn = at.parcel()
    at.send()
    axe(page)
    stored = _stored(server, campaign, watched)
    assert stored == json.loads(drawn["bytes"])["reports"]
    # Two answers were given, and only randomised labels, in the one report, have left.
    assert len(stored) == 2
    _check_nothing_raw_left(watched.requests, drawn["bytes"])
    assert not any("answers" in key for key in page.evaluate("() => Object.keys(sessionStorage)"))
    at.press("done")
    axe(page)
    at.press("data")
    page.locator("#found dl").wait_for()
    axe(page)
    page.locator("#found button").first.click()
    axe(page)
    page.locator("#found .notice button").first.click()
    expect(page.locator("#found [role=status]")).to_be_visible()
    assert _stored(server, campaign, watched) == []
    _check_little_was_loaded(watched.requests, locale[:2])


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=() if kind in DIFFERENT else pytest.mark.slow)
        for kind in sorted(KINDS)
    ],
)
def test_every_kind_of_campaign_is_answered_and_its_report_is_what_was_drawn(
    server: RunningServer, open_page: OpenPage, kind: str
) -> None:
    campaign, link = opened(server, kind)
    watched = open_page("phone")
    at = AtPage(watched.page)
    at.open(link)
    at.draw(*[ANSWERS[kind]] * FEW)
    shown = watched.page.locator(".pair").count()
    drawn = json.loads(at.parcel()["bytes"])
    at.send()
    assert shown == FEW
    assert _stored(server, campaign, watched) == drawn["reports"]
    assert at.kept()["spent"] == pytest.approx(_promised(server, campaign), rel=1e-6)


def test_a_draw_that_is_shown_after_sending_is_not_there_before(
    server: RunningServer, open_page: OpenPage
) -> None:
    target = Target(1.0, answers=2, show_draw=ShowDraw.AFTER_SEND)
    _, link = opened(server, "labels", 2, target=target)
    page = open_page().page
    at = AtPage(page)
    at.open(link)
    at.draw("oak", "birch")
    for trace in (".pair", "pre", ".pairs"):
        expect(page.locator(trace)).to_have_count(0)
    at.send()
    expect(page.locator(".pair")).to_have_count(2)
    expect(page.locator(".pair").first).to_contain_text("oak")


@pytest.mark.parametrize(
    ("kind", "sent"), [pytest.param("labels", 2, marks=pytest.mark.slow), ("hidden", FEW)]
)
def test_skipping_is_as_private_as_the_policy_says(
    server: RunningServer, open_page: OpenPage, kind: str, sent: int
) -> None:
    campaign, link = opened(server, kind)
    watched = open_page()
    at = AtPage(watched.page)
    at.open(link)
    at.draw("oak", None, "lime", None, None)
    at.send()
    assert len(_stored(server, campaign, watched)) == sent


def test_a_worker_may_answer_some_now_and_the_rest_later(
    server: RunningServer, open_page: OpenPage
) -> None:
    _, link = opened(server, "labels", 3)
    page = open_page().page
    at = AtPage(page)
    at.open(link)
    at.draw(None, "oak", None)
    at.send()
    at.press("more")
    at.answer("lime", "birch")
    at.press("draw")
    at.send()
    first, second = (json.loads(parcel["bytes"])["tasks"] for parcel in at.kept()["parcels"])
    assert (len(first), sorted(first + second)) == (1, ["t0", "t1", "t2"])
    assert at.kept()["spent"] == pytest.approx(3 * 2.0, rel=1e-6)


def test_everything_can_be_done_by_keyboard(server: RunningServer, open_page: OpenPage) -> None:
    _, link = opened(server, "labels", 2)
    page = open_page().page
    at = AtPage(page)
    at.open(link)
    at.button("agree").focus()
    page.keyboard.press("Enter")
    expect(at.heading).to_be_focused()
    page.keyboard.press("Enter")  # nothing is chosen, and nothing has the focus that would act
    page.keyboard.press("2")
    expect(page.get_by_role("radio", name="birch")).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.locator(".progress")).to_contain_text("2 of 2")
    page.keyboard.press("9")  # no such label
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator(".answers strong")).to_have_text(["birch", "lime"])
    page.go_back()
    expect(page.locator(".progress")).to_contain_text("2 of 2")
    expect(page.get_by_role("radio", name="lime")).to_be_checked()


def test_a_number_outside_the_range_is_shown_next_to_the_field(
    server: RunningServer, open_page: OpenPage
) -> None:
    _, link = opened(server, "laplace", 1)
    page = open_page().page
    at = AtPage(page)
    at.open(link)
    at.press("agree")
    for typed in ("", "warm", "40.5", "1,5"):
        page.locator("input.number").fill(typed)
        at.press("next")
        expect(page.get_by_role("alert")).to_contain_text("a number from -10 to 40 °C")
        expect(page.locator("input.number")).to_be_focused()
    axe(page)
    page.locator("input.number").fill("−１.5")  # as a Japanese keyboard writes it
    at.press("next")
    expect(page.locator(".answers strong")).to_have_text("-1.5 °C")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_worker_is_told_that_many_answers_hide_little_about_it(
    server: RunningServer, open_page: OpenPage, language: str
) -> None:
    _, link = server.campaign(tasks=30, epsilon=2.0)
    page = open_page(locale="ja-JP" if language == "ja" else "en-GB").page
    AtPage(page, language).open(link)
    told = {"en": "All 25 answers together hide little about you as a whole.", "ja": "25件の回答"}
    expect(page.locator(".promise .notice.bad")).to_contain_text(told[language])
    expect(page.locator("main > .card").last).to_contain_text("100%")


def test_one_of_many_labels_is_found_by_its_letters(
    server: RunningServer, open_page: OpenPage
) -> None:
    domain = Domain.categorical([f"species {i}" for i in range(300)])
    _, link = opened(server, "labels", 1, domain=domain, target=Target(6.0, answers=1))
    page = open_page().page
    at = AtPage(page)
    at.open(link)
    expect(page.locator(".promise .notice.bad")).to_contain_text("hides little")
    at.press("agree")
    page.get_by_label("Find an answer").fill("299")
    expect(page.get_by_role("radio")).to_have_count(1)
    page.get_by_role("radio").check()
    axe(page)
    at.press("next")
    expect(page.locator(".answers strong")).to_have_text("species 299")


def _published(name: str) -> str:
    return fingerprint((STATIC / name).read_bytes())


def _stored(server: RunningServer, campaign: str, watched: Watched) -> list[str | float]:
    """The reports that the server has of this worker, in the order of their tasks."""
    receipt = AtPage(watched.page).kept()["receipt"]
    reply = watched.context.request.get(
        f"{server.url}/api/v1/campaigns/{campaign}/reports",
        headers={"Authorization": f"Bearer {receipt}"},
    )
    assert reply.ok
    return [
        report["report"]
        for submission in reply.json()["submissions"]
        for report in sorted(submission["reports"], key=lambda report: str(report["task"]))
    ]


def _promised(server: RunningServer, campaign: str) -> float:
    """Epsilon of all answers of a worker, as the server's own mathematics has it."""
    guarantee = server.requester.campaign(campaign)["guarantee"]
    epsilon = guarantee["per_worker"]["epsilon"]
    assert epsilon is not None
    return epsilon


def _check_nothing_raw_left(requests: list[Request], submission: str) -> None:
    """Labels are in the one submission that was drawn, and in nothing else that was sent."""
    bodies = [request.post_data for request in requests if request.post_data is not None]
    assert bodies == [submission]
    for request in requests:
        said = unquote(request.url) + json.dumps(dict(request.headers))
        assert not any(canary in said for canary in CANARIES)


def _check_little_was_loaded(requests: list[Request], language: str) -> None:
    """All files of the page, the words of one language only, nothing that seals, and not much."""
    loaded = {
        request.url: request.sizes()["responseBodySize"]
        for request in requests
        if "/api/" not in request.url
    }
    names = {url.partition("/static/")[2] for url in loaded}
    other = {"en": "worker/japanese.js", "ja": "worker/english.js"}[language]
    assert names >= set(worker_files()) - {other, "seal.js"}
    assert not names & {other, "seal.js"}
    # The browser does not tell how long the service worker's script was on its way.
    unsaid = (STATIC / "service-worker.js").stat().st_size
    assert sum(loaded.values()) + unsaid < MOST_BYTES
