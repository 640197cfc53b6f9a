"""Study `layers-per-answer`: one layer and two layers at the same true guarantee per answer.

First two layers as published against one layer with their true guarantee, on every crowd at every
epsilon, which determines the verdict; then two layers of every width at one guarantee.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sottovoce.figures import Chart, Level
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import Unit
from sottovoce.planning.trials import Spread
from sottovoce_studies.beyond.layer_duels import (
    ANSWERS,
    RULE,
    Seen,
    cases,
    counted,
    duel_rows,
    duels_of,
    published_charts,
    ruling,
)
from sottovoce_studies.beyond.layer_trials import (
    ALIKE,
    FEW_MIXED,
    KINDS,
    MIXED,
    READERS,
    SMALL_DELTA,
    Guaranteed,
    Layer,
    errors_of,
    one_layer,
    two_layer,
)
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Source
from sottovoce_studies.paper_tables import BAND, curve, spread_by
from sottovoce_studies.rulings import Rulings
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["STUDY", "Wide"]

JUDGED = KINDS[:3]
"""P1's definition of privacy is about one answer (Def. 6.1)."""

HELD: Mapping[str, tuple[float, float]] = {
    "epsilon 1 per answer": (1.0, 0.0),
    "(1, 0.1) per answer": (1.0, 0.1),
}
"""Guarantees to which two layers of any width are calibrated: epsilon and delta."""
WIDTHS: Mapping[Size, tuple[float, ...]] = {
    "quick": (0.2, 0.4),
    "full": (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
}
CROWDS: Mapping[Size, tuple[tuple[str, Source], ...]] = {
    "quick": (MIXED,),
    "full": (ALIKE, MIXED, FEW_MIXED),
}
TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}

WORDS: Mapping[str, str] = {
    "pure": "the same epsilon per answer",
    "small delta": f"the same epsilon per answer at delta {SMALL_DELTA:g}",
    "nominal epsilon": "the same delta per answer at the nominal epsilon",
    "nominal": "the nominal epsilon only",
}

CURVES: Mapping[str, str] = {
    "two-layer": "two-layer",
    "nominal": "one-layer, nominal",
    "nominal epsilon": "one-layer, equal delta",
    "small delta": f"one-layer, equal at delta {SMALL_DELTA:g}",
    "pure": "one-layer, equal epsilon",
}


@dataclass(frozen=True, slots=True)
class Wide:
    """Trials of two layers of several widths with one guarantee, on one crowd."""

    name: str
    source: Source
    trials: int
    held: str
    widths: tuple[float, ...]

    def mechanisms(self) -> dict[str, Layer]:
        """The mechanisms by width, without widths that cannot meet the guarantee."""
        epsilon, delta = HELD[self.held]
        held = Guaranteed(Unit.ANSWER, epsilon, delta, ANSWERS[self.name])
        wide = {f"{width:g}": two_layer(held, width) for width in self.widths}
        return {"0": one_layer(held), **{name: each for name, each in wide.items() if each}}

    def cells(self, seed: int) -> list[Cell]:
        """One cell per trial."""
        chosen = tuple(self.mechanisms().items())
        return [Cell(errors_of, (self.source, chosen, trial, seed)) for trial in range(self.trials)]


def wide_cases(size: Size) -> list[Wide]:
    """Every crowd with every guarantee; quick runs have the first."""
    held = HELD if size == "full" else tuple(HELD)[:1]
    return [
        Wide(name, source, TRIALS[size], each, WIDTHS[size])
        for name, source in CROWDS[size]
        for each in held
    ]


def plan(size: Size, seed: int) -> Work:
    """As published on every crowd at every epsilon, then every width at the same guarantee."""
    plain, wide = cases(size), wide_cases(size)
    cells = [cell for case in plain for cell in case.cells(seed)]
    cells += [cell for case in wide for cell in case.cells(seed)]

    def judged(results: Sequence[Any]) -> Outcome:
        rest = iter(results)
        pairs = [(case, [next(rest) for _ in range(case.trials)]) for case in plain]
        return judge(pairs, [(case, [next(rest) for _ in range(case.trials)]) for case in wide])

    return Work(cells, judged)


