"""What other rooms know of a mechanism: where it is from, its odds, how a planner tries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Candidate", "Citation", "Odds"]


@dataclass(frozen=True, slots=True)
class Citation:
    """A mechanism in words, who described it (for a sentence), and the work itself."""

    words: str
    cited: str
    reference: str


@dataclass(frozen=True, slots=True)
class Odds:
    """How many of 100 answers fare well in the report, and what that means in a sentence."""

    of_100: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way in which a planner tries a mechanism: parameters of its calibration.

    Of ways that do about as well, the planner takes that of the lowest `complexity`, which also
    orders its tables. `variant` tells ways of one mechanism apart.
    """

    complexity: int
    variant: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
