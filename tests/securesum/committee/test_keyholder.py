"""A keyholder's messages and refusals."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.securesum.committees import contributed, keys_of, session_of, votes
from tests.securesum.sealed_policies import KEYS
from tests.securesum.servers import Party, Server

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import SealedRefused, UsageError
from sottovoce.securesum.committee import server as committee_server
from sottovoce.securesum.committee.keyholder import KeyholderKeys, KeyholderSession
from sottovoce.securesum.committee.messages import MessageKind
from sottovoce.securesum.committee.state_chain import BEGINNING, Certified
from sottovoce.securesum.field import P

SESSION = session_of(minimum=2)
UPLOADS = votes(SESSION, 6)
FIRST, SECOND = sorted(UPLOADS)[:3], sorted(UPLOADS)[3:]


@pytest.fixture
def server() -> Server:
    return Server(SESSION, dict(UPLOADS))


def snapshot(party: Party) -> object:
    """A keyholder's whole state."""
    keyholder = party.keyholder
    reader = keyholder._reader
    return (
        keyholder._reached, keyholder._batch and keyholder._batch.check, keyholder._confirm,
        copy.deepcopy(vars(keyholder._facts)), set(reader._workers), set(reader._digests),
        reader.total.tolist(),
    )  # fmt: skip


def refuses(party: Party, words: str, act: Callable[[], object]) -> SealedRefused:
    """The refusal, after which the keyholder's state is unchanged."""
    before = snapshot(party)
    with pytest.raises(SealedRefused, match=words) as refused:
        act()
    assert snapshot(party) == before
    return refused.value


def test_whose_card_is_not_pinned_has_no_seat() -> None:
    stranger = KeyholderKeys(KEYS[4].sealing, KEYS[4].signing)
    with pytest.raises(UsageError, match="does not name this keyholder"):
        KeyholderSession(SESSION, stranger)


def test_it_deals_once(server: Server) -> None:
    party = server.parties[0]
    refuses(
        party, "it has already dealt its noise", lambda: party.keyholder.deal(SeededRandomness(9))
    )
    party.restart()
    refuses(
        party, "it has already dealt its noise", lambda: party.keyholder.deal(SeededRandomness(9))
    )


def test_nothing_begins_without_its_own_deal(server: Server) -> None:
    party = server.parties[0]
    other = KeyholderSession(SESSION, keys_of(SESSION)[0])
    deal = other.deal(SeededRandomness(5)).message
    deals = [deal, *list(server.deals.values())[1:]]
    digests = [committee_server.read_message(SESSION, each).digest for each in deals]
    items = [committee_server.item_for(each, 1) for each in deals]
    propose = server.propose(0, BEGINNING, digests)
    refuses(party, "is not the one it made", lambda: party.keyholder.check(propose, items))


def test_deals_are_of_all_seats_in_their_order(server: Server) -> None:
    party, digests = server.parties[0], list(server.deals)
    swapped = [digests[0], digests[2], digests[1]]
    propose, items = server.propose(0, BEGINNING, swapped), server.items(1, swapped)
    refuses(
        party, "the deal of keyholder 2 .* is not", lambda: party.keyholder.check(propose, items)
    )
    few = server.propose(0, BEGINNING, digests[:2])
    refuses(party, "digests .* malformed", lambda: party.keyholder.check(few, items))


def test_a_deal_that_is_not_shared_properly_ends_the_session_and_is_named(server: Server) -> None:
    digests = list(server.deals)
    checks = server.checks(0, BEGINNING, digests)
    values = [
        list(each) for each in committee_server.read_message(SESSION, checks[1]).body["values"]
    ]
    values[2][0] = str((int(values[2][0]) + 1) % P)
    batch = committee_server.read_message(SESSION, checks[1]).body["batch"]
    checks[1] = server.forged(MessageKind.CHECK, 2, number=0, batch=batch, values=values)
    party = server.parties[0]
    refused = refuses(party, "nothing can be opened", lambda: party.keyholder.confirm(0, checks))
    assert refused.culprit == "keyholder 3 (University \N{OWL})"


