"""A sealed campaign from its draft to its truths: who does what, and what happens in between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.server.drafts import Calendar, running
from tests.server.sealed.committees import (
    Holder,
    Sent,
    go_on,
    keys_of,
    opened,
    sealed_answers,
    sealed_policy,
    seats_of,
    send,
    until,
    upload,
)

from sottovoce.errors import Reason, Refused
from sottovoce.model import Policy
from sottovoce.securesum.ballot import Ballot
from sottovoce.securesum.committee import noise
from sottovoce.securesum.committee.messages import MessageKind, written
from sottovoce.securesum.envelope import b64, public_text
from sottovoce.securesum.field import Elements, add, to_bytes
from sottovoce.securesum.shamir import share
from sottovoce.server.campaigns.lifecycle import close_campaign
from sottovoce.server.campaigns.own_reports import erase, own_reports
from sottovoce.server.campaigns.results import publish, published_truths, truths_page
from sottovoce.server.campaigns.webhooks import list_webhooks, register
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.campaigns import the_campaign
from sottovoce.server.database.integrity import check
from sottovoce.server.database.results import unfinished
from sottovoce.server.database.sealed_campaigns import OpenedTotals, find_opened
from sottovoce.server.inference_process.scheduler import infer_now
from sottovoce.server.sealed.progress import open_without, sealed_progress
from sottovoce.server.sealed.transitions import advance
from sottovoce.server.service import Service

ELSEWHERE = public_text(Ed25519PrivateKey.generate())
"""Another server's key."""


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database, Calendar()) as made:
        yield made


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Service]:
    """A service on SQLite, for what does not depend on the database."""
    database = Database.at(tmp_path)
    upgrade(database)
    with running(database, Calendar()) as made:
        yield made
    database.close()


def _opened(service: Service, id: str) -> OpenedTotals | None:
    with service.database.reading() as connection:
        stored = the_campaign(connection, id)
        return find_opened(connection, stored.number, stored.campaign.tasks)


def test_a_sealed_campaign_from_its_opening_to_its_truths(service: Service) -> None:
    id, invite = opened(service, sealed_policy(service))
    register(service, id, "https://hooks.example/x")
    holders = seats_of(service, id)
    assert sealed_progress(service, id).phase == "dealing"
    go_on(holders)
    assert sealed_progress(service, id).phase == "collecting"
    many = upload(service, id, invite, (0, 1, 1), workers=4)  # t1 no, t2 yes, t3 yes
    assert advance(service, id)  # as many as the minimum wait: the first batch
    upload(service, id, invite, (0, 1), workers=2)  # those come in the second
    assert sealed_progress(service, id).phase == "checking"
    go_on(holders)
    found = sealed_progress(service, id)
    assert (found.phase, found.uploads, found.checked, found.waiting) == ("collecting", 6, 4, 2)
    assert not advance(service, id)  # the next batch is not due yet
    with service.database.reading() as connection:
        assert id not in unfinished(connection)
    close_campaign(service, id)
    go_on(holders)
    totals = _opened(service, id)
    assert totals is not None
    assert totals.totals.tolist() == [[4], [0], [6]]  # by place: t3, t1, t2
    assert totals.answered is not None
    assert totals.answered.tolist() == [4, 6, 6]
    found = sealed_progress(service, id)
    assert (found.phase, found.checked, found.waiting, found.opened) == ("opened", 6, 0, 3)
    assert found.problem is None
    with service.database.reading() as connection:
        assert id in unfinished(connection)
    infer_now(service, id)
    assert [each.event for hook in list_webhooks(service, id) for each in hook.deliveries] == [
        "campaign.opened_sums", "campaign.closed",
    ]  # fmt: skip
    page = truths_page(service, id)
    assert dict(zip(page.columns["task"], page.columns["truth"], strict=True)) == {
        "t1": "no", "t2": "yes", "t3": "yes",
    }  # fmt: skip
    assert page.waiting == 0
    with pytest.raises(Refused, match="has not published"):
        published_truths(service, id, many[0].receipt)
    assert publish(service, id).published
    assert json.loads(published_truths(service, id, many[0].receipt)) == json.loads(
        published_truths(service, id, invite)
    )
    assert check(service.database) == []


