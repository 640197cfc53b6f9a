"""Machines die while a cluster works: the result does not change."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pytest
from tests.contracts.large_engines import Case, compare, expected, parquet
from tests.engines.spark.cluster import Cluster, spark_environment
from tests.engines.spark.conftest import RUNNING, SMALL_SESSION

from sottovoce import Inferred, infer_into
from sottovoce.engines.spark.table import open_table
from sottovoce.inference.steps.votes import AnswersPerWorker
from sottovoce.model import FloatArray, Part
from sottovoce.testing.server_process import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASE = Case("made-up", "dawid-skene", {"repeats": "last"})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return parquet("made-up", tmp_path)


@dataclass(frozen=True)
class Held:
    """Answers per worker, but a partition reports that it runs and waits for a signal."""

    workers: int
    folder: str

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.workers,)

    def __call__(self, part: Part) -> FloatArray:
        Path(self.folder, f"here-{time.time_ns()}").touch()
        while not Path(self.folder, "go").exists():
            time.sleep(0.02)
        return AnswersPerWorker(self.workers)(part)

    def kernel(self) -> None:
        return None


def test_a_worker_is_killed_in_the_middle_of_a_round(
    cluster_session: SparkSession, source: Path, tmp_path: Path
) -> None:
    engine = open_table(cluster_session, source, repeats="last").engine()
    whole = engine.total(AnswersPerWorker(len(engine.workers)))
    signs = tmp_path / "signs"
    signs.mkdir()

    def kill() -> None:
        wait_until(lambda: len(list(signs.glob("here-*"))) == 2, "both partitions")
        assert RUNNING.cluster is not None
        RUNNING.cluster.kill_worker()
        (signs / "go").touch()

    thread = threading.Thread(target=kill)
    thread.start()
    sums = engine.total(Held(len(engine.workers), str(signs)))
    thread.join()
    assert len(list(signs.glob("here-*"))) == 3  # lost work was repeated elsewhere
    np.testing.assert_array_equal(sums, whole)


@pytest.mark.slow  # the round above is the same in one pass
def test_a_worker_is_killed_in_the_middle_of_a_run(
    cluster_session: SparkSession, source: Path, tmp_path: Path
) -> None:
    def progress(passes: int) -> None:
        if passes == 3:
            assert RUNNING.cluster is not None
            RUNNING.cluster.kill_worker()

    found = infer_into(
        source, tmp_path / "out", engine="spark", session=cluster_session, progress=progress,
        **CASE.options,
    )  # fmt: skip
    compare(expected(CASE, source), found)


class Interrupted(Exception):  # noqa: N818 - reads as the fact it states
    """The end of a driver in the middle of its work."""


def test_a_driver_that_ends_goes_on_where_it_was(
    cluster_session: SparkSession, source: Path, tmp_path: Path
) -> None:
    def interrupted(passes: int) -> None:
        if passes == 3:
            raise Interrupted

    def run(progress: Callable[[int], None] | None = None) -> Inferred:
        return infer_into(
            source, tmp_path / "out", engine="spark", session=cluster_session, progress=progress,
            checkpoint=tmp_path / "kept", **CASE.options,
        )  # fmt: skip

    with pytest.raises(Interrupted):
        run(interrupted)
    kept = {path: path.stat().st_mtime_ns for path in _sums(tmp_path / "kept")}
    assert len(kept) == 3
    assert not (tmp_path / "out").exists()
    compare(expected(CASE, source), run())
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    assert len(_sums(tmp_path / "kept")) > len(kept)


@pytest.mark.slow  # two drivers take most of a minute to start; the run above is the same in one
def test_a_driver_that_is_killed_goes_on_where_it_was(
    cluster: Cluster, source: Path, tmp_path: Path
) -> None:
    sums = tmp_path / "kept"
    driver = _driver(cluster, source, tmp_path)
    wait_until(lambda: len(_sums(sums)) >= 3, "three sums", patience=120)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    kept = {path: path.stat().st_mtime_ns for path in _sums(sums)}
    assert not (tmp_path / "out").exists()
    again = _driver(cluster, source, tmp_path)
    assert again.wait() == 0
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    assert len(_sums(sums)) > len(kept)
    truths = dict(
        duckdb.execute(f"SELECT task, truth FROM '{tmp_path}/out/truths/*.parquet'").fetchall()
    )
    wanted = expected(CASE, source)
    assert truths == dict(zip(wanted.tasks.tolist(), wanted.values.tolist(), strict=True))


def _driver(cluster: Cluster, source: Path, folder: Path) -> subprocess.Popen[bytes]:
    settings = [("--conf", f"{name}={value}") for name, value in SMALL_SESSION.items()]
    return subprocess.Popen(
        [
            sys.executable, "-m", "sottovoce", "infer", str(source), "--engine", "spark",
            "--master", cluster.url, "--method", "dawid-skene", "--repeats", "last",
            "--checkpoint", str(folder / "kept"), "--output", str(folder / "out"),
            *(word for setting in settings for word in setting),
        ],
        env=spark_environment(),
        start_new_session=True,
    )  # fmt: skip


def _sums(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("sums-*/*")) if path.name.isdigit()]
