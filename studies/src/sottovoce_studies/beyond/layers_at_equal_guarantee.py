"""Study `layers-at-equal-guarantee`: one layer and two layers at the same true guarantee.

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
from sottovoce_studies.beyond.layer_trials import (
    ALIKE,
    EXPERTS,
    FEW_ALIKE,
    FEW_MIXED,
    KINDS,
    MIXED,
    READERS,
    SMALL_DELTA,
    Guaranteed,
    Layer,
    errors_of,
    kept_by,
    layers_at,
    one_layer,
    published,
    two_layer,
)
from sottovoce_studies.cells import Cell
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Source
from sottovoce_studies.paper_tables import BAND, curve, spread_by
from sottovoce_studies.rulings import Verdict
from sottovoce_studies.study import Outcome, Row, Size, Study, Value, Work

__all__ = ["STUDY", "Case", "Duel", "ruling"]


CROWDS: Mapping[Size, tuple[tuple[str, Source], ...]] = {
    "quick": (MIXED,),
    "full": (ALIKE, MIXED, FEW_ALIKE, FEW_MIXED, EXPERTS),
}
ANSWERS = {MIXED[0]: 100, ALIKE[0]: 100, FEW_ALIKE[0]: 20, FEW_MIXED[0]: 20, EXPERTS[0]: 100}
EPSILONS: Mapping[Size, tuple[float, ...]] = {"quick": (0.5, 1.0), "full": (0.1, 0.5, 1.0)}
TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}

HELD: Mapping[int, Mapping[str, Guaranteed]] = {
    100: {
        "epsilon 1 per answer": Guaranteed(Unit.ANSWER, 1.0, 0.0, 100),
        "(1, 0.1) per answer": Guaranteed(Unit.ANSWER, 1.0, 0.1, 100),
        "epsilon 50 per worker": Guaranteed(Unit.WORKER, 50.0, 0.0, 100),
    },
    20: {
        "epsilon 1 per answer": Guaranteed(Unit.ANSWER, 1.0, 0.0, 20),
        "(1, 0.1) per answer": Guaranteed(Unit.ANSWER, 1.0, 0.1, 20),
        "epsilon 10 per worker": Guaranteed(Unit.WORKER, 10.0, 0.0, 20),
    },
}
"""Guarantees to which two layers of any width are calibrated, by answers per worker."""
WIDTHS: Mapping[Size, tuple[float, ...]] = {
    "quick": (0.2, 0.4),
    "full": (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
}
WIDE_CROWDS: Mapping[Size, tuple[tuple[str, Source], ...]] = {
    "quick": (MIXED,),
    "full": (ALIKE, MIXED, FEW_MIXED),
}
WIDE_TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}

ERRORS = 3.0
"""The number of standard errors that refutes a claim."""

PER_ANSWER = KINDS[:3]
"""P1's definition of privacy is about one answer (Def. 6.1)."""

WORDS: Mapping[str, str] = {
    "pure": "epsilon per answer",
    "small delta": f"epsilon per answer at delta {SMALL_DELTA:g}",
    "nominal epsilon": "delta per answer at the nominal epsilon",
    "per worker": "epsilon per worker",
    "sampled": "epsilon per worker, with one layer on a sample of the answers,",
}

COLUMNS = (
    "part",
    "nominal",
    "equal",
    "epsilon",
    "delta",
    "width",
    "mean flip",
    "two TD",
    "one TD",
    "TD",
    "s.e.",
    "lower",
    "two aware",
    "one aware",
    "aware",
    CONSTANT,
    "trials",
)


@dataclass(frozen=True, slots=True)
class Case:
    """Trials of mechanisms on one crowd: as published at an epsilon, or of several widths."""

    name: str
    source: Source
    trials: int
    epsilon: float | None = None
    held: str | None = None
    widths: tuple[float, ...] = ()

    @property
    def answers(self) -> int:
        """The number of answers per worker."""
        return ANSWERS[self.name]

    def mechanisms(self) -> dict[str, Layer]:
        """The compared mechanisms by name, without widths that cannot meet the guarantee."""
        if self.held is None:
            return layers_at(self.epsilon or 0.0, self.answers)
        held = HELD[self.answers][self.held]
        wide = {f"{width:g}": two_layer(held, width) for width in self.widths}
        return {"0": one_layer(held), **{name: each for name, each in wide.items() if each}}

    def cells(self, seed: int) -> list[Cell]:
        """One cell per trial."""
        chosen = tuple(self.mechanisms().items())
        return [Cell(errors_of, (self.source, chosen, trial, seed)) for trial in range(self.trials)]


