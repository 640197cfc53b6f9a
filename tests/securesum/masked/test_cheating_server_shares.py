"""A server as man in the middle: split views, forged keys, shares of others."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

import numpy as np
import pytest
from tests.securesum.masked.cheaters import (
    confirms,
    contributes,
    contributions,
    opening,
    refused,
    shown_deal,
)
from tests.securesum.masked.stars import COORDINATOR, Star, row_at

from sottovoce.securesum.envelope import b64
from sottovoce.securesum.masked.keys import KEY, MaskKeys, sealed
from sottovoce.securesum.masked.messages import ROW, SHOWN
from sottovoce.securesum.masked.shares import PIECE
from sottovoce.securesum.star.messages import HEAD, Place, totals_content, written
from sottovoce.securesum.star.suite import Phase


def test_it_cannot_show_different_shares_to_different_workers() -> None:
    """Worker 3 colludes with it, and signs two mask keys."""
    star = Star()
    second = star.copy(3).on(star.turn(3)) or b""
    star.until(Phase.CONTRIBUTE)
    split = contributes(star, 1, {3: shown_deal(second, star, 1)})
    check_split(star, star.members[1].on(split) or b"")


def test_it_cannot_show_a_share_under_another_name_to_one_worker() -> None:
    """The key and the row are right, but the hash of the payload is not what others see."""
    star = Star().until(Phase.CONTRIBUTE)
    shown = bytearray(star.read(star.turn(1)).payload[2 * SHOWN : 3 * SHOWN])
    shown[HEAD - 1] ^= 1
    check_split(star, star.members[1].on(contributes(star, 1, {3: bytes(shown)})) or b"")


def check_split(star: Star, contribution: bytes) -> None:
    """Worker 1 has contributed after a different view than the others: nothing is opened."""
    star.take(contribution, 1)
    for number in range(2, 6):
        star.take(star.members[number].on(star.turn(number)) or b"", number)
    said = confirms(star, (1, 2, 4, 5), range(1, 6))
    few = "workers have confirmed this set; 4 are needed"
    refused(star.members[1], opening(star, 1, said), f"1 {few}")
    refused(star.members[2], opening(star, 2, said), f"3 {few}")


def test_it_cannot_show_different_share_sets_to_different_workers() -> None:
    star = Star().until(Phase.CONTRIBUTE)
    rows = star.read(star.turn(1)).payload
    without = star.says(
        Phase.CONTRIBUTE, {"sharers": [1, 2, 4, 5]}, rows[: 2 * SHOWN] + rows[3 * SHOWN :]
    )
    split = star.members[1].on(without) or b""
    honest = [star.members[number].on(star.turn(number)) or b"" for number in (2, 4, 5)]
    digests = {number: star.read(reply).digest
               for number, reply in zip((1, 2, 4, 5), [split, *honest], strict=True)}  # fmt: skip
    turn = star.says(Phase.CONFIRM, {"contributions": [list(each) for each in digests.items()]})
    said = {
        number: (star.read(star.members[number].on(turn) or b""), [1, 2, 4, 5])
        for number in digests
    }
    few = "workers have confirmed this set; 4 are needed"
    refused(star.members[1], opening(star, 1, said), f"1 {few}")
    refused(star.members[2], opening(star, 2, said), f"3 {few}")


def test_it_cannot_tell_different_workers_different_totals() -> None:
    star = Star(rounds=2).until(Phase.SHARE, 1)
    true = star.read(star.turn(1)).payload
    false = totals_content(np.frombuffer(true, "<i8") // 2)
    shares = [
        star.members[number].on(star.says(Phase.SHARE, {}, totals, round=1)) or b""
        for number, totals in zip(range(1, 6), [false, true, true, true, true], strict=True)
    ]
    for number, reply in enumerate(shares, 1):
        star.take(reply, number)
    star.until(Phase.CONFIRM, 1)
    turns = {number: star.turn(number) for number in range(1, 6)}
    said = {
        number: (star.read(star.members[number].on(turns[number]) or b""), [1, 2, 3, 4, 5])
        for number in range(1, 5)
    }
    refused(
        star.members[1], opening(star, 1, said, round=1),
        "1 workers have confirmed this set; 4 are needed",
    )  # fmt: skip


# Who takes part.


def forged_key(star: Star, shown: bytes) -> bytes:
    """The view of worker 3, with a mask key of the server that it signs itself."""
    key = MaskKeys.fresh().public
    frame = written(
        star.terms, Place(0, Phase.SHARE), 3, COORDINATOR, {"masks": b64(key)}, b"made up"
    )
    return frame[:64] + hashlib.sha256(b"made up").digest() + key + shown[HEAD + KEY :]


def made_up(star: Star, shown: bytes) -> bytes:
    """A forged key, and a row that the server sealed itself without the key of the channel."""
    forged = forged_key(star, shown)
    start = HEAD + KEY
    return forged[:start] + os.urandom(64) + sealed(os.urandom(32), bytes(2 * PIECE), b"")


def another_key(star: Star, shown: bytes) -> bytes:
    """The right head and the right row with another key."""
    return shown[:HEAD] + MaskKeys.fresh().public + shown[HEAD + KEY :]


def wrong_signature(star: Star, shown: bytes) -> bytes:
    """A row that does not open, and a head that is not signed."""
    return bytes([shown[0] ^ 1]) + shown[1:-1] + bytes([shown[-1] ^ 1])


def own_row(star: Star, shown: bytes) -> bytes:
    """A row that worker 1 itself has sealed to worker 3, sent back to it."""
    mine = star.read(star.turn(3)).payload[:SHOWN]
    return mine


@pytest.mark.parametrize(
    "forge", [forged_key, made_up, another_key, wrong_signature, own_row], ids=lambda f: f.__name__
)
def test_it_cannot_put_itself_between_workers_with_a_key_of_its_own(
    forge: Callable[[Star, bytes], bytes],
) -> None:
    star = Star().until(Phase.CONTRIBUTE)
    shown = star.read(star.turn(1)).payload[2 * SHOWN : 3 * SHOWN]
    turn = contributes(star, 1, {3: forge(star, shown)})
    refused(star.members[1], turn, "worker 3 has not signed the key it shows")


def test_it_cannot_show_a_key_and_a_row_of_an_earlier_round() -> None:
    """Neither with the old head nor with the new one."""
    star = Star(rounds=2).until(Phase.CONTRIBUTE)
    old = star.read(star.turn(1)).payload[2 * SHOWN : 3 * SHOWN]
    star.until(Phase.CONTRIBUTE, 1)
    now = star.read(star.turn(1)).payload[2 * SHOWN : 3 * SHOWN]
    for replayed in (old, now[:HEAD] + old[HEAD:]):
        turn = contributes(star, 1, {3: replayed}, round=1)
        refused(star.copy(1), turn, "worker 3 has not signed the key it shows")


def test_a_row_of_an_earlier_round_leaves_a_worker_without_pieces() -> None:
    """The head is right, so the key is known; the server has harmed itself."""
    star = Star(rounds=2).until(Phase.CONTRIBUTE)
    old = star.read(star.turn(1)).payload[2 * SHOWN : 3 * SHOWN]
    star.until(Phase.CONTRIBUTE, 1)
    now = star.read(star.turn(1)).payload[2 * SHOWN : 3 * SHOWN]
    turn = contributes(star, 1, {3: now[: HEAD + KEY] + old[HEAD + KEY :]}, round=1)
    star.take(star.members[1].on(turn) or b"", 1)
    for number in range(2, 6):
        star.take(star.members[number].on(star.turn(number)) or b"", number)
    star.until(Phase.OPEN, 1)
    opened = star.read(star.members[1].on(star.turn(1)) or b"")
    assert opened.fields["missing"] == [3]
    star.finish()
    assert star.server.records[1].totals.tolist() == star.total(range(1, 6), 1)


def test_a_row_that_opens_needs_no_signature() -> None:
    star = Star().until(Phase.CONTRIBUTE)
    shown = star.read(star.turn(1)).payload[2 * SHOWN : 3 * SHOWN]
    turn = contributes(star, 1, {3: bytes(64) + shown[64:]})
    star.take(star.members[1].on(turn) or b"", 1)
    for number in range(2, 6):
        star.take(star.members[number].on(star.turn(number)) or b"", number)
    star.finish()
    assert star.server.records[0].totals.tolist() == star.total(range(1, 6))


def test_it_cannot_leave_out_a_workers_own_shares() -> None:
    star = Star().until(Phase.CONTRIBUTE)
    rows = star.read(star.turn(1)).payload
    turn = star.says(Phase.CONTRIBUTE, {"sharers": [2, 3, 4, 5]}, rows[SHOWN:])
    refused(star.members[1], turn, "own shares are not there")


def test_it_cannot_show_a_worker_other_shares_as_its_own() -> None:
    """The row is right, and the hash of all its rows is not."""
    star = Star().until(Phase.CONTRIBUTE)
    own = bytearray(star.read(star.turn(1)).payload[:SHOWN])
    own[HEAD - 1] ^= 1
    refused(
        star.members[1], contributes(star, 1, {1: bytes(own)}), "own shares are not what it has"
    )


def test_it_cannot_show_one_dealer_twice() -> None:
    star = Star().until(Phase.CONTRIBUTE)
    rows = star.read(star.turn(1)).payload
    turn = star.says(Phase.CONTRIBUTE, {"sharers": [1, 2, 3, 4, 5, 5]}, rows + rows[-SHOWN:])
    refused(star.members[1], turn, "not in rising order")


def test_it_cannot_go_on_with_too_few_who_have_dealt() -> None:
    star = Star().until(Phase.CONTRIBUTE)
    rows = star.read(star.turn(1)).payload
    turn = star.says(Phase.CONTRIBUTE, {"sharers": [1, 2, 3]}, rows[: 3 * SHOWN])
    refused(star.members[1], turn, "3 workers after phase share; 4 are needed")


def test_it_cannot_bring_back_who_was_excluded() -> None:
    """Worker 5 was excluded from round 0, and tries to take part in round 1."""
    star = Star(rounds=2)
    star.until(Phase.CONTRIBUTE).play(silent=[5]).until(Phase.CONTRIBUTE, 1)
    honest = star.read(star.turn(1))
    back = star.worker_says(5, Phase.SHARE, {"masks": b64(MaskKeys.fresh().public)}, round=1)
    shown = back[:64] + hashlib.sha256(b"").digest() + bytes(KEY + ROW)
    turn = star.says(
        Phase.CONTRIBUTE, {"sharers": [1, 2, 3, 4, 5]}, honest.payload + shown, round=1
    )
    refused(star.members[1], turn, "worker 5 has left this round")


def test_who_was_excluded_is_dealt_nothing() -> None:
    star = Star(rounds=2)
    star.until(Phase.CONTRIBUTE).play(silent=[5]).until(Phase.SHARE, 1)
    dealt = star.read(star.members[1].on(star.turn(1)) or b"").payload
    assert not any(dealt[row_at(5)])
    assert all(any(dealt[row_at(number)]) for number in range(1, 5))


def test_it_cannot_have_a_worker_confirmed_that_has_not_dealt() -> None:
    star = Star(workers=6, threshold=4)
    star.play(silent=[6]).until(Phase.CONFIRM)
    turn = star.says(Phase.CONFIRM, {"contributions": [*contributions(star), [6, "0" * 64]]})
    refused(star.members[1], turn, "worker 6 has left this round")


# Order, rounds and sessions.
