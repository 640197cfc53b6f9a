from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from gmpy2 import jacobi, next_prime
from tests.securesum.damgard_jurik.stars import (
    DEALER,
    SEALING,
    SERVER_SEALING,
    TERMS,
    dealt,
    public_and_shares,
    terms_of,
)

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.securesum.damgard_jurik import dealer
from sottovoce.securesum.damgard_jurik.dealer import deal_threshold_key, open_share, read_public
from sottovoce.securesum.damgard_jurik.decryption import holds_share
from sottovoce.securesum.damgard_jurik.number_theory import bytes_of, integer_of
from sottovoce.securesum.envelope import (
    Ed25519PrivateKey,
    b64,
    canonical,
    parsed_object,
    signed,
    unb64,
)
from sottovoce.securesum.hpke import seal
from sottovoce.securesum.star.terms import Suite

Body = dict[str, Any]


def _body() -> Body:
    wire = parsed_object(dealt().public, "nobody")
    return parsed_object(wire["text"].encode("ascii"), "nobody")


def _resigned(**changes: Any) -> bytes:
    """A document that the dealer signed although something in it is wrong."""
    return signed({**_body(), **changes}, DEALER)


def _number(text: str) -> int:
    return int(integer_of(unb64(text) or b""))


def test_the_key_is_as_large_as_the_terms_say_and_has_a_holder_more_than_workers() -> None:
    public, shares = public_and_shares()
    assert int(public.n).bit_length() == 1024
    assert (public.s, public.threshold, public.holders) == (1, 4, 7)
    assert [share.number for share in shares] == [1, 2, 3, 4, 5, 6, 7]
    assert all(holds_share(public, share) for share in shares)


def test_the_document_has_no_secret() -> None:
    assert _body().keys() == {"format", "h", "n", "s", "session", "threshold", "v", "verifiers"}
    document = dealt().public
    assert all(
        b64(bytes_of(share.value, 256))[:40].encode() not in document
        for share in public_and_shares()[1]
    )


def test_every_sealed_share_has_the_same_length() -> None:
    assert {len(each) for each in dealt().shares.values()} == {256 + 48}


def test_a_document_of_another_dealer_is_refused() -> None:
    with pytest.raises(SealedRefused, match="the dealer: the message's signature is invalid"):
        read_public(TERMS, signed(_body(), Ed25519PrivateKey.generate()))


def test_a_document_for_other_terms_is_refused() -> None:
    others = terms_of(name="another session", key=TERMS.key)
    with pytest.raises(SealedRefused, match="the key was dealt for another session"):
        read_public(others, dealt().public)


@pytest.mark.parametrize("place", range(0, 8_000, 200))
def test_no_bit_of_the_document_may_be_flipped(place: int) -> None:
    content = bytearray(dealt().public)
    content[place % len(content)] ^= 1
    with pytest.raises(SealedRefused, match="the dealer: "):
        read_public(TERMS, bytes(content))


def _text(value: int, length: int) -> str:
    return b64(bytes_of(value, length))


def _with_n(change: Callable[[int], int]) -> Callable[[], Body]:
    return lambda: {"n": _text(change(_number(_body()["n"])), 128)}


def _with_verifier(value: Callable[[], int]) -> Callable[[], Body]:
    return lambda: {"verifiers": [_text(value(), 256), *_body()["verifiers"][1:]]}


def _prime() -> int:
    return int(next_prime(1 << 1023))


def _square() -> int:
    return int(next_prime(3 << 510) ** 2)


def _no_square() -> int:
    public, _ = public_and_shares()
    return next(each for each in range(2, 1_000) if jacobi(each, public.n) == -1)


