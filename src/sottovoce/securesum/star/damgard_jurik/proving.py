"""Proof that a holder's partial decryptions are right, without saying its share.

A holder i claims c_{i,k} = c_k^(2 Δ f(i)) for k = 1 … K. With x = Δ f(i), that is, up to a square
root of one, which the combination squares away:

    v_i = v^x    and    c_{i,k}² = (c_k⁴)^x                                       for every k

v, v_i, c_k⁴ and c_{i,k}² are squares: elements of a cyclic group of order nˢ m without small
factors. The K equations become one (the small exponents test of Bellare, Garay and Rabin,
EUROCRYPT 1998; for threshold decryption Aditya, Peng, Boyd, Dawson and Lee, ACNS 2004): with
ρ_k of 128 bits that a hash of all values gives,

    C = Π c_k^(4 ρ_k),    D = Π c_{i,k}^(2 ρ_k),    and    log_v v_i = log_C D.

If one of the K were wrong, at most one ρ_k modulo a prime factor of nˢ m, all beyond 2¹²⁸, would
hide it: a chance of 2⁻¹²⁸. The equality of logarithms is Shoup's proof (EUROCRYPT 2000; Damgård
and Jurik, PKC 2001), made non-interactive after Fiat and Shamir:

    w random,  a = v^w,  b = C^w,  e = hash(everything, a, b),  z = w + e x      proof: (e, z)
    check:  e = hash(everything, v^z v_i^-e, C^z D^-e)

Two answers z, z' to challenges e, e' give v^(z - z') = v_i^(e - e') and the same for C and D;
e - e' is below 2²⁵⁶ and so invertible modulo the order: both logarithms are (z - z') / (e - e').
w has 128 bits more than e x, so z tells nothing of x but with a chance of 2⁻¹²⁸.

"Everything" has the key's id, the caller's context (session, round, sender and set), the holder
and all values: a proof serves one purpose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sottovoce.securesum.star.damgard_jurik.integers import (
    below,
    bytes_of,
    integer_of,
    powmod,
    powmod_sec,
)
from sottovoce.securesum.star.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.star.damgard_jurik.powers import product_of_powers

__all__ = ["proof_length", "prove", "verify"]

_LABEL = b"sottovoce-partial-decryptions/1\0"
_CHALLENGE, _BATCH, _SLACK = 32, 16, 16
"""Bytes: of a challenge e, of a batch exponent ρ, and by how much w is longer than e x."""


def prove(
    public: PublicKey,
    share: KeyShare,
    context: bytes,
    ciphertexts: Sequence[int],
    partials: Sequence[int],
) -> bytes:
    """The proof for these partial decryptions of this holder; secret exponents in constant time."""
    statement = _statement(public, share.number, context, ciphertexts, partials)
    base, _ = _batched(public, statement, ciphertexts, partials)
    drawn = below(1 << 8 * (_response_length(public) - 1)) + 1
    first = powmod_sec(public.v, drawn, public.modulus)
    second = powmod_sec(base, drawn, public.modulus)
    challenge = _challenge(public, statement, first, second)
    response = drawn + integer_of(challenge) * public.delta * share.value
    return challenge + bytes_of(response, _response_length(public))


def verify(
    public: PublicKey,
    number: int,
    context: bytes,
    ciphertexts: Sequence[int],
    partials: Sequence[int],
    proof: bytes,
) -> bool:
    """Whether the proof holds; the partial decryptions must be units modulo nˢ⁺¹."""
    if len(proof) != proof_length(public) or len(ciphertexts) != len(partials):
        return False
    statement = _statement(public, number, context, ciphertexts, partials)
    base, power = _batched(public, statement, ciphertexts, partials)
    challenge, response = proof[:_CHALLENGE], integer_of(proof[_CHALLENGE:])
    minus = -integer_of(challenge)
    first = _quotient(public, public.v, response, public.verifiers[number - 1], minus)
    second = _quotient(public, base, response, power, minus)
    return challenge == _challenge(public, statement, first, second)


def proof_length(public: PublicKey) -> int:
    """Bytes of a proof."""
    return _CHALLENGE + _response_length(public)


def _response_length(public: PublicKey) -> int:
    """Bytes of z: Δ f(i) times e, and the slack; one more, so that the sum never overflows."""
    secret = (int(public.delta * public.modulus).bit_length() + 7) // 8
    return secret + _CHALLENGE + _SLACK + 1


def _statement(
    public: PublicKey,
    number: int,
    context: bytes,
    ciphertexts: Sequence[int],
    partials: Sequence[int],
) -> bytes:
    """A hash of everything that is claimed; every part has a known length or says its own."""
    head = b"".join(each.to_bytes(8, "big") for each in (number, len(context), len(ciphertexts)))
    values = b"".join(bytes_of(each, public.length) for each in (*ciphertexts, *partials))
    key = bytes.fromhex(public.id)
    return hashlib.sha256(_LABEL + key + head + context + values).digest()


def _batched(
    public: PublicKey, statement: bytes, ciphertexts: Sequence[int], partials: Sequence[int]
) -> tuple[int, int]:
    """C and D."""
    small = [
        integer_of(hashlib.sha256(statement + b"batch" + at.to_bytes(8, "big")).digest()[:_BATCH])
        for at in range(len(ciphertexts))
    ]
    base = product_of_powers(ciphertexts, small, public.modulus)
    power = product_of_powers(partials, small, public.modulus)
    return powmod(base, 4, public.modulus), powmod(power, 2, public.modulus)


def _challenge(public: PublicKey, statement: bytes, first: int, second: int) -> bytes:
    values = bytes_of(first, public.length) + bytes_of(second, public.length)
    return hashlib.sha256(statement + b"challenge" + values).digest()


def _quotient(public: PublicKey, base: int, response: int, power: int, minus: int) -> int:
    """base^z · power^-e."""
    modulus = public.modulus
    return powmod(base, response, modulus) * powmod(power, minus, modulus) % modulus
