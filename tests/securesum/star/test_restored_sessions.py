"""A server that is stopped anywhere and restored from storage sends the same bytes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.securesum.masked.stars import Star

from sottovoce.errors import UsageError
from sottovoce.model.sum_rounds import RoundRecord
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.securesum.star.suite import Phase


def restored(
    star: Star, history: Sequence[RoundRecord], events: Sequence[tuple[bytes, int] | None]
) -> CoordinatorSession:
    """A server from the rounds that were opened, and what came since."""
    server = star.served(history)
    for event in events:
        if event is None:
            server.close()
        else:
            assert server.take(*event)
    return server


def same(star: Star, server: CoordinatorSession) -> bool:
    """Whether a server equals that of the star in every respect."""
    members = range(1, star.workers + 1)
    return all(
        getattr(server, name) == getattr(star.server, name)
        for name in (
            "state",
            "reason",
            "culprits",
            "round",
            "phase",
            "alive",
            "excluded",
            "waiting",
        )
    ) and [server.turn(member) for member in members] == [
        star.server.turn(member) for member in members
    ]


def test_a_server_restored_at_any_point_says_the_same() -> None:
    """Two drop out in three rounds; restored after every reply and every phase."""
    star = Star(workers=5, threshold=3, rounds=3)
    silent = {(1, Phase.CONTRIBUTE): 2, (2, Phase.OPEN): 5}
    while star.server.state == "running":
        before = len(star.server.records)
        gone = silent.get((star.server.round, star.server.phase))
        waiting = sorted(star.server.waiting - {gone})
        turns = {number: star.turn(number) for number in waiting}
        for number in waiting:
            star.take(star.members[number].on(turns[number]) or b"", number)
            if len(star.server.records) > before:
                star.events.clear()
            assert same(star, restored(star, star.server.records, star.events))
        if gone is not None:
            star.close()
            if len(star.server.records) > before:
                star.events.clear()
            assert same(star, restored(star, star.server.records, star.events))
    assert star.server.state == "done"
    assert [record.contributors for record in star.server.records] == [
        (1, 2, 3, 4, 5), (1, 3, 4, 5), (1, 3, 4, 5),
    ]  # fmt: skip
    assert star.server.records[2].excluded == {5: "it did not answer in phase open"}


def test_a_server_restored_after_an_abort_is_aborted() -> None:
    star = Star().until(Phase.CONFIRM).play(silent=[1, 2])
    server = restored(star, (), star.events)
    assert (server.state, server.reason) == ("aborted", star.server.reason)
    assert same(star, server)


def test_a_record_that_forgets_a_worker_is_refused() -> None:
    star = Star(rounds=2).until(Phase.SHARE, 1)
    record = star.server.records[0]
    with pytest.raises(UsageError, match="round 0: worker 5 is neither in nor excluded"):
        star.served([RoundRecord(record.totals, (1, 2, 3, 4), {})])


def test_a_session_whose_plan_is_done_is_done_from_its_records() -> None:
    star = Star(rounds=2).finish()
    server = star.served(star.server.records)
    assert (server.state, server.phase, server.round) == ("done", Phase.END, 2)
    assert same(star, server)
