"""A guarantee in words: what becomes of 100 answers.

People understand odds better than epsilon, and odds better than examples of output (Nanayakkara
et al. 2023).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.mechanisms.sampling import Sampled
from sottovoce.model import WORDS, Alphabet
from sottovoce.seams import Mechanism

__all__ = ["LITTLE", "Odds", "frankly", "odds_of"]

LITTLE = 4.0
"""From this epsilon per answer on, little is hidden: of 100 answers of four labels 95 are sent."""

LARGE = 0.001
"""From this delta on, it has to be said what a delta is."""


@dataclass(frozen=True, slots=True)
class Odds:
    """How many of 100 answers fare well in the report, and what that means in a sentence."""

    of_100: int
    sentence: str


def odds_of(mechanism: Mechanism) -> Odds | None:
    """The fate of 100 answers; None where no report stands for one answer."""
    if isinstance(mechanism, Sampled):
        inner = odds_of(mechanism.mechanism)
        sent = f" A worker sends {mechanism.answers:,} of its answers, chosen at random."
        return inner and Odds(inner.of_100, inner.sentence + sent)
    match mechanism.alphabet:
        case Alphabet.LABELS | Alphabet.LABELS_OR_NULL:
            return _labels(mechanism)
        case Alphabet.SUBSETS:
            return _subsets(mechanism)
        case Alphabet.POINTS:
            return _points(mechanism)
        case Alphabet.SIDES | Alphabet.SIDES_OR_NULL | Alphabet.ENDS:
            return _sides(mechanism)
        case _:
            return None


def frankly(epsilon: float, delta: float = 0.0) -> str | None:
    """A warning where a guarantee per answer hides little or nothing; None where it does hide."""
    if math.isinf(epsilon):
        return "This promises to hide nothing: no finite epsilon holds at this delta."
    if delta >= LARGE:
        return f"This hides little: with a chance of up to {delta:g} reports may betray anything."
    if epsilon >= LITTLE:
        return "This hides little: some reports can almost be taken at their word."
    return None


def _labels(mechanism: Any) -> Odds:
    kept = _percent(mechanism.log_likelihood(0, 0))
    other = 100 * math.exp(float(mechanism.log_likelihood(1, 0)))
    symbols = mechanism.labels + (mechanism.alphabet is Alphabet.LABELS_OR_NULL)
    each = f", each other one by about {other:.2g}" if symbols > 2 and kept < 100 else ""
    nothing = " or nothing" if mechanism.alphabet is Alphabet.LABELS_OR_NULL else ""
    return Odds(
        kept,
        f"Of 100 workers with the same answer {_shares(kept)[0]} send it and {_shares(kept)[1]} "
        f"send another label{nothing}{each}.",
    )


def _subsets(mechanism: Any) -> Odds:
    held = round(100 * mechanism.include / WORDS)
    return Odds(
        held,
        f"Of 100 workers with the same answer {_shares(held)[0]} send a set of {mechanism.size} "
        f"that has it and {_shares(held)[1]} a set that has it not.",
    )


def _points(mechanism: Any) -> Odds:
    middle, tenth = mechanism.steps // 2, max(1, mechanism.steps // 10)
    # A report may reach less far beyond the range than a tenth of it.
    beyond = getattr(mechanism, "beyond", tenth)
    near = np.arange(
        max(middle - tenth, -beyond), min(middle + tenth, mechanism.steps + beyond) + 1
    )
    likely = float(np.exp(mechanism.log_likelihood(near, middle)).sum())
    close = round(100 * min(1.0, likely))
    return Odds(
        close,
        f"Of 100 workers with an answer in the middle of the range {close} send a number within "
        f"a tenth of the range of it.",
    )


def _sides(mechanism: Any) -> Odds:
    true = _percent(mechanism.log_likelihood(0, 0))
    question = (
        "which end of the range their answer is at, if it is at an end"
        if mechanism.alphabet is Alphabet.ENDS
        else "on which side of a threshold their answer is"
    )
    yes, no = _shares(true)
    return Odds(true, f"Of 100 workers {yes} say truly {question}, and {no} do not.")


def _shares(of_100: int) -> tuple[str, str]:
    """So many and the others; no noise is never quite none."""
    if of_100 == 100:
        return "more than 99", "fewer than 1"
    return str(of_100), str(100 - of_100)


def _percent(log_likelihood: Any) -> int:
    return round(100 * math.exp(float(log_likelihood)))
