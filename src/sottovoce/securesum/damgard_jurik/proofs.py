"""Proofs of plaintext knowledge, and of correct partial decryptions.

Without it a worker who colludes with the server could contribute another's ciphertext of an earlier
round, blinded again: the total would contain that worker's values twice. A commitment alone does
not prevent this, because the earlier ciphertext is already known.

Each worker j announces a_j = (1 + n)^(x_j) h_s^(r_j), h_s = h^(nˢ), together with its ciphertexts
c_{j,k} = (1 + n)^(m_{j,k}) h_s^(ρ_{j,k}). A hash of everything that all have announced gives one
challenge e_k for each place k, the same for all workers, and worker j answers

    z_j = x_j + Σ_k e_k m_{j,k}  modulo nˢ        w_j = r_j + Σ_k e_k ρ_{j,k}

(a proof of plaintext knowledge, as in Cramer, Damgård and Nielsen, EUROCRYPT 2001). A party that
can answer several challenges can solve for the messages: h_s carries none, so z alone decides.
Since the challenges are the same, answers can be added up, and one equation is checked for all:

    (1 + n)^(Σ_j z_j) h_s^(Σ_j w_j) = Π_j a_j · Π_k (Π_j c_{j,k})^(e_k)

The products on the right are those that are opened anyway, so this is cheap. If it holds and the
honest workers' parts hold, the part of all others holds too: together they know the plaintext of
the product of theirs, which is all that a total reveals about it. Everything was committed to
before it was seen, so none of it was derived from another's. A set may lose members after the
challenges are known; with one more bit of challenge for each worker, no choice of a subset helps.

x_j is uniform modulo nˢ, and r_j has 128 bits more than what it hides.

Proof that a holder's partial decryptions are right, without revealing its share.

A holder i claims c_{i,k} = c_k^(2 Δ f(i)) for k = 1 … K. With x = Δ f(i), that is, up to a square
root of one, which the combination removes by squaring:

    v_i = v^x    and    c_{i,k}² = (c_k⁴)^x                                       for every k

v, v_i, c_k⁴ and c_{i,k}² are squares: elements of a cyclic group of order nˢ m without small
factors. The K equations become one (the small exponents test of Bellare, Garay and Rabin,
EUROCRYPT 1998; for threshold decryption Aditya, Peng, Boyd, Dawson and Lee, ACNS 2004): with
ρ_k of 128 bits that a hash of all values gives,

    C = Π c_k^(4 ρ_k),    D = Π c_{i,k}^(2 ρ_k),    and    log_v v_i = log_C D.

If one of the K were wrong, at most one ρ_k modulo a prime factor of nˢ m, all beyond 2¹²⁸, would
hide it: a probability of 2⁻¹²⁸. The equality of logarithms is Shoup's proof (EUROCRYPT 2000;
Damgård and Jurik, PKC 2001), made non-interactive after Fiat and Shamir:

    w random,  a = v^w,  b = C^w,  e = hash(everything, a, b),  z = w + e x      proof: (e, z)
    check:  e = hash(everything, v^z v_i^-e, C^z D^-e)

Two answers z, z' to challenges e, e' give v^(z - z') = v_i^(e - e') and the same for C and D; e -
e' is below 2²⁵⁶ and so invertible modulo the order: both logarithms are (z - z') / (e - e'). w has
128 bits more than e x, so z reveals nothing about x except with probability 2⁻¹²⁸.

"Everything" has the key's id, the caller's context (session, round, sender and set), the holder and
all values: a proof is valid for one purpose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from sottovoce.errors import SealedRefused
from sottovoce.securesum.damgard_jurik.encryption import (
    Blind,
    blinding_comb,
    exponent_bits,
    power_of_generator,
)
from sottovoce.securesum.damgard_jurik.keys import KeyShare, PublicKey
from sottovoce.securesum.damgard_jurik.number_theory import (
    below,
    bytes_of,
    integer_of,
    length_of,
    powmod,
    powmod_sec,
    product_of_powers,
)

_KNOWLEDGE_LABEL = b"sottovoce-known-contributions/1\0"
_SOUND, _KNOWLEDGE_SLACK = 16, 16
"""Bytes of a challenge without the bits for subsets, and the additional length of r."""
_SUMS = 5
"""Bytes for sums of up to 2²⁴ positions, and of up to 2¹⁶ workers."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """a, and the secrets behind it, for one answer."""

    value: int
    first: int = field(repr=False)
    second: int = field(repr=False)

    def answer(
        self,
        public: PublicKey,
        given: Sequence[int],
        messages: Sequence[int],
        blinds: Sequence[Blind],
    ) -> ProofResponse:
        """z and w."""
        z, w = self.first, self.second
        for challenge, message, blind in zip(given, messages, blinds, strict=True):
            z += challenge * message
            w += challenge * blind.exponent
        return ProofResponse(z % public.messages, w)


@dataclass(frozen=True, slots=True)
class ProofResponse:
    """z and w, of one worker or added up."""

    z: int
    w: int

    def content(self, public: PublicKey) -> bytes:
        """As it is sent."""
        first, second = _lengths(public)
        return bytes_of(self.z, first) + bytes_of(self.w, second)

    @classmethod
    def read(cls, public: PublicKey, content: bytes, culprit: str) -> Self:
        """The answer that `content` wrote."""
        first, second = _lengths(public)
        answer = cls(integer_of(content[:first]), integer_of(content[first:]))
        if len(content) != first + second or answer.z >= public.messages:
            raise SealedRefused(culprit, "its answer is too long, too short or out of range")
        return answer

    @classmethod
    def added(cls, public: PublicKey, answers: Iterable[ProofResponse]) -> Self:
        """The answers of several workers as one."""
        pairs = [(each.z, each.w) for each in answers]
        return cls(sum(z for z, _ in pairs) % public.messages, sum(w for _, w in pairs))


def announce(public: PublicKey) -> Announcement:
    """A fresh a. Its comb's look-ups leak no more than those of blinds (`encryption`)."""
    hidden = _lengths(public)[1] - _SUMS + 3  # the positions' bytes count, the workers' do not
    first, second = below(public.messages), below(1 << 8 * hidden)
    return Announcement(_opened(public, first, second), first, second)


