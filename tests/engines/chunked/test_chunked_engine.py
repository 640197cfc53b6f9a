"""Sums over a table on a disk are those over the same table in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.engines.chunked.packed_rows import BUCKETED, PLAIN, packed
from tests.engines.chunked.test_same_rows import written

import sottovoce
from sottovoce.engines import LocalEngine
from sottovoce.engines.chunked.engine import ChunkedEngine
from sottovoce.engines.chunked.packed_table import PackedTable, Sizes
from sottovoce.engines.chunked.table import open_table
from sottovoce.engines.large_table import Recoding
from sottovoce.errors import DataError, UsageError
from sottovoce.inference import CRH, DawidSkene
from sottovoce.inference.steps.votes import AnswerCounts, AnswersPerWorker
from sottovoce.model import Domain, numbers_of
from sottovoce.seams import Step

LABELS = "w AS worker, 't' || t AS task, 'l' || a AS label"


@pytest.fixture
def labels(tmp_path: Path) -> PackedTable:
    return packed(written(tmp_path, LABELS), tmp_path / "work", BUCKETED)


def test_it_is_what_was_read(tmp_path: Path, labels: PackedTable) -> None:
    engine, reports = ChunkedEngine(labels), sottovoce.read(tmp_path / "answers.parquet")
    assert len(labels.sizes) > 5
    assert (engine.answers, engine.task_count) == (len(reports), len(reports.tasks))
    assert engine.workers.tolist() == reports.workers.tolist()
    assert (engine.domain, engine.reading) == (reports.domain, reports.reading)


def test_its_tasks_are_elsewhere(labels: PackedTable) -> None:
    engine = ChunkedEngine(labels)
    assert (len(engine.tasks), engine.map(AnswerCounts()).shape) == (0, (0,))


@pytest.mark.parametrize("use_kernels", [False, True])
def test_counts_are_exact(tmp_path: Path, labels: PackedTable, use_kernels: bool) -> None:
    local = LocalEngine(sottovoce.read(tmp_path / "answers.parquet"))
    step = AnswersPerWorker(len(local.workers))
    found = ChunkedEngine(labels, use_kernels=use_kernels).total(step)
    np.testing.assert_array_equal(found, local.total(step))


@pytest.mark.parametrize(
    ("answer", "method"), [("'l' || a AS label", DawidSkene), ("a + hash(i) / 1e19 AS value", CRH)]
)
def test_what_is_learnt_does_not_depend_on_threads(
    tmp_path: Path, answer: str, method: Callable[[], DawidSkene | CRH]
) -> None:
    path = written(tmp_path, f"w AS worker, i // 8 AS task, {answer}", rows=150_000)
    table = packed(path, tmp_path / "work", Sizes(bucket=4096), repeats="keep")
    assert len(table.sizes) == 64
    one, three = (_sums(ChunkedEngine(table, threads=threads), method()) for threads in (1, 3))
    for found, wanted in zip(three, one, strict=True):
        np.testing.assert_array_equal(found, wanted)


def _sums(engine: ChunkedEngine, method: DawidSkene | CRH) -> list[object]:
    """All that a method asks for."""
    kept: list[object] = []

    class Keeping:
        workers, tasks, task_count = engine.workers, engine.tasks, engine.task_count
        domain, map = engine.domain, engine.map

        def total(self, step: Step) -> object:
            kept.append(engine.total(step))
            return kept[-1]

    method.learn(Keeping())  # type: ignore[arg-type]
    return kept


def test_truths_are_told_of_few_tasks_at_once_where_labels_are_many(
    tmp_path: Path, labels: PackedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, method = ChunkedEngine(labels), DawidSkene()
    learnt = method.learn(engine)
    engine.write_truths(method, learnt, tmp_path / "whole")
    monkeypatch.setattr("sottovoce.engines.chunked.engine.MOST_CELLS", 7)
    engine.write_truths(method, learnt, tmp_path / "parts")
    assert len(list((tmp_path / "parts").iterdir())) > len(list((tmp_path / "whole").iterdir()))
    assert _truths(tmp_path / "parts") == _truths(tmp_path / "whole")


def _truths(folder: Path) -> list[tuple[object, ...]]:
    import duckdb

    return duckdb.execute(f"SELECT * FROM '{folder}/*.parquet' ORDER BY task").fetchall()


def test_labels_may_stand_for_something_else(tmp_path: Path) -> None:
    path = written(tmp_path, "w AS worker, t AS task, 'l' || a AS label")
    recoding = Recoding(np.array([5.0, 6.0, 8.0]), Domain.numeric(5, 8))
    table = open_table(path, work=tmp_path / "work", sizes=BUCKETED, repeats="keep")
    assert table.domain.labels == ("l0", "l1", "l2")
    engine = table.engine(recoding)
    counted = np.bincount(sottovoce.read(path, repeats="keep").value)
    parts = [numbers_of(engine._table.part(i)) for i in range(len(engine._table.sizes))]
    values = np.concatenate([part.value for part in parts])
    assert [int((values == value).sum()) for value in (5, 6, 8)] == counted.tolist()


def test_what_was_packed_is_used_again(tmp_path: Path) -> None:
    path, work = written(tmp_path, LABELS), tmp_path / "work"
    first = packed(path, work)
    made = (work / "table" / "reports").stat().st_mtime_ns
    again = open_table(path, work=work)
    assert again.domain == first.manifest.domain
    assert again.engine().task_count == first.task_count
    assert (work / "table" / "reports").stat().st_mtime_ns == made


@pytest.mark.parametrize("other", ["file", "options", "recoding", "manifest"])
def test_what_was_packed_of_something_else_is_refused(tmp_path: Path, other: str) -> None:
    path, work = written(tmp_path, LABELS), tmp_path / "work"
    packed(path, work)
    if other == "file":
        written(tmp_path, LABELS, rows=401)
    if other == "manifest":
        (work / "table" / "manifest.json").write_text("{}")
    recoding = Recoding(np.array([0, 0, 1]), Domain.categorical("ab"))
    with pytest.raises(UsageError, match=r"work holds another table, or an earlier version or"):
        open_table(path, work=work, repeats="last" if other == "options" else "first").engine(
            recoding if other == "recoding" else None
        )


@pytest.mark.parametrize("name", ["reports", "starts", "tasks", "workers"])
def test_a_file_that_was_cut_short_is_noticed(tmp_path: Path, name: str) -> None:
    path, work = written(tmp_path, LABELS), tmp_path / "work"
    table = packed(path, work, PLAIN)
    file = work / "table" / name
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DataError, match=rf"{name}: was cut short: remove its folder and start aga"):
        (table.part(0), table.names(0), table.workers())
