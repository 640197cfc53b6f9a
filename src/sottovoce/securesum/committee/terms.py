"""Session and ContributionTerms, to which messages and contributions are bound.

A share opens only if both sides have the same terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import release_of, sealed_of
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Policy
from sottovoce.securesum.ballot import Ballot
from sottovoce.securesum.envelope import CONTEXT, canonical, sha256_hex

SUITE = "committee"


@dataclass(frozen=True, slots=True)
class Session:
    """One opening of one campaign. Its `id` is in every message, so none fits another session.

    `names` are all tasks of the campaign, in its order: slots follow them.
    """

    campaign: str
    policy: Policy
    names: tuple[str, ...]
    round: int = 1
    sealed: SealedSum = field(init=False, compare=False, repr=False)
    ballot: Ballot = field(init=False, compare=False, repr=False)
    id: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if not self.names or len(set(self.names)) != len(self.names):
            raise UsageError("a session needs at least one task, and each of them once")
        if self.round < 1:
            raise UsageError(f"rounds are counted from 1, not {self.round}")
        sealed = committee_of(self.policy)
        object.__setattr__(self, "sealed", sealed)
        object.__setattr__(self, "ballot", Ballot.of(sealed))
        object.__setattr__(self, "id", sha256_hex(canonical(self._terms())))

    @property
    def slots(self) -> int:
        """The number of opened integers."""
        return len(self.names) * self.ballot.slots

    def _terms(self) -> dict[str, str | int]:
        return {
            "campaign": self.campaign,
            "names": sha256_hex(canonical(list(self.names))),
            "policy": self.policy.hash,
            "round": self.round,
            "suite": SUITE,
            "tasks": len(self.names),
        }


def committee_of(policy: Policy) -> SealedSum:
    """The sealed sum of a policy that names its keyholders, after checking its promise.

    A policy without a promise, or without keyholders, is for plans and studies only.
    """
    release_of(policy)
    if not policy.sealed:
        raise UsageError(f"the policy's {policy.name} seals nothing: its answers are randomised")
    sealed = sealed_of(policy)
    if policy.promise is None:
        raise UsageError("the policy has no promise: answers cannot be sealed under it")
    if len(sealed.keyholders) != sealed.seats:
        raise UsageError("the policy names no keyholders yet: answers cannot be sealed under it")
    if not sealed.coordinator:
        raise UsageError("the policy names no server yet: answers cannot be sealed under it")
    return sealed


FORMAT = "sottovoce-contribution/1"
PHASE = "contribute"
ROUND = 1

CHECKS = 2
"""Independent checks of a contribution: a bad one passes both with probability about 2⁻¹²²."""


def sealing_info(terms: dict[str, Any]) -> bytes:
    """The `info` of HPKE (RFC 9180 §8.1) for a share that is sealed under these terms."""
    return CONTEXT + canonical(terms).encode("ascii")


@dataclass(frozen=True, slots=True)
class ContributionTerms:
    """The worker, tasks and campaign of a contribution, and the key that signs it.

    `tasks` are names in order, `policy` is the policy's hash, `key` the worker's public key.
    """

    campaign: str
    policy: str
    worker: str
    tasks: tuple[str, ...]
    key: str

    def body(self, shares: Sequence[str]) -> dict[str, Any]:
        """The signed body. It pins every sealed share by its SHA-256."""
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
        """The context to which every share of the contribution is bound.

        It includes the worker's key: a share that is moved from one contribution to another cannot
        be unsealed.
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
    """Cached, because in many campaigns all workers have the same tasks."""
    return sha256_hex(canonical(list(tasks)))