def test_batches_come_in_order_and_each_number_once(server: Server) -> None:
    start = server.begin()
    party = server.parties[0]
    items = server.items(1, FIRST)

    def check(number: int, previous: str, digests: list[str] = FIRST) -> Callable[[], object]:
        propose = server.propose(number, previous, digests)
        return lambda: party.keyholder.check(propose, server.items(1, digests))

    refuses(party, "proposes batch 2, but 1 is next", check(2, start.state))
    refuses(party, "proposes batch 0, but 1 is next", check(0, start.state, list(server.deals)))
    refuses(party, "follows a different state", check(1, "1" * 64))
    first = party.keyholder.check(server.propose(1, start.state, FIRST), items)
    again = party.keyholder.check(server.propose(1, start.state, FIRST), items)
    assert again == first
    refuses(party, "it proposes another batch 1", check(1, start.state, SECOND))
    refuses(party, "asks to confirm batch 2", lambda: party.keyholder.confirm(2, []))


def test_the_items_are_those_proposed(server: Server) -> None:
    start = server.begin()
    party = server.parties[0]
    propose = server.propose(1, start.state, FIRST)
    refuses(
        party, "2 of 3 items of the batch",
        lambda: party.keyholder.check(propose, server.items(1, FIRST[:2])),
    )  # fmt: skip
    refuses(
        party, "are not those it proposed",
        lambda: party.keyholder.check(propose, server.items(1, SECOND)),
    )  # fmt: skip
    refused = refuses(
        party, "should have refused: .* a share is not the one that was signed",
        lambda: party.keyholder.check(propose, server.items(2, FIRST)),
    )  # fmt: skip
    assert refused.culprit == "the server"


def test_a_worker_and_a_contribution_are_there_once(server: Server) -> None:
    start = server.begin()
    state = server.certified(server.batch(1, start.state, FIRST))
    party = server.parties[0]
    twice = contributed(SESSION, "worker 9", [1, 1, 1]), contributed(SESSION, "worker 9", [0, 0, 0])
    named = {committee_server.read_contribution(SESSION, each).digest: each for each in twice}
    server.uploads.update(named)
    for digests in ([FIRST[0]], sorted(named)):
        propose, items = server.propose(2, state.state, digests), server.items(1, digests)
        refuses(party, "a second time", partial(party.keyholder.check, propose, items))


def test_confirming_needs_every_check_and_its_own_as_it_sent_it(server: Server) -> None:
    start = server.begin()
    checks = server.checks(1, start.state, FIRST)
    party = server.parties[0]

    def confirm(*given: bytes) -> Callable[[], object]:
        return lambda: party.keyholder.confirm(1, given)

    refuses(party, "check of keyholder 3 .* is missing", confirm(*checks[:2]))
    refuses(party, "is repeated", confirm(*checks, checks[1]))
    other = server.forged(
        MessageKind.CHECK,
        1,
        number=1,
        batch=committee_server.read_message(SESSION, checks[0]).body["batch"],
        values=[None] * 3,
    )
    refuses(party, "is not the one it sent", confirm(other, *checks[1:]))
    elsewhere = server.forged(MessageKind.CHECK, 2, number=1, batch="2" * 64, values=[None] * 3)
    assert refuses(
        party, "its check is of another batch", confirm(checks[0], elsewhere, checks[2])
    ).culprit == "keyholder 2 (Union)"  # fmt: skip
    short = server.forged(
        MessageKind.CHECK,
        2,
        number=1,
        batch=committee_server.read_message(SESSION, checks[0]).body["batch"],
        values=[None] * 2,
    )
    refuses(party, "does not cover the whole batch", confirm(checks[0], short, checks[2]))
    assert party.keyholder.confirm(1, checks).facts[0]["count"] == 3


def test_different_batches_at_different_keyholders_are_never_certified(server: Server) -> None:
    start = server.begin()
    one, other = server.parties[0], server.parties[1]
    first = one.keyholder.check(server.propose(1, start.state, FIRST), server.items(1, FIRST))
    second = other.keyholder.check(server.propose(1, start.state, SECOND), server.items(2, SECOND))
    third = server.parties[2]
    last = third.keyholder.check(server.propose(1, start.state, FIRST), server.items(3, FIRST))
    checks = [first.message, second.message, last.message]
    assert refuses(
        one, "its check is of another batch", lambda: one.keyholder.confirm(1, checks)
    ).culprit == "keyholder 2 (Union)"  # fmt: skip


def opening(server: Server) -> tuple[Certified, Certified, list[bytes]]:
    """States 1 and 2, and the confirms of state 2."""
    start = server.begin()
    first = server.certified(server.batch(1, start.state, FIRST))
    confirms = server.batch(2, first.state, SECOND)
    return first, server.certified(confirms), confirms


