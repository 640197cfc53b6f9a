"""compare, score and inspect: methods held against gold, and what a table of answers holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sottovoce.api.infer import infer
from sottovoce.api.input_output import gold, read
from sottovoce.engines import LocalEngine
from sottovoce.inference import METHODS, suits
from sottovoce.inference import score as score_against
from sottovoce.inference.inspection import Inspection, inspect_answers
from sottovoce.model import Result, Score


@dataclass(frozen=True, slots=True)
class Comparison:
    """One method's result beside its score."""

    method: str
    result: Result
    score: Score


def score(result: Result, known: Any, *, columns: Mapping[str, str] | None = None) -> Score:
    """How close a result comes to gold: accuracy, or mean absolute and root mean squared error."""
    return score_against(result, gold(known, result.domain, columns=columns))


def compare(
    source: Any,
    known: Any,
    methods: Iterable[str] | None = None,
    *,
    gold_columns: Mapping[str, str] | None = None,
    progress: Callable[[str], None] | None = None,
    **reading: Any,
) -> list[Comparison]:
    """Every suitable method on the same answers against the same gold, best first.

    On ordinal labels, methods for numbers are left out: their errors have another unit.
    """
    reports = read(source, **reading)
    if methods is None:
        methods = [name for name in METHODS if reports.domain.kind in METHODS[name].takes]
        methods = [name for name in methods if suits(name, reports.domain)]
    truths = gold(known, reports.domain, columns=gold_columns)
    rows = []
    for name in methods:
        if progress is not None:
            progress(name)
        result = infer(reports, name)
        rows.append(Comparison(name, result, score(result, truths)))
    return sorted(rows, key=_badness)


def inspect(source: Any, **reading: Any) -> Inspection:
    """A first look at a table: size, sparsity, agreement, repeated pairs, suspicious workers."""
    reports = read(source, **reading)
    return replace(inspect_answers(LocalEngine(reports)), reading=reports.reading)


def _badness(row: Comparison) -> float:
    return -row.score.accuracy if row.score.accuracy is not None else float(row.score.mae or 0.0)
