"""Choices that a paper leaves open, and the distance of its printed numbers from each.

A distance is the root mean square of z, the difference between a printed and our number in standard
errors. Both vary over trials, and the printed one is rounded:

    z = (ours - printed) / sqrt(s^2 / n + s^2 / n_paper + r^2 / 12)

with the standard deviation s of one of our trials, which is assumed for the paper's trials too, our
n and the paper's n_paper trials, and r one unit of the last printed digit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sottovoce.planning.trials import Spread
from sottovoce_studies.rulings import Ruling, Verdict

__all__ = ["FAR", "PART", "SHARE", "Choice", "best", "choice_rows", "distances", "grid", "numbers"]

FAR = 3.0
"""A printed number is met if it is within this many standard errors."""
SHARE = 0.95
"""The least share of printed numbers that must be met under one choice for numbers to hold."""
PART = "Choices that the paper leaves open"


@dataclass(frozen=True, slots=True)
class Choice:
    """One setting of the open points, and how many printed numbers or statements are met.

    `distance` is the rms z of printed numbers; None where the paper prints none, and statements of
    its text are counted instead.
    """

    values: Mapping[str, str]
    met: int
    of: int
    distance: float | None = None

    def __str__(self) -> str:
        return ", ".join(f"{point}: {value}" for point, value in self.values.items())

    @property
    def share(self) -> float:
        """The share that is met."""
        return self.met / self.of if self.of else 0.0


def grid(points: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Every combination of the open points.

    >>> list(grid({"ties": ("random", "first"), "divisor": ("answered",)}))
    [{'ties': 'random', 'divisor': 'answered'}, {'ties': 'first', 'divisor': 'answered'}]
    """
    for values in product(*points.values()):
        yield dict(zip(points, values, strict=True))


def z_score(ours: Spread, printed: float, paper_trials: int, unit: float) -> float:
    """The distance of a printed number from our mean in standard errors, with its sign.

    >>> round(z_score(Spread.of([0.1, 0.2, 0.3]), 0.2, 100, 0.0001), 6)
    0.0
    """
    variance = 0.0 if ours.trials < 2 else ours.standard_error**2 * ours.trials
    error = math.sqrt(variance / ours.trials + variance / paper_trials + unit**2 / 12)
    return (ours.mean - printed) / error


def distances(
    values: Mapping[str, str],
    pairs: Sequence[tuple[Spread, float]],
    *,
    paper_trials: int,
    unit: float,
) -> Choice:
    """The choice with its distance from printed numbers, given as pairs of ours and printed."""
    scores = [z_score(ours, printed, paper_trials, unit) for ours, printed in pairs]
    met = sum(abs(score) <= FAR for score in scores)
    rms = math.sqrt(sum(score**2 for score in scores) / len(scores))
    return Choice(values, met, len(scores), rms)


def best(choices: Sequence[Choice]) -> Choice:
    """The choice under which a study is judged: most met, then the smallest distance."""
    return max(choices, key=lambda each: (each.share, -(each.distance or 0.0)))


def numbers(choices: Sequence[Choice]) -> Ruling:
    """The ruling on printed numbers under the best choice.

    They hold if at least 95 % are within 3 standard errors, and in part if at least half are.
    """
    chosen = best(choices)
    verdict: Verdict = "holds" if chosen.share >= SHARE else "fails"
    if 0.5 <= chosen.share < SHARE:
        verdict = "partly"
    tried = f", of {len(choices)} choices tried" if len(choices) > 1 else ""
    under = f" with {chosen}" if chosen.values else ""
    return Ruling(verdict, f"{chosen.met} of {chosen.of} within {FAR:g} s.e.{under}{tried}")


def choice_rows(choices: Sequence[Choice]) -> Iterator[dict[str, str | int | float | None]]:
    """One row per choice; the judged one is marked."""
    judged = best(choices) if choices else None
    for choice in choices:
        yield {
            "part": PART,
            **choice.values,
            "met": choice.met,
            "of": choice.of,
            "rms z": choice.distance,
            "judged": "yes" if choice is judged else None,
        }
