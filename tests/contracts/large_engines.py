"""The common contract of all engines for large tables: tables, methods, and the comparison.

`CASES` names a table and a method; `parquet` writes the table to a folder; `expected` is the result
of `infer`; `compare` compares a folder that `infer_into` has written with it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pytest

import sottovoce
from sottovoce import Domain, Inferred, Kind, Policy, Result, Target
from sottovoce.datasets import SeededRandomness, describe
from sottovoce.inference import METHODS, suits
from sottovoce.tables import write_columns

__all__ = ["CASES", "Case", "compare", "every_table", "expected", "parquet"]

CLOSE = 1e-9
"""The tolerance of truths, confidences and weights: sums are added up in another order."""


@dataclass(frozen=True, slots=True)
class Case:
    """A table, a method, and how the table is read; `under` a policy the table holds reports."""

    table: str
    method: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    under: Policy | None = None

    def __str__(self) -> str:
        return f"{self.table}-{self.method}"

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `infer` and `infer_into` after the source."""
        return {"method": self.method, "policy": self.under, **self.reading}


def _policy(labels: int) -> Policy:
    domain = Domain.categorical([str(label) for label in range(labels)])
    return sottovoce.make_policy(domain, "randomized-response", Target(2.0))


def _suiting(table: str, domain: Domain, **reading: Any) -> list[Case]:
    learning = (m for m in METHODS if suits(m, domain) and hasattr(METHODS[m], "learn"))
    return [Case(table, method, reading) for method in learning]


CASES = [
    *_suiting("rte", Domain.categorical("01")),
    *_suiting("calories", Domain.numeric()),
    *_suiting("made-up", Domain.categorical("abc"), repeats="last"),
    *(Case(table, "auto") for table in ("rte", "calories")),
    Case("web", "auto", {"domain": Kind.ORDINAL}),
    Case("web", "crh", {"domain": Kind.ORDINAL}),
    Case("web", "dawid-skene", {"domain": Kind.ORDINAL}),
    Case("dog-reports", "auto", under=_policy(4)),
    Case("dog-reports", "dawid-skene", under=_policy(4)),
    Case("rte-reports", "aware-labels", under=_policy(2)),
]
"""Every method on a real table of labels, a real one of numbers, and a synthetic one; the
default; labels on a scale, also as numbers; reports of a policy, for noise-aware and other
methods."""


def every_table(folder: Path, real_data: Path) -> dict[str, Path]:
    """The file or folder of each table of `CASES`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOTTOVOCE_DATA", str(real_data))
        return {table: parquet(table, folder) for table in {case.table for case in CASES}}


def parquet(table: str, folder: Path) -> Path:
    """The table as a Parquet file; a folder with several files for the synthetic one."""
    if table == "made-up":
        return _made_up(folder / table)
    path = folder / f"{table}.parquet"
    name, _, reports = table.partition("-")
    source = describe(name).path("answers.csv")
    if reports:
        _perturbed(str(source), 4 if name == "dog" else 2, path)
    else:
        duckdb.sql(f"COPY (FROM '{source}') TO '{path}' (FORMAT parquet)")
    return path


def _perturbed(source: str, labels: int, path: Path) -> None:
    policy = _policy(labels)
    made = sottovoce.perturb(source, policy, SeededRandomness(11))
    names = np.array(made.domain.labels, dtype=object)
    columns = {"worker": made.workers[made.worker], "task": made.tasks[made.task]}
    write_columns({**columns, "simulated_report": names[made.value]}, path)


def _made_up(folder: Path) -> Path:
    """Text ids in no order, a third of the rows repeated, all shuffled, in three files."""
    rng = np.random.default_rng(5)
    workers, tasks, rows = 40, 700, 6_000
    worker, task = rng.integers(0, workers, rows), rng.integers(0, tasks, rows)
    right = rng.random(rows) < np.linspace(0.3, 0.95, workers)[worker]
    label = np.where(right, task % 3, rng.integers(0, 3, rows))
    again = rng.integers(0, rows, rows // 3)
    order = rng.permutation(np.concatenate([np.arange(rows), again]))
    columns: dict[str, npt.NDArray[Any]] = {
        "task": np.array([f"tâche {t * 7919 % 1000}" for t in task], dtype=object),
        "label": np.array([["no", "perhaps", "yes"][each] for each in label], dtype=object),
        "worker": np.array([f"w{w * 7919 % 1000}" for w in worker], dtype=object),
    }
    folder.mkdir()
    for number, part in enumerate(np.array_split(order, 3)):
        path = folder / f"part-{number}.parquet"
        write_columns({name: column[part] for name, column in columns.items()}, path)
    return folder


@cache
def _whole(source: Path) -> dict[str, Any]:
    """All rows of a table's files in order, as `infer` takes them from memory."""
    files = sorted(source.glob("*.parquet"))
    parts = [_rows(str(file)) for file in files]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def expected(case: Case, source: Path) -> Result:
    """The result of the engine of one machine."""
    table: Any = _whole(source) if source.is_dir() else source
    return sottovoce.infer(table, **case.options)


