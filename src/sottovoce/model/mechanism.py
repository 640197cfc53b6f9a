"""Facts that a mechanism declares: citation, odds, candidates for the planner, listing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Citation:
    """A mechanism in words, its authors (for a sentence), and the reference."""

    words: str
    cited: str
    reference: str


@dataclass(frozen=True, slots=True)
class Odds:
    """How many of 100 answers are reported correctly, and a sentence that explains it."""

    of_100: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way in which a planner tries a mechanism: parameters of its calibration.

    Among ways of about equal error, the planner takes the one of lowest `complexity`, which also
    orders its tables. `variant` distinguishes ways of one mechanism.
    """

    complexity: int
    variant: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listing:
    """How a requester's pages list a mechanism.

    `words` are its name and, after a colon, what it does. Of those that fit a campaign the one with
    the lowest `place` comes first. `counts` says what the number of 100 in its odds counts, where
    that is not who sends the true answer. `keeps_answers` is whether one of s symbols goes out as
    it is with chance e^epsilon / (e^epsilon + s - 1), so that a page can say it at once. It is not
    listed for labels with fewer than `fewest_symbols`, NULL among them where participation is
    hidden, nor for more than `most_labels`.
    """

    place: int
    words: str
    counts: str | None = None
    keeps_answers: bool = False
    fewest_symbols: int = 1
    most_labels: int | None = None
