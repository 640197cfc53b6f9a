"""A server that tries to learn more than one sum a round: every worker refuses, and names it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from tests.securesum.star.masked_stars import (
    COORDINATOR,
    Star,
    keys,
    refusal,
    row_at,
    terms_of,
)

from sottovoce.errors import SealedRefused
from sottovoce.securesum.envelope import b64
from sottovoce.securesum.star.frames import HEAD, SERVER, Frame, Place, written
from sottovoce.securesum.star.history import totals_content
from sottovoce.securesum.star.masked.ciphers import TAG, sealed
from sottovoce.securesum.star.masked.dealing import ROW, SHOWN
from sottovoce.securesum.star.masked.deals import Deal
from sottovoce.securesum.star.masked.keys import KEY, Pair
from sottovoce.securesum.star.masked.order import ORDER
from sottovoce.securesum.star.masked.pieces import PIECE
from sottovoce.securesum.star.phases import Phase
from sottovoce.securesum.star.working import WorkerSession

THE_SERVER = "the server"


def refused(worker: WorkerSession, turn: bytes, reason: str) -> None:
    """The worker refuses for this reason, names the server, and answers nothing any more."""
    error = refusal(worker, turn)
    assert error.culprit == THE_SERVER
    assert reason in error.reason
    assert "this session was left for good" in refusal(worker, turn).reason


def contributions(star: Star) -> list[list[Any]]:
    """The set that an honest server would have confirmed."""
    listed: list[list[Any]] = star.read(star.turn(1)).fields["contributions"]
    return listed


def of(star: Star, members: Iterable[int]) -> bytes:
    """A turn that asks to confirm a set of these."""
    among = set(members)
    listed = [pair for pair in contributions(star) if pair[0] in among]
    return star.says(Phase.CONFIRM, {"contributions": listed})


Said = dict[int, tuple[Frame, list[int]]]
"""What workers have confirmed: the frame, and of whom the set is that they were asked about."""


def confirms(star: Star, members: Iterable[int], among: Iterable[int]) -> Said:
    """What these workers say when they are asked to confirm a set of those."""
    ordered = sorted(among)
    turn = of(star, ordered)
    return {
        number: (star.read(star.members[number].on(turn) or b""), ordered) for number in members
    }


def shown_confirm(frame: Frame, among: list[int], reader: int) -> bytes:
    """A confirmation as a reader is shown it; no tag is for who is not in the set."""
    at = TAG * among.index(reader) if reader in among else len(frame.payload)
    return frame.head + frame.payload[at : at + TAG].ljust(TAG, b"\0")


def opening(star: Star, reader: int, said: Said, round: int = 0) -> bytes:
    """A turn that asks a reader to open, after these confirmations."""
    shown = [shown_confirm(*said[number], reader) for number in sorted(said)]
    return star.says(Phase.OPEN, {"confirmed": sorted(said)}, b"".join(shown), round=round)


def only(said: Said, *members: int) -> Said:
    """The confirmations of these."""
    return {number: said[number] for number in members}


def shown_deal(content: bytes, star: Star, reader: int) -> bytes:
    """What a reader is shown of a dealer's frame."""
    frame = star.read(content)
    return Deal.read(frame, star.terms).head + frame.payload[row_at(reader)]


def contributes(star: Star, reader: int, shown: Mapping[int, bytes], round: int = 0) -> bytes:
    """The turn to contribute in which some dealers are shown otherwise than they should be."""
    honest = star.read(star.turn(reader))
    parts = [
        shown.get(dealer, honest.payload[SHOWN * at : SHOWN * (at + 1)])
        for at, dealer in enumerate(honest.fields["sharers"])
    ]
    return star.says(Phase.CONTRIBUTE, honest.fields, b"".join(parts), round=round)


# Sets that must not be opened.


def test_it_cannot_have_one_contribution_opened() -> None:
    star = Star().until(Phase.CONFIRM)
    refused(star.members[2], of(star, [2]), "the set has 1 workers, and fewer than 4 are not")


def test_it_cannot_have_too_small_a_set_opened() -> None:
    star = Star().until(Phase.CONFIRM)
    refused(star.members[2], of(star, [1, 2, 5]), "fewer than 4 are not opened")


def test_it_cannot_have_a_set_confirmed_that_a_worker_is_not_in() -> None:
    star = Star().until(Phase.CONFIRM)
    refused(star.members[2], of(star, [1, 3, 4, 5]), "own contribution is not in the set")


def test_it_cannot_have_a_worker_confirm_another_contribution_as_its_own() -> None:
    star = Star().until(Phase.CONFIRM)
    listed = contributions(star)
    listed[1][1] = listed[0][1]
    turn = star.says(Phase.CONFIRM, {"contributions": listed})
    refused(star.members[2], turn, "own contribution is not in the set")


