"""Guarantees in words: the odds for 100 answers, for each kind of report.

People understand odds better than epsilon, and better than examples of output (Nanayakkara et al.
2023).
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sottovoce.model import FloatArray, Guarantee, Odds

LITTLE = 4.0
"""From this epsilon per answer on, little is hidden: of 100 answers of four labels 95 are sent."""

LITTLE_IN_TOTAL = 10.0
"""Above this epsilon per worker, little is hidden about a worker as a whole."""

LARGE = 0.001
"""From this delta on, a warning explains the delta."""


class Likely(Protocol):
    """A mechanism that gives the likelihood of a report, given its answer."""

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        """ln P(report | answer) for arrays of codes."""
        ...


def weakness_warnings(
    per_answer: Guarantee, per_worker: Guarantee, *, sealed: bool = False, whom: str = "a worker"
) -> list[str]:
    """Warnings if little is hidden of one answer, or about the worker by all answers together.

    >>> weakness_warnings(Guarantee("answer", 20, 2.0), Guarantee("worker", 20, 40.0), whom="you")
    ['All 20 answers together hide little about you as a whole: epsilon 40 per worker.']
    """
    seen, delta = "opened totals" if sealed else "reports", per_answer.delta
    count, said = per_worker.answers, []
    if math.isinf(per_answer.epsilon):
        said.append("This hides nothing: no finite epsilon holds at this delta.")
    elif delta >= LARGE:
        said.append(f"This hides little: with probability up to {delta:g} {seen} may reveal all.")
    elif per_answer.epsilon >= LITTLE:
        said.append(f"This hides little: some {seen} nearly reveal the answer.")
    if count > 1 and per_worker.epsilon > LITTLE_IN_TOTAL:
        said.append(
            f"All {count:,} answers together hide little about {whom} as a whole: {per_worker}."
        )
    return said


def opened_odds(held: Guarantee, whom: str = "a worker") -> str:
    """The odds of a guess at a sealed answer, from the opened totals."""
    right = math.ceil(100 * held.guesses_right - 1e-9)
    often = f"right at most {right} times of 100" if right < 100 else "nearly always right"
    return (
        f"Suppose someone knows all other answers, and that {whom} gave one of two answers. With "
        f"the opened totals their guess is {often}; without them it is right 50 times."
    )


def label_odds(mechanism: Likely, labels: int, *, null: bool = False) -> Odds:
    """The odds that a label is kept or replaced; with `null` NULL is a symbol too."""
    kept = _percent(mechanism.log_likelihood(0, 0))
    other = 100 * math.exp(float(mechanism.log_likelihood(1, 0)))
    each = f" (about {other:.2g} for each)" if labels + null > 2 and kept < 100 else ""
    nothing = " or nothing" if null else ""
    another = "the other" if labels == 2 else "another"
    return Odds(
        kept,
        f"Of 100 workers with the same answer {shares(kept)[0]} send it and {shares(kept)[1]} "
        f"send {another} label{nothing}{each}.",
    )


def point_odds(mechanism: Likely, steps: int, beyond: int | None = None) -> Odds:
    """The odds that a number moves little; reports may lie `beyond` points outside the range."""
    middle, tenth = steps // 2, max(1, steps // 10)
    # A report may reach less far beyond the range than a tenth of it.
    reach = tenth if beyond is None else beyond
    near = np.arange(max(middle - tenth, -reach), min(middle + tenth, steps + reach) + 1)
    likely = float(np.exp(mechanism.log_likelihood(near, middle)).sum())
    close = round(100 * min(1.0, likely))
    return Odds(
        close,
        f"Of 100 workers with the same answer in the middle of the range, {shares(close)[0]} send "
        "a number close to it (within a tenth of the range) and "
        f"{shares(close)[1]} send one farther away.",
    )


def side_odds(mechanism: Likely, whose: str, side: str) -> Odds:
    """The odds that a question with two sides is answered correctly."""
    true = _percent(mechanism.log_likelihood(0, 0))
    yes, no = shares(true)
    return Odds(true, f"Of 100 workers {whose}, {yes} send that {side} and {no} do not.")


def shares(of_100: int) -> tuple[str, str]:
    """The number and the remainder as text; 100 is shown as "more than 99"."""
    if of_100 == 100:
        return "more than 99", "fewer than 1"
    return str(of_100), str(100 - of_100)


def _percent(log_likelihood: Any) -> int:
    return round(100 * math.exp(float(log_likelihood)))
