"""A worker's keys for one live session. They exist in its memory only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from sottovoce.securesum.envelope import Ed25519PrivateKey, b64, public_text
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.star.terms import Member

__all__ = ["OwnKeys"]


@dataclass(frozen=True, slots=True)
class OwnKeys:
    """What a worker signs with, and what shares are sealed to.

    A worker that dies cannot come back with them: so it never contradicts itself, and nothing of
    it needs to be kept.
    """

    signing: Ed25519PrivateKey = field(repr=False)
    sealing: X25519PrivateKey = field(repr=False)

    @classmethod
    def fresh(cls) -> Self:
        """New keys, drawn by the operating system's generator."""
        return cls(Ed25519PrivateKey.generate(), X25519PrivateKey.generate())

    def member(self, number: int) -> Member:
        """The public halves, as terms have them."""
        sealing = b64(self.sealing.public_key().public_bytes_raw())
        return Member(number, public_text(self.signing), sealing)