def test_it_cannot_have_two_overlapping_sets_confirmed_by_one_worker() -> None:
    star = Star(workers=6).until(Phase.CONFIRM)
    assert star.members[1].on(of(star, [1, 2, 3, 4, 5])) is not None
    refused(star.members[1], of(star, [1, 2, 3, 4, 6]), "two different things at one place")


def test_it_cannot_have_two_overlapping_sets_opened_by_different_workers() -> None:
    star = Star(workers=6).until(Phase.CONFIRM)
    said = confirms(star, [1, 2, 3], [1, 2, 3, 4, 5]) | confirms(star, [4, 5], [1, 2, 4, 5, 6])
    few = "workers have confirmed this set, and 4 must have"
    refused(star.members[1], opening(star, 1, said), f"3 {few}")
    refused(star.members[4], opening(star, 4, only(said, 1, 2, 4, 5)), f"2 {few}")


def test_it_cannot_have_a_set_opened_that_too_few_confirmed() -> None:
    star = Star().until(Phase.CONFIRM)
    turn = opening(star, 1, confirms(star, [1, 2, 3], range(1, 6)))
    refused(star.members[1], turn, "3 workers have confirmed this set, and 4 must have")


def test_it_cannot_count_one_confirmation_twice() -> None:
    star = Star().until(Phase.CONFIRM)
    said = confirms(star, [1, 2, 3], range(1, 6))
    shown = [shown_confirm(*said[number], 1) for number in (1, 2, 3, 3)]
    turn = star.says(Phase.OPEN, {"confirmed": [1, 2, 3, 3]}, b"".join(shown))
    refused(star.members[1], turn, "not in rising order")


def test_it_cannot_count_the_confirmation_of_one_as_that_of_another() -> None:
    star = Star().until(Phase.CONFIRM)
    said = confirms(star, [1, 2, 3], range(1, 6))
    refused(star.members[1], opening(star, 1, said | {4: said[3]}), "3 workers have confirmed")


def test_it_cannot_forge_a_confirmation() -> None:
    star = Star().until(Phase.CONFIRM)
    said = confirms(star, [1, 2, 3], range(1, 6))
    fields, payload = said[1][0].fields, said[1][0].payload
    place = Place(0, Phase.CONFIRM)
    forged = written(star.terms, place, 4, COORDINATOR, fields, payload)
    head = forged[:64] + hashlib.sha256(payload).digest()
    turn = star.read(opening(star, 1, said))
    more = star.says(Phase.OPEN, {"confirmed": [1, 2, 3, 4]}, turn.payload + head + payload[:TAG])
    refused(star.members[1], more, "3 workers have confirmed this set")


def test_it_cannot_show_a_worker_the_tag_that_is_for_another() -> None:
    """Nor send back a worker's own tag as that of the one it was for."""
    star = Star().until(Phase.CONFIRM)
    said = confirms(star, range(1, 6), range(1, 6))
    own, other = (said[number][0].payload for number in (1, 2))
    for tag in (other[TAG : 2 * TAG], own[TAG : 2 * TAG]):
        head = bytes(HEAD)
        good = [shown_confirm(*said[number], 1) for number in (3, 4, 5)]
        payload = b"".join([head, tag, *good])
        turn = star.says(Phase.OPEN, {"confirmed": [2, 3, 4, 5]}, payload)
        refused(star.copy(1), turn, "3 workers have confirmed this set")


def test_a_tag_that_is_good_needs_no_signature_and_a_signature_no_tag() -> None:
    star = Star().until(Phase.CONFIRM)
    said = confirms(star, range(1, 5), range(1, 6))
    shown = [shown_confirm(*said[number], 1) for number in (1, 2, 3, 4)]
    tags = b"".join(bytes(HEAD) + each[HEAD:] for each in shown)
    heads = b"".join(each[:HEAD] + bytes(TAG) for each in shown)
    for payload in (tags, heads):
        turn = star.says(Phase.OPEN, {"confirmed": [1, 2, 3, 4]}, payload)
        assert star.copy(1).on(turn) is not None


def test_it_cannot_confirm_a_set_itself() -> None:
    star = Star().until(Phase.CONFIRM)
    said = confirms(star, [1, 2, 3], range(1, 6))
    own = star.read(star.says(Phase.CONFIRM, said[1][0].fields, said[1][0].payload))
    turn = opening(star, 1, {SERVER: (own, said[1][1]), **said})
    refused(star.members[1], turn, "worker 0 is not in this round")