def cases(size: Size) -> list[Case]:
    """As published on every crowd at every epsilon, then every width at the same guarantee."""
    published = [
        Case(name, source, TRIALS[size], epsilon=epsilon)
        for name, source in CROWDS[size]
        for epsilon in EPSILONS[size]
    ]
    wide = [
        Case(name, source, WIDE_TRIALS[size], held=held, widths=WIDTHS[size])
        for name, source in WIDE_CROWDS[size]
        for held, each in HELD[ANSWERS[name]].items()
        if size == "full" or each.delta == 0
    ]
    return [*published, *wide]


def published_charts(pairs: Sequence[tuple[Case, Sequence[Any]]]) -> Iterator[Chart]:
    """One chart per crowd: errors of TD by nominal epsilon."""
    for name in dict.fromkeys(case.name for case, _ in pairs):
        own = sorted(
            ((case.epsilon or 0.0, spread_by(seen)) for case, seen in pairs if case.name == name),
            key=lambda pair: pair[0],
        )
        xs = [epsilon for epsilon, _ in own]
        names = {
            "two-layer TD": "two-layer",
            "nominal TD": "one-layer, nominal",
            "nominal epsilon TD": "one-layer, equal delta",
            "small delta TD": f"one-layer, equal at delta {SMALL_DELTA:g}",
            "pure TD": "one-layer, equal epsilon",
            "per worker TD": "one-layer, equal per worker",
        }
        series = tuple(
            curve(
                label,
                xs,
                [spread[column] for _, spread in own],
                "theirs" if column in ("two-layer TD", "nominal TD") else "ours",
            )
            for column, label in names.items()
        )
        yield Chart(
            f"One layer with the true guarantee of two as published: {name}",
            "epsilon per answer, nominal",
            "error rate of TD",
            series,
            (Level(CONSTANT, own[0][1][CONSTANT].mean),),
            note="P1 §1: with the same privacy guarantee two layers deliver better utility. Here "
            "one layer has the true guarantee of two layers, per answer or per worker.",
            better="lower",
        )


def width_charts(pairs: Sequence[tuple[Case, Sequence[Any]]]) -> Iterator[Chart]:
    """One chart per crowd: errors by width at the same guarantee."""
    shown = [(case, spread_by(seen)) for case, seen in pairs]
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
            f"Two layers of any width at the same guarantee: {name}",
            "width b - a (0 is one layer)",
            "error rate",
            series,
            (Level(CONSTANT, own[0][1][CONSTANT].mean),),
            note="P1 §6.3: the diversity of flip probabilities is the key to better utility. "
            "Here the error of TD is smallest at the width "
            f"{', '.join(_least(*each) for each in own)}.",
            better="lower",
        )


def _least(case: Case, spread: Mapping[str, Spread]) -> str:
    best = min(case.mechanisms(), key=lambda width: spread[f"{width} TD"].mean)
    return f"{best} for {case.held}"


@dataclass(frozen=True, slots=True)
class Duel:
    """Two layers as published against one layer with the same guarantee of a kind."""

    case: Case
    kind: str
    reader: str
    two: Spread
    one: Spread
    apart: Spread

    @property
    def two_better(self) -> bool:
        """Whether the error of two layers is smaller, by two standard errors."""
        return self.apart.mean < -BAND * self.apart.standard_error

    @property
    def one_better(self) -> bool:
        """Whether the error of one layer is smaller, by two standard errors."""
        return self.apart.mean > BAND * self.apart.standard_error

    @property
    def refutes(self) -> bool:
        """Whether the error of one layer is smaller, by three standard errors."""
        return self.apart.mean > ERRORS * self.apart.standard_error