def test_a_server_that_starts_again_says_the_same_and_goes_on(quick: Service) -> None:
    """After every single message another server takes over: its memory is the rows alone."""
    id, invite = opened(quick, sealed_policy(quick))
    holders = seats_of(quick, id)
    upload(quick, id, invite, (1, 1, 0), workers=3)
    close_campaign(quick, id)
    proposed: dict[int, bytes] = {}
    while sealed_progress(quick, id).phase != "opened":
        for holder in holders:
            again = Database(quick.database.url)
            with running(again, Calendar()) as other:
                holder.server = replace(holder.server, service=other)
                advance(other, id)
                holder.turn()
                _compare_proposals(holder, proposed)
            again.close()
    totals = _opened(quick, id)
    assert totals is not None
    assert totals.totals.tolist() == [[0], [3], [3]]
    assert proposed.keys() == {0, 1}


def _compare_proposals(holder: Holder, proposed: dict[int, bytes]) -> None:
    """Every later server repeats an earlier proposal byte by byte."""
    for number in (0, 1):
        with suppress(Refused):
            propose = holder.server.batch(number)[0]
            assert proposed.setdefault(number, propose) == propose


def test_a_keyholder_that_is_away_after_certification_is_not_needed(quick: Service) -> None:
    id, invite = opened(quick, sealed_policy(quick))
    holders = seats_of(quick, id)
    upload(quick, id, invite, (1, 1, 1), workers=3)
    go_on(holders)
    close_campaign(quick, id)
    until(holders, lambda: sealed_progress(quick, id).phase == "opening")
    go_on(holders[:2])
    found = sealed_progress(quick, id)
    assert (found.phase, found.opened, found.needed) == ("opened", 2, 2)


def test_too_few_contributions_are_never_opened(quick: Service) -> None:
    id, invite = opened(quick, sealed_policy(quick))
    holders = seats_of(quick, id)
    upload(quick, id, invite, (1, 0, 1), workers=2)
    close_campaign(quick, id)
    go_on(holders)
    found = sealed_progress(quick, id)
    assert (found.phase, found.checked, found.opened) == ("closing", 2, 0)
    assert found.problem is not None
    assert "at least 3 are needed" in found.problem
    with pytest.raises(Refused, match="at least 3 are needed"):
        open_without(quick, id)


