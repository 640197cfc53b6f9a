"""A guarantee in words: what becomes of 100 answers, as mechanisms of one alphabet say it.

People understand odds better than epsilon, and odds better than examples of output (Nanayakkara
et al. 2023).
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sottovoce.model import FloatArray, Odds

LITTLE = 4.0
"""From this epsilon per answer on, little is hidden: of 100 answers of four labels 95 are sent."""

LARGE = 0.001
"""From this delta on, it has to be said what a delta is."""


class Likely(Protocol):
    """A mechanism that says how likely a report is, given its answer."""

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        """ln P(report | answer) for arrays of codes."""
        ...


def weakness_warning(epsilon: float, delta: float = 0.0) -> str | None:
    """A warning where a guarantee per answer hides little or nothing; None where it does hide."""
    if math.isinf(epsilon):
        return "This promises to hide nothing: no finite epsilon holds at this delta."
    if delta >= LARGE:
        return f"This hides little: with a chance of up to {delta:g} reports may betray anything."
    if epsilon >= LITTLE:
        return "This hides little: some reports can almost be taken at their word."
    return None


def label_odds(mechanism: Likely, labels: int, *, null: bool = False) -> Odds:
    """Of a label that is kept, or replaced by any other one; with `null` NULL is one too."""
    kept = _percent(mechanism.log_likelihood(0, 0))
    other = 100 * math.exp(float(mechanism.log_likelihood(1, 0)))
    each = f", each other one by about {other:.2g}" if labels + null > 2 and kept < 100 else ""
    nothing = " or nothing" if null else ""
    return Odds(
        kept,
        f"Of 100 workers with the same answer {shares(kept)[0]} send it and {shares(kept)[1]} "
        f"send another label{nothing}{each}.",
    )


def point_odds(mechanism: Likely, steps: int, beyond: int | None = None) -> Odds:
    """Of a number that is moved; a report may lie up to `beyond` points beyond the range."""
    middle, tenth = steps // 2, max(1, steps // 10)
    # A report may reach less far beyond the range than a tenth of it.
    reach = tenth if beyond is None else beyond
    near = np.arange(max(middle - tenth, -reach), min(middle + tenth, steps + reach) + 1)
    likely = float(np.exp(mechanism.log_likelihood(near, middle)).sum())
    close = round(100 * min(1.0, likely))
    return Odds(
        close,
        f"Of 100 workers with an answer in the middle of the range {close} send a number within "
        f"a tenth of the range of it.",
    )


def side_odds(mechanism: Likely, question: str) -> Odds:
    """Of a question with two sides, which is answered truly or not."""
    true = _percent(mechanism.log_likelihood(0, 0))
    yes, no = shares(true)
    return Odds(true, f"Of 100 workers {yes} say truly {question}, and {no} do not.")


def shares(of_100: int) -> tuple[str, str]:
    """So many and the others; no noise is never quite none."""
    if of_100 == 100:
        return "more than 99", "fewer than 1"
    return str(of_100), str(100 - of_100)


def _percent(log_likelihood: Any) -> int:
    return round(100 * math.exp(float(log_likelihood)))
