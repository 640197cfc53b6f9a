"""Dealing a key: each holder gets its sealed share; everyone gets the public document.

The dealer could decrypt everything: for a while it has the whole secret. It must be neither the
requester nor a worker, and must discard the secret. If the requester deals, there is no privacy
from the requester. For the limits of discarding secrets in Python, see `keys`.

Holders 1 … J are the workers, holder J + 1 is the server (P2, protocol 2): a set of θ - 1 workers
and the server opens.

The public document describes the key of a session: canonical JSON, signed with the dealer's key in
the terms. It names the session: a key that was dealt for other members, another threshold or
another purpose is refused. Everything that can be checked without the primes is checked. That n is
a product of two safe primes cannot be: the dealer is trusted in that, and in discarding them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.securesum.damgard_jurik.decryption import holds_share
from sottovoce.securesum.damgard_jurik.keys import KeyShare, PublicKey, generate
from sottovoce.securesum.damgard_jurik.number_theory import (
    ROUNDS,
    SIEVED_TO,
    bytes_of,
    gcd,
    integer_of,
    is_power,
    is_prime,
    jacobi,
    length_of,
    primorial,
)
from sottovoce.securesum.envelope import (
    CONTEXT,
    Ed25519PrivateKey,
    b64,
    canonical,
    public_text,
    read_envelope,
    signed,
    unb64,
)
from sottovoce.securesum.hpke import X25519PrivateKey, seal, unseal
from sottovoce.securesum.star.terms import KeyTerms, StarTerms

FORMAT = "sottovoce-dealt-key/1"
THE_DEALER = "the dealer"

_FIELDS = frozenset({"format", "h", "n", "s", "session", "threshold", "v", "verifiers"})


def key_terms(terms: StarTerms) -> KeyTerms:
    """The terms of the key; there must be one."""
    if terms.key is None:
        raise UsageError(f"sessions of the suite {terms.suite} have no key: nothing is dealt")
    return terms.key


def public_document(terms: StarTerms, public: PublicKey, signing: Ed25519PrivateKey) -> bytes:
    """The dealer's published document."""
    length = public.length
    body = {
        "format": FORMAT,
        "h": b64(bytes_of(public.h, length_of(public.n))),
        "n": b64(bytes_of(public.n, key_terms(terms).bits // 8)),
        "s": public.s,
        "session": terms.id,
        "threshold": public.threshold,
        "v": b64(bytes_of(public.v, length)),
        "verifiers": [b64(bytes_of(each, length)) for each in public.verifiers],
    }
    return signed(body, signing)


def read_public(terms: StarTerms, content: bytes) -> PublicKey:
    """The key of this session, if its dealer signed it and it is valid."""
    key = key_terms(terms)
    body = read_envelope(content, key.dealer.signing, culprit=THE_DEALER).body
    if body.keys() != _FIELDS or body["format"] != FORMAT:
        raise _refused("the key's document does not have the required fields")
    if body["session"] != terms.id:
        raise _refused("the key was dealt for another session")
    if (body["s"], body["threshold"]) != (key.s, terms.threshold):
        raise _refused("the key has a different s or threshold than the terms")
    public = _public(body, terms, key)
    _check_n(public.n)
    _check_units(public)
    return public


def _public(body: Mapping[str, Any], terms: StarTerms, key: KeyTerms) -> PublicKey:
    n = _read(body["n"], key.bits // 8)
    if int(n).bit_length() != key.bits:
        raise _refused(f"n has {int(n).bit_length()} bits, but the terms say {key.bits}")
    length, verifiers = length_of(n ** (key.s + 1)), body["verifiers"]
    if not isinstance(verifiers, list) or len(verifiers) != terms.size + 1:
        raise _refused(f"the key is not for {terms.size + 1} holders")
    return PublicKey(
        n,
        key.s,
        terms.threshold,
        h=_read(body["h"], length_of(n)),
        v=_read(body["v"], length),
        verifiers=tuple(_read(each, length) for each in verifiers),
    )


def _read(text: object, length: int) -> int:
    content = unb64(text)
    if content is None or len(content) != length:
        raise _refused(f"a number of the key is not {length} bytes in base64")
    return integer_of(content)


def _check_n(n: int) -> None:
    """Refuse an n that is easy to factor: with a small factor, prime, or a power."""
    if gcd(n, primorial(SIEVED_TO)) != 1:
        raise _refused("n has a small factor")
    if is_prime(n, ROUNDS) or is_power(n):
        raise _refused("n is a prime or a power, not a product of two primes")


def _check_units(public: PublicKey) -> None:
    """h, v and the verifiers must be units in range with Jacobi symbol 1, and all different."""
    numbers = [(public.h, public.n), *((each, public.modulus) for each in _squares(public))]
    for number, bound in numbers:
        if not 1 < number < bound - 1 or gcd(number, public.n) != 1:
            raise _refused("a number of the key is out of range")
        if jacobi(number, public.n) != 1:
            raise _refused("a number of the key is not a square, nor the negative of one")
    if len(set(_squares(public))) != public.holders + 1:
        raise _refused("two numbers of the key are the same")


def _squares(public: PublicKey) -> tuple[int, ...]:
    return public.v, *public.verifiers


def _refused(reason: str) -> SealedRefused:
    return SealedRefused(THE_DEALER, reason)


@dataclass(frozen=True, slots=True)
class DealtKey:
    """The dealer's output: the signed document, and the sealed share of each holder."""

    public: bytes
    shares: Mapping[int, bytes]


def deal_threshold_key(terms: StarTerms, signing: Ed25519PrivateKey, server: str) -> DealtKey:
    """A fresh key for a session. `server` is the X25519 key, base64, of the server's share."""
    key = key_terms(terms)
    if public_text(signing) != key.dealer.signing:
        raise UsageError("the terms of this session name another dealer: use the dealer's own key")
    sealing = _sealing_keys(terms, server)
    public, shares = generate(key.bits, key.s, terms.threshold, terms.size + 1)
    sealed = {
        share.number: seal(
            sealing[share.number],
            bytes_of(share.value, public.length),
            _info(terms, public, share.number),
        )
        for share in shares
    }
    return DealtKey(public_document(terms, public, signing), sealed)


def open_share(
    terms: StarTerms, public: PublicKey, number: int, sealing: X25519PrivateKey, sealed: bytes
) -> KeyShare:
    """A holder's own share, if it matches its verifier in the public document."""
    content = unseal(sealing, sealed, _info(terms, public, number))
    if content is None:
        raise SealedRefused(THE_DEALER, "the share was not sealed to this holder for this key")
    if len(content) != public.length:
        raise SealedRefused(THE_DEALER, f"the share is not {public.length} bytes long")
    share = KeyShare(number, integer_of(content))
    if not holds_share(public, share):
        raise SealedRefused(THE_DEALER, "the share does not match its verifier in the document")
    return share


def _sealing_keys(terms: StarTerms, server: str) -> dict[int, bytes]:
    """The sealing key of each holder."""
    texts = [*(member.sealing for member in terms.members), server]
    keys = {number: unb64(text) or b"" for number, text in enumerate(texts, 1)}
    if len(keys[len(texts)]) != 32:
        raise UsageError("the server's sealing key is not 32 bytes in base64")
    return keys


def _info(terms: StarTerms, public: PublicKey, number: int) -> bytes:
    """The purpose of a sealed share: one holder of one key of one session."""
    purpose = {"format": FORMAT, "holder": number, "key": public.id, "session": terms.id}
    return CONTEXT + canonical(purpose).encode("ascii")
