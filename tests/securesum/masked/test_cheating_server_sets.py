"""A server that tries to have another set opened than the confirmed one."""

from __future__ import annotations

import hashlib

from tests.securesum.masked.cheaters import (
    confirms,
    contributions,
    of,
    only,
    opening,
    refused,
    shown_confirm,
)
from tests.securesum.masked.stars import COORDINATOR, Star

from sottovoce.securesum.masked.keys import TAG
from sottovoce.securesum.star.messages import HEAD, SERVER, Place, written
from sottovoce.securesum.star.suite import Phase


def test_it_cannot_have_one_contribution_opened() -> None:
    star = Star().until(Phase.CONFIRM)
    refused(star.members[2], of(star, [2]), "the set has 1 workers; fewer than 4 are not")


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
    refused(star.members[1], of(star, [1, 2, 3, 4, 6]), "two different turns for one place")


def test_it_cannot_have_two_overlapping_sets_opened_by_different_workers() -> None:
    star = Star(workers=6).until(Phase.CONFIRM)
    said = confirms(star, [1, 2, 3], [1, 2, 3, 4, 5]) | confirms(star, [4, 5], [1, 2, 4, 5, 6])
    few = "workers have confirmed this set; 4 are needed"
    refused(star.members[1], opening(star, 1, said), f"3 {few}")
    refused(star.members[4], opening(star, 4, only(said, 1, 2, 4, 5)), f"2 {few}")


def test_it_cannot_have_a_set_opened_that_too_few_confirmed() -> None:
    star = Star().until(Phase.CONFIRM)
    turn = opening(star, 1, confirms(star, [1, 2, 3], range(1, 6)))
    refused(star.members[1], turn, "3 workers have confirmed this set; 4 are needed")


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
    """It also cannot send back a worker's own tag as that of its recipient."""
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
    refused(star.members[1], turn, "worker 0 has left this round")


def test_it_cannot_use_the_confirmation_of_a_worker_who_is_not_in_the_set() -> None:
    star = Star(workers=6, threshold=4).until(Phase.CONFIRM)
    said = confirms(star, [1, 2, 3], range(1, 6))
    outside = star.read(star.worker_says(6, Phase.CONFIRM, said[1][0].fields))
    turn = opening(star, 1, {**said, 6: (outside, said[1][1])})
    refused(star.members[1], turn, "worker 6 has left this round")


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
    refused(star.members[1], turn, "not sent one confirmation of each worker who confirmed")


# Alive XOR dropped.


def test_it_cannot_have_both_kinds_of_shares_of_one_worker() -> None:
    """To some, worker 3 has contributed; to others, it dropped out: neither set is confirmed."""
    star = Star().until(Phase.CONFIRM)
    said = confirms(star, [1, 2], range(1, 6)) | confirms(star, [4, 5], [1, 2, 4, 5])
    for number in (1, 2, 4, 5):
        turn = opening(star, number, said)
        refused(star.members[number], turn, "2 workers have confirmed this set; 4 are needed")


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
    refused(star.members[1], fewer, "two different turns")


def test_it_cannot_have_a_worker_open_in_a_second_step() -> None:
    star = Star().until(Phase.OPEN)
    star.members[1].on(star.turn(1))
    honest = star.read(star.turn(1))
    again = star.says(Phase.OPEN, honest.fields, honest.payload, step=1)
    refused(star.members[1], again, "is out of order")


def test_it_cannot_say_which_shares_are_to_be_opened() -> None:
    star = Star().until(Phase.OPEN)
    honest = star.read(star.turn(1))
    turn = star.says(Phase.OPEN, {**honest.fields, "dropped": [3]}, honest.payload)
    refused(star.members[1], turn, "something other than the confirmed set")


# Split views.
