"""Study `layers-at-equal-guarantee`: one layer against two that truly keep the same guarantee."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import Unit
from sottovoce.planning.trials import Spread
from sottovoce.studies.beyond.equal_layers import (
    KINDS,
    SMALL_DELTA,
    kept_by,
    published,
)
from sottovoce.studies.beyond.layer_cases import Case, cases
from sottovoce.studies.beyond.layer_charts import published_charts, width_charts
from sottovoce.studies.beyond.layer_duels import Duel, duels_of, ruling
from sottovoce.studies.comparing import BAND, spread_by
from sottovoce.studies.contests import CONSTANT
from sottovoce.studies.study import Outcome, Row, Size, Study, Value, Work

__all__ = ["PER_ANSWER", "STUDY", "judge"]

PER_ANSWER = KINDS[:3]
"""P1's definition of privacy is about one answer (Def. 6.1)."""
WORDS: Mapping[str, str] = {
    "pure": "epsilon per answer",
    "small delta": f"epsilon per answer at delta {SMALL_DELTA:g}",
    "nominal epsilon": "delta per answer at the nominal epsilon",
    "per worker": "epsilon per worker",
    "sampled": "epsilon per worker, spent by one layer on a sample of the answers,",
}
COLUMNS = (
    "part", "nominal", "equal", "epsilon", "delta", "width", "mean flip", "two TD", "one TD", "TD",
    "s.e.", "lower", "two aware", "one aware", "aware", CONSTANT, "trials",
)  # fmt: skip


def plan(size: Size, seed: int) -> Work:
    """As published on every crowd at every epsilon, then every width at the same guarantee."""
    chosen = cases(size)
    cells = [cell for case in chosen for cell in case.cells(seed)]
    return Work(cells, lambda results: judge(chosen, results))


def judge(chosen: Sequence[Case], results: Sequence[Any]) -> Outcome:
    """P1's claim with P1's method, TD, wherever the guarantee per answer is the same."""
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
            f"at {what} two layers err less in {two} and one layer in {one} of {len(own)} cases, "
            f"and errors of two layers are {ratio:.2f} times those of one"
        )
    return (
        f"With TD, {'; '.join(parts)}. P1's privacy is that of one answer (Def. 6.1), and there "
        "U(a, b) with a > 0 and b up to 1/2 is one layer of flip probability a with more noise on "
        f"top (proven). {_worker_words(duels)} {_wide_words(wide)}"
    )


def _worker_words(duels: Sequence[Duel]) -> str:
    """Pure epsilons per worker of both layers at each nominal epsilon, on the first crowd."""
    first = duels[0].case
    nominal = sorted({duel.case.epsilon or 0.0 for duel in duels})
    two = [published(e).guarantee(first.answers, Unit.WORKER).epsilon for e in nominal]
    one = [first.answers * e for e in nominal]  # independent noise for every answer
    return (
        f"Per worker two layers as published keep {_listed(two)} for {first.answers} answers at "
        f"nominal epsilon {_listed(nominal)}, and one layer {_listed(one)}: "
        "which of them gives more away depends on the nominal epsilon."
    )


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _wide_words(wide: Sequence[tuple[Case, Sequence[Mapping[str, float]]]]) -> str:
    """Where some width beats one layer, and where none does, with TD."""
    gains = [(case, _best_width(case, seen)) for case, seen in wide]
    names = {
        flag: ", ".join(
            f"{case.held} ({case.name})" for case, width in gains if (width > 0) == flag
        )
        for flag in (True, False)
    }
    words = f"Calibrated to the same guarantee, no width errs less than one layer at {names[False]}"
    return f"{words}; some width does at {names[True]}." if names[True] else f"{words}."


def _best_width(case: Case, seen: Sequence[Mapping[str, float]]) -> float:
    """The width whose TD errs least, if that is two standard errors less than one layer; or 0."""
    gains = {
        float(width): Spread.of([trial[f"{width} TD"] - trial["0 TD"] for trial in seen])
        for width in case.mechanisms() if width != "0"
    }  # fmt: skip
    width, gain = min(gains.items(), key=lambda pair: pair[1].mean)
    return width if gain.mean < -BAND * gain.standard_error else 0.0


STUDY = Study(
    "layers-at-equal-guarantee",
    "With the same privacy guarantee, the two-layer mechanism delivers better utility than the "
    "one-layer mechanism",
    "P1 §1 and §6.3, at guarantees that are truly the same",
    "drawn binary crowds, 12.8 answers a task (50 where a third are important); U(0, b) as "
    "published against one layer with what U(0, b) truly keeps for k answers: pure epsilon per "
    f"answer, epsilon at delta {SMALL_DELTA:g}, delta at the nominal epsilon, pure epsilon per "
    "worker; then U(a, a + width) calibrated to three guarantees; judged per answer with TD: two "
    "layers must err less in most cases (2 standard errors) and more in none (3); ties are broken "
    "at random",
    plan,
    "one crowd at two epsilons, three widths at two guarantees, 2 trials instead of 20",
    recorded="fails",
)