def test_a_contribution_that_cheats_is_dropped_and_named(
    quick: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, invite = opened(quick, sealed_policy(quick))
    holders = seats_of(quick, id)
    upload(quick, id, invite, (1, 1, 1), workers=3)
    with monkeypatch.context() as cheating:
        honest = Ballot.encode
        cheating.setattr(Ballot, "encode", lambda ballot, codes: 5 * honest(ballot, codes))
        (cheat,) = upload(quick, id, invite, (1, 1, 1), workers=1)
    close_campaign(quick, id)
    go_on(holders)
    found, totals = sealed_progress(quick, id), _opened(quick, id)
    assert [(each.worker, each.reason) for each in found.dropped] == [
        (own_reports(quick, id, cheat.receipt).worker, "invalid")
    ]
    assert totals is not None
    assert (totals.workers, totals.totals.tolist()) == (3, [[3], [3], [3]])
    assert totals.answered is not None
    assert totals.answered.tolist() == [3, 3, 3]
    assert check(quick.database) == []


def test_a_contribution_can_be_taken_back_until_it_is_proposed(service: Service) -> None:
    id, invite = opened(service, sealed_policy(service))
    holders = seats_of(service, id)
    go_on(holders)
    first, *others = upload(service, id, invite, (1, 0), workers=4)
    own = own_reports(service, id, first.receipt)
    assert [(each.tasks, each.reports) for each in own.submissions] == [
        (("t1", "t2"), ("sealed", "sealed"))
    ]
    erase(service, id, first.receipt, first.report_id)
    advance(service, id)
    with pytest.raises(Refused, match="no longer be deleted") as refused:
        erase(service, id, others[0].receipt, others[0].report_id)
    assert refused.value.reason is Reason.NOT_OPEN
    assert send(service, id, invite, others[0])  # a replay is acknowledged all the same
    assert check(service.database) == []


def test_what_is_not_certified_can_be_given_up(quick: Service) -> None:
    id, invite = opened(quick, sealed_policy(quick))
    holders = seats_of(quick, id)
    go_on(holders)
    upload(quick, id, invite, (1, 1, 1), workers=3)
    advance(quick, id)
    go_on(holders)
    upload(quick, id, invite, (0, 0, 0), workers=1)
    with pytest.raises(Refused, match="close it first"):
        open_without(quick, id)
    close_campaign(quick, id)
    assert [holder.turn() for holder in holders[:2]] == ["check", "check"]
    open_without(quick, id)
    go_on(holders)
    totals = _opened(quick, id)
    assert totals is not None
    assert totals.totals.tolist() == [[3], [3], [3]]
    assert sealed_progress(quick, id).waiting == 1


def test_nobody_goes_back_once_a_keyholder_has_confirmed(quick: Service) -> None:
    id, invite = opened(quick, sealed_policy(quick))
    holders = seats_of(quick, id)
    upload(quick, id, invite, (1, 1, 1), workers=3)
    close_campaign(quick, id)
    until(holders, lambda: sealed_progress(quick, id).keyholders[0].confirmed == 1)
    with pytest.raises(Refused, match="confirmed a later set"):
        open_without(quick, id)


def test_messages_are_the_keyholders_own_and_said_once(quick: Service) -> None:
    id, _ = opened(quick, sealed_policy(quick))
    one, two, _ = seats_of(quick, id)
    deal = one.message("deal", None)
    with pytest.raises(Refused, match="another keyholder") as stolen:
        two.server.send(deal)
    assert stolen.value.reason is Reason.BAD_CREDENTIAL
    assert [one.server.send(deal), one.server.send(deal)] == [False, True]
    another = Holder(one.server, 1).message("deal", None)  # other noise, other shares
    with pytest.raises(Refused) as twice:
        one.server.send(another)
    assert twice.value.reason is Reason.CONFLICT
    with pytest.raises(Refused) as forged:
        one.server.send(deal.replace(b"sottovoce", b"sottosopra"))
    assert forged.value.reason is Reason.MALFORMED


def test_a_link_that_is_made_again_ends_the_one_before(quick: Service) -> None:
    id, _ = opened(quick, sealed_policy(quick))
    before, after = seats_of(quick, id), seats_of(quick, id)
    with pytest.raises(Refused) as refused:
        before[0].server.work()
    assert refused.value.reason is Reason.BAD_CREDENTIAL
    assert after[0].server.work() == ("deal", None)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        pytest.param("keyholders", [], "names no keyholders", id="keyholders"),
        pytest.param("coordinator", ELSEWHERE, "another server", id="coordinator"),
    ],
)
def test_a_campaign_opens_with_keyholders_and_this_servers_key(
    quick: Service, field: str, value: object, words: str
) -> None:
    document = sealed_policy(quick).as_json()
    document["mechanism"] = {**document["mechanism"], field: value}
    with pytest.raises(Refused, match=words):
        opened(quick, Policy.of_json(document))


