"""Times of sealed sums as P2 §6.3 has them, and of all the sums that its protocol opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.planning.trials import Spread
from sottovoce.studies.printed import printed

__all__ = [
    "CROWD",
    "EACH",
    "FIRST",
    "FROM",
    "PRINTED",
    "ROUNDS",
    "TASKS",
    "Timing",
    "by_the_paper",
    "slope",
    "sums_opened",
]

FROM = 10
"""From so many workers on, growth is judged: below, what does not grow with them weighs."""

TASKS = int(printed("P2 data").column("tasks")[0])
CROWD, ROUNDS = (int(printed("P2 time").column(name)[0]) for name in ("workers", "rounds"))
PRINTED = float(printed("P2 time").column("milliseconds")[0])
EACH, FIRST = 2 * TASKS, TASKS
"""Protocol 1 opens log a and log b of every task in a round, and one sum of labels before."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of CPU of runs with so many workers: of keys, and of one sum."""

    workers: int
    runs: Sequence[Mapping[str, Any]]

    @property
    def primes(self) -> Spread:
        """Two safe primes: how long the search takes is a matter of luck."""
        return Spread.of([1e3 * run["primes"] for run in self.runs])

    @property
    def dealing(self) -> Spread:
        """All shares of a key whose primes are there."""
        return Spread.of([1e3 * run["dealing"] for run in self.runs])

    @property
    def keys(self) -> Spread:
        """Both: P2's keygen."""
        return Spread.of([1e3 * (run["primes"] + run["dealing"]) for run in self.runs])

    def one_sum(self, blinds: str = "blinds as published") -> Spread:
        """P2's one update: with its blinds, or with ours."""
        return Spread.of(self._sums(blinds))

    @property
    def best(self) -> tuple[float, float]:
        """The quickest dealing and the quickest sum: other programs only ever slow one down."""
        dealing = min(1e3 * run["dealing"] for run in self.runs)
        return dealing, min(self._sums("blinds as published"))

    def single_sums(self) -> float:
        """What P2 measured: a key, and one sum a round."""
        return self.keys.mean + ROUNDS * self.one_sum().mean

    def one_by_one(self) -> float:
        """A key, and all sums that P2's protocol opens, each under its own ciphertexts."""
        return self.keys.mean + sums_opened() * self.one_sum().mean

    def packed(self, rounds: int = ROUNDS) -> float:
        """A key, and as many sums as there are ciphertexts when many numbers share one."""
        start, each = map(int, self.runs[0]["ciphertexts"])
        return self.keys.mean + (start + rounds * each) * self.one_sum("blinds").mean

    def _sums(self, blinds: str) -> list[float]:
        return [
            1e3 * (blind + rest)
            for run in self.runs
            for blind, rest in zip(run[blinds], run["rest"], strict=True)
        ]


def sums_opened(rounds: int = ROUNDS) -> int:
    """How many numbers P2's protocol opens in so many rounds.

    >>> sums_opened()
    4929
    """
    return FIRST + rounds * EACH


def by_the_paper(rounds: int = ROUNDS) -> float:
    """Milliseconds of all sums of so many rounds, by P2's own time of one (keys are in it).

    >>> round(by_the_paper())
    259364
    """
    return sums_opened(rounds) * PRINTED / ROUNDS


def slope(timings: Sequence[Timing], place: int) -> float:
    """The power of J with which the quickest dealing (0) or sum (1) grows from 10 workers on."""
    large = [each for each in timings if each.workers >= FROM]
    logs = np.log([(each.workers, each.best[place]) for each in large])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