def duels_of(case: Case, seen: Sequence[Mapping[str, float]]) -> Iterator[Duel]:
    """Every kind of equal guarantee, and only the nominal epsilon, with every method."""
    spread = spread_by(seen)
    for kind in (*KINDS, "nominal"):
        for reader in READERS:
            two, one = f"two-layer {reader}", f"{kind} {reader}"
            # Trials share answers and noise words, so differences vary less than errors.
            apart = Spread.of([trial[two] - trial[one] for trial in seen])
            yield Duel(case, kind, reader, spread[two], spread[one], apart)


def ruling(duels: Sequence[Duel]) -> tuple[Verdict, str]:
    """Holds if two layers are always better, in shape if mostly and never worse, else fails."""
    better = sum(duel.two_better for duel in duels)
    lost = sum(duel.refutes for duel in duels)
    if lost or 2 * better <= len(duels):
        ahead = sum(duel.one_better for duel in duels)
        return "fails", (
            f"at the same true guarantee the error of one layer is smaller in {ahead} of "
            f"{len(duels)} cases"
        )
    if better == len(duels):
        return "holds", ""
    return "holds in shape", (
        f"the error of two layers is smaller in {better} of {len(duels)} cases"
    )


def plan(size: Size, seed: int) -> Work:
    """As published on every crowd at every epsilon, then every width at the same guarantee."""
    chosen = cases(size)
    cells = [cell for case in chosen for cell in case.cells(seed)]
    return Work(cells, lambda results: judge(chosen, results))


def judge(chosen: Sequence[Case], results: Sequence[Any]) -> Outcome:
    """Judge P1's claim with P1's method, TD, at equal guarantees per answer."""
    rest = iter(results)
    trials = [[next(rest) for _ in range(case.trials)] for case in chosen]
    pairs = list(zip(chosen, trials, strict=True))
    plain = [(case, seen) for case, seen in pairs if case.held is None]
    duels = [duel for case, seen in plain for duel in duels_of(case, seen)]
    verdict, reason = ruling([d for d in duels if d.kind in PER_ANSWER and d.reader == "TD"])
    rows = [row for case, seen in pairs for row in _rows(case, seen, duels)]
    wide = [(case, seen) for case, seen in pairs if case.held is not None]
    charts = [*published_charts(plain), *width_charts(wide)]
    return Outcome(tuple(rows), verdict, reason, _words(duels, wide), tuple(charts))


def _rows(case: Case, seen: Sequence[Mapping[str, float]], duels: Sequence[Duel]) -> Iterator[Row]:
    if case.held is not None:
        yield from _width_rows(case, seen)
        return
    constant = spread_by(seen)[CONSTANT].mean
    for kind in (*KINDS, "nominal"):
        td, aware = (d for d in duels if d.case is case and d.kind == kind)
        yield dict.fromkeys(COLUMNS) | {
            "part": f"Error rate, two layers as published, {case.name}",
            "nominal": case.epsilon,
            **_held(case, kind),
            "two TD": td.two.mean,
            "one TD": td.one.mean,
            "s.e.": td.apart.standard_error,
            "lower": "two" if td.two_better else "one" if td.one_better else "neither",
            "two aware": aware.two.mean,
            "one aware": aware.one.mean,
            CONSTANT: constant,
            "trials": case.trials,
        }


def _held(case: Case, kind: str) -> dict[str, Value]:
    if kind == "nominal":
        return {"equal": "nominal only", "epsilon": case.epsilon, "delta": None}
    held = kept_by(published(case.epsilon or 0.0), kind, case.epsilon or 0.0, case.answers)
    unit = "worker, sampled" if kind == "sampled" else str(held.unit)
    return {"equal": unit, "epsilon": held.epsilon, "delta": held.delta}


def _width_rows(case: Case, seen: Sequence[Mapping[str, float]]) -> Iterator[Row]:
    spread = spread_by(seen)
    for width, mechanism in case.mechanisms().items():
        channel = cast("TwoLayer | RandomizedResponse", mechanism).channel()  # no sample here
        yield dict.fromkeys(COLUMNS) | {
            "part": f"Error rate, U(a, a + width) at {case.held}, {case.name}",
            "width": float(width),
            "mean flip": 1 - channel.weights[0][0] / channel.total,
            "TD": spread[f"{width} TD"].mean,
            "s.e.": spread[f"{width} TD"].standard_error,
            "aware": spread[f"{width} aware"].mean,
            CONSTANT: spread[CONSTANT].mean,
            "trials": case.trials,
        }


