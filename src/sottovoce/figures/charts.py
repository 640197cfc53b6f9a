"""Charts of results, plans and tradeoffs."""

from __future__ import annotations

import numpy as np

from sottovoce.figures.chart import Chart, Level, Series
from sottovoce.model import FloatArray, Result
from sottovoce.model.guarantee import rounded_up
from sottovoce.planning.forecast import score_name, score_of
from sottovoce.planning.plan import Plan, plan_title
from sottovoce.planning.tradeoff import (
    CONSTANT,
    OURS,
    Tradeoff,
    TradeoffRow,
    clean_name,
    recommended_words,
    tradeoff_title,
)
from sottovoce.planning.trials import BAND

BINS = 10


def result_chart(result: Result) -> Chart:
    """Tasks by confidence, or by standard error for numbers; workers by weight without either."""
    by = f"{result.provenance.method}, {len(result.workers):,} workers"
    if result.confidence is not None:
        found = _histogram(result.confidence, 0.0, 1.0)
        return _bars(f"Confidence of {len(result):,} truths", "confidence", "tasks", found, by)
    if result.standard_error is not None:
        found = _histogram(result.standard_error)
        title = f"Standard error of {len(result):,} truths"
        return _bars(title, "standard error", "tasks", found, by)
    found = _histogram(result.weights)
    return _bars(f"Weight of {len(result.workers):,} workers", "weight", "workers", found, by)


def _histogram(
    values: FloatArray, low: float | None = None, high: float | None = None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Centres of equal bins, and how many values are in each."""
    finite = values[np.isfinite(values)]
    low = float(finite.min(initial=0.0)) if low is None else low
    high = float(finite.max(initial=low)) if high is None else high
    counts, edges = np.histogram(finite, BINS, (low, high if high > low else low + 1.0))
    return tuple(((edges[1:] + edges[:-1]) / 2).tolist()), tuple(counts.astype(float).tolist())


def _bars(
    title: str, x: str, y: str, bins: tuple[tuple[float, ...], tuple[float, ...]], name: str
) -> Chart:
    series = Series(name, *bins, role="ours")
    return Chart(title, x, y, (series,), better="neither", style="bars")


def plan_chart(made: Plan) -> Chart:
    """The score by epsilon with its band, between the best constant and clean answers."""
    domain = made.scenario.domain
    levels = [
        Level("clean answers", score_of(domain, made.clean.error)),
        Level("best constant", score_of(domain, made.constant)),
    ]
    if made.goal is not None:
        levels.append(Level("target", score_of(domain, made.goal)))
    return Chart(
        plan_title(made),
        f"epsilon per {made.targets[0].unit}",
        score_name(domain),
        (_plan_series(made),),
        tuple(levels),
        note=f"Simulated. A band is where one campaign lands in {100 * BAND:g} % of cases.",
        better="lower" if domain.is_numeric else "higher",
        x_scale="log" if len(made.targets) > 2 else "linear",
    )


def _plan_series(made: Plan) -> Series:
    domain = made.scenario.domain
    found = [one.forecast for one in made.recommendations]
    bands = [
        sorted(score_of(domain, error) for error in one.band or (one.error, one.error))
        for one in found
    ]
    return Series(
        "recommended",
        tuple(target.epsilon for target in made.targets),
        tuple(score_of(domain, one.error) for one in found),
        tuple(band[0] for band in bands),
        tuple(band[1] for band in bands),
        "ours",
    )


def tradeoff_chart(found: Tradeoff, source: str = "") -> Chart:
    """The measure by epsilon: ours, the papers', clean answers and the best constant."""
    return Chart(
        tradeoff_title(source),
        f"epsilon per {found.unit}",
        "accuracy" if found.measure == "accuracy" else "mean absolute error",
        tuple(_tradeoff_series(found)),
        (Level(clean_name(found), found.clean), Level(CONSTANT, found.constant)),
        note=" ".join(filter(None, [recommended_words(found), *_weaker(found)])),
        better="higher" if found.measure == "accuracy" else "lower",
        x_scale="log" if len(found.recommended) > 2 else "linear",
    )


def _tradeoff_series(found: Tradeoff) -> list[Series]:
    by_name: dict[str, list[TradeoffRow]] = {}
    for row in found.rows:
        by_name.setdefault(OURS if row.recommended else row.name, []).append(row)
    return [
        Series(
            name,
            tuple(row.epsilon for row in rows),
            tuple(row.spread.mean for row in rows),
            tuple(row.spread.low for row in rows),
            tuple(row.spread.high for row in rows),
            "ours" if name == OURS else "theirs",
        )
        for name, rows in by_name.items()
    ]


def _weaker(found: Tradeoff) -> list[str]:
    """Notes about pairs that do not keep the epsilon at which they are drawn."""
    said = []
    for name in dict.fromkeys(row.name for row in found.rows):
        rows = [row for row in found.rows if row.name == name]
        held = [row.true_epsilon for row in rows]
        if rows[0].pair.published:
            ends = dict.fromkeys(rounded_up(end, 4) for end in (min(held), max(held)))
            said.append(f"{name} truly keeps epsilon {' to '.join(ends)}, not the one shown.")
        elif any(row.delta > ours.delta for row in rows for ours in found.recommended.values()):
            said.append(f"{name} keeps it with delta {rows[0].delta:g} only.")
    return said