def test_it_cannot_use_the_confirmation_of_a_worker_who_is_not_in_the_set() -> None:
    star = Star(workers=6, threshold=4).until(Phase.CONFIRM)
    said = confirms(star, [1, 2, 3], range(1, 6))
    outside = star.read(star.worker_says(6, Phase.CONFIRM, said[1][0].fields))
    turn = opening(star, 1, {**said, 6: (outside, said[1][1])})
    refused(star.members[1], turn, "worker 6 is not in this round any more")


def test_it_cannot_use_the_confirmations_of_an_earlier_round() -> None:
    star = Star(rounds=2).until(Phase.CONFIRM)
    old = confirms(star, range(1, 6), range(1, 6))
    for number, (frame, _) in old.items():
        star.take(frame.content, number)
    star.until(Phase.OPEN, 1)
    refused(star.members[1], opening(star, 1, old, round=1), "0 workers have confirmed this set")


def test_it_cannot_pad_confirmations_with_something_else() -> None:
    star = Star().until(Phase.OPEN)
    honest = star.read(star.turn(1))
    turn = star.says(Phase.OPEN, honest.fields, honest.payload + bytes(HEAD + TAG))
    refused(star.members[1], turn, "not sent one confirmation of each who confirmed")


# Alive XOR dropped.


def test_it_cannot_have_both_kinds_of_shares_of_one_worker() -> None:
    """To some, worker 3 has contributed; to others, it fell silent: neither set is confirmed."""
    star = Star().until(Phase.CONFIRM)
    said = confirms(star, [1, 2], range(1, 6)) | confirms(star, [4, 5], [1, 2, 4, 5])
    for number in (1, 2, 4, 5):
        turn = opening(star, number, said)
        refused(star.members[number], turn, "2 workers have confirmed this set, and 4 must have")


def test_with_as_many_corrupt_workers_as_it_takes_two_sets_do_open() -> None:
    """Why 2 · threshold must exceed J + corrupt: here it does not, and the bound is tight."""
    star = Star(workers=5, threshold=3).until(Phase.CONFIRM)
    assert star.terms.split == 1
    opened = []
    for honest, members in (([1, 2], [1, 2, 5]), ([3, 4], [3, 4, 5])):
        said = confirms(star, honest, members)
        corrupt = star.read(star.worker_says(5, Phase.CONFIRM, said[honest[0]][0].fields))
        said[5] = corrupt, members
        opened += [star.members[number].on(opening(star, number, said)) for number in honest]
    assert None not in opened


def test_it_cannot_have_a_worker_open_twice() -> None:
    star = Star().until(Phase.OPEN)
    assert star.members[1].on(star.turn(1)) is not None
    honest = star.read(star.turn(1))
    fewer = star.says(Phase.OPEN, {"confirmed": [1, 2, 3, 4]}, honest.payload[: 4 * (HEAD + TAG)])
    refused(star.members[1], fewer, "two different things")


def test_it_cannot_have_a_worker_open_in_a_second_step() -> None:
    star = Star().until(Phase.OPEN)
    star.members[1].on(star.turn(1))
    honest = star.read(star.turn(1))
    again = star.says(Phase.OPEN, honest.fields, honest.payload, step=1)
    refused(star.members[1], again, "comes out of turn")


def test_it_cannot_say_which_shares_are_to_be_opened() -> None:
    star = Star().until(Phase.OPEN)
    honest = star.read(star.turn(1))
    turn = star.says(Phase.OPEN, {**honest.fields, "dropped": [3]}, honest.payload)
    refused(star.members[1], turn, "something else than what is confirmed")


# Split views.


def test_it_cannot_show_different_shares_to_different_workers() -> None:
    """Worker 3 is in league with it, and signs two mask keys."""
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
    """Worker 1 has contributed after it saw something else than the others: nothing is opened."""
    star.take(contribution, 1)
    for number in range(2, 6):
        star.take(star.members[number].on(star.turn(number)) or b"", number)
    said = confirms(star, (1, 2, 4, 5), range(1, 6))
    few = "workers have confirmed this set, and 4 must have"
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
    few = "workers have confirmed this set, and 4 must have"
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
        "1 workers have confirmed this set, and 4 must have",
    )  # fmt: skip


# Who takes part.


def forged_key(star: Star, shown: bytes) -> bytes:
    """What is shown of worker 3, with a mask key of the server's own that it signs itself."""
    key = Pair.fresh().public
    frame = written(
        star.terms, Place(0, Phase.SHARE), 3, COORDINATOR, {"masks": b64(key)}, b"made up"
    )
    return frame[:64] + hashlib.sha256(b"made up").digest() + key + shown[HEAD + KEY :]


