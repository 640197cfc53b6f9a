"""Draws in a real page: they follow the policy's channel, and keep what it promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from playwright.sync_api import Page
from tests.browser.campaigns import opened
from tests.browser.watched_page import OpenPage

from sottovoce.mechanisms.policies import Target, mechanism_of
from sottovoce.model import Domain, Policy, Unit
from sottovoce.privacy.audit import audit_samples
from sottovoce.testing.server_thread import RunningServer

LABELS = ["oak", "birch", "lime"]
MANY = 2_000
AUDITED = 50_000
"""Of each of two answers."""
SIX_SIGMA = 6.0
"""A share misses by more about twice in 10⁹ times."""

# The module that the page itself uses, in the page, under the page's own security policy.
DRAW = """async ({ document, answer, count }) => {
  const { verify, randomize } = await import("../static/randomize.js");
  const tasks = Array.from({ length: count }, (_, i) => `t${i}`);
  const answers = new Map(tasks.map((task) => [task, answer]));
  const drawn = await randomize(await verify(document), "worker", answers, tasks);
  return drawn.reports.map(({ report }) => report);
}"""


def _page(server: RunningServer, open_page: OpenPage, answers: int) -> tuple[Page, Policy]:
    """The page of a campaign with this number of answers per worker, and its policy."""
    target = Target(1.0, answers=answers)
    campaign, link = opened(server, "labels", 1, domain=Domain.categorical(LABELS), target=target)
    page = open_page().page
    page.goto(link)
    page.locator("h1").wait_for()
    return page, Policy.of_json(server.requester.campaign(campaign)["policy"])


def _draws(page: Page, policy: Policy, answer: str, count: int) -> npt.NDArray[Any]:
    asked = {"document": policy.as_json(), "answer": answer, "count": count}
    reports = page.evaluate(DRAW, asked)
    assert len(reports) == count
    return np.array([LABELS.index(report) for report in reports])


@pytest.mark.statistical
def test_two_thousand_draws_in_one_page_follow_the_channel(
    server: RunningServer, open_page: OpenPage
) -> None:
    page, policy = _page(server, open_page, MANY)
    mechanism: Any = mechanism_of(policy)
    channel = mechanism.channel()
    for code, answer in enumerate(LABELS):
        expected = np.array([weight / channel.total for weight in channel.weights[code]])
        found = np.bincount(_draws(page, policy, answer, MANY), minlength=3) / MANY
        deviation = np.sqrt(expected * (1 - expected) / MANY)
        assert (np.abs(found - expected) < SIX_SIGMA * deviation).all(), answer


@pytest.mark.slow
@pytest.mark.statistical
def test_the_audit_of_a_hundred_thousand_draws_in_a_page_stays_below_the_guarantee(
    server: RunningServer, open_page: OpenPage
) -> None:
    page, policy = _page(server, open_page, AUDITED)
    stated = mechanism_of(policy).guarantee(1, Unit.ANSWER).epsilon
    seen = [_draws(page, policy, answer, AUDITED) for answer in ("oak", "lime")]
    found = audit_samples(*seen, confidence=1 - 1e-10)
    assert not found.exceeds(stated), str(found)
    # And it is no idle check: with so many draws most of the guarantee is found.
    assert found.exceeds(0.8 * stated), str(found)