def _words(
    duels: Sequence[Duel], wide: Sequence[tuple[Case, Sequence[Mapping[str, float]]]]
) -> str:
    parts = []
    for kind in (*KINDS, "nominal"):
        own = [duel for duel in duels if duel.kind == kind and duel.reader == "TD"]
        two, one = sum(d.two_better for d in own), sum(d.one_better for d in own)
        ratio = sum(d.two.mean for d in own) / sum(d.one.mean for d in own)
        what = "the nominal epsilon only" if kind == "nominal" else f"the same {WORDS[kind]}"
        parts.append(
            f"at {what} the error of two layers is smaller in {two} and that of one layer in "
            f"{one} of {len(own)} cases, and errors of two layers are {ratio:.2f} times those of "
            "one"
        )
    return (
        f"With TD, {'; '.join(parts)}. P1 defines privacy per answer (Def. 6.1), and there U(a, "
        "b) with a > 0 and b up to 1/2 is one layer of flip probability a with additional noise "
        f"(proven). {_worker_words(duels)} {_wide_words(wide)}"
    )


def _worker_words(duels: Sequence[Duel]) -> str:
    """Pure epsilons per worker of both layers at each nominal epsilon, on the first crowd."""
    first = duels[0].case
    nominal = sorted({duel.case.epsilon or 0.0 for duel in duels})
    two = [published(e).guarantee(first.answers, Unit.WORKER).epsilon for e in nominal]
    one = [first.answers * e for e in nominal]  # independent noise for every answer
    return (
        f"Per worker the true epsilon of two layers as published is {_listed(two)} for "
        f"{first.answers} answers at nominal epsilon {_listed(nominal)}, and that of one layer "
        f"{_listed(one)}: which is larger depends on the nominal epsilon."
    )


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _wide_words(wide: Sequence[tuple[Case, Sequence[Mapping[str, float]]]]) -> str:
    """Guarantees at which some width beats one layer with TD, and those without."""
    gains = [(case, _best_width(case, seen)) for case, seen in wide]
    names = {
        flag: ", ".join(
            f"{case.held} ({case.name})" for case, width in gains if (width > 0) == flag
        )
        for flag in (True, False)
    }
    words = (
        "Calibrated to the same guarantee, no width has a smaller error than one layer at "
        f"{names[False]}"
    )
    return f"{words}; some width does at {names[True]}." if names[True] else f"{words}."


def _best_width(case: Case, seen: Sequence[Mapping[str, float]]) -> float:
    """The width with the smallest error of TD, if two standard errors below one layer; else 0."""
    gains = {
        float(width): Spread.of([trial[f"{width} TD"] - trial["0 TD"] for trial in seen])
        for width in case.mechanisms()
        if width != "0"
    }
    width, gain = min(gains.items(), key=lambda pair: pair[1].mean)
    return width if gain.mean < -BAND * gain.standard_error else 0.0


STUDY = Study(
    "layers-at-equal-guarantee",
    "With the same privacy guarantee, the two-layer mechanism delivers better utility than the "
    "one-layer mechanism",
    "P1 §1 and §6.3, at equal true guarantees",
    "drawn binary crowds, 12.8 answers per task (50 where a third are important); U(0, b) as "
    "published against one layer with the true guarantee of U(0, b) for k answers: pure epsilon "
    f"per answer, epsilon at delta {SMALL_DELTA:g}, delta at the nominal epsilon, pure epsilon "
    "per worker; then U(a, a + width) calibrated to three guarantees; judged per answer with TD: "
    "the error of two layers must be smaller in most cases (2 standard errors) and larger in "
    "none (3); ties are broken at random",
    plan,
    "one crowd at two epsilons, three widths at two guarantees, 2 trials instead of 20",
    recorded="fails",
)