def test_it_opens_the_last_state_it_confirmed_and_says_the_same_again(server: Server) -> None:
    first, second, confirms = opening(server)
    party = server.parties[0]
    early = server.close(first)
    refuses(party, "has confirmed 2", lambda: party.keyholder.open(early, confirms))
    step = party.keyholder.open(server.close(second), confirms)
    assert [fact["fact"] for fact in step.facts] == ["opened"]
    again = party.keyholder.open(server.close(second), confirms[::-1])
    assert (again.message, again.facts) == (step.message, ())
    refuses(party, "a second opening", lambda: party.keyholder.open(early, confirms))


def test_it_opens_only_what_everybody_confirmed(server: Server) -> None:
    _, second, confirms = opening(server)
    party = server.parties[0]
    close = server.close(second)
    forged = server.forged(MessageKind.CONFIRM, 3, number=2, state="3" * 64, count=6)
    fewer = replace(second, count=5)
    for given, words in (
        (confirms[:2], "confirm of keyholder 3 .* is missing"),
        ([*confirms[:2], confirms[1]], "confirm of keyholder 3 .* is missing"),
        ([*confirms[:2], forged], "keyholder 3 .*: it has confirmed a different state"),
    ):
        refuses(party, words, partial(party.keyholder.open, close, given))
    refuses(party, "has not reached", lambda: party.keyholder.open(server.close(fewer), confirms))


def test_a_sum_of_too_few_is_not_opened() -> None:
    session = session_of(minimum=4)
    uploads = votes(session, 3)
    server = Server(session, uploads)
    start = server.begin()
    confirms = server.batch(1, start.state, sorted(uploads))
    close = server.close(server.certified(confirms))
    party = server.parties[0]
    refuses(
        party, "3 contributions, .* minimum is 4", lambda: party.keyholder.open(close, confirms)
    )


def test_one_contribution_alone_is_not_opened(server: Server) -> None:
    start = server.begin()
    confirms = server.batch(1, start.state, FIRST[:1])
    close = server.close(server.certified(confirms))
    party = server.parties[0]
    refuses(
        party, "1 contributions, .* minimum is 2", lambda: party.keyholder.open(close, confirms)
    )


def test_nothing_is_checked_or_confirmed_after_the_opening(server: Server) -> None:
    start = server.begin()
    confirms = server.batch(1, start.state, FIRST)
    state = server.certified(confirms)
    checks = server.checks(2, state.state, SECOND)
    party = server.parties[0]
    party.keyholder.open(server.close(state), confirms)
    refuses(party, "after the opening", lambda: party.keyholder.confirm(2, checks))
    late = server.propose(2, state.state, SECOND[:1])
    party.restart()
    assert party.keyholder.number == -1
    other = server.parties[1]
    other.keyholder.open(server.close(state), confirms)
    other.keyholder._batch = None
    refuses(
        other, "after the opening", lambda: other.keyholder.check(late, server.items(2, SECOND[:1]))
    )


def test_messages_of_others_are_not_taken_for_the_servers(server: Server) -> None:
    party = server.parties[0]
    digests = list(server.deals)
    forged = server.forged(MessageKind.PROPOSE, 2, number=0, previous=BEGINNING, digests=digests)
    refused = refuses(
        party,
        "is not for this sender",
        lambda: party.keyholder.check(forged, server.items(1, digests)),
    )
    assert refused.culprit == "keyholder 2 (Union)"
    foreign = Server(session_of(tasks=4, minimum=2), {})
    strange = foreign.propose(0, BEGINNING, digests)
    refuses(
        party, "another session", lambda: party.keyholder.check(strange, server.items(1, digests))
    )


def test_facts_of_another_session_are_refused(server: Server) -> None:
    other = session_of(tasks=4, minimum=2)
    with pytest.raises(UsageError, match="another session of this campaign"):
        KeyholderSession(other, keys_of(other)[0], server.parties[0].facts)


def test_facts_that_contradict_each_other_are_refused(server: Server) -> None:
    opening(server)
    facts = server.parties[0].facts
    for wrong in (facts + facts[-1:], facts[:1] + facts[2:], [*facts, {**facts[0], "fact": "new"}]):
        with pytest.raises(UsageError, match="contradict each other"):
            KeyholderSession(SESSION, keys_of(SESSION)[0], wrong)


