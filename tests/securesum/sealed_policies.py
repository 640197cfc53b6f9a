"""Policies for sealed answers, with keyholders whose private keys are known."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sottovoce.mechanisms.sealed_sum import Layout, SealedSum
from sottovoce.model import Calibration, Domain, Keyholder, Policy, Promise, Unit
from sottovoce.securesum.envelope import b64

__all__ = ["COORDINATOR", "KEYS", "POLICIES", "FixedKeys", "sealed_policy"]


@dataclass(frozen=True)
class FixedKeys:
    """The keys of one keyholder, which protect nothing."""

    name: str

    def _bytes(self, purpose: str) -> bytes:
        return hashlib.sha256(f"{purpose} key of {self.name}".encode()).digest()

    @property
    def sealing(self) -> X25519PrivateKey:
        return X25519PrivateKey.from_private_bytes(self._bytes("sealing"))

    @property
    def signing(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self._bytes("signing"))

    @property
    def keyholder(self) -> Keyholder:
        return Keyholder(
            self.name,
            b64(self.sealing.public_key().public_bytes_raw()),
            b64(self.signing.public_key().public_bytes_raw()),
        )


KEYS = tuple(map(FixedKeys, ("Bibliothèque", "Union", "University \N{OWL}", "Court", "Press")))
COORDINATOR = FixedKeys("the server").signing


def sealed_policy(
    domain: Domain, layout: Layout, size: int, *, hidden: bool = False,
    epsilon: Fraction = Fraction(1), seats: int = 3, degree: int = 1, minimum: int = 2,
    answers: int = 20, unit: Unit = Unit.ANSWER,
) -> Policy:  # fmt: skip
    """A policy whose promise is exactly what it keeps."""
    sealed = SealedSum(
        layout, size, hidden, epsilon, seats, degree, minimum,
        tuple(keys.keyholder for keys in KEYS[:seats]),
        b64(COORDINATOR.public_key().public_bytes_raw()),
    )  # fmt: skip
    promised = sealed.guarantee(answers, unit).epsilon
    promise = Promise(unit, promised, 0.0, answers)
    return Policy(domain, sealed.as_json(), Calibration.SOUND, promise)


_YES = Domain.categorical(["no", "yes"])
_LEAF = Domain.categorical(["oak", "\N{OWL}", "ash", "élan"])
_STARS = Domain.ordinal([1, 2, 3])
_TENTHS = Domain.numeric(0.1, 0.7)
_MINUS = Domain.numeric(-40, 60.5)
_STEPS = Domain.numeric(1, 5, 1)

POLICIES = {
    "votes of 2": sealed_policy(_YES, Layout.VOTES, 2),
    "votes of 2, hidden": sealed_policy(_YES, Layout.VOTES, 2, hidden=True),
    "votes of 3": sealed_policy(_STARS, Layout.VOTES, 3, epsilon=Fraction(1, 3)),
    "votes of 4": sealed_policy(_LEAF, Layout.VOTES, 4, unit=Unit.WORKER),
    "votes of 4, hidden": sealed_policy(_LEAF, Layout.VOTES, 4, hidden=True),
    "sum of 2 steps": sealed_policy(_TENTHS, Layout.SUM, 2),
    "sum of 4 steps": sealed_policy(_STEPS, Layout.SUM, 4),
    "sum of 254 steps": sealed_policy(_TENTHS, Layout.SUM, 254, epsilon=Fraction(5, 2)),
    "sum of 256 steps": sealed_policy(_MINUS, Layout.SUM, 256),
    "sum of 4096 steps": sealed_policy(_TENTHS, Layout.SUM, 4096),
    "sum of 6 steps, hidden": sealed_policy(_MINUS, Layout.SUM, 6, hidden=True),
    "sum of 256 steps, hidden": sealed_policy(_TENTHS, Layout.SUM, 256, hidden=True),
    "histogram of 3": sealed_policy(_TENTHS, Layout.HISTOGRAM, 3),
    "histogram of 16": sealed_policy(_MINUS, Layout.HISTOGRAM, 16),
    "histogram of 5, hidden": sealed_policy(_STEPS, Layout.HISTOGRAM, 5, hidden=True),
    "five keyholders, two in league": sealed_policy(_YES, Layout.VOTES, 2, seats=5, degree=2),
    "five keyholders, one in league": sealed_policy(
        _TENTHS, Layout.SUM, 4, hidden=True, seats=5, answers=9, unit=Unit.WORKER
    ),
}
"""Every layout, hidden or not, and other committees."""
