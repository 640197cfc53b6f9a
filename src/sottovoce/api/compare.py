"""compare and score methods against gold; inspect a table of answers; agreement of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

from sottovoce.api.infer import infer
from sottovoce.api.input_output import gold, read
from sottovoce.api.keywords import ReadingOptions, spelled_out
from sottovoce.engines import LocalEngine
from sottovoce.inference import METHODS, suits
from sottovoce.inference import score as score_against
from sottovoce.inference.agreement import agreement_of
from sottovoce.inference.inspection import Inspection, inspect_answers
from sottovoce.model import Agreement, Result, Score
from sottovoce.model.agreement import Metric
from sottovoce.model.display import SHOWN, Display, Displayed


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Displayed):
    """One method's result and its score."""

    method: str
    result: Result
    score: Score

    def _display(self) -> Display:
        return Display(f"Comparison: {self.method}, {self.score}")


class Comparisons(Displayed, list[Comparison]):
    """Methods on the same answers against the same gold, best first: a list."""

    def _display(self) -> Display:
        if not self:
            return Display("Comparison of no methods")
        columns = ("method", *self[0].score.as_dict())
        rows = tuple((row.method, *row.score.as_dict().values()) for row in self)
        title = f"Comparison of {len(self):,} methods on {self[0].score.tasks:,} gold tasks"
        return Display(title, (), columns, rows[:SHOWN], len(self))


def score(result: Result, known: Any, *, columns: Mapping[str, str] | None = None) -> Score:
    """Score a result against gold: accuracy, or mean absolute and root mean squared error."""
    return score_against(result, gold(known, result.domain, columns=columns))


@spelled_out(ReadingOptions)
def compare(
    source: Any,
    known: Any,
    methods: Iterable[str] | None = None,
    *,
    gold_columns: Mapping[str, str] | None = None,
    progress: Callable[[str], None] | None = None,
    **reading: Unpack[ReadingOptions],
) -> Comparisons:
    """Run every suitable method on the same answers and score it against the same gold.

    The best method comes first. On ordinal labels, methods for numbers are left out: their errors
    have another unit. Other keywords say how to read `source` (see `read`).
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
    return Comparisons(sorted(rows, key=_badness))


@spelled_out(ReadingOptions)
def inspect(source: Any, **reading: Unpack[ReadingOptions]) -> Inspection:
    """A first look at a table: size, sparsity, agreement, repeated pairs, suspicious workers.

    Keywords say how to read `source` (see `read`).
    """
    reports = read(source, **reading)
    seen = inspect_answers(LocalEngine(reports), agreement_of(reports))
    return replace(seen, reading=reports.reading)


@spelled_out(ReadingOptions)
def agreement(
    source: Any,
    *,
    metric: Metric | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    **reading: Unpack[ReadingOptions],
) -> Agreement:
    """How far workers agree: Krippendorff's alpha, Fleiss' and Cohen's kappa, with intervals.

    `metric` is the distance of two answers for alpha: by default nominal for labels, ordinal for
    ordinal labels and interval for numbers. Intervals are percentiles of a bootstrap over tasks;
    the same seed gives the same ones. On randomised reports it is the agreement of reports, which
    is less than that of answers. Other keywords say how to read `source` (see `read`).

    >>> answers = [("ann", "q1", "yes"), ("bob", "q1", "yes"), ("ann", "q2", "no"),
    ...            ("bob", "q2", "no"), ("ann", "q3", "yes"), ("bob", "q3", "no")]
    >>> table = dict(zip(("worker", "task", "answer"), zip(*answers)))
    >>> round(agreement(table).alpha.value, 3)
    0.444
    """
    reports = read(source, **reading)
    return agreement_of(reports, metric, confidence=confidence, seed=seed)


def _badness(row: Comparison) -> float:
    return -row.score.accuracy if row.score.accuracy is not None else float(row.score.mae or 0.0)