def replayed(
    server: Server, party: Party, upto: int, history: list[tuple[bytes, list[str], list[bytes]]]
) -> None:
    for number, (propose, digests, checks) in enumerate(history[:upto]):
        check = party.keyholder.check(propose, server.items(party.seat, digests))
        assert (check.message, check.facts) == (checks[party.seat - 1], ())
        step = party.keyholder.confirm(number, checks)
        assert step.facts == ()
        assert step.message in party.said


def test_killed_in_any_phase_it_says_the_same_and_opens_once(server: Server) -> None:
    """One keyholder loses everything but its facts before each call, and catches up."""
    party = server.parties[0]
    history: list[tuple[bytes, list[str], list[bytes]]] = []
    previous, confirms = BEGINNING, []
    for number, digests in enumerate((list(server.deals), FIRST, SECOND)):
        propose = server.propose(number, previous, digests)
        party.restart()
        replayed(server, party, number, history)
        checks = server.checks(number, previous, digests)
        party.restart()  # the check was sent, and forgotten
        replayed(server, party, number, history)
        party.keyholder.check(propose, server.items(1, digests))
        confirms = [each.keep(each.keyholder.confirm(number, checks)) for each in server.parties]
        history.append((propose, digests, checks))
        previous = server.certified(confirms).state
    state = server.certified(confirms)
    party.restart()
    close = server.close(state)
    refuses(party, "has not reached", lambda: party.keyholder.open(close, confirms))
    replayed(server, party, 3, history)
    opened = party.keep(party.keyholder.open(close, confirms))
    party.restart()
    replayed(server, party, 3, history)
    assert party.keyholder.open(close, confirms).message == opened
    assert [fact["fact"] for fact in party.facts].count("opened") == 1


def test_what_is_replayed_differently_is_refused(server: Server) -> None:
    start = server.begin()
    server.batch(1, start.state, FIRST)
    party = server.parties[0]
    party.restart()
    propose = server.propose(0, BEGINNING, list(server.deals))
    party.keyholder.check(propose, server.items(1, list(server.deals)))
    checks = [each for each in (p.said[1] for p in server.parties)]
    party.keyholder.confirm(0, checks)
    own = party.keyholder.check(server.propose(1, start.state, SECOND), server.items(1, SECOND))
    batch = committee_server.read_message(SESSION, own.message).body["batch"]
    others = [
        server.forged(MessageKind.CHECK, seat, number=1, batch=batch, values=[None] * 3)
        for seat in (2, 3)
    ]
    refuses(
        party,
        "a different state than was confirmed",
        lambda: party.keyholder.confirm(1, [own.message, *others]),
    )


def test_one_of_three_gone_at_closing_is_not_needed(server: Server) -> None:
    _, state, confirms = opening(server)
    close = server.close(state)
    opens = [party.keyholder.open(close, confirms).message for party in server.parties]
    totals = [
        committee_server.opened_total(SESSION, given, state.count)
        for given in (opens, opens[:2], opens[1:], [opens[2], opens[0]])
    ]
    assert all(np.array_equal(each, totals[0]) for each in totals)
    with pytest.raises(UsageError, match="needs 2 keyholders, but 1 are present"):
        committee_server.opened_total(SESSION, opens[:1], state.count)


def test_one_gone_in_the_middle_of_confirming_is_waited_for(server: Server) -> None:
    start = server.begin()
    before = server.batch(1, start.state, FIRST)
    state = server.certified(before)
    checks = server.checks(2, state.state, SECOND)
    confirms = [party.keep(party.keyholder.confirm(2, checks)) for party in server.parties[:2]]
    for party in server.parties[:2]:
        early = partial(party.keyholder.open, server.close(state), before)
        refuses(party, "has confirmed 2", early)
    late = server.parties[2]
    confirms.append(late.keep(late.keyholder.confirm(2, checks)))
    close = server.close(server.certified(confirms))
    opens = [party.keyholder.open(close, confirms).message for party in server.parties]
    assert committee_server.opened_total(SESSION, opens, 6).shape == (3, 1)


def test_a_batch_that_nobody_confirmed_may_be_given_up(server: Server) -> None:
    start = server.begin()
    confirms = server.batch(1, start.state, FIRST)
    state = server.certified(confirms)
    server.checks(2, state.state, SECOND)
    opens = [
        party.keyholder.open(server.close(state), confirms).message for party in server.parties
    ]
    assert committee_server.opened_total(SESSION, opens, 3).shape == (3, 1)
