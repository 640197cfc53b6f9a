"""What everybody must agree on before anything is summed: one campaign, policy, tasks, round."""

from __future__ import annotations

from dataclasses import dataclass, field

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import release_of, sealed_of
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Policy
from sottovoce.securesum.ballot import Ballot
from sottovoce.securesum.envelope import canonical, sha256_hex

__all__ = ["SUITE", "Session", "committee_of"]

SUITE = "committee"


@dataclass(frozen=True, slots=True)
class Session:
    """One opening of one campaign. Its `id` is in every message, so none serves another session.

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
            raise UsageError("a session has at least one task, and each of them once")
        if self.round < 1:
            raise UsageError(f"rounds are counted from 1, not {self.round}")
        sealed = committee_of(self.policy)
        object.__setattr__(self, "sealed", sealed)
        object.__setattr__(self, "ballot", Ballot.of(sealed))
        object.__setattr__(self, "id", sha256_hex(canonical(self._terms())))

    @property
    def slots(self) -> int:
        """Integers that are opened in all."""
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
    """The sealed sum of a policy that names its keyholders, after checking that it keeps it.

    A policy without a promise, or without keyholders, is good for plans and studies only.
    """
    release_of(policy)
    if not policy.sealed:
        raise UsageError(f"the policy's {policy.name} seals nothing: its answers are randomised")
    sealed = sealed_of(policy)
    if policy.promise is None:
        raise UsageError("the policy promises nothing: no answer is sealed under it")
    if len(sealed.keyholders) != sealed.seats:
        raise UsageError("the policy names no keyholders yet: no answer is sealed under it")
    if not sealed.coordinator:
        raise UsageError("the policy names no server yet: no answer is sealed under it")
    return sealed
