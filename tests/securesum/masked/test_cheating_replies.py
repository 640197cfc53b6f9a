"""Replies that are repeated, out of order, under a wrong name or late: refused, and named."""

from __future__ import annotations

import pytest
from tests.securesum.masked.stars import Star, keys, terms_of

from sottovoce.errors import SealedRefused
from sottovoce.securesum.envelope import b64
from sottovoce.securesum.masked.keys import MaskKeys
from sottovoce.securesum.masked.messages import ORDER
from sottovoce.securesum.star.messages import Place, written
from sottovoce.securesum.star.suite import Phase


def test_a_reply_that_came_before_is_known_and_changes_nothing() -> None:
    star = Star()
    reply = star.members[2].on(star.turn(2)) or b""
    assert star.server.take(reply, 2) is True
    assert star.server.take(reply, 2) is False
    assert star.server.waiting == {1, 3, 4, 5}


def test_a_reply_of_the_round_before_is_known_and_changes_nothing() -> None:
    star = Star(rounds=2).until(Phase.OPEN)
    reply = star.members[2].on(star.turn(2)) or b""
    star.play().until(Phase.CONTRIBUTE, 1)
    assert star.server.take(reply, 2) is False


def test_a_reply_of_an_old_round_is_refused() -> None:
    star = Star(rounds=3).until(Phase.OPEN)
    reply = star.members[2].on(star.turn(2)) or b""
    star.play().until(Phase.CONTRIBUTE, 2)
    with pytest.raises(SealedRefused, match="worker 2: its reply is for another round or phase"):
        star.server.take(reply, 2)


def test_who_answers_twice_differently_is_refused_and_the_first_answer_stays() -> None:
    star = Star()
    star.take(star.members[2].on(star.turn(2)) or b"", 2)
    other = star.worker_says(2, Phase.SHARE, {"masks": b64(MaskKeys.fresh().public)})
    with pytest.raises(SealedRefused, match="worker 2: it has already answered differently"):
        star.server.take(other, 2)
    star.finish()
    assert star.server.records[0].totals.tolist() == star.total(range(1, 6))


def test_the_same_text_under_another_signature_is_not_taken_for_the_first() -> None:
    star = Star()
    reply = star.members[2].on(star.turn(2)) or b""
    with pytest.raises(SealedRefused, match="worker 2: the message's signature is invalid"):
        star.server.take(bytes(64) + reply[64:], 2)


def test_nobody_can_answer_for_another() -> None:
    star = Star()
    reply = star.members[2].on(star.turn(2)) or b""
    with pytest.raises(SealedRefused, match="worker 3: the message is from worker 2"):
        star.server.take(reply, 3)


@pytest.mark.parametrize("sender", [-1, 0, 6])
def test_a_sender_whom_nobody_knows_is_refused(sender: int) -> None:
    star = Star()
    reply = star.members[2].on(star.turn(2)) or b""
    with pytest.raises(SealedRefused, match="no worker has this number"):
        star.server.take(reply, sender)


def test_who_is_excluded_cannot_come_back() -> None:
    star = Star(rounds=2).play(silent=[5])
    late = star.members[5].on(star.says(Phase.SHARE, {})) or b""
    with pytest.raises(SealedRefused, match="worker 5: it is excluded: it did not answer in"):
        star.server.take(late, 5)
    end = star.turn(5)
    assert star.members[5].on(end) is None
    ended = star.members[5].ended
    assert ended is not None
    assert (ended.state, ended.reason) == ("excluded", "it did not answer in phase share")


def test_who_is_excluded_is_told_the_same_to_the_end() -> None:
    star = Star(rounds=2).play(silent=[5])
    told = star.turn(5)
    star.finish()
    assert star.turn(5) == told


@pytest.mark.parametrize("phase", ORDER)
def test_a_reply_to_another_phase_is_refused(phase: Phase) -> None:
    star = Star().until(phase)
    other = star.worker_says(2, Phase.PROVE, {})
    with pytest.raises(SealedRefused, match="worker 2: its reply is for another round or phase"):
        star.server.take(other, 2)


def test_a_reply_for_another_session_is_refused() -> None:
    star = Star()
    reply = written(terms_of(5, 5), Place(0, Phase.SHARE), 2, keys(5)[1], {}, bytes(64))
    with pytest.raises(SealedRefused, match="worker 2: the message is for another session"):
        star.server.take(reply, 2)


def test_the_servers_own_turn_is_no_reply() -> None:
    star = Star()
    with pytest.raises(SealedRefused, match="worker 2: the message is from the server"):
        star.server.take(star.turn(2), 2)


def test_nothing_is_taken_after_the_end() -> None:
    star = Star().finish()
    with pytest.raises(SealedRefused, match="worker 2: the session is over"):
        star.server.take(star.worker_says(2, Phase.OPEN, {}, round=1), 2)


@pytest.mark.parametrize("garbage", [b"", b"x", bytes(68), b"\xff" * 200, b"{}" * 50])
def test_garbage_is_refused_and_its_sender_named(garbage: bytes) -> None:
    star = Star()
    with pytest.raises(SealedRefused, match=r"^worker 2: "):
        star.server.take(garbage, 2)
    star.finish()