def made_up(star: Star, shown: bytes) -> bytes:
    """A key of its own, and a row that it sealed itself: not knowing the key of the channel."""
    forged = forged_key(star, shown)
    start = HEAD + KEY
    return forged[:start] + os.urandom(64) + sealed(os.urandom(32), bytes(2 * PIECE), b"")


def another_key(star: Star, shown: bytes) -> bytes:
    """The right head and the right row with another key."""
    return shown[:HEAD] + Pair.fresh().public + shown[HEAD + KEY :]


def wrong_signature(star: Star, shown: bytes) -> bytes:
    """A row that does not open, and a head that is not signed."""
    return bytes([shown[0] ^ 1]) + shown[1:-1] + bytes([shown[-1] ^ 1])


def own_row(star: Star, shown: bytes) -> bytes:
    """What worker 1 itself has sealed to worker 3, sent back to it."""
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
    """Not with the head of then, and not with that of now."""
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
    refused(star.members[1], turn, "3 workers after phase share, and 4 must be left")


def test_it_cannot_bring_back_who_was_excluded() -> None:
    """Worker 5 was left out of round 0, and would like to be in round 1."""
    star = Star(rounds=2)
    star.until(Phase.CONTRIBUTE).play(silent=[5]).until(Phase.CONTRIBUTE, 1)
    honest = star.read(star.turn(1))
    back = star.worker_says(5, Phase.SHARE, {"masks": b64(Pair.fresh().public)}, round=1)
    shown = back[:64] + hashlib.sha256(b"").digest() + bytes(KEY + ROW)
    turn = star.says(
        Phase.CONTRIBUTE, {"sharers": [1, 2, 3, 4, 5]}, honest.payload + shown, round=1
    )
    refused(star.members[1], turn, "worker 5 is not in this round any more")


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
    refused(star.members[1], turn, "worker 6 is not in this round any more")


# Order, rounds and sessions.


@pytest.mark.parametrize("phase", ORDER)
def test_it_cannot_ask_two_different_things_at_one_place(phase: Phase) -> None:
    star = Star().until(phase)
    assert star.members[1].on(star.turn(1)) is not None
    other = star.says(phase, {"another": 1})
    refused(star.members[1], other, "two different things at one place")


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
        before.members[1], turn, "comes out of turn" if phase != ORDER[1] else "a round was left"
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
    refused(star.members[1], star.says(Phase.SHARE, {}, round=1), "a round was left out")


def test_it_cannot_begin_a_round_that_a_worker_has_not_confirmed_the_last_of() -> None:
    star = Star(rounds=2).until(Phase.CONFIRM)
    turn = star.says(Phase.SHARE, {}, bytes(24), round=1)
    refused(star.members[1], turn, "without this worker having confirmed")


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
    refused(star.members[1], turn, "a total is not what 5 workers can add up to")


def test_it_cannot_send_totals_before_anything_was_opened() -> None:
    star = Star()
    turn = star.says(Phase.SHARE, {}, bytes(24))
    refused(star.members[1], turn, "before anything was opened")


def test_it_cannot_have_more_added_up_than_is_planned() -> None:
    star = Star(rounds=1).until(Phase.OPEN).play()
    totals = totals_content(star.server.records[0].totals)
    turn = star.says(Phase.SHARE, {}, totals, round=1)
    refused(star.members[1], turn, "nothing more is to be added up")


def test_it_cannot_use_what_is_for_another_roster() -> None:
    star = Star()
    elsewhere = terms_of(5, 5)
    turn = written(elsewhere, Place(0, Phase.SHARE), SERVER, COORDINATOR)
    refused(star.members[1], turn, "for another session")


def test_nobody_else_can_ask() -> None:
    star = Star()
    turn = written(star.terms, Place(0, Phase.SHARE), SERVER, keys(5)[2])
    refused(star.members[1], turn, "signature does not hold")


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
    refused(star.members[1], ends(star, 1, totals), "more is to be added up")


def test_it_cannot_say_that_all_is_done_in_the_middle_of_a_round() -> None:
    star = Star().until(Phase.CONTRIBUTE)
    refused(star.members[1], ends(star, 0), "in the middle of a round")


def test_it_cannot_end_with_totals_of_what_was_not_opened() -> None:
    star = Star().until(Phase.OPEN)
    refused(star.members[1], ends(star, 0, bytes(24), state="aborted"), "totals of what was not")


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
    with pytest.raises(SealedRefused, match="it broke off in the middle of a turn"):
        star.members[1].on(star.turn(1))


def test_frames_do_not_show_what_is_in_them() -> None:
    star = Star().until(Phase.CONTRIBUTE)
    frame: Frame = star.read(star.members[1].on(star.turn(1)) or b"")
    assert repr(frame).endswith("sender=1, 32 bytes)")
