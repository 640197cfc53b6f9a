from __future__ import annotations

from functools import cache

import pytest
from tests.securesum.damgard_jurik.small_keys import small_key

from sottovoce.errors import SealedRefused
from sottovoce.securesum.damgard_jurik.encryption import Blind, Blinds, encrypt, product
from sottovoce.securesum.damgard_jurik.proofs import (
    Announcement,
    ProofResponse,
    announce,
    challenges,
    holds,
)

SEED = "0" * 64
MESSAGES = [[3, 1, 4], [1, 5, 9], [2, 6, 5]]


@cache
def _blinds(s: int) -> list[list[Blind]]:
    pool = Blinds(small_key(s)[0])
    return [[pool.take() for _ in row] for row in MESSAGES]


@cache
def _announced(s: int) -> list[Announcement]:
    return [announce(small_key(s)[0]) for _ in MESSAGES]


def _ciphertexts(worker: int, s: int = 1) -> list[int]:
    public, _ = small_key(s)
    return [
        encrypt(public, message, blind.value)
        for message, blind in zip(MESSAGES[worker], _blinds(s)[worker], strict=True)
    ]


def _answer(worker: int, s: int = 1, seed: str = SEED) -> ProofResponse:
    public, _ = small_key(s)
    given = challenges(public, seed, 3)
    return _announced(s)[worker].answer(public, given, MESSAGES[worker], _blinds(s)[worker])


def _holds(workers: list[int], answer: ProofResponse, s: int = 1) -> bool:
    public, _ = small_key(s)
    columns = zip(*(_ciphertexts(each, s) for each in workers), strict=True)
    announced = product(public, [_announced(s)[each].value for each in workers])
    products = [product(public, column) for column in columns]
    return holds(public, answer, announced, challenges(public, SEED, 3), products)


@pytest.mark.parametrize("s", [1, 2, 3])
def test_who_knows_its_messages_can_answer(s: int) -> None:
    assert all(_holds([each], _answer(each, s), s) for each in range(3))


@pytest.mark.parametrize("workers", [[0, 1], [0, 2], [0, 1, 2]])
def test_answers_can_be_added_up(workers: list[int]) -> None:
    public, _ = small_key()
    assert _holds(workers, ProofResponse.added(public, [_answer(each) for each in workers]))


def test_answers_of_others_do_not_serve() -> None:
    public, _ = small_key()
    assert not _holds([0], _answer(1))
    assert not _holds([0, 1], ProofResponse.added(public, [_answer(0), _answer(2)]))
    assert not _holds([0, 1], _answer(0))


def test_an_answer_is_for_one_challenge() -> None:
    assert not _holds([0], _answer(0, seed="1" * 64))


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("what", ["message", "exponent"])
def test_a_wrong_message_or_blind_cannot_be_proven(place: int, what: str) -> None:
    public, _ = small_key()
    messages, blinds = list(MESSAGES[0]), list(_blinds(1)[0])
    if what == "message":
        messages[place] += 1
    else:
        blinds[place] = Blind(blinds[place].value, blinds[place].exponent + 1)
    given = challenges(public, SEED, 3)
    assert not _holds([0], _announced(1)[0].answer(public, given, messages, blinds))


def test_every_part_of_an_answer_counts() -> None:
    answer = _answer(0)
    assert not _holds([0], ProofResponse(answer.z + 1, answer.w))
    assert not _holds([0], ProofResponse(answer.z, answer.w + 1))


def test_challenges_depend_on_all_that_was_announced_on_the_key_and_on_their_number() -> None:
    public, other = small_key()[0], small_key(1, 4, 5)[0]
    drawn = [
        challenges(public, SEED, 3), challenges(public, "1" * 64, 3),
        challenges(other, SEED, 3), challenges(public, SEED, 4)[:3],
    ]  # fmt: skip
    assert len({tuple(each) for each in drawn}) == 4
    assert len(set(drawn[0])) == 3


def test_a_challenge_has_a_bit_more_for_every_holder() -> None:
    public, _ = small_key()
    longest = max(int(each).bit_length() for each in challenges(public, SEED, 200))
    assert longest == 128 + 8  # five holders, in whole bytes


def test_an_answer_is_written_in_one_way() -> None:
    public, _ = small_key()
    content = _answer(0).content(public)
    assert ProofResponse.read(public, content, "worker 1") == _answer(0)
    for wrong in (content[:-1], content + b"\0", b"", b"\xff" * len(content)):
        with pytest.raises(SealedRefused, match="worker 1: its answer is too long, too short"):
            ProofResponse.read(public, wrong, "worker 1")


def test_what_hides_the_blinds_is_128_bits_longer_than_they_need() -> None:
    public, _ = small_key()
    hidden = 2**24 * 2 ** (8 * 17) * 2**160  # places, a challenge, an exponent
    drawn = [int(announce(public).second).bit_length() for _ in range(50)]
    longest = hidden.bit_length() - 1 + 128
    assert longest - 40 < max(drawn) <= longest  # 40 leading zeros 50 times: once in 2^2000


def test_secrets_are_in_no_repr() -> None:
    one = announce(small_key()[0])
    assert str(one.first) not in repr(one)
    assert str(one.second) not in repr(one)
