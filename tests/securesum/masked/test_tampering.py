"""Every kind of frame with a change: refused with a name, and without effect."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import pytest
from tests.securesum.masked.stars import Star, refusal

from sottovoce.errors import SealedRefused
from sottovoce.securesum.masked.keys import KEY
from sottovoce.securesum.masked.messages import ORDER, ROW, SHOWN
from sottovoce.securesum.star.messages import HEAD
from sottovoce.securesum.star.suite import Phase

START = 68
"""Signature and length of the text."""
PAYLOAD_STEP = 97
"""One byte in this many of a payload: its hash is in the text, and detects all alike."""

ODD: list[Any] = [
    None, True, -1, 10**30, "", "0" * 64, "é", [], [[]], [1], [[1, "0" * 64]], [[1, 2, 3]],
    [[True, "0" * 64]], [[1, "X" * 64]], [["1", "0" * 64]], {}, {"1": 1},
]  # fmt: skip
"""Values that may replace a signed field."""


@cache
def at(phase: Phase) -> Star:
    """A session in the middle of a phase, to be copied."""
    return Star(workers=4, threshold=3).until(phase)


def places(content: bytes, step: int) -> Iterator[int]:
    """Bytes of a frame: every `step`-th of its text and what is before, and some of the rest."""
    text = START + int.from_bytes(content[64:START], "little")
    yield from range(0, text, step)
    yield from range(text, len(content), PAYLOAD_STEP * step)


def check_turns(phase: Phase, step: int) -> None:
    star = at(phase)
    turn = star.turn(1)
    worker = star.copy(1)
    for place in places(turn, step):
        bad = bytearray(turn)
        bad[place] ^= 1 << place % 8
        assert refusal(worker, bytes(bad)).culprit == "the server"
        worker._dead = None  # a worker would do nothing next; here it must be unchanged
    reply = worker.on(turn)
    assert reply is not None
    star = deepcopy(star)
    star.take(reply, 1)


def check_replies(phase: Phase, step: int) -> None:
    star = deepcopy(at(phase))
    reply = star.members[1].on(star.turn(1)) or b""
    for place in places(reply, step):
        bad = bytearray(reply)
        bad[place] ^= 1 << place % 8
        with pytest.raises(SealedRefused) as caught:
            star.server.take(bytes(bad), 1)
        assert caught.value.culprit == "worker 1"
    assert 1 in star.server.waiting
    star.take(reply, 1)


@pytest.mark.parametrize("phase", ORDER)
def test_a_turn_with_one_bit_changed_is_refused(phase: Phase) -> None:
    check_turns(phase, 11)


@pytest.mark.parametrize("phase", ORDER)
def test_a_reply_with_one_bit_changed_is_refused_and_nothing_has_changed(phase: Phase) -> None:
    check_replies(phase, 11)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ORDER)
def test_a_turn_with_any_bit_changed_is_refused(phase: Phase) -> None:
    check_turns(phase, 1)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ORDER)
def test_a_reply_with_any_bit_changed_is_refused_and_nothing_has_changed(phase: Phase) -> None:
    check_replies(phase, 1)


@pytest.mark.parametrize("phase", ORDER)
def test_a_turn_cut_off_anywhere_is_refused(phase: Phase) -> None:
    star = at(phase)
    turn = star.turn(1)
    for length in range(0, len(turn), 1 + len(turn) // 20):
        assert refusal(star.copy(1), turn[:length]).culprit == "the server"


@pytest.mark.parametrize("phase", ORDER)
def test_a_reply_cut_off_anywhere_is_refused(phase: Phase) -> None:
    star = deepcopy(at(phase))
    reply = star.members[1].on(star.turn(1)) or b""
    for length in range(0, len(reply), 1 + len(reply) // 20):
        with pytest.raises(SealedRefused) as caught:
            star.server.take(reply[:length], 1)
        assert caught.value.culprit == "worker 1"


@pytest.mark.parametrize("phase", ORDER[1:])
def test_signed_turns_that_make_no_sense_are_refused(phase: Phase) -> None:
    """The server signs them: no signature helps."""
    star = at(phase)
    honest = star.read(star.turn(1))
    names = [*honest.fields, "another"]
    turns = [
        star.says(phase, {**honest.fields, name: odd}, honest.payload)
        for name in names for odd in ODD
    ]  # fmt: skip
    turns += [
        star.says(phase, honest.fields, payload)
        for payload in (
            b"x", honest.payload + b"x", honest.payload[:-1], b"\xff" * 40,
            bytes(len(honest.payload) or 8),
        )
        if payload != honest.payload
    ]  # fmt: skip
    for turn in turns:
        assert refusal(star.copy(1), turn).culprit == "the server"


@pytest.mark.parametrize("phase", ORDER)
def test_signed_replies_that_make_no_sense_are_refused(phase: Phase) -> None:
    star = deepcopy(at(phase))
    honest = star.read(star.members[1].on(star.turn(1)) or b"")
    names = [*honest.fields, "another"]
    for name in names:
        for odd in ODD:
            reply = star.worker_says(1, phase, {**honest.fields, name: odd}, honest.payload)
            if star.read(reply).fields == honest.fields:
                continue
            with pytest.raises(SealedRefused) as caught:
                star.server.take(reply, 1)
            assert caught.value.culprit == "worker 1"
    assert 1 in star.server.waiting


def test_rows_of_nobody_leave_a_worker_without_pieces() -> None:
    """A server that sends garbage for sealed rows harms itself: they are missing when it opens."""
    star = deepcopy(at(Phase.CONTRIBUTE))
    honest = star.read(star.turn(1))
    heads = [honest.payload[at : at + HEAD + KEY] for at in range(0, 4 * SHOWN, SHOWN)]
    turn = star.says(Phase.CONTRIBUTE, honest.fields, b"".join(head + bytes(ROW) for head in heads))
    star.take(star.members[1].on(turn) or b"", 1)
    star.until(Phase.OPEN)
    opened = star.read(star.members[1].on(star.turn(1)) or b"")
    assert (dict(opened.fields), opened.payload) == ({"missing": [1, 2, 3, 4]}, b"")


@pytest.mark.parametrize("fields", [
    {}, {"state": "done"}, {"culprits": [], "reason": "", "state": "won"},
    {"culprits": [], "reason": 1, "state": "aborted"},
    {"culprits": "me", "reason": "", "state": "aborted"},
    {"culprits": [1], "reason": "", "state": "aborted"},
    {"culprits": [], "reason": "", "state": ["done"]},
    {"culprits": [], "reason": "", "state": "aborted", "more": 1},
])  # fmt: skip
def test_an_end_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    star = at(Phase.CONTRIBUTE)
    assert refusal(star.copy(1), star.says(Phase.END, fields)).culprit == "the server"
