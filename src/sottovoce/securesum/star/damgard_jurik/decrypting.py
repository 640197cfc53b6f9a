"""A holder's part of a decryption.

    c_i = c^(2 Δ f(i)) modulo nˢ⁺¹

(Damgård and Jurik, PKC 2001, after Shoup, EUROCRYPT 2000). The 2 makes a square of
it, and with Δ = ℓ! nobody needs to divide by the unknown order of the group.
"""

from __future__ import annotations

from sottovoce.securesum.star.damgard_jurik.integers import powmod_sec
from sottovoce.securesum.star.damgard_jurik.keys import KeyShare, PublicKey

__all__ = ["holds_share", "partial"]


def partial(public: PublicKey, share: KeyShare, ciphertext: int) -> int:
    """What this holder contributes to opening a ciphertext; in constant time."""
    exponent = 2 * public.delta * share.value
    return powmod_sec(ciphertext, exponent, public.modulus)


def holds_share(public: PublicKey, share: KeyShare) -> bool:
    """Whether v^(Δ f(i)) is the holder's verifier; in constant time."""
    if not (1 <= share.number <= public.holders and 0 < share.value < public.modulus):
        return False
    power = powmod_sec(public.v, public.delta * share.value, public.modulus)
    return bool(power == public.verifiers[share.number - 1])