def judge(pairs: Sequence[Seen], wide: Sequence[tuple[Wide, Sequence[Any]]]) -> Outcome:
    """Judge P1's claim with P1's method, TD, at equal guarantees per answer."""
    duels = {kind: duels_of(pairs, kind) for kind in WORDS}
    found = ruling([duel for kind in JUDGED for duel in duels[kind]])
    rows = [row for pair in pairs for row in duel_rows(pair, tuple(WORDS))]
    rows += [row for case, seen in wide for row in _width_rows(case, seen)]
    seen = "; ".join(f"at {WORDS[kind]} {counted(duels[kind])}" for kind in WORDS)
    words = (
        f"The error of TD under two layers as published, compared with one layer: {seen}. P1 "
        "defines privacy per answer (Def. 6.1), and there U(a, b) with a > 0 and b up to 1/2 is "
        "one layer of flip probability a with additional noise (proven). "
        f"{_wide_words(wide)} Per worker the result is another: study layers-per-worker."
    )
    charts = [*published_charts(pairs, CURVES, "answer"), *width_charts(wide)]
    return Outcome(tuple(rows), Rulings(shape=found), words, tuple(charts))


def width_charts(wide: Sequence[tuple[Wide, Sequence[Any]]]) -> Iterator[Chart]:
    """One chart per crowd: errors by width at the same guarantee."""
    shown = [(case, spread_by(seen)) for case, seen in wide]
    for name in dict.fromkeys(case.name for case, _ in shown):
        own = [(case, spread) for case, spread in shown if case.name == name]
        series = tuple(
            curve(
                f"{reader}, {case.held}",
                [float(width) for width in case.mechanisms()],
                [spread[f"{width} {reader}"] for width in case.mechanisms()],
                "theirs" if reader == "TD" else "ours",
            )
            for reader in READERS
            for case, spread in own
        )
        yield Chart(
            f"Two layers of any width at the same guarantee per answer: {name}",
            "width b - a (0 is one layer)",
            "error rate",
            series,
            (Level(CONSTANT, own[0][1][CONSTANT].mean),),
            note="P1 §6.3: the diversity of flip probabilities is the key to better utility. "
            "Here the error of TD is smallest at the width "
            f"{', '.join(_least(*each) for each in own)}.",
            better="lower",
        )


def _least(case: Wide, spread: Mapping[str, Spread]) -> str:
    best = min(case.mechanisms(), key=lambda width: spread[f"{width} TD"].mean)
    return f"{best} for {case.held}"


def _width_rows(case: Wide, seen: Sequence[Mapping[str, float]]) -> Iterator[Row]:
    spread = spread_by(seen)
    for width, mechanism in case.mechanisms().items():
        channel = cast("TwoLayer | RandomizedResponse", mechanism).channel()  # no sample here
        yield {
            "part": f"Error rate, U(a, a + width) at {case.held}, {case.name}",
            "width": float(width),
            "mean flip": 1 - channel.weights[0][0] / channel.total,
            "TD": spread[f"{width} TD"].mean,
            "s.e.": spread[f"{width} TD"].standard_error,
            "aware": spread[f"{width} aware"].mean,
            CONSTANT: spread[CONSTANT].mean,
            "trials": case.trials,
        }


def _wide_words(wide: Sequence[tuple[Wide, Sequence[Mapping[str, float]]]]) -> str:
    """The guarantees at which some width beats one layer with TD."""
    gains = [f"{case.held} ({case.name})" for case, seen in wide if _best_width(case, seen) > 0]
    where = ", ".join(gains) or f"none of {len(wide)} cases"
    return f"Calibrated to the same guarantee, some width errs less than one layer in {where}."


def _best_width(case: Wide, seen: Sequence[Mapping[str, float]]) -> float:
    """The width with the smallest error of TD, if two standard errors below one layer; else 0."""
    gains = {
        float(width): Spread.of([trial[f"{width} TD"] - trial["0 TD"] for trial in seen])
        for width in case.mechanisms()
        if width != "0"
    }
    width, gain = min(gains.items(), key=lambda pair: pair[1].mean)
    return width if gain.mean < -BAND * gain.standard_error else 0.0


STUDY = Study(
    "layers-per-answer",
    "With the same privacy guarantee per answer, the two-layer mechanism delivers better utility "
    "than the one-layer mechanism",
    "P1 §1 and §6.3, at equal true guarantees per answer (Def. 6.1)",
    "drawn binary crowds, 12.8 answers per task (50 where a third are important); U(0, b) as "
    "published against one layer with the true guarantee of U(0, b) for k answers: pure epsilon, "
    f"epsilon at delta {SMALL_DELTA:g}, delta at the nominal epsilon; then U(a, a + width) "
    f"calibrated to two guarantees; judged with TD: {RULE}; ties are broken at random",
    plan,
    "one crowd at two epsilons, three widths at one guarantee, 2 trials instead of 20",
    recorded=("not claimed", "fails", "not claimed"),
)
