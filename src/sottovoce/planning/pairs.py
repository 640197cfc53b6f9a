"""A randomiser or a sealed sum, and what reads it: what a campaign could use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from sottovoce.mechanisms.registry import is_sealed
from sottovoce.mechanisms.targets import Target, make_policy
from sottovoce.model import Calibration, Domain, Policy

__all__ = ["AWARE", "Pair"]

AWARE = "auto"
"""The method that inference takes under a policy: it knows the channel."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A mechanism by name, calibrated to a target, and the method that reads its reports.

    `delta` replaces the target's, for mechanisms that keep no promise at delta 0. `published`
    takes the paper's own calibration, which may betray more than the target says; its true
    guarantee is then stated beside it, and it is never recommended. `parameters` are the
    mechanism's, `settings` the method's.
    """

    name: str
    mechanism: str
    method: str = AWARE
    parameters: Mapping[str, Any] = field(default_factory=dict)
    delta: float | None = None
    published: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sealed(self) -> bool:
        """Whether keyholders add the noise, and not each worker to its own answers."""
        return is_sealed(self.mechanism)

    def policy(self, domain: Domain, target: Target) -> Policy:
        """The policy of this mechanism at this target."""
        target = target if self.delta is None else replace(target, delta=self.delta)
        return _policy(
            domain, self.mechanism, target, tuple(sorted(self.parameters.items())), self.published
        )


@lru_cache(maxsize=256)
def _policy(
    domain: Domain,
    mechanism: str,
    target: Target,
    parameters: tuple[tuple[str, Any], ...],
    published: bool,
) -> Policy:
    # Kept, since a calibration may take seconds and a simulation asks for it in every trial.
    calibration = Calibration.AS_PUBLISHED if published else Calibration.SOUND
    return make_policy(domain, mechanism, target, calibration=calibration, **dict(parameters))