def challenges(public: PublicKey, seed: str, count: int) -> list[int]:
    """The challenge of each position; the seed is a hash of all announcements."""
    length = _challenge_length(public)
    head = _KNOWLEDGE_LABEL + bytes.fromhex(public.id) + seed.encode("ascii")
    drawn = hashlib.shake_256(head + count.to_bytes(8, "big")).digest(count * length)
    return [integer_of(drawn[at : at + length]) for at in range(0, len(drawn), length)]


def holds(
    public: PublicKey,
    answer: ProofResponse,
    announced: int,
    given: Sequence[int],
    ciphertexts: Sequence[int],
) -> bool:
    """Whether the answer proves knowledge of these ciphertexts' plaintexts, or of products'."""
    right = announced * product_of_powers(ciphertexts, given, public.modulus) % public.modulus
    return _opened(public, answer.z, answer.w) == right


def _opened(public: PublicKey, first: int, second: int) -> int:
    """(1 + n)^first · h_s^second."""
    comb = blinding_comb(public, 8 * _lengths(public)[1])
    return power_of_generator(public, first) * comb.power(second) % public.modulus


def _challenge_length(public: PublicKey) -> int:
    return _SOUND + (public.holders + 7) // 8


def _lengths(public: PublicKey) -> tuple[int, int]:
    """Bytes of z and of w."""
    blind = (exponent_bits(public) + 7) // 8
    return length_of(public.messages), blind + _challenge_length(public) + _KNOWLEDGE_SLACK + _SUMS


_DECRYPTION_LABEL = b"sottovoce-partial-decryptions/1\0"
_CHALLENGE, _BATCH, _DECRYPTION_SLACK = 32, 16, 16
"""Bytes of a challenge e, of a batch exponent ρ, and the additional length of w over e x."""


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
    return secret + _CHALLENGE + _DECRYPTION_SLACK + 1


def _statement(
    public: PublicKey,
    number: int,
    context: bytes,
    ciphertexts: Sequence[int],
    partials: Sequence[int],
) -> bytes:
    """A hash of everything that is claimed; every part has a known length or states it."""
    head = b"".join(each.to_bytes(8, "big") for each in (number, len(context), len(ciphertexts)))
    values = b"".join(bytes_of(each, public.length) for each in (*ciphertexts, *partials))
    key = bytes.fromhex(public.id)
    return hashlib.sha256(_DECRYPTION_LABEL + key + head + context + values).digest()


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
