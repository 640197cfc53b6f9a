"""Keys of a round: bound to their context, and never without a secret."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from tests.securesum.masked.stars import Star, refusal, sealing, terms_of

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.model.sum_rounds import SumSpec
from sottovoce.securesum.envelope import b64, unb64
from sottovoce.securesum.masked.keys import KEY, Channels, MaskKeys, pair_key, self_key
from sottovoce.securesum.masked.messages import SHOWN
from sottovoce.securesum.star.messages import BEGINNING, HEAD
from sottovoce.securesum.star.suite import Phase, RoundStart

START = RoundStart(terms_of(5, 4), 0, SumSpec(1, 1), frozenset(range(1, 6)), BEGINNING)
PAIRS = {number: MaskKeys.fresh() for number in range(1, 6)}
CHANNELS = {number: Channels(START.terms, number, sealing(5)[number - 1]) for number in PAIRS}

PRIME = 2**255 - 19
SMALL = [
    0, 1, PRIME - 1, PRIME, PRIME + 1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
]  # fmt: skip
"""Every u-coordinate of a point of small order, in all encodings of 255 bits."""


def pair_of(start: RoundStart, one: int, other: int) -> bytes:
    """The key of the mask that one worker shares with another, as it derives it."""
    return pair_key(start, one, PAIRS[one], other, PAIRS[other].public)


def row_key(start: RoundStart, number: int, dealer: int, recipient: int) -> bytes:
    """The key by which a dealer seals to a recipient, as worker `number` derives it."""
    channels = Channels(start.terms, number, sealing(5)[number - 1])
    lock = channels.lock(start, dealer, recipient, PAIRS[dealer].public)
    assert lock is not None
    return lock[0]


def every_key(start: RoundStart) -> list[bytes]:
    """Keys that must be unrelated."""
    channels = Channels(start.terms, 1, sealing(5)[0])
    return [
        pair_of(start, 1, 2),
        pair_of(start, 1, 3),
        row_key(start, 1, 1, 2),
        row_key(start, 1, 2, 1),
        row_key(start, 1, 1, 1),
        row_key(start, 2, 2, 2),
        *(channels.tag(start, *ends, "0" * 64) or b"" for ends in ((1, 2), (2, 1), (1, 1))),
        self_key(start, 1, b"s" * KEY),
        self_key(start, 2, b"s" * KEY),
    ]


def test_two_workers_have_the_same_mask_in_common() -> None:
    assert pair_of(START, 1, 2) == pair_of(START, 2, 1)


def test_two_workers_have_the_same_channel_and_a_key_for_either_way() -> None:
    assert row_key(START, 1, 1, 2) == row_key(START, 2, 1, 2)
    assert row_key(START, 1, 2, 1) == row_key(START, 2, 2, 1)
    assert row_key(START, 1, 1, 2) != row_key(START, 1, 2, 1)


def test_what_is_sealed_is_bound_to_the_mask_key_of_its_dealer() -> None:
    one, other = (CHANNELS[1].lock(START, 1, 2, PAIRS[each].public) for each in (1, 2))
    assert one is not None
    assert other is not None
    assert one[0] != other[0]
    assert one[1] != other[1]


def test_a_tag_is_known_to_its_reader_and_is_of_one_set_in_one_direction() -> None:
    tag = CHANNELS[1].tag(START, 1, 2, "0" * 64)
    assert tag == CHANNELS[2].tag(START, 1, 2, "0" * 64)
    assert tag != CHANNELS[2].tag(START, 2, 1, "0" * 64)
    assert tag != CHANNELS[2].tag(START, 1, 2, "1" * 64)


def test_a_worker_with_another_sealing_key_than_the_terms_have_does_not_begin() -> None:
    with pytest.raises(UsageError, match="the terms have a different sealing key for worker 2"):
        Channels(START.terms, 2, sealing(5)[0])


@pytest.mark.parametrize("top", [0, 1 << 255], ids=["", "with the top bit"])
@pytest.mark.parametrize("point", SMALL)
def test_with_a_sealing_key_of_small_order_there_is_no_channel(point: int, top: int) -> None:
    members = list(START.terms.members)
    members[1] = replace(members[1], sealing=b64((point | top).to_bytes(KEY, "little")))
    channels = Channels(replace(START.terms, members=tuple(members)), 1, sealing(5)[0])
    assert channels.lock(START, 2, 1, PAIRS[2].public) is None
    assert channels.tag(START, 2, 1, "0" * 64) is None
    assert channels.lock(START, 3, 1, PAIRS[3].public) is not None


def test_no_two_purposes_have_the_same_key() -> None:
    later = replace(START, round=1)
    elsewhere = replace(START, terms=terms_of(5, 5))
    derived = [key for start in (START, later, elsewhere) for key in every_key(start)]
    assert all(one != other for one, other in combinations(derived, 2))


@pytest.mark.parametrize("top", [0, 1 << 255], ids=["", "with the top bit"])
@pytest.mark.parametrize("point", SMALL)
def test_a_point_of_small_order_gives_no_agreement(point: int, top: int) -> None:
    with pytest.raises(ValueError, match="Error computing shared key"):
        MaskKeys.fresh().agreed((point | top).to_bytes(KEY, "little"))


@pytest.mark.parametrize("top", [0, 1 << 255], ids=["", "with the top bit"])
@pytest.mark.parametrize("point", SMALL)
def test_the_server_takes_no_mask_key_of_small_order(point: int, top: int) -> None:
    star = Star()
    masks = b64((point | top).to_bytes(KEY, "little"))
    with pytest.raises(SealedRefused, match="worker 2: it has a key with which nothing is secret"):
        star.server.take(star.worker_says(2, Phase.SHARE, {"masks": masks}), 2)


def test_a_worker_takes_no_mask_key_of_small_order() -> None:
    star = Star().until(Phase.CONTRIBUTE)
    honest = star.read(star.turn(1))
    shown = bytearray(honest.payload)
    masks = (1).to_bytes(KEY, "little")
    shown[SHOWN + HEAD : SHOWN + HEAD + KEY] = masks
    error = refusal(star.members[1], star.says(Phase.CONTRIBUTE, honest.fields, bytes(shown)))
    assert (error.culprit, error.reason) == (
        "the server", "worker 2 has a key with which nothing is secret",
    )  # fmt: skip


def test_a_pair_does_not_show_its_private_key() -> None:
    assert repr(MaskKeys(b"p" * KEY).private) not in repr(MaskKeys(b"p" * KEY))


def test_every_round_has_fresh_keys() -> None:
    star = Star(rounds=2)
    first = star.read(star.copy(1).on(star.turn(1)) or b"")
    star.until(Phase.SHARE, 1)
    second = star.read(star.copy(1).on(star.turn(1)) or b"")
    assert first.fields["masks"] != second.fields["masks"]
    assert first.payload[:KEY] != second.payload[:KEY]


def test_a_round_that_is_run_twice_is_sealed_under_other_keys() -> None:
    """The nonce is constant: a repeated key would reveal what it seals."""
    star = Star()
    once, again = (star.read(star.copy(1).on(star.turn(1)) or b"") for _ in range(2))
    locks = [
        CHANNELS[1].lock(START, 1, 2, unb64(each.fields["masks"]) or b"") for each in (once, again)
    ]
    assert None not in locks
    assert locks[0] != locks[1]
