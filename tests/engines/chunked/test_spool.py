"""Rows on a disk, in buckets of whole tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.engines.chunked.name_index import Keys, Texts, cells_of, texts
from sottovoce.engines.chunked.spool import Rows, Spool, bucket_count

ROWS = 5_000


def rows(text: bool, numbered: bool = True) -> Rows:
    rng = np.random.default_rng(4)
    task = rng.integers(0, 300, ROWS) - 5
    keys: Keys = texts([b"task %d" % t for t in task.tolist()]) if text else task
    number = np.arange(ROWS) if numbered else None
    return Rows(keys, rng.integers(0, 50, ROWS).astype(np.int32), rng.random(ROWS), number)


def cut(whole: Rows, size: int) -> list[Rows]:
    parts = []
    for a in range(0, ROWS, size):
        b = min(a + size, ROWS)
        if isinstance(whole.task, Texts):
            task: Keys = texts(cells_of(whole.task)[a:b])
        else:
            task = whole.task[a:b]
        row = None if whole.row is None else whole.row[a:b]
        parts.append(Rows(task, whole.worker[a:b], whole.value[a:b], row))
    return parts


def listed(keys: Keys) -> list[Any]:
    return cells_of(keys) if isinstance(keys, Texts) else keys.tolist()


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(("buckets", "chunk"), [(1, 700), (8, 700), (64, 10_000)])
def test_every_row_comes_back_once_in_order_and_tasks_are_whole(
    tmp_path: Path, text: bool, buckets: int, chunk: int
) -> None:
    whole, seen, tasks = rows(text), np.zeros(ROWS, np.int64), dict[Any, int]()
    names = listed(whole.task)
    with Spool(tmp_path / "spool", buckets, chunk=chunk) as spool:
        for part in cut(whole, 333):
            spool.add(part)
        for number, bucket in enumerate(spool.buckets()):
            assert bucket.row is not None
            assert (np.diff(bucket.row) > 0).all()
            seen[bucket.row] += 1
            np.testing.assert_array_equal(bucket.worker, whole.worker[bucket.row])
            np.testing.assert_array_equal(bucket.value, whole.value[bucket.row])
            assert listed(bucket.task) == [names[row] for row in bucket.row]
            assert all(tasks.setdefault(name, number) == number for name in listed(bucket.task))
    assert (seen == 1).all()


def test_tasks_are_spread_over_the_buckets(tmp_path: Path) -> None:
    with Spool(tmp_path / "spool", 8) as spool:
        spool.add(rows(text=False))
        sizes = [len(bucket) for bucket in spool.buckets()]
    assert len(sizes) == 8
    assert max(sizes) < ROWS / 3


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with Spool(tmp_path / "spool", 4, chunk=100) as spool:
        for part in cut(rows(text=True, numbered=False), 100):
            spool.add(part)
    assert list(tmp_path.iterdir()) == []


def test_the_data_alone_says_how_many_buckets_there_are() -> None:
    assert [bucket_count(n, 100) for n in (1, 100, 101, 400, 401)] == [1, 1, 2, 4, 8]
