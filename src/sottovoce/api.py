"""Paths, frames and tables in, results out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sottovoce import __version__, datasets
from sottovoce.engines import LocalEngine, WatchedEngine
from sottovoce.errors import DataError, UsageError
from sottovoce.inference import METHODS, default_method, method_named, suits
from sottovoce.inference import score as score_against
from sottovoce.inference.inspecting import Inspection, inspect_answers
from sottovoce.inference.outcome import choose
from sottovoce.model import Domain, Gold, Kind, Reports, Result, Score
from sottovoce.model.result import TableName
from sottovoce.seams import Aggregator, Engine
from sottovoce.stores import check_path, read_gold, read_reports, write_columns
from sottovoce.stores import pack as store_packed

__all__ = ["Comparison", "compare", "gold", "infer", "inspect", "pack", "read", "score", "write"]

_DATASET = "dataset:"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One method's result beside its score."""

    method: str
    result: Result
    score: Score


def read(source: Any, **options: Any) -> Reports:
    """A table of answers from a path, `-` (standard input), a frame or a mapping of columns.

    `dataset:NAME` is a dataset of the cache. Options are those of `sottovoce.stores.read_reports`:
    `columns`, `domain`, `repeats`, `bad_rows`, `format`.
    """
    if isinstance(source, Reports):
        if options:
            raise UsageError("a table already read takes no reading options")
        return source
    if name := _dataset_name(source):
        return _dataset(name, options)
    return read_reports(source, **options)


def gold(source: Any, domain: Domain, *, columns: Mapping[str, str] | None = None) -> Gold:
    """A table of known truths, or those of `dataset:NAME`; truths are read as the domain's."""
    if isinstance(source, Gold):
        return source
    if name := _dataset_name(source):
        known = datasets.load(name)[1]
        if known is None:
            raise DataError(f"dataset {name!r} has no gold")
        return known
    return read_gold(source, domain=domain, columns=columns)


def infer(
    source: Any,
    method: str | Aggregator = "auto",
    *,
    parameters: Mapping[str, Any] | None = None,
    ties: Literal["first", "random"] = "first",
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    **reading: Any,
) -> Result:
    """The truth of every task, with confidence and each worker's weight.

    `method` is a name (`sottovoce.METHODS`) or an aggregator; "auto" is Dawid-Skene for labels and
    CRH for numbers. `parameters` go to a method given by name. Ties between labels go to the first
    label, or with `ties="random"` and a seed to any. `progress` is called with the number of passes
    made. Other keywords say how to read `source` (see `read`).

    >>> answers = {"worker": ["ann", "bob", "cy"] * 2, "task": ["q1"] * 3 + ["q2"] * 3,
    ...            "answer": ["yes", "yes", "no", "no", "no", "no"]}
    >>> result = infer(answers, "majority-vote")
    >>> dict(zip(result.tasks, result.values))
    {'q1': 'yes', 'q2': 'no'}
    """
    reports = read(source, **reading)
    aggregator = _aggregator(method, reports.domain, parameters)
    engine: Engine = LocalEngine(_suited(reports, aggregator), threads=threads)
    if progress is not None:
        engine = WatchedEngine(engine, progress)
    result = aggregator.fit(engine)
    provenance = replace(result.provenance, version=__version__, reading=reports.reading)
    return replace(_broken_ties(result, ties, seed), provenance=provenance)


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


def write(
    result: Result,
    path: str | os.PathLike[str],
    table: TableName = "truths",
    *,
    force: bool = False,
) -> None:
    """One of a result's tables as CSV, TSV, JSONL or Parquet, by the path's ending.

    The file appears whole or not at all, and replaces another only with `force`.
    """
    write_columns(result.table(table), path, force=force)


def pack(
    source: Any, path: str | os.PathLike[str], *, force: bool = False, **reading: Any
) -> Reports:
    """Write a coded Parquet copy of a table, which reads several times faster; returns the table.

    The copy holds the same answers: protect it like the original. Other keywords say how to read
    `source` (see `read`).
    """
    check_path(path, force=force)
    return store_packed(read(source, **reading), path, force=force)


def _dataset_name(source: Any) -> str | None:
    if isinstance(source, str) and source.startswith(_DATASET):
        return source.removeprefix(_DATASET)
    return None


def _dataset(name: str, options: Mapping[str, Any]) -> Reports:
    allowed = {key: value for key, value in options.items() if key == "repeats"}
    refused = sorted(key for key, value in options.items() if key not in allowed and value)
    if refused:
        option = f"--{refused[0].replace('_', '-')}"
        raise UsageError(f"a dataset of the cache says itself how to be read: drop {option}")
    # Repeats only occur in the rows as they were collected.
    return datasets.load(name, raw=bool(allowed), **allowed)[0]


def _aggregator(
    method: str | Aggregator, domain: Domain, parameters: Mapping[str, Any] | None
) -> Aggregator:
    if not isinstance(method, str):
        if parameters:
            raise UsageError("an aggregator already has its parameters")
        return method
    name = default_method(domain) if method == "auto" else method
    aggregator = method_named(name, **(parameters or {}))
    if not suits(name, domain):
        others = ", ".join(m for m in METHODS if suits(m, domain))
        hint = ""
        if domain.kind is Kind.CATEGORICAL and Kind.NUMERIC in aggregator.takes:
            hint = "; or say --domain ordinal (domain=Kind.ORDINAL) if the labels have an order"
        raise UsageError(f"{name} does not take {domain} answers; these do: {others}{hint}")
    return aggregator


def _suited(reports: Reports, aggregator: Aggregator) -> Reports:
    if reports.domain.kind in aggregator.takes:
        return reports
    if reports.domain.kind is Kind.ORDINAL and Kind.NUMERIC in aggregator.takes:
        return reports.as_numbers()
    raise UsageError(f"this aggregator does not take {reports.domain} answers")


def _broken_ties(result: Result, ties: str, seed: int | None) -> Result:
    if ties == "first":
        if seed is not None:
            raise UsageError("a seed is for random ties; the first label needs none")
        return result
    if ties != "random":
        raise UsageError(f"ties are broken 'first' or 'random', not {ties!r}")
    if seed is None:
        raise UsageError("random ties need a seed, so that the result can be had again")
    if result.posterior is None:
        return result
    # Draws go to tasks by name, whatever their order in the table.
    order = np.argsort(result.tasks.astype(str), kind="stable")
    truths = np.empty(len(result), np.int32)
    truths[order] = choose(result.posterior[order], np.random.default_rng(seed))
    confidence = result.posterior[np.arange(len(truths)), truths]
    return replace(result, truths=truths, confidence=confidence)


def _badness(row: Comparison) -> float:
    return -row.score.accuracy if row.score.accuracy is not None else float(row.score.mae or 0.0)
