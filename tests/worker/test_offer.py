"""A server's offer is believed in nothing that its policy does not prove."""

from __future__ import annotations

from typing import Any

import pytest
from tests.worker.hosted_campaign import COIN, YES_NO

from sottovoce.errors import Unreachable, UsageError
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Calibration, Unit
from sottovoce.worker.enrolment import WorkerLink
from sottovoce.worker.offer import Offer

LINK = WorkerLink("https://answers.example", "leaf0", "svi_" + "A" * 43)
WORKER = "c1d2" * 8
DOCUMENT: dict[str, Any] = {
    "id": "leaf0",
    "state": "open",
    "title": "Leaves",
    "question": "Is it?",
    "unit": None,
    "policy": COIN.as_json(),
    "policy_hash": "not looked at",
    "tasks": 3,
    "block": 3,
    "answers": 5,
}
BLOCK = {"worker": WORKER, "tasks": [{"task": f"t{i}", "text": "?"} for i in range(3)]}
PUBLISHED = make_policy(YES_NO, "two-layer", Target(1.0), calibration=Calibration.AS_PUBLISHED)
BROKEN = {**COIN.as_json(), "promise": {**COIN.as_json()["promise"], "epsilon": "0.1"}}


def test_the_guarantee_is_computed_from_the_policy() -> None:
    offer = Offer.parse(LINK, DOCUMENT).with_tasks(DOCUMENT, BLOCK, WORKER)
    assert offer.policy.hash == COIN.hash
    assert offer.per_answer.epsilon == pytest.approx(1.0)
    assert offer.per_worker.epsilon == pytest.approx(3.0)
    assert offer.per_worker.unit is Unit.WORKER
    assert offer.odds is not None
    assert "73 send it" in offer.odds.sentence


def test_little_hiding_is_said() -> None:
    policy = make_policy(YES_NO, "randomized-response", Target(6.0, answers=5))
    offer = Offer.parse(LINK, {**DOCUMENT, "policy": policy.as_json()})
    assert any("hides little" in warning for warning in offer.warnings)


@pytest.mark.parametrize("policy", [PUBLISHED.as_json(), BROKEN], ids=["published", "broken"])
def test_a_policy_that_does_not_keep_its_promise_is_refused(policy: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"promises nothing|cannot be trusted"):
        Offer.parse(LINK, {**DOCUMENT, "policy": policy})


@pytest.mark.parametrize(
    "change",
    [
        {"id": "other"},
        {"state": "ajar"},
        {"title": 7},
        {"unit": ["kg"]},
    ],
    ids=str,
)
def test_an_offer_that_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Unreachable, match="is invalid"):
        Offer.parse(LINK, {**DOCUMENT, **change})


def test_a_simulated_campaign_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(UsageError, match="simulated; it accepts no real reports"):
        Offer.parse(LINK, {**DOCUMENT, "simulated": True})


@pytest.mark.parametrize("document", [None, [], "offer", {}])
def test_what_is_no_offer_is_refused(document: Any) -> None:
    with pytest.raises(Unreachable, match="is invalid"):
        Offer.parse(LINK, document)


@pytest.mark.parametrize(
    "block",
    [
        {**BLOCK, "worker": "somebody"},
        {**BLOCK, "tasks": BLOCK["tasks"][:2]},
        {**BLOCK, "tasks": [*BLOCK["tasks"], {"task": "t9", "text": "?"}]},
        {**BLOCK, "tasks": [BLOCK["tasks"][0]] * 3},
        {**BLOCK, "tasks": [{"task": "\x1b[2J", "text": "?"}] * 3},
        {"worker": WORKER},
        None,
    ],
)
def test_tasks_must_be_as_many_as_both_sides_compute(block: Any) -> None:
    offer = Offer.parse(LINK, DOCUMENT)
    with pytest.raises(Unreachable, match="tasks are invalid"):
        offer.with_tasks(DOCUMENT, block, WORKER)


def test_no_server_gives_more_tasks_than_the_policy_promises_for() -> None:
    document = {**DOCUMENT, "tasks": 9, "block": 9, "answers": 9}
    block = {"worker": WORKER, "tasks": [{"task": f"t{i}", "text": "?"} for i in range(9)]}
    with pytest.raises(Unreachable, match="tasks are invalid"):
        Offer.parse(LINK, document).with_tasks(document, block, WORKER)
