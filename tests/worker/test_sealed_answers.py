"""A worker under a sealed policy: one contribution, which only keyholders together could read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.securesum.sealed_policies import KEYS, sealed_policy
from tests.worker.hosted_campaign import DROP_RESPONSE, YES_NO, Host, Line, hosting, line_to

from sottovoce.errors import AlreadyReported, NotInstalled, Unreachable, UsageError
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import Domain, Policy, Unit
from sottovoce.securesum.ballot import Ballot
from sottovoce.securesum.committee.terms import ContributionTerms, committee_of
from sottovoce.securesum.envelope import unb64
from sottovoce.securesum.field import from_bytes
from sottovoce.securesum.hpke import unseal
from sottovoce.securesum.shamir import interpolate
from sottovoce.worker.client import Client
from sottovoce.worker.sealed_answers import check_sealing, sealed_sum_of

VOTES = sealed_policy(YES_NO, Layout.VOTES, 2)
HIDDEN = sealed_policy(YES_NO, Layout.VOTES, 2, hidden=True)
NUMBERS = sealed_policy(Domain.numeric(0.0, 10.0), Layout.SUM, 20)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with hosting(tmp_path_factory.mktemp("server")) as server:
        yield server


def uploads(line: Line) -> list[bytes]:
    return [body for method, _, body in line.sent if method == "PUT"]


def read(content: bytes, policy: Policy) -> dict[str, list[int]]:
    """The bits of each task that two keyholders together read in a contribution."""
    wire = json.loads(content)
    text = json.loads(wire["text"])
    terms = ContributionTerms(
        text["campaign"], text["policy"], text["worker"], tuple(text["tasks"]), text["key"]
    )
    sealed = committee_of(policy)
    shares = []
    for seat, info in enumerate(terms.infos(2)):
        plain = unseal(KEYS[seat].sealing, unb64(wire["shares"][seat]) or b"", info)
        shares.append(from_bytes(plain or b""))
    bits = Ballot.of(sealed).bits
    values = interpolate([1, 2], np.stack(shares))[: bits * len(terms.tasks)]
    rows = values.reshape(-1, bits).tolist()
    return dict(zip(terms.tasks, rows, strict=True))


def test_a_contribution_has_the_answers_for_two_keyholders_and_no_fewer(
    host: Host, tmp_path: Path
) -> None:
    link = host.link(VOTES)
    with line_to(host.url) as line, Client(line.through(link), folder=tmp_path) as client:
        preview = client.preview({"t1": "yes", "t3": "no"})
        receipt = client.send({"t3": "no", "t1": "yes"})
        assert dict(receipt.reports) == {"t1": "sealed", "t3": "sealed"}
        assert client.spent[Unit.WORKER].epsilon == 2 * client.spent[Unit.ANSWER].epsilon
    [content] = uploads(line)
    assert read(content, VOTES) == {"t1": [1], "t3": [0]}
    assert len(content) == preview.most_bytes
    assert '"yes"' not in content.decode().replace("\\", "")


def test_numbers_are_sealed_as_steps_of_their_range(host: Host, tmp_path: Path) -> None:
    with line_to(host.url) as line:
        with Client(line.through(host.link(NUMBERS)), folder=tmp_path) as client:
            client.send({"t0": 10, "t1": 2.5})
    [content] = uploads(line)
    weights = Ballot.of(committee_of(NUMBERS)).weights
    found = {task: int(np.dot(bits, weights)) for task, bits in read(content, NUMBERS).items()}
    assert found == {"t0": 20, "t1": 5}


def test_a_skipped_task_is_sealed_like_any_other_where_that_is_hidden(
    host: Host, tmp_path: Path
) -> None:
    with line_to(host.url) as line:
        with Client(line.through(host.link(HIDDEN)), folder=tmp_path) as client:
            client.send({"t0": "yes"})
    [content] = uploads(line)
    assert read(content, HIDDEN) == {"t0": [1, 1], **{f"t{i}": [0, 0] for i in range(1, 5)}}


def test_a_second_contribution_is_refused_and_costs_nothing(host: Host, tmp_path: Path) -> None:
    with Client(host.link(VOTES), folder=tmp_path) as client:
        client.send({"t0": "yes"})
        spent = client.spent
        assert client.remaining == ()
        with pytest.raises(AlreadyReported):
            client.send({"t1": "yes"})
        assert (client.spent, len(client.reports())) == (spent, 1)


def test_a_lost_reply_is_followed_by_the_same_bytes(host: Host, tmp_path: Path) -> None:
    link = host.link(VOTES)
    with line_to(host.url, *[DROP_RESPONSE] * 2) as line:
        with Client(line.through(link), folder=tmp_path, retries=0) as client:
            with pytest.raises(Unreachable):
                client.send({"t0": "yes"})
        with Client(line.through(link), folder=tmp_path, retries=0) as client:
            assert client.resume()[0].replayed
    assert len(uploads(line)) == 3
    assert len(set(uploads(line))) == 1
    assert host.counts(link).submissions == 1


def test_a_contribution_can_be_taken_back(host: Host, tmp_path: Path) -> None:
    with Client(host.link(VOTES), folder=tmp_path) as client:
        receipt = client.send({"t0": "yes"})
        client.erase(receipt.report_id)
        assert client.reports() == []


def test_the_offer_says_who_holds_keys(host: Host, tmp_path: Path) -> None:
    with Client(host.link(VOTES), folder=tmp_path) as client:
        offer = client.offer
        assert offer.sealed is not None
        assert [each.fingerprint for each in offer.sealed.keyholders] == [
            each.fingerprint for each in committee_of(VOTES).keyholders
        ]
        assert (offer.odds, offer.takes_more, offer.hides_participation) == (None, False, False)


def test_a_plan_without_keyholders_is_not_sealed_under() -> None:
    plan = sealed_sum_of(make_policy(YES_NO, "sealed-sum", Target(1.0)))
    assert plan is not None
    with pytest.raises(UsageError, match="names no keyholders"):
        check_sealing(plan)


def test_what_is_missing_is_said_before_anything_is_asked(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(NotInstalled, match=r"\[secure\]"):
        check_sealing(committee_of(VOTES))
