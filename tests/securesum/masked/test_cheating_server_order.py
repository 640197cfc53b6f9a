"""A server that breaks the order of phases and rounds, or lies about totals and the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.securesum.masked.cheaters import refused
from tests.securesum.masked.stars import COORDINATOR, Star, keys, terms_of

from sottovoce.errors import SealedRefused
from sottovoce.securesum.masked.messages import ORDER
from sottovoce.securesum.star.messages import SERVER, Place, SignedFrame, totals_content, written
from sottovoce.securesum.star.suite import Phase


@pytest.mark.parametrize("phase", ORDER)
def test_it_cannot_ask_two_different_things_at_one_place(phase: Phase) -> None:
    star = Star().until(phase)
    assert star.members[1].on(star.turn(1)) is not None
    other = star.says(phase, {"another": 1})
    refused(star.members[1], other, "two different turns for one place")


@pytest.mark.parametrize("phase", ORDER)
def test_the_same_turn_again_gets_the_same_bytes(phase: Phase) -> None:
    star = Star().until(phase)
    first = star.members[1].on(star.turn(1))
    assert star.members[1].on(star.turn(1)) == first


@pytest.mark.parametrize("phase", ORDER[1:])
def test_it_cannot_leave_out_a_phase(phase: Phase) -> None:
    star = Star().until(phase)
    turn = star.turn(1)
    before = Star(seed=2).until(ORDER[ORDER.index(phase) - 1])
    refused(
        before.members[1], turn, "is out of order" if phase != ORDER[1] else "a round was skipped"
    )


def test_it_cannot_go_back_to_a_phase() -> None:
    star = Star().until(Phase.CONFIRM)
    worker = star.copy(1)
    worker.on(star.turn(1))
    refused(worker, star.says("commit", {}), "a round or phase that is over")


def test_it_cannot_ask_about_an_old_round() -> None:
    star = Star(rounds=3)
    old = star.turn(1)
    star.until(Phase.CONTRIBUTE, 2)
    refused(star.members[1], old, "a round or phase that is over")


def test_it_cannot_leave_out_a_round() -> None:
    star = Star(rounds=3)
    refused(star.members[1], star.says(Phase.SHARE, {}, round=1), "a round was skipped")


def test_it_cannot_begin_a_round_that_a_worker_has_not_confirmed_the_last_of() -> None:
    star = Star(rounds=2).until(Phase.CONFIRM)
    turn = star.says(Phase.SHARE, {}, bytes(24), round=1)
    refused(star.members[1], turn, "although this worker has not confirmed")


@pytest.mark.parametrize("payload", [b"", bytes(16), bytes(25)])
def test_it_cannot_open_another_number_of_totals(payload: bytes) -> None:
    star = Star(rounds=2).until(Phase.SHARE, 1)
    turn = star.says(Phase.SHARE, {}, payload, round=1)
    refused(star.members[1], turn, "the last round opened 3 totals, not these")


@pytest.mark.parametrize("total", [-1, 5001])
def test_it_cannot_say_totals_that_nobody_can_add_up_to(total: int) -> None:
    star = Star(rounds=2).until(Phase.SHARE, 1)
    payload = totals_content(np.array([0, 5000, total]))
    turn = star.says(Phase.SHARE, {}, payload, round=1)
    refused(star.members[1], turn, "a total is impossible for 5 workers")


def test_it_cannot_send_totals_before_anything_was_opened() -> None:
    star = Star()
    turn = star.says(Phase.SHARE, {}, bytes(24))
    refused(star.members[1], turn, "before anything was opened")


def test_it_cannot_have_more_added_up_than_is_planned() -> None:
    star = Star(rounds=1).until(Phase.OPEN).play()
    totals = totals_content(star.server.records[0].totals)
    turn = star.says(Phase.SHARE, {}, totals, round=1)
    refused(star.members[1], turn, "the sums are complete")


def test_it_cannot_use_what_is_for_another_roster() -> None:
    star = Star()
    elsewhere = terms_of(5, 5)
    turn = written(elsewhere, Place(0, Phase.SHARE), SERVER, COORDINATOR)
    refused(star.members[1], turn, "for another session")


def test_nobody_else_can_ask() -> None:
    star = Star()
    turn = written(star.terms, Place(0, Phase.SHARE), SERVER, keys(5)[2])
    refused(star.members[1], turn, "signature is invalid")


def test_another_worker_cannot_ask() -> None:
    star = Star()
    refused(star.members[1], star.worker_says(2, Phase.SHARE, {}), "is from worker 2")


# The end.


def ends(star: Star, round: int, payload: bytes = b"", **fields: Any) -> bytes:
    said = {"culprits": [], "reason": "", "state": "done", **fields}
    return star.says(Phase.END, said, payload, round=round)


def test_it_cannot_say_that_all_is_done_before_it_is() -> None:
    star = Star(rounds=2).until(Phase.SHARE, 1)
    totals = totals_content(star.server.records[0].totals)
    refused(star.members[1], ends(star, 1, totals), "more sums are due")


def test_it_cannot_say_that_all_is_done_in_the_middle_of_a_round() -> None:
    star = Star().until(Phase.CONTRIBUTE)
    refused(star.members[1], ends(star, 0), "in the middle of a round")


def test_it_cannot_end_with_totals_of_what_was_not_opened() -> None:
    star = Star().until(Phase.OPEN)
    refused(star.members[1], ends(star, 0, bytes(24), state="aborted"), "totals that were not")


def test_it_cannot_end_a_round_that_never_began() -> None:
    star = Star(rounds=3).until(Phase.OPEN)
    refused(star.members[1], ends(star, 2, state="aborted"), "a round that never began")


def test_it_cannot_ask_anything_after_the_end() -> None:
    star = Star(rounds=2).until(Phase.CONTRIBUTE)
    end = ends(star, 0, state="aborted", reason="tired")
    assert star.members[1].on(end) is None
    assert star.members[1].on(end) is None
    ended = star.members[1].ended
    assert ended is not None
    assert (ended.state, ended.reason) == ("aborted", "tired")
    refused(star.members[1], star.says(Phase.SHARE, {}, bytes(24), round=1), "that is over")


def test_a_worker_that_broke_off_in_the_middle_says_nothing_more() -> None:
    star = Star().until(Phase.CONTRIBUTE)

    class Broken:
        def values(self, opened: object) -> Any:
            raise MemoryError

    star.members[1]._contributor = Broken()
    with pytest.raises(MemoryError):
        star.members[1].on(star.turn(1))
    with pytest.raises(SealedRefused, match="it failed in the middle of a turn"):
        star.members[1].on(star.turn(1))


def test_frames_do_not_show_what_is_in_them() -> None:
    star = Star().until(Phase.CONTRIBUTE)
    frame: SignedFrame = star.read(star.members[1].on(star.turn(1)) or b"")
    assert repr(frame).endswith("sender=1, 32 bytes)")
