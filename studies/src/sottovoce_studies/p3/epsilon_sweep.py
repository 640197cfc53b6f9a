"""P3's utility and noise over epsilon on one source, compared with ours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sottovoce.figures import Chart, Level
from sottovoce.planning.pipelines import P3_DELTA
from sottovoce.planning.trials import Spread
from sottovoce_studies.cells import Cell
from sottovoce_studies.crowds import Source
from sottovoce_studies.p3.pipeline import BASELINES, ours_at, published, read_aware, true_epsilon
from sottovoce_studies.paper_tables import BAND, curve, spread_by
from sottovoce_studies.rulings import Ruling, Statement, ruling_on
from sottovoce_studies.study import Row, Value

__all__ = ["EPSILON", "TENTH", "Seen", "Sweep", "falls", "surely_below", "with_numbers"]

EPSILON = "epsilon per answer, nominal"
TENTH = 0.1
"""P3 §V-A: the loss is less than 0.1 at a mean noise of 1, "only 1/10 of the noise"."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """P3's pipeline on a source at some epsilons, and ours at the true guarantee of its noise.

    `answers` is the number per worker. Ours is run at the epsilons in `ours`, in fewer trials.
    """

    name: str
    source: Source
    method: str
    answers: int
    epsilons: tuple[float, ...]
    trials: int
    ours: tuple[float, ...]
    ours_trials: int

    def cells(self, seed: int) -> list[Cell]:
        """One cell per epsilon, then one of ours per guarantee."""
        return [
            *(
                Cell(published, (self.source, self.method, epsilon, self.trials, seed))
                for epsilon in self.epsilons
            ),
            *(
                Cell(read_aware, (self.source, self.kept(epsilon), self.ours_trials, seed))
                for epsilon in self.ours
            ),
        ]

    def kept(self, epsilon: float) -> float:
        """The true ε per answer of P3's noise at its δ, at most the largest ε of ours."""
        return ours_at(true_epsilon(epsilon, self.answers))[1]

    def seen(self, results: Sequence[Any]) -> Seen:
        """The spreads of the results of its cells."""
        theirs, ours = results[: len(self.epsilons)], results[len(self.epsilons) :]
        return Seen(
            self,
            {at: spread_by(each) for at, each in zip(self.epsilons, theirs, strict=True)},
            {
                at: Spread.of([trial["error"] for trial in each])
                for at, each in zip(self.ours, ours, strict=True)
            },
        )


@dataclass(frozen=True, slots=True)
class Seen:
    """The spreads of a sweep over its trials, by epsilon."""

    sweep: Sweep
    theirs: Mapping[float, Mapping[str, Spread]]
    ours: Mapping[float, Spread]

    def of(self, name: str) -> list[Spread]:
        """One quantity at every epsilon."""
        return [at[name] for at in self.theirs.values()]

    def shares(self) -> list[float]:
        """The loss per unit of noise at every epsilon."""
        return [at["change"].mean / at["noise"].mean for at in self.theirs.values()]

    @property
    def level(self) -> Mapping[str, Spread]:
        """Quantities that do not depend on the noise."""
        return next(iter(self.theirs.values()))

    def rows(self, figure: str) -> Iterator[Row]:
        """Three tables: utility and noise, errors to the truth, and the true guarantees."""
        yield from (self._lost(f"Figure {figure}: loss of utility", at) for at in self.theirs)
        yield from (self._errors("MAE to the truth", at) for at in self.theirs)
        yield from (self._kept("True guarantees of the noise", at) for at in self.theirs)

    def _lost(self, part: str, epsilon: float) -> Row:
        at = self.theirs[epsilon]
        return {
            **self._place(part, epsilon),
            "mean noise": at["noise"].mean,
            f"MAE {self.sweep.method.upper()}": at["change"].mean,
            "s.e.": _known(at["change"].standard_error),
            "per noise": at["change"].mean / at["noise"].mean,
            **{f"MAE {name}": at[f"change {name}"].mean for name in BASELINES},
            "trials": at["change"].trials,
        }

    def _errors(self, part: str, epsilon: float) -> Row:
        at, ours = self.theirs[epsilon], self.ours.get(epsilon)
        return {
            **self._place(part, epsilon),
            "before": at["clean"].mean,
            self.sweep.method.upper(): at["error"].mean,
            **{name: at[f"error {name}"].mean for name in BASELINES},
            "ours": None if ours is None else ours.mean,
            "best constant": at["best constant"].mean,
        }

    def _kept(self, part: str, epsilon: float) -> Row:
        answers = self.sweep.answers
        return {
            **self._place(part, epsilon),
            "delta": P3_DELTA,
            "true, answer": true_epsilon(epsilon, answers),
            "true, worker": true_epsilon(epsilon, answers, 1 / math.sqrt(answers)),
            "ours, delta 0": self.sweep.kept(epsilon) if epsilon in self.ours else None,
        }

    def _place(self, part: str, epsilon: float) -> dict[str, Value]:
        return {"part": part, "data": self.sweep.name, "epsilon": epsilon}

    def charts(
        self, figure: str, unit: str, notes: Sequence[str], *limits: Level
    ) -> tuple[Chart, ...]:
        """P3's two charts, both with the noise, and the errors to the truth.

        `figure` is the figure of P3 that they reproduce, or `compare` and its name.
        """
        name, xs = self.sweep.name, self.sweep.epsilons
        method = self.sweep.method.upper()
        lost = [
            curve(method, xs, self.of("change")),
            *(curve(each, xs, self.of(f"change {each}")) for each in BASELINES),
            curve("noise", xs, self.of("noise")),
        ]
        errors = [
            curve(method, xs, self.of("error")),
            *(curve(each, xs, self.of(f"error {each}")) for each in BASELINES),
        ]
        if self.ours:
            errors.append(curve("ours", tuple(self.ours), list(self.ours.values()), "ours"))
        levels = (
            Level(f"{method} before", self.level["clean"].mean),
            Level("best constant", self.level["best constant"].mean),
        )
        return (
            Chart(
                f"Loss of utility, {name} ({figure}a)",
                EPSILON,
                f"MAE, before to after{unit}",
                tuple(lost),
                limits,
                notes[0],
                "lower",
                "log",
                "log",
            ),
            Chart(
                f"Noise, {name} ({figure}b)",
                EPSILON,
                f"mean size of the noise{unit}",
                (curve("noise", xs, self.of("noise")),),
                (),
                notes[1],
                "neither",
                "log",
                "log",
            ),
            Chart(
                f"Error to the truth, {name} (compare {figure.removeprefix('compare ')})",
                EPSILON,
                f"MAE to the truth{unit}",
                tuple(errors),
                levels,
                notes[2],
                "lower",
                "log",
                "log",
            ),
        )


def falls(seen: Sequence[Spread]) -> bool:
    """Whether each mean is below the one before it, and the last below the first by two errors."""
    means = [spread.mean for spread in seen]
    down = all(after < before for before, after in pairwise(means))
    return down and surely_below(seen[-1], means[0])


def with_numbers(statements: Sequence[Statement]) -> Ruling:
    """The ruling on statements; where all are true, its reason has the numbers seen."""
    ruling = ruling_on(statements)
    if ruling.verdict != "holds":
        return ruling
    seen = [f"{each.text}: {each.seen}" for each in statements if each.seen]
    return Ruling("holds", "; ".join(seen))


def surely_below(seen: Spread, figure: float) -> bool:
    """Whether a mean is below a figure by two standard errors."""
    return seen.mean + BAND * seen.standard_error < figure


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number
