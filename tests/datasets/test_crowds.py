"""Every crowd: the same seed gives the same data, in memory and on disk, and no pair repeats."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from sottovoce.datasets import (
    CategoricalCrowd,
    Crowd,
    NumericCrowd,
    SparseCrowd,
    crowds,
    generate,
    stream_to_parquet,
)
from sottovoce.errors import DataError, OutputExists, UsageError
from sottovoce.model import Kind

CROWDS: dict[str, Crowd] = {
    "categorical": CategoricalCrowd(workers=40, tasks=3_000, redundancy=7, difficulty=0.5, seed=11),
    "everyone answers": CategoricalCrowd(workers=6, tasks=500, redundancy=6, seed=12),
    "most answer": CategoricalCrowd(workers=9, tasks=500, redundancy=8, seed=13),
    "adversaries": CategoricalCrowd(workers=50, tasks=500, ability="adversaries", seed=14),
    "numeric": NumericCrowd(seed=15),
    "numeric with gaps": NumericCrowd(workers=300, tasks=400, density=0.05, clip=True, seed=16),
    "sparse": SparseCrowd(seed=17),
    "sparse ordinal": SparseCrowd(sparsity=0.99, kind=Kind.ORDINAL, seed=18),
}
every_crowd = pytest.mark.parametrize("simulated", CROWDS.values(), ids=CROWDS)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowds, "ANSWERS_PER_BLOCK", 1_000)


def rows(path: Path) -> dict[str, Any]:
    return duckdb.read_parquet(str(path)).fetchnumpy()


@every_crowd
def test_no_worker_answers_a_task_twice(simulated: Crowd) -> None:
    reports, _ = generate(simulated)
    pairs = reports.task.astype(np.int64) * len(reports.workers) + reports.worker
    assert len(np.unique(pairs)) == len(reports)


@every_crowd
def test_the_same_seed_gives_the_same_tables(simulated: Crowd) -> None:
    (first, first_gold), (second, second_gold) = generate(simulated), generate(simulated)
    for column in ("worker", "task", "value", "workers", "tasks"):
        np.testing.assert_array_equal(getattr(first, column), getattr(second, column))
    np.testing.assert_array_equal(first_gold.truths, second_gold.truths)


@every_crowd
@pytest.mark.usefixtures("small_blocks")
def test_a_streamed_file_holds_the_rows_of_the_table(simulated: Crowd, tmp_path: Path) -> None:
    answers_file, gold_file = tmp_path / "answers.parquet", tmp_path / "gold.parquet"
    written = stream_to_parquet(simulated, answers_file, gold=gold_file)
    reports, gold = generate(simulated)
    table, truths = rows(answers_file), rows(gold_file)
    assert written == len(reports) > 1_000  # more than one block
    assert list(table) == ["worker", "task", "answer"]
    assert list(table["worker"]) == [f"w{worker}" for worker in reports.workers[reports.worker]]
    assert list(table["task"]) == [f"t{task}" for task in reports.tasks[reports.task]]
    np.testing.assert_array_equal(table["answer"], reports.value)
    assert list(truths["task"]) == [f"t{task}" for task in gold.tasks]
    np.testing.assert_array_equal(truths["truth"], gold.truths)


@every_crowd
def test_vocabularies_name_only_who_occurs_and_gold_every_task(simulated: Crowd) -> None:
    reports, gold = generate(simulated)
    assert len(np.unique(reports.worker)) == len(reports.workers)
    assert len(np.unique(reports.task)) == len(reports.tasks)
    assert len(gold) == simulated.tasks
    assert set(reports.tasks) <= set(gold.tasks)


def test_another_seed_gives_other_data() -> None:
    one, other = (generate(CategoricalCrowd(seed=seed))[0] for seed in (21, 22))
    assert not np.array_equal(one.worker, other.worker)
    assert not np.array_equal(one.value, other.value)


@pytest.mark.usefixtures("small_blocks")
def test_blocks_are_whole_tasks_in_order_and_differ() -> None:
    blocks = list(CategoricalCrowd(tasks=1_000, redundancy=5, seed=23).blocks())
    assert [block.first for block in blocks] == [0, 200, 400, 600, 800]
    assert all(len(block.worker) == 5 * len(block.truth) == 1_000 for block in blocks)
    assert not np.array_equal(blocks[0].worker, blocks[1].worker)


def test_names_can_be_left_as_numbers(tmp_path: Path) -> None:
    simulated = CategoricalCrowd(workers=10, tasks=20, redundancy=3, seed=24)
    stream_to_parquet(simulated, tmp_path / "answers.parquet", names=False)
    assert rows(tmp_path / "answers.parquet")["worker"].dtype == np.int32


def test_streaming_needs_neither_pandas_nor_pyarrow(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules.update(dict.fromkeys(('pandas', 'pyarrow', 'polars')))\n"
        "from sottovoce.datasets import CategoricalCrowd, stream_to_parquet\n"
        "stream_to_parquet(CategoricalCrowd(seed=25), sys.argv[1])\n"
    )
    target = tmp_path / "it's here.parquet"  # a quote in the name is no trouble either
    subprocess.run([sys.executable, "-c", program, target], check=True)
    assert target.stat().st_size > 0


def test_streaming_replaces_a_file_only_when_told(tmp_path: Path) -> None:
    target = tmp_path / "answers.parquet"
    target.write_text("mine")
    with pytest.raises(OutputExists, match="force=True"):
        stream_to_parquet(CategoricalCrowd(seed=26), target)
    assert target.read_text() == "mine"
    stream_to_parquet(CategoricalCrowd(seed=26), target, force=True)
    assert target.read_bytes().startswith(b"PAR1")


def test_an_interrupted_stream_leaves_nothing(tmp_path: Path) -> None:
    class Interrupted:
        workers, tasks, domain = 10, 10, CategoricalCrowd().domain

        def blocks(self) -> Any:
            yield from CategoricalCrowd(seed=27).blocks()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stream_to_parquet(Interrupted(), tmp_path / "a.parquet", gold=tmp_path / "g.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_crowd_without_answers_is_refused(tmp_path: Path) -> None:
    silent = NumericCrowd(workers=1, tasks=1, density=1e-9, seed=28)
    with pytest.raises(DataError, match="no answers"):
        stream_to_parquet(silent, tmp_path / "a.parquet")
    with pytest.raises(DataError, match="no rows"):
        generate(silent)
    assert list(tmp_path.iterdir()) == []


def test_answers_and_gold_need_two_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot both"):
        stream_to_parquet(NumericCrowd(), tmp_path / "a", gold=tmp_path / "a")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"workers": 0}, "workers must be from 1"),
        ({"tasks": 2**31}, "tasks must be from 1"),
        ({"seed": -1}, "a seed is 0 or more"),
        ({"labels": 1}, "labels must be 2 or more"),
        ({"workers": 4, "redundancy": 5}, "redundancy 5 needs as many different workers"),
        ({"ability": "geniuses"}, "ability is one of homogeneous, heterogeneous"),
        ({"accuracy": 0.2}, "between chance .* and 1, not at 0.2"),
        ({"accuracy": float("nan"), "ability": "homogeneous"}, "accuracy must be from 0 to 1"),
        ({"share": 1.5}, "share must be from 0 to 1"),
        ({"difficulty": -0.1}, "difficulty must be from 0 to 1"),
        ({"imbalance": 0.5}, "imbalance is 1 or more"),
    ],
)
def test_impossible_categorical_crowds_are_refused(parameters: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        CategoricalCrowd(**parameters)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"lambda1": 0.0}, "lambda1 is a rate above 0"),
        ({"low": 1.0, "high": 1.0}, "low < high"),
        ({"density": 0.0}, "density must be above 0"),
    ],
)
def test_impossible_numeric_crowds_are_refused(parameters: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        NumericCrowd(**parameters)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"sparsity": 1.0}, "sparsity must be at least 0 and below 1"),
        ({"poor": -1.0}, "deviation of poor workers"),
        ({"kind": Kind.CATEGORICAL}, "numbers or ordinal labels"),
    ],
)
def test_impossible_sparse_crowds_are_refused(parameters: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        SparseCrowd(**parameters)