def compare(wanted: Result, found: Inferred) -> None:
    """Compare the written result with that of the engine of one machine."""
    made, result = wanted.provenance, found.result
    assert result.provenance.method == made.method
    assert (result.rounds, result.converged) == (wanted.rounds, wanted.converged)
    assert (found.tasks, found.answers) == (len(wanted), int(wanted.answers.sum()))
    assert result.provenance.simulated == made.simulated
    if made.reading is not None and result.provenance.reading is not None:
        for part in ("rows", "repeated", "contradicting", "repeats", "dropped"):
            assert getattr(result.provenance.reading, part) == getattr(made.reading, part), part
    _compare_workers(wanted, _written(f"{found.folder}/workers", "worker"))
    _compare_truths(wanted, _written(f"{found.folder}/truths", "task"))


def _written(folder: str | os.PathLike[str], key: str) -> dict[str, npt.NDArray[Any]]:
    """The rows of all files, by name."""
    return _sorted(_rows(f"{folder}/*.parquet"), key)


def _rows(files: str) -> dict[str, npt.NDArray[Any]]:
    rows = duckdb.execute(f"FROM '{files}'").fetchnumpy()
    return {name: np.ma.getdata(column) for name, column in rows.items()}


def _sorted(columns: dict[str, Any], key: str) -> dict[str, npt.NDArray[Any]]:
    order = np.argsort(columns[key].astype(str), kind="stable")
    return {name: column[order] for name, column in columns.items()}


def _compare_workers(wanted: Result, found: dict[str, npt.NDArray[Any]]) -> None:
    known = _sorted(wanted.table("workers"), "worker")
    assert list(found) == list(known)
    assert found["worker"].tolist() == known["worker"].tolist()
    scale = max(1.0, float(np.abs(known["weight"]).max()))
    np.testing.assert_allclose(found["weight"], known["weight"], rtol=0, atol=CLOSE * scale)


def _compare_truths(wanted: Result, found: dict[str, npt.NDArray[Any]]) -> None:
    order = np.argsort(wanted.tasks.astype(str), kind="stable")
    known = {name: column[order] for name, column in wanted.table("truths").items()}
    assert list(found) == list(known)
    assert found["task"].tolist() == known["task"].tolist()
    assert found["answers"].tolist() == known["answers"].tolist()
    if wanted.domain.is_numeric:
        for name in ("truth", "standard_error"):
            if name in known:
                np.testing.assert_allclose(found[name], known[name], rtol=CLOSE, atol=0)
        return
    if "confidence" in known:
        np.testing.assert_allclose(found["confidence"], known["confidence"], rtol=0, atol=CLOSE)
    differs = found["truth"].astype(str) != known["truth"].astype(str)
    assert not (differs & ~_tied(wanted)[order]).any()


def _tied(wanted: Result) -> npt.NDArray[np.bool_]:
    """A mask of the tasks with two labels that are equally likely up to rounding."""
    if wanted.posterior is None or wanted.domain.size < 2:
        return np.zeros(len(wanted), np.bool_)
    best = np.sort(wanted.posterior, axis=1)
    return np.asarray(best[:, -1] - best[:, -2] <= CLOSE)
