"""Proof that those who contributed know what is in their ciphertexts.

Without it a worker in league with the server could contribute what another one had sent in an
earlier round, blinded anew: the total would hold that worker's values once more. A commitment
alone does not stop this, since the earlier ciphertext is long known.

Each worker j announces a_j = (1 + n)^(x_j) h_s^(r_j), h_s = h^(nˢ), together with its ciphertexts
c_{j,k} = (1 + n)^(m_{j,k}) h_s^(ρ_{j,k}). A hash of everything that all have announced gives one
challenge e_k for each place k, the same for all workers, and worker j answers

    z_j = x_j + Σ_k e_k m_{j,k}  modulo nˢ        w_j = r_j + Σ_k e_k ρ_{j,k}

(a proof of plaintext knowledge, as in Cramer, Damgård and Nielsen, EUROCRYPT 2001). Whoever can
answer for several challenges can solve for the messages: h_s carries none, so z alone decides.
Since the challenges are the same, answers can be added up, and one equation is checked for all:

    (1 + n)^(Σ_j z_j) h_s^(Σ_j w_j) = Π_j a_j · Π_k (Π_j c_{j,k})^(e_k)

The products on the right are those that are opened anyway, so this is cheap. Where it holds and
the honest workers' parts hold, the part of all others holds too: together they know what is in the
product of theirs, which is all that a total betrays of it. Everything was committed to before it
was seen, so none of it was made of another's. A set may lose members after the challenges are
known; with one more bit of challenge for each worker, no choice of a subset helps.

x_j is uniform modulo nˢ, and r_j has 128 bits more than what it hides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from sottovoce.errors import SealedRefused
from sottovoce.securesum.star.damgard_jurik.blinding import Blind, blinding_comb, exponent_bits
from sottovoce.securesum.star.damgard_jurik.encrypting import power_of_generator
from sottovoce.securesum.star.damgard_jurik.integers import below, bytes_of, integer_of, length_of
from sottovoce.securesum.star.damgard_jurik.keys import PublicKey
from sottovoce.securesum.star.damgard_jurik.powers import product_of_powers

__all__ = ["Announcement", "Answer", "announce", "challenges", "holds"]

_LABEL = b"sottovoce-known-contributions/1\0"
_SOUND, _SLACK = 16, 16
"""Bytes: of a challenge beside the bits for subsets, and by how much r is longer than needed."""
_SUMS = 5
"""Bytes for sums of up to 2²⁴ places, and of up to 2¹⁶ workers."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """a, and the secrets behind it; they serve one answer."""

    value: int
    first: int = field(repr=False)
    second: int = field(repr=False)

    def answer(
        self, public: PublicKey, given: Sequence[int], messages: Sequence[int],
        blinds: Sequence[Blind],
    ) -> Answer:  # fmt: skip
        """z and w."""
        z, w = self.first, self.second
        for challenge, message, blind in zip(given, messages, blinds, strict=True):
            z += challenge * message
            w += challenge * blind.exponent
        return Answer(z % public.messages, w)


@dataclass(frozen=True, slots=True)
class Answer:
    """z and w, of one worker or added up."""

    z: int
    w: int

    def content(self, public: PublicKey) -> bytes:
        """As it is sent."""
        first, second = _lengths(public)
        return bytes_of(self.z, first) + bytes_of(self.w, second)

    @classmethod
    def read(cls, public: PublicKey, content: bytes, culprit: str) -> Self:
        """What `content` wrote."""
        first, second = _lengths(public)
        answer = cls(integer_of(content[:first]), integer_of(content[first:]))
        if len(content) != first + second or answer.z >= public.messages:
            raise SealedRefused(culprit, "its answer is too long, too short or out of range")
        return answer

    @classmethod
    def added(cls, public: PublicKey, answers: Iterable[Answer]) -> Self:
        """The answers of several workers as one."""
        pairs = [(each.z, each.w) for each in answers]
        return cls(sum(z for z, _ in pairs) % public.messages, sum(w for _, w in pairs))


def announce(public: PublicKey) -> Announcement:
    """A fresh a. The look-ups of its comb betray no more than those of blinds (`blinding`)."""
    hidden = _lengths(public)[1] - _SUMS + 3  # the places' bytes count, the workers' do not
    first, second = below(public.messages), below(1 << 8 * hidden)
    return Announcement(_opened(public, first, second), first, second)


def challenges(public: PublicKey, seed: str, count: int) -> list[int]:
    """The challenge of each place; the seed is a hash of all that was announced."""
    length = _challenge_length(public)
    head = _LABEL + bytes.fromhex(public.id) + seed.encode("ascii")
    drawn = hashlib.shake_256(head + count.to_bytes(8, "big")).digest(count * length)
    return [integer_of(drawn[at : at + length]) for at in range(0, len(drawn), length)]


def holds(
    public: PublicKey, answer: Answer, announced: int, given: Sequence[int],
    ciphertexts: Sequence[int],
) -> bool:  # fmt: skip
    """Whether whoever answered knows what is in these ciphertexts, or products of them."""
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
    return length_of(public.messages), blind + _challenge_length(public) + _SLACK + _SUMS
