"""Charts of one and two layers that keep the same guarantee."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sottovoce.figures import Chart, Level
from sottovoce.planning.trials import Spread
from sottovoce.studies.beyond.equal_layers import READERS, SMALL_DELTA
from sottovoce.studies.beyond.layer_cases import Case
from sottovoce.studies.comparing import curve, spread_by
from sottovoce.studies.contests import CONSTANT

__all__ = ["published_charts", "width_charts"]


def published_charts(pairs: Sequence[tuple[Case, Sequence[Any]]]) -> Iterator[Chart]:
    """One chart for each crowd: errors of TD by nominal epsilon."""
    for name in dict.fromkeys(case.name for case, _ in pairs):
        own = sorted(
            ((case.epsilon or 0.0, spread_by(seen)) for case, seen in pairs if case.name == name),
            key=lambda pair: pair[0],
        )
        xs = [epsilon for epsilon, _ in own]
        names = {
            "two-layer TD": "two-layer", "nominal TD": "one-layer, nominal",
            "nominal epsilon TD": "one-layer, equal delta",
            "small delta TD": f"one-layer, equal at delta {SMALL_DELTA:g}",
            "pure TD": "one-layer, equal epsilon",
            "per worker TD": "one-layer, equal per worker",
        }  # fmt: skip
        series = tuple(
            curve(
                label, xs, [spread[column] for _, spread in own],
                "theirs" if column in ("two-layer TD", "nominal TD") else "ours",
            )
            for column, label in names.items()
        )  # fmt: skip
        yield Chart(
            f"One layer with the guarantee of two as published: {name}",
            "epsilon per answer, nominal",
            "error rate of TD",
            series,
            (Level(CONSTANT, own[0][1][CONSTANT].mean),),
            note="P1 §1: with the same privacy guarantee two layers deliver better utility. Here "
            "one layer has what two layers truly keep, per answer or per worker.",
            better="lower",
        )


def width_charts(pairs: Sequence[tuple[Case, Sequence[Any]]]) -> Iterator[Chart]:
    """One chart for each crowd: errors by width at the same guarantee."""
    shown = [(case, spread_by(seen)) for case, seen in pairs]
    for name in dict.fromkeys(case.name for case, _ in shown):
        own = [(case, spread) for case, spread in shown if case.name == name]
        series = tuple(
            curve(
                f"{reader}, {case.held}", [float(width) for width in case.mechanisms()],
                [spread[f"{width} {reader}"] for width in case.mechanisms()],
                "theirs" if reader == "TD" else "ours",
            )
            for reader in READERS for case, spread in own
        )  # fmt: skip
        yield Chart(
            f"Two layers of any width at the same guarantee: {name}",
            "width b - a (0 is one layer)",
            "error rate",
            series,
            (Level(CONSTANT, own[0][1][CONSTANT].mean),),
            note="P1 §6.3: the diversity of flip probabilities is the key to better utility. Here "
            f"TD errs least at the width {', '.join(_least(*each) for each in own)}.",
            better="lower",
        )


def _least(case: Case, spread: Mapping[str, Spread]) -> str:
    best = min(case.mechanisms(), key=lambda width: spread[f"{width} TD"].mean)
    return f"{best} for {case.held}"
