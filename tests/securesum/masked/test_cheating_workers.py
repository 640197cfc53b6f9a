"""Cheating workers: named if they can be identified; totals are right or absent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.securesum.masked.stars import (
    COORDINATOR,
    Altering,
    Fixed,
    Star,
    commitment_at,
    keys,
    row_at,
    suites,
)

from sottovoce.errors import SealedRefused
from sottovoce.securesum.envelope import b64
from sottovoce.securesum.field import P
from sottovoce.securesum.masked import messages
from sottovoce.securesum.masked.keys import TAG
from sottovoce.securesum.masked.messages import ROW, PieceKind, piece_of
from sottovoce.securesum.masked.server import MaskedServer
from sottovoce.securesum.masked.shares import PIECE, commitment, dealt
from sottovoce.securesum.star.messages import written
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.securesum.star.simulation import StarRun, run_in_memory
from sottovoce.securesum.star.suite import Content, Phase, WorkerSuite
from sottovoce.securesum.star.terms import StarTerms

Faults = dict[tuple[int, Phase], Collection[int]]


def run(
    star: Star,
    phase: Phase,
    change: Callable[[Any, Content], Content],
    faults: Faults | None = None,
) -> StarRun:
    """The whole session, in which worker 3 cheats in one phase."""
    honest = suites(star.workers)
    among: list[WorkerSuite] = [*honest[:2], Altering(phase, change), *honest[3:]]
    return run_in_memory(
        star.terms, star.planner, [Fixed(rows) for rows in star.values], keys(star.workers),
        COORDINATOR, among, MaskedServer(), faults,
    )  # fmt: skip


def flipped(content: bytes, place: int) -> bytes:
    """One bit of one byte changed."""
    changed = bytearray(content)
    changed[place] ^= 1
    return bytes(changed)


# What it opens.


def test_a_wrong_share_is_named_and_the_sum_is_still_right() -> None:
    star = Star()
    outcome = run(star, Phase.OPEN, lambda _, said: (said[0], flipped(said[1], PIECE + 20)))
    assert (
        "worker 3: the piece it opens is not the one that worker 2 has dealt" in outcome.refused[3]
    )
    assert outcome.state == "done"
    assert outcome.records[0].totals.tolist() == star.total(range(1, 6))


def test_a_share_with_another_salt_is_a_wrong_share() -> None:
    outcome = run(Star(), Phase.OPEN, lambda _, said: (said[0], flipped(said[1], 0)))
    assert "the piece it opens is not the one that worker 1 has dealt" in outcome.refused[3]


def test_shares_of_the_other_kind_are_refused() -> None:
    def both(round: Any, _: Content) -> Content:
        pieces = [piece_of(each.pieces, PieceKind.MASKS) for each in round._dealt.values()]
        return {"missing": []}, b"".join(pieces)

    outcome = run(Star(), Phase.OPEN, both)
    assert "worker 3: the piece it opens" in outcome.refused[3]
    assert outcome.state == "done"


@pytest.mark.parametrize("fields", [
    {}, {"missing": None}, {"missing": [True]}, {"missing": [6]}, {"missing": [2, 1]},
    {"missing": [0]}, {"missing": ["1"]}, {"missing": [], "more": 1}, {"missing": [1]},
])  # fmt: skip
def test_an_opening_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    outcome = run(Star(), Phase.OPEN, lambda _, said: (fields, said[1]))
    assert outcome.refused[3].startswith("worker 3: ")
    assert outcome.state == "done"


def test_a_worker_that_opens_nothing_is_done_without() -> None:
    star = Star()
    outcome = run(star, Phase.OPEN, lambda *_: ({"missing": [1, 2, 3, 4, 5]}, b""))
    assert (outcome.state, outcome.refused) == ("done", {})
    assert outcome.records[0].totals.tolist() == star.total(range(1, 6))


def test_too_many_that_open_wrongly_leave_nothing_opened() -> None:
    star = Star(workers=5, threshold=5)
    outcome = run(star, Phase.OPEN, lambda _, said: (said[0], flipped(said[1], 20)))
    assert (outcome.state, outcome.records) == ("aborted", ())
    assert outcome.reason == "4 workers are left after phase open; 5 are needed"


# What it deals.


def deals(
    secrets: Callable[[Any], tuple[bytes, bytes]],
) -> Callable[[Any, Content], Content]:
    """Deals other secrets than it claims."""

    def change(round: Any, said: Content) -> Content:
        seed, private = secrets(round)
        masks = copy(round._mask_pair)
        object.__setattr__(masks, "private", private)
        made = messages.deal_shares(round._start, round._number, seed, masks, round._channels)
        return said[0], commitment(round._seed) + made[32:]

    return change


def test_shares_of_another_seed_end_the_session_and_the_dealer_is_named() -> None:
    outcome = run(Star(), Phase.SHARE, deals(lambda round: (bytes(32), round._mask_pair.private)))
    assert (outcome.state, outcome.records) == ("aborted", ())
    assert outcome.culprits == ("worker 3",)
    assert outcome.reason == "it has dealt pieces of another seed"


def test_shares_of_another_mask_key_end_the_session_and_the_dealer_is_named() -> None:
    change = deals(lambda round: (round._seed, bytes(32)))
    outcome = run(Star(), Phase.SHARE, change, {(0, Phase.CONTRIBUTE): {3}})
    assert (outcome.state, outcome.records) == ("aborted", ())
    assert outcome.culprits == ("worker 3",)
    assert outcome.reason == "it has dealt pieces of another mask key"


def test_shares_of_no_polynomial_end_the_session_and_the_dealer_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def scattered(secrets: Sequence[bytes], degree: int, seats: int) -> list[bytes]:
        return [dealt(secrets, degree, seats)[seat] for seat in range(seats)]

    def change(round: Any, said: Content) -> Content:
        with monkeypatch.context() as patch:
            patch.setattr(messages, "dealt", scattered)
            return deals(lambda each: (each._seed, each._mask_pair.private))(round, said)

    outcome = run(Star(), Phase.SHARE, change)
    assert (outcome.state, outcome.culprits) == ("aborted", ("worker 3",))


def test_shares_that_too_many_cannot_read_end_the_session_and_all_it_may_be_are_named() -> None:
    """The dealer, or those who say that they cannot read their pieces."""

    def unreadable(_: Any, said: Content) -> Content:
        payload = said[1]
        for recipient in (1, 2):
            payload = flipped(payload, row_at(recipient).stop - 1)
        return said[0], payload

    outcome = run(Star(), Phase.SHARE, unreadable)
    assert (outcome.state, outcome.records) == ("aborted", ())
    assert outcome.culprits == ("worker 3", "worker 1", "worker 2")
    assert outcome.reason.endswith("3 workers have one, and 4 are needed")


def test_a_worker_that_says_it_has_no_piece_is_named_with_the_dealer() -> None:
    """Worker 3 lies about worker 1, when all are needed."""
    outcome = run(
        Star(), Phase.OPEN, lambda _, said: ({"missing": [1]}, said[1][PIECE:]),
        {(0, Phase.OPEN): {5}},
    )  # fmt: skip
    assert (outcome.state, outcome.records) == ("aborted", ())
    assert outcome.culprits == ("worker 1", "worker 3")


def test_a_share_that_one_cannot_read_does_no_harm() -> None:
    star = Star()
    outcome = run(
        star, Phase.SHARE, lambda _, said: (said[0], flipped(said[1], row_at(2).stop - 1))
    )
    assert (outcome.state, outcome.refused) == ("done", {})
    assert outcome.records[0].totals.tolist() == star.total(range(1, 6))


@pytest.mark.parametrize("kind", PieceKind)
def test_a_dealer_cannot_make_an_honest_worker_look_like_a_cheat(kind: PieceKind) -> None:
    """It commits to another piece than it sends to worker 2."""
    star = Star()
    place = commitment_at(2, kind).start
    outcome = run(star, Phase.SHARE, lambda _, said: (said[0], flipped(said[1], place)))
    assert (outcome.state, outcome.refused, outcome.excluded) == ("done", {}, {})
    assert outcome.records[0].totals.tolist() == star.total(range(1, 6))


@pytest.mark.parametrize("payload", [b"", bytes(31), bytes(32), bytes(32 + 4 * ROW)])
def test_a_deal_for_others_than_are_there_is_refused(payload: bytes) -> None:
    star = Star()
    outcome = run(star, Phase.SHARE, lambda _, said: (said[0], payload))
    assert "worker 3: its shares are not for the 5 workers" in outcome.refused[3]
    assert outcome.records[0].totals.tolist() == star.total([1, 2, 4, 5])


# What it contributes.


def adds(place: int, amount: int) -> Callable[[Any, Content], Content]:
    """Adds to one of the words it sends: under its masks this is not visible."""

    def change(_: Any, said: Content) -> Content:
        words = np.frombuffer(said[1], "<u8").copy()
        words[place : place + 1] += np.uint64(amount)
        return said[0], words.tobytes()

    return change


@pytest.mark.parametrize(("place", "amount"), [(0, 2**40), (1, 2**64 - 2**40), (3, 1), (3, 2**63)])
def test_a_value_out_of_range_leaves_nothing_opened(place: int, amount: int) -> None:
    outcome = run(Star(), Phase.CONTRIBUTE, adds(place, amount))
    assert (outcome.state, outcome.records) == ("aborted", ())
    assert outcome.culprits == ("one of the 5 contributors",)


@pytest.mark.parametrize("length", [0, 24, 31, 40])
def test_a_contribution_of_another_length_is_refused(length: int) -> None:
    star = Star()
    outcome = run(star, Phase.CONTRIBUTE, lambda *_: ({}, bytes(length)))
    assert "worker 3: its contribution has the wrong length" in outcome.refused[3]
    assert outcome.records[0].totals.tolist() == star.total([1, 2, 4, 5])


# What it confirms.


@pytest.mark.parametrize("fields", [
    {"set": "0" * 64}, {}, {"set": None}, {"set": "0" * 64, "x": 1},
])  # fmt: skip
def test_a_confirmation_of_another_set_is_refused(fields: dict[str, Any]) -> None:
    outcome = run(Star(), Phase.CONFIRM, lambda _, said: (fields, said[1]))
    assert "worker 3: it has confirmed a different set" in outcome.refused[3]
    assert outcome.state == "done"


@pytest.mark.parametrize("length", [0, 64, 79, 81, 96])
def test_a_confirmation_without_a_tag_for_everybody_is_refused(length: int) -> None:
    outcome = run(Star(), Phase.CONFIRM, lambda _, said: (said[0], bytes(length)))
    assert "worker 3: it does not have one tag for each member of the set" in outcome.refused[3]


def bad_tags(*seats: int) -> Callable[[Any, Content], Content]:
    """Tags that are invalid for the workers at these positions of the set."""

    def change(_: Any, said: Content) -> Content:
        payload = said[1]
        for seat in seats:
            payload = flipped(payload, TAG * seat + 5)
        return said[0], payload

    return change


@pytest.mark.parametrize("seats", [(0,), (1, 3), (0, 1, 2, 3, 4)])
def test_a_confirmer_with_bad_tags_does_no_harm(seats: tuple[int, ...]) -> None:
    """All are needed: all five must confirm, and its signature counts."""
    star = Star(workers=5, threshold=5)
    outcome = run(star, Phase.CONFIRM, bad_tags(*seats))
    assert (outcome.state, outcome.refused, outcome.excluded) == ("done", {}, {})
    assert outcome.records[0].totals.tolist() == star.total(range(1, 6))


def without_a_key(star: Star) -> StarTerms:
    """Terms in which the sealing key of worker 3 gives zero in every agreement."""
    members = list(star.terms.members)
    members[2] = replace(members[2], sealing=b64(bytes(32)))
    return replace(star.terms, members=tuple(members))


def test_a_worker_whose_sealing_key_is_no_key_is_refused() -> None:
    star = Star()
    terms = without_a_key(star)
    server = CoordinatorSession(terms, COORDINATOR, star.planner, MaskedServer())
    said = star.read(star.members[3].on(star.turn(3)) or b"")
    reply = written(terms, said.place, 3, keys(5)[2], said.fields, said.payload)
    with pytest.raises(SealedRefused, match="worker 3: it has a key with which nothing is secret"):
        server.take(reply, 3)


def test_a_worker_whose_sealing_key_is_no_key_does_no_harm() -> None:
    star = Star()
    outcome = run_in_memory(
        without_a_key(star), star.planner, [Fixed(rows) for rows in star.values], keys(5),
        COORDINATOR, suites(5), MaskedServer(), {(0, Phase.SHARE): {3}},
    )  # fmt: skip
    assert (outcome.state, outcome.refused) == ("done", {})
    assert outcome.records[0].totals.tolist() == star.total([1, 2, 4, 5])


@pytest.mark.parametrize("recipient", [1, 4])
def test_a_row_that_is_garbage_does_no_harm(recipient: int) -> None:
    """Its recipient knows the mask key by the signature, and the pieces are missing."""
    star, at = Star(), row_at(recipient)
    outcome = run(
        star, Phase.SHARE,
        lambda _, said: (said[0], said[1][: at.start] + bytes(ROW) + said[1][at.stop :]),
    )  # fmt: skip
    assert (outcome.state, outcome.refused, outcome.excluded) == ("done", {}, {})
    assert outcome.records[0].totals.tolist() == star.total(range(1, 6))


@pytest.mark.parametrize("fields", [
    {}, {"masks": None}, {"masks": ""}, {"masks": b64(bytes(31))}, {"masks": b64(b"m" * 33)},
    {"masks": b64(b"m" * 32), "more": 1},
])  # fmt: skip
def test_a_deal_without_a_mask_key_is_refused(fields: dict[str, Any]) -> None:
    outcome = run(Star(), Phase.SHARE, lambda _, said: (fields, said[1]))
    assert "worker 3: its shares come without a mask key" in outcome.refused[3]
    assert outcome.records[0].contributors == (1, 2, 4, 5)


def deals_beyond(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, Content], Content]:
    """Deals worker 1 a share that is no element, under a commitment that holds."""

    def beyond(secrets: Sequence[bytes], degree: int, seats: int) -> list[bytes]:
        pieces = dealt(secrets, degree, seats)
        last = P.to_bytes(8, "little")
        return [pieces[0][: PIECE - 8] + last + pieces[0][PIECE:], *pieces[1:]]

    def change(round: Any, said: Content) -> Content:
        with monkeypatch.context() as patch:
            patch.setattr(messages, "dealt", beyond)
            return deals(lambda each: (each._seed, each._mask_pair.private))(round, said)

    return change


def test_pieces_that_are_written_otherwise_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    star = Star()
    outcome = run(star, Phase.SHARE, deals_beyond(monkeypatch))
    assert (outcome.state, outcome.refused) == ("done", {})
    assert outcome.records[0].totals.tolist() == star.total(range(1, 6))


def test_who_opens_a_piece_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker 1 colludes with the dealer and keeps it: no secret can be recovered from it."""
    star = Star(suites={3: Altering(Phase.SHARE, deals_beyond(monkeypatch))})
    with monkeypatch.context() as patch:
        patch.setattr(messages, "well_formed", lambda content: [True] * (len(content) // PIECE))
        star.until(Phase.OPEN)
    reply = star.members[1].on(star.turn(1)) or b""
    with pytest.raises(SealedRefused, match="worker 1: it opens an invalid piece"):
        star.server.take(reply, 1)
    star.play(silent=[1])
    assert star.server.records[0].totals.tolist() == star.total(range(1, 6))
