"""Sealed campaigns in the worker's page: what leaves is sealed, and opens as one sum only."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Request, Route, expect
from tests.browser.accessibility import axe
from tests.browser.sealed_campaigns import (
    SEATED,
    SealedCampaign,
    sealed_campaign,
    seated,
    send_alike,
    timed_sealing,
)
from tests.browser.watched_page import OpenPage, Watched
from tests.browser.worker_page import AtPage
from tests.securesum.sealed_policies import KEYS, sealed_policy
from tests.server.web.unsealed import ballot_of, shares_of

from sottovoce.mechanisms.policies import Target
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import Domain
from sottovoce.securesum.ballot import Ballot, ballot_codes
from sottovoce.securesum.committee.messages import WorkKind
from sottovoce.securesum.committee.terms import committee_of
from sottovoce.securesum.envelope import b64
from sottovoce.securesum.field import to_bytes
from sottovoce.server.web.worker_page import STATIC, fingerprint
from sottovoce.testing.server_process import wait_until
from sottovoce.testing.server_thread import RunningServer

CANARIES = ["zeisig", "pirol", "kleiber"]
"""Labels found nowhere else."""

BIRDS = Domain.categorical(CANARIES)
TRUTHS = {"t0": "zeisig", "t1": "pirol", "t2": "kleiber"}
OTHERS = 20
"""Workers that answer right, from Python. Noise gives a different truth less than once in
10^9 campaigns: it would have to be as large as their number, at a decay of 1.5 for each label."""

TARGET = Target(3.0, answers=3)

IS_KEPT = """async () => {
  const files = await caches.open("sottovoce-page");
  const { active } = (await navigator.serviceWorker.getRegistration()) ?? {};
  const found = [await files.match("./"), await files.match("../static/seal.js")];
  return active?.state === "activated" && found.every(Boolean);
}"""

WITHOUT_X25519 = """
const importKey = SubtleCrypto.prototype.importKey;
SubtleCrypto.prototype.importKey = function (...given) {
  if (given[2] === "X25519") return Promise.reject(new DOMException("", "NotSupportedError"));
  return importKey.apply(this, given);
};
"""


def test_a_sealed_campaign_is_answered_taken_back_opened_and_its_truths_are_found(
    server: RunningServer, open_page: OpenPage
) -> None:
    campaign = sealed_campaign(server, BIRDS, TARGET, tasks=3)
    with seated(server, campaign.id) as committee:
        assert committee.work() == {WorkKind.WAIT}  # the noise is dealt
        first = open_page("desktop", "light", "en-GB")
        first.expect("409")  # what is counted cannot be taken back
        stays = _sends(first, campaign, "zeisig", "pirol", None)
        goes = _sends(open_page("phone", "dark", "ja-JP"), campaign, "pirol", None, "pirol")
        _takes_back(goes)
        send_alike(server, campaign, TRUTHS, OTHERS)
        server.requester.close(campaign.id)
        assert committee.work() == {WorkKind.DONE}
    rounds = server.requester.rounds(campaign.id)
    assert (rounds["phase"], rounds["checked"], rounds["dropped"]) == ("opened", 1 + OTHERS, [])
    found = server.truths(campaign.id)
    assert dict(zip(found.tasks, found.values, strict=True)) == TRUTHS
    _can_no_longer_take_back(stays)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "hidden", "answers"),
    [
        (Domain.categorical(["no", "yes"]), False, ["yes", "no"]),
        (BIRDS, True, ["pirol", None]),
        (Domain.numeric(-10, 40, step=0.5), False, ["-9.5", "40"]),
        (Domain.numeric(0, 1), True, [None, "0.3"]),
    ],
    ids=["yes or no", "labels, hidden", "numbers", "numbers, hidden"],
)
def test_every_kind_of_answer_is_sealed_as_it_was_given(
    server: RunningServer,
    open_page: OpenPage,
    domain: Domain,
    hidden: bool,
    answers: list[str | None],
) -> None:
    target = Target(1.0, answers=2, hide_participation=hidden)
    campaign = sealed_campaign(server, domain, target, tasks=2)
    at = AtPage(open_page("phone").page)
    at.open(campaign.link)
    _seals(at, *answers)
    sealed = at.parcel()["bytes"]
    at.send()
    values = [float(a) if domain.is_numeric and a is not None else a for a in answers]
    ballot = Ballot.of(committee_of(campaign.policy))
    stated = ballot.encode(ballot_codes(values, domain, ballot))
    found = ballot_of(campaign.policy, shares_of(campaign.policy, sealed, SEATED))
    assert found.tolist() == stated.tolist()
    assert at.kept()["spent"] == 2.0


@pytest.mark.slow
def test_sealed_bytes_stay_the_same_until_the_server_has_them(
    server: RunningServer, open_page: OpenPage
) -> None:
    campaign = sealed_campaign(server, BIRDS, TARGET, tasks=1)
    watched = open_page()
    watched.expect("ERR_INTERNET_DISCONNECTED", "Failed to fetch")
    at = AtPage(watched.page)
    at.open(campaign.link)
    wait_until(lambda: watched.page.evaluate(IS_KEPT) is True, "the page's files")
    watched.context.set_offline(True)
    at.reload()
    _seals(at, "pirol")
    sealed = at.parcel()["bytes"]
    at.reload()
    at.press("send")
    expect(at.page.get_by_role("status")).to_contain_text("No connection")
    at.reload()
    assert at.parcel()["bytes"] == sealed
    watched.context.set_offline(False)
    at.button("done").wait_for()
    sent = {request.post_data for request in watched.requests if request.method == "PUT"}
    assert sent == {sealed}


@pytest.mark.slow
def test_a_sealing_module_that_was_altered_on_its_way_is_not_run(
    server: RunningServer, open_page: OpenPage
) -> None:
    campaign = sealed_campaign(server, BIRDS, TARGET, tasks=1)
    watched = open_page()
    watched.expect("integrity", "Failed to fetch dynamically imported module")
    altered = (STATIC / "seal.js").read_text("utf-8") + "\n"
    watched.page.route(
        "**/static/seal.js",
        lambda route: route.fulfill(body=altered, content_type="text/javascript"),
    )
    at = AtPage(watched.page)
    at.open(campaign.link)
    expect(at.heading).to_have_text("Something went wrong on this page")
    expect(at.button("agree")).to_have_count(0)


@pytest.mark.slow
def test_a_policy_that_cannot_be_sealed_under_is_refused_in_words(
    server: RunningServer, open_page: OpenPage
) -> None:
    campaign = sealed_campaign(server, BIRDS, TARGET, tasks=1)
    watched = open_page("phone", "dark")
    at = AtPage(watched.page)

    def altered(route: Route) -> None:
        reply = route.fetch()
        offer = reply.json()
        offer["policy"]["mechanism"]["degree"] = 2
        route.fulfill(response=reply, json=offer)

    watched.page.route("**/offer", altered)
    at.open(campaign.link)
    expect(watched.page.locator(".facts")).to_contain_text("keyholders are too few")
    axe(watched.page)
    watched.page.unroute("**/offer")
    watched.page.add_init_script(WITHOUT_X25519)
    at.open(campaign.link)
    expect(watched.page.locator(".facts")).to_contain_text("too old to seal")
    expect(watched.page.locator("main pre")).to_contain_text("sottovoce answer")
    axe(watched.page)
    assert not [request for request in watched.requests if request.method == "PUT"]


@pytest.mark.slow
def test_a_thousand_values_are_sealed_within_a_second(
    server: RunningServer, open_page: OpenPage
) -> None:
    policy = sealed_policy(Domain.categorical(["no", "yes"]), Layout.VOTES, 2, answers=1000)
    page = open_page().page
    page.goto("/setup")
    seconds, submission = timed_sealing(page, policy)
    found = ballot_of(policy, shares_of(policy, submission, KEYS))
    assert (found.size, found.sum()) == (1000, 500)
    assert seconds < 1


def _sends(watched: Watched, campaign: SealedCampaign, *answers: str | None) -> AtPage:
    """A worker answers on the page, from the link to the receipt; nothing raw is sent."""
    page = watched.page
    at = AtPage(page, page.evaluate("() => navigator.language.slice(0, 2)"))
    at.open(campaign.link)
    for summary in page.locator("summary").all():
        summary.click()
    expect(page.locator(".promise")).to_contain_text(SEATED[0].name)
    expect(page.locator(".promise")).to_contain_text(SEATED[0].keyholder.fingerprint)
    published = fingerprint((STATIC / "seal.js").read_bytes())
    expect(page.locator(".card details .hash").last).to_have_text(published)
    axe(page)
    _seals(at, *answers)
    page.locator("summary").click()
    axe(page)
    sealed = at.parcel()["bytes"]
    assert not any("answers" in key for key in page.evaluate("() => Object.keys(sessionStorage)"))
    at.send()
    expect(at.button("more")).to_have_count(0)
    _check_nothing_raw_left(watched.requests, sealed)
    _check_sealed(campaign, sealed, answers)
    return at


def _seals(at: AtPage, *answers: str | None) -> None:
    """From the first view to what will leave."""
    at.press("agree")
    at.page.locator(".progress").wait_for()
    at.answer(*answers)
    at.press("seal")
    at.button("send").wait_for()


def _check_nothing_raw_left(requests: list[Request], sealed: str) -> None:
    """The one body is what was sealed; no label is in it, nor in an address or a header."""
    bodies = [request.post_data for request in requests if request.post_data is not None]
    assert bodies == [sealed]
    for request in requests:
        said = unquote(request.url) + json.dumps(dict(request.headers)) + (request.post_data or "")
        assert not any(canary in said for canary in CANARIES)


def _check_sealed(campaign: SealedCampaign, sealed: str, answers: tuple[str | None, ...]) -> None:
    """Keyholders' keys open it, to these answers; others do not, and no share is in clear."""
    rows = shares_of(campaign.policy, sealed, SEATED)
    given = [answer for answer in answers if answer is not None]
    # Tasks come in the worker's own order.
    assert sorted(ballot_of(campaign.policy, rows).tolist()) == sorted(
        [int(answer == label) for label in CANARIES] for answer in given
    )
    for row in rows:
        assert b64(to_bytes(row))[:20] not in sealed
    with pytest.raises(AssertionError, match="cannot open its share"):
        shares_of(campaign.policy, sealed, KEYS[1:4])
    tasks = json.loads(json.loads(sealed)["text"])["tasks"]
    assert len(tasks) == len(given)
    assert set(tasks) <= {f"t{i}" for i in range(len(answers))}


def _takes_back(at: AtPage) -> None:
    """A worker withdraws sealed answers before they are counted."""
    found = _data(at)
    axe(at.page)
    found.locator("button").first.click()
    found.locator(".notice button").first.click()
    expect(found.locator("> [role=status]")).to_be_visible()
    assert at.parcel()["stage"] == "erased"
    at.reload()
    expect(at.button("agree")).to_have_count(0)


def _can_no_longer_take_back(at: AtPage) -> None:
    """Once it is counted it stays, and nobody reads it back."""
    found = _data(at)
    expect(found).to_contain_text("Nobody can read them back, not even you")
    found.locator("button").first.click()
    found.locator(".notice button").first.click()
    expect(found.locator("section > [role=status]")).to_contain_text("can no longer be withdrawn")
    assert at.parcel()["stage"] == "sent"


def _data(at: AtPage) -> Any:
    at.press("data")
    found = at.page.locator("#found")
    found.locator("section").wait_for()
    return found