WRONG: dict[str, tuple[Callable[[], Body], str]] = {
    "format": (lambda: {"format": "sottovoce-dealt-key/2"}, "the required fields"),
    "one field more": (lambda: {"p": "AA"}, "the required fields"),
    "s": (lambda: {"s": 2}, "different s or threshold"),
    "threshold": (lambda: {"threshold": 3}, "different s or threshold"),
    "n is short": (lambda: {"n": "AQ"}, "not 128 bytes"),
    "n is not text": (lambda: {"n": 15}, "not 128 bytes"),
    "n has fewer bits": (_with_n(lambda n: n >> 1), "n has 1023 bits"),
    "n is even": (_with_n(lambda n: n - 1), "n has a small factor"),
    "n has a small factor": (_with_n(lambda n: n - n % 10_007 - 10_007), "n has a small factor"),
    "n is prime": (lambda: {"n": _text(_prime(), 128)}, "prime or a power"),
    "n is a square": (lambda: {"n": _text(_square(), 128)}, "prime or a power"),
    "h is one": (lambda: {"h": _text(1, 128)}, "out of range"),
    "h is minus one": (lambda: {"h": _text(_number(_body()["n"]) - 1, 128)}, "out of range"),
    "h is too large": (lambda: {"h": _text(_number(_body()["n"]) + 2, 128)}, "out of range"),
    "h is no square": (lambda: {"h": _text(_no_square(), 128)}, "not a square"),
    "v is zero": (lambda: {"v": _text(0, 256)}, "out of range"),
    "v is one": (lambda: {"v": _text(1, 256)}, "out of range"),
    "v is no unit": (lambda: {"v": _text(5 * _number(_body()["n"]), 256)}, "out of range"),
    "v is no square": (lambda: {"v": _text(_no_square(), 256)}, "not a square"),
    "verifiers are no list": (lambda: {"verifiers": "AA"}, "not for 7 holders"),
    "a verifier is missing": (lambda: {"verifiers": _body()["verifiers"][1:]}, "not for 7 holders"),
    "a verifier is too large": (
        _with_verifier(lambda: _number(_body()["n"]) ** 2 + 2), "out of range",
    ),
    "a verifier is no square": (_with_verifier(_no_square), "not a square"),
    "two verifiers are the same": (
        _with_verifier(lambda: _number(_body()["verifiers"][1])), "are the same",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_the_dealer_signed_is_refused_where_it_cannot_be_right(case: str) -> None:
    changes, words = WRONG[case]
    with pytest.raises(SealedRefused, match=f"the dealer: .*{words}"):
        read_public(TERMS, _resigned(**changes()))


def test_a_share_opens_for_its_holder_only() -> None:
    public, _ = public_and_shares()
    with pytest.raises(SealedRefused, match="not sealed to this holder"):
        open_share(TERMS, public, 1, SEALING[1], dealt().shares[1])
    with pytest.raises(SealedRefused, match="not sealed to this holder"):
        open_share(TERMS, public, 2, SEALING[0], dealt().shares[1])


def test_a_share_is_for_one_session_and_one_key() -> None:
    public, _ = public_and_shares()
    others = terms_of(name="another session", key=TERMS.key)
    with pytest.raises(SealedRefused, match="not sealed to this holder for this key"):
        open_share(others, public, 1, SEALING[0], dealt().shares[1])


@pytest.mark.parametrize("place", [0, 31, 32, 100, 303])
def test_no_bit_of_a_sealed_share_may_be_flipped(place: int) -> None:
    public, _ = public_and_shares()
    sealed = bytearray(dealt().shares[7])
    sealed[place] ^= 1
    with pytest.raises(SealedRefused, match="the dealer: the share was not sealed"):
        open_share(TERMS, public, 7, SERVER_SEALING, bytes(sealed))


@pytest.mark.parametrize(("extra", "length", "words"), [
    (1, 256, "does not match its verifier"),
    (0, 257, "is not 256 bytes long"),
])  # fmt: skip
def test_a_share_that_a_dishonest_dealer_sealed_is_refused(
    extra: int, length: int, words: str
) -> None:
    public, shares = public_and_shares()
    info = dealer._info(TERMS, public, 1)
    content = bytes_of(shares[0].value + extra, length)
    sealed = seal(SEALING[0].public_key().public_bytes_raw(), content, info)
    with pytest.raises(SealedRefused, match=f"the dealer: the share {words}"):
        open_share(TERMS, public, 1, SEALING[0], sealed)


def test_only_the_dealer_of_the_terms_can_deal() -> None:
    with pytest.raises(UsageError, match="another dealer"):
        deal_threshold_key(TERMS, Ed25519PrivateKey.generate(), "A" * 43)


def test_the_server_needs_a_sealing_key() -> None:
    with pytest.raises(UsageError, match="the server's sealing key is not 32 bytes"):
        deal_threshold_key(TERMS, DEALER, "AA")


def test_nothing_is_dealt_where_no_key_is_used() -> None:
    masked = terms_of(suite=Suite.MASKED, key=None)
    with pytest.raises(UsageError, match="have no key: nothing is dealt"):
        read_public(masked, canonical({}).encode())
    with pytest.raises(UsageError, match="have no key: nothing is dealt"):
        deal_threshold_key(masked, DEALER, "A" * 43)
