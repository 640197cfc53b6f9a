"""What a contribution is bound to: a share opens only where both sides say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sottovoce.securesum.envelope import CONTEXT, canonical, sha256_hex
from sottovoce.securesum.session import SUITE

__all__ = ["CHECKS", "FORMAT", "ContributionTerms", "sealing_info"]

FORMAT = "sottovoce-contribution/1"
PHASE = "contribute"
ROUND = 1

CHECKS = 2
"""Independent checks of a contribution: a bad one passes both with a chance of about 2⁻¹²²."""


def sealing_info(terms: dict[str, Any]) -> bytes:
    """The `info` of HPKE (RFC 9180 §8.1) for a share that is sealed under these terms."""
    return CONTEXT + canonical(terms).encode("ascii")


@dataclass(frozen=True, slots=True)
class ContributionTerms:
    """Who contributes what to which campaign, and the key that signs it.

    `tasks` are names in order, `policy` is the policy's hash, `key` the worker's public key.
    """

    campaign: str
    policy: str
    worker: str
    tasks: tuple[str, ...]
    key: str

    def body(self, shares: Sequence[str]) -> dict[str, Any]:
        """What is signed. It pins every sealed share by its SHA-256."""
        return {
            "campaign": self.campaign,
            "format": FORMAT,
            "key": self.key,
            "phase": PHASE,
            "policy": self.policy,
            "round": ROUND,
            "shares": list(shares),
            "suite": SUITE,
            "tasks": list(self.tasks),
            "worker": self.worker,
        }

    def infos(self, seats: int) -> list[bytes]:
        """The `info` under which the share of each seat is sealed, from seat 1."""
        terms = self._sealed_under()
        return [sealing_info({**terms, "keyholder": seat}) for seat in range(1, seats + 1)]

    def info(self, seat: int) -> bytes:
        """The `info` under which the share of one seat is sealed."""
        return sealing_info({**self._sealed_under(), "keyholder": seat})

    def _sealed_under(self) -> dict[str, Any]:
        """What every share of the contribution is bound to.

        The worker's key is among it: a share that is cut out of one contribution and put into
        another cannot be unsealed.
        """
        return {
            "campaign": self.campaign,
            "key": self.key,
            "phase": PHASE,
            "policy": self.policy,
            "round": ROUND,
            "tasks": _hash_of(self.tasks),
            "worker": self.worker,
        }


@lru_cache(maxsize=64)
def _hash_of(tasks: tuple[str, ...]) -> str:
    """Kept, since in many campaigns all workers are given the same tasks."""
    return sha256_hex(canonical(list(tasks)))
