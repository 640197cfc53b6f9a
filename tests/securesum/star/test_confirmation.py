"""Confirmed sets, and histories: their names cover everything that matters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.securesum.masked.stars import Star, suites, terms_of

from sottovoce.errors import SealedAborted, SealedRefused, UsageError
from sottovoce.model.sum_rounds import OpenedSum, SumSpec
from sottovoce.securesum.masked.server import MaskedServer
from sottovoce.securesum.star.confirmation import (
    ProposedSet,
    check_enough,
    listed,
    pin,
    read_list,
    read_numbers,
)
from sottovoce.securesum.star.messages import (
    BEGINNING,
    Place,
    extended,
    read_totals,
    totals_content,
)
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.securesum.star.suite import Phase, RoundStart, rank
from sottovoce.securesum.star.worker import WorkerSession

ALL = frozenset(range(1, 6))
START = RoundStart(terms_of(5, 4), 0, SumSpec(1, 1), ALL, BEGINNING)
DIGESTS = {number: f"{number:064x}" for number in range(1, 6)}


def test_a_set_has_another_name_if_anything_in_it_is_another() -> None:
    proposed = [
        ProposedSet(START, DIGESTS, {"adverts": "a"}),
        ProposedSet(START, DIGESTS, {"adverts": "b"}),
        ProposedSet(START, DIGESTS),
        ProposedSet(START, {**DIGESTS, 5: "0" * 64}),
        ProposedSet(START, {number: DIGESTS[number] for number in range(1, 5)}),
        ProposedSet(replace(START, round=1), DIGESTS),
        ProposedSet(replace(START, history="1" * 64), DIGESTS),
        ProposedSet(replace(START, terms=terms_of(5, 5)), DIGESTS),
    ]
    assert len({each.digest for each in proposed}) == len(proposed)


def test_a_set_has_the_same_name_in_whatever_order_it_was_made() -> None:
    backwards = dict(reversed(DIGESTS.items()))
    assert ProposedSet(START, backwards).digest == ProposedSet(START, DIGESTS).digest
    assert pin(backwards) == pin(DIGESTS)


def test_a_list_comes_back_as_it_was_sent() -> None:
    assert read_list(listed(DIGESTS), ALL) == DIGESTS
    assert read_list([], ALL) == {}


@pytest.mark.parametrize(("value", "reason"), [
    (None, "no list"), ({}, "no list"), ([1], "an invalid entry"), ([[1]], "an invalid entry"),
    ([[1, 2]], "an invalid entry"), ([[True, "0" * 64]], "an invalid entry"),
    ([[1, "0" * 63]], "64 hexadecimal digits"), ([[1, "A" * 64]], "64 hexadecimal digits"),
    ([[2, "0" * 64], [1, "0" * 64]], "rising order"), ([[1, "0" * 64]] * 2, "rising order"),
    ([[6, "0" * 64]], "worker 6 has left this round"),
    ([[0, "0" * 64]], "worker 0 has left this round"),
])  # fmt: skip
def test_a_list_that_is_none_is_refused(value: Any, reason: str) -> None:
    with pytest.raises(SealedRefused, match=f"the server: .*{reason}"):
        read_list(value, ALL)


@pytest.mark.parametrize("value", [None, "12", [True], [1.0], [2, 1], [1, 1], [6], [-1]])
def test_numbers_that_are_none_are_refused(value: Any) -> None:
    with pytest.raises(SealedRefused, match=r"^worker 2: "):
        read_numbers(value, ALL, "worker 2")


def test_too_few_abort() -> None:
    check_enough(4, 4, Phase.OPEN)
    with pytest.raises(SealedAborted, match="3 workers are left after phase open; 4 are needed"):
        check_enough(3, 4, Phase.OPEN)


def test_an_abort_names_its_culprits() -> None:
    error = SealedAborted("it lied", ["worker 1", "worker 2"])
    assert (str(error), error.culprits) == ("worker 1, worker 2: it lied", ("worker 1", "worker 2"))


def test_totals_come_back_and_histories_differ_by_what_was_opened() -> None:
    totals = np.array([0, 5])
    assert read_totals(totals_content(totals), SumSpec(2, 1), 5).tolist() == [0, 5]
    histories = {
        BEGINNING,
        extended(BEGINNING, OpenedSum(totals, 5)),
        extended(BEGINNING, OpenedSum(totals, 4)),
        extended(BEGINNING, OpenedSum(totals[::-1], 5)),
        extended(extended(BEGINNING, OpenedSum(totals, 5)), OpenedSum(totals, 5)),
    }
    assert len(histories) == 5


def test_places_are_in_the_order_of_rounds_phases_and_steps() -> None:
    places = [Place(0, phase, step) for phase in Phase for step in (0, 1)]
    places += [Place(1, "share"), Place(1, "end")]
    assert sorted(places, key=rank) == places
    assert rank(Place(1, "no phase")) < rank(Place(1, "share"))


def test_a_party_with_another_key_than_the_terms_have_is_refused() -> None:
    star = Star()
    with pytest.raises(UsageError, match="a different signing key for the server"):
        CoordinatorSession(star.terms, star.members[1]._signing, star.planner, MaskedServer())
    for number, reason in ((2, "a different signing key for worker 2"), (6, "not 6"), (0, "not 0")):
        with pytest.raises(UsageError, match=reason):
            WorkerSession(
                star.terms, number, star.members[1]._signing, star.planner,
                star.members[1]._contributor, suites(5)[0],
            )  # fmt: skip


def test_a_turn_is_for_a_worker_there_is() -> None:
    with pytest.raises(UsageError, match="the session has workers 1 to 5, not 6"):
        Star().server.turn(6)


def test_who_has_answered_is_still_told_what_was_asked() -> None:
    star = Star()
    turn = star.turn(1)
    star.take(star.members[1].on(turn) or b"", 1)
    assert star.server.turn(1) == turn


def test_everybody_learns_what_was_opened() -> None:
    star = Star(rounds=2).finish()
    for worker in star.members.values():
        opened = [each.totals.tolist() for each in worker.opened]
        assert opened == [star.total(range(1, 6), round) for round in range(2)]
        assert worker.ended is not None
        assert worker.ended.state == "done"


def test_a_plan_that_breaks_in_a_later_round_ends_the_session() -> None:
    star = Star(rounds=2)

    class Breaking:
        def next(self, opened: Any) -> SumSpec | None:
            if opened:
                raise UsageError("no plan for these totals")
            return star.spec

    star.server._planner = Breaking()
    star.until(Phase.OPEN).play()
    assert (star.server.state, star.server.reason) == ("aborted", "no plan for these totals")
    assert len(star.server.records) == 1


def test_the_requester_can_end_a_session_and_all_workers_are_told() -> None:
    star = Star(rounds=2).until(Phase.CONFIRM)
    star.server.stop("no longer needed")
    assert star.server.state == "aborted"
    assert star.server.waiting == frozenset()
    assert star.members[1].on(star.turn(1)) is None
    ended = star.members[1].ended
    assert ended is not None
    assert (ended.state, ended.reason) == ("aborted", "no longer needed")


def test_closing_what_is_over_changes_nothing() -> None:
    star = Star().finish()
    star.server.close()
    assert star.server.state == "done"


def test_a_worker_can_prepare_at_any_time() -> None:
    star = Star()
    star.members[1].prepare()
    star.finish()
    star.members[1].prepare()
    assert star.server.state == "done"