def test_what_is_no_contribution_of_this_worker_is_refused(quick: Service) -> None:
    policy = sealed_policy(quick, answers=2)
    id, invite = opened(quick, policy)
    names = ("t3", "t1", "t2")
    good = sealed_answers(id, policy, names, (1, 0))
    other = sealed_answers("abcd", policy, names, (1, 0))
    foreign = sealed_answers(id, sealed_policy(quick, answers=3), names, (1, 0))
    for content, reason in (
        (b"{}", Reason.MALFORMED),
        (good.content[:-1], Reason.MALFORMED),
        (other.content, Reason.NOT_ADMITTED),
        (foreign.content, Reason.FOREIGN_POLICY),
        (sealed_answers(id, policy, names, (1, 0)).content, Reason.BAD_CREDENTIAL),
        (good.content.replace(b'"shares":["', b'"shares":["A'), Reason.NOT_ADMITTED),
        (good.content + b" " * 100_000, Reason.OVERSIZE),
    ):
        with pytest.raises(Refused) as refused:
            send(quick, id, invite, Sent(good.report_id, good.receipt, content))
        assert refused.value.reason is reason, content[:80]
    assert not send(quick, id, invite, good)
    with pytest.raises(Refused) as twice:
        send(quick, id, invite, Sent("0" * 32, good.receipt, good.content))
    assert twice.value.reason is Reason.ALREADY_REPORTED


def test_the_longest_contribution_is_taken(quick: Service) -> None:
    policy = sealed_policy(quick)
    names = tuple(47 * 'é“"\\' + str(place) for place in range(4))
    id, invite = opened(quick, policy, names)
    admission = quick.reception.admission(id)
    sent = sealed_answers(id, policy, names, (1, 1, 0, 0))
    assert len(sent.content) <= admission.largest < 2 * len(sent.content)
    assert not send(quick, id, invite, sent)


def test_hidden_participation_takes_whole_blocks_only(quick: Service) -> None:
    policy = sealed_policy(quick, hidden=True, answers=3)
    id, invite = opened(quick, policy)
    holders = seats_of(quick, id)
    with pytest.raises(Refused) as refused:
        send(quick, id, invite, sealed_answers(id, policy, ("t3", "t1", "t2"), (1, 0)))
    assert refused.value.reason is Reason.NOT_ADMITTED
    upload(quick, id, invite, (1, 0, -1), workers=3)
    close_campaign(quick, id)
    go_on(holders)
    totals = _opened(quick, id)
    assert totals is not None
    assert totals.answered is None
    assert totals.totals.tolist() == [[0, 0], [3, 3], [-3, 3]]


def test_noise_that_does_not_fit_together_ends_the_campaign_and_is_named(
    quick: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, _ = opened(quick, sealed_policy(quick))
    holders = seats_of(quick, id)
    with monkeypatch.context() as lying:
        lying.setattr(noise, "share", lambda *given: _shifted(share(*given)))
        assert holders[1].turn() == "deal"
    go_on(holders)
    found = sealed_progress(quick, id)
    assert found.phase == "dead"
    assert found.problem is not None
    assert "keyholder 2 (University)" in found.problem
    assert [holder.turn() for holder in holders] == ["dead"] * 3


def _shifted(shares: Elements) -> Elements:
    """Another share for the last keyholder, off the polynomial of the others."""
    shares = shares.copy()
    shares[-1] = add(shares[-1], np.uint64(1))
    return shares


def test_a_share_of_the_total_that_does_not_fit_is_told(quick: Service) -> None:
    id, invite = opened(quick, sealed_policy(quick))
    holders = seats_of(quick, id)
    upload(quick, id, invite, (1, 1, 1), workers=3)
    close_campaign(quick, id)
    until(holders, lambda: sealed_progress(quick, id).phase == "opening")
    go_on(holders[:2])
    session = holders[2].server.session()
    body = json.loads(json.loads(holders[2].message("open", None))["text"])
    fields = {name: body[name] for name in ("number", "state", "count")}
    total = b64(to_bytes(np.array([1, 2, 3], np.uint64)))
    lie = written(session, MessageKind.OPEN, 3, {**fields, "total": total}, keys_of(3).signing)
    assert holders[2].server.send(lie) is False
    found = sealed_progress(quick, id)
    assert found.phase == "opened"
    assert found.problem is not None
    assert "false" in found.problem
