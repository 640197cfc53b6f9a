"""What a forecast says."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.campaign.guaranteeing import Kept
from sottovoce.model import Policy

__all__ = ["Outlook"]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What to expect, under which policy, and what was assumed.

    `expected`, `clean` and `constant` are accuracies of labels or mean errors of numbers: under the
    policy, without noise to speak of, and of the best constant answer. `band` holds the score of
    one campaign like the simulated ones in 9 of 10 cases.
    """

    score: str
    expected: float
    band: tuple[float, float]
    trials: int
    clean: float
    constant: float
    policy: Policy
    kept: Kept
    in_browser: bool
    notes: tuple[str, ...]
