"""Truths of large tables into a folder: what is written, refused, kept and gone on from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import sottovoce
from sottovoce import DawidSkene, Domain, Policy, Target, infer_into, make_policy
from sottovoce.errors import OutputExists, UsageError

RUN = """
import os, signal, sys
from pathlib import Path
import sottovoce
from sottovoce.engines.chunked import packed_table

source, out, kept, moment = sys.argv[1:]

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

def watch(passes):
    if moment == f"pass {passes}":
        kill()

if moment == "packing":
    write = packed_table.PackedWriter.add
    packed_table.PackedWriter.add = lambda *block: (write(*block), kill())
if moment == "packed":
    packed_table.PackedTable.__init__ = lambda *_: kill()
if moment == "telling":
    packed_table.PackedTable.names = lambda *_: kill()
sottovoce.infer_into(source, out, checkpoint=kept, progress=watch)
"""
MOMENTS = ["packing", "packed", "pass 1", "pass 3", "telling"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "answers.parquet"
    duckdb.execute(
        "COPY (SELECT 'w' || hash(i, 1) % 20 AS worker, 't' || i // 6 AS task, "
        "CASE WHEN hash(i, 2) % 10 < 3 + hash(i, 1) % 20 // 4 THEN hash(i // 6) % 3 "
        f"ELSE hash(i, 4) % 3 END AS label FROM range(3000) AS t(i)) TO '{path}'"
    )
    return path


def rows(folder: Path, table: str = "truths") -> list[tuple[Any, ...]]:
    return sorted(duckdb.execute(f"FROM '{folder}/{table}/*.parquet'").fetchall())


def passes(folder: Path) -> dict[str, int]:
    """The sums that are kept, and when each was made."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "sums").glob("sum-*")}


def test_a_folder_has_truths_workers_and_a_summary_and_nothing_else(
    tmp_path: Path, source: Path
) -> None:
    found = infer_into(source, tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["summary.json", "truths", "workers"]
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == found.summary()
    pairs = duckdb.execute(f"SELECT count(DISTINCT (worker, task)) FROM '{source}'").fetchall()
    assert (found.tasks, found.answers, len(found.result.workers)) == (500, pairs[0][0], 20)
    assert len(rows(tmp_path / "out", "workers")) == 20
    assert sorted(os.listdir(tmp_path)) == ["answers.parquet", "out"]


def test_a_folder_is_as_readable_as_a_file_would_be(tmp_path: Path, source: Path) -> None:
    infer_into(source, tmp_path / "out")
    (tmp_path / "other").mkdir()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_what_is_there_is_replaced_only_by_force(tmp_path: Path, source: Path) -> None:
    infer_into(source, tmp_path / "out", "majority-vote")
    before = rows(tmp_path / "out")
    with pytest.raises(OutputExists):
        infer_into(source, tmp_path / "out")
    assert rows(tmp_path / "out") == before
    infer_into(source, tmp_path / "out", force=True)
    assert rows(tmp_path / "out") != before


def test_a_folder_with_anything_else_in_it_is_not_replaced(tmp_path: Path, source: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").touch()
    with pytest.raises(
        UsageError, match=r"out contains thesis\.tex, which is not part of an export"
    ):
        infer_into(source, tmp_path / "out", force=True)


def test_an_error_leaves_nothing(tmp_path: Path, source: Path) -> None:
    with pytest.raises(UsageError, match="gtm does not take categorical"):
        infer_into(source, tmp_path / "out", "gtm")
    assert sorted(os.listdir(tmp_path)) == ["answers.parquet"]


def test_every_pass_is_told(tmp_path: Path, source: Path) -> None:
    heard: list[int] = []
    found = infer_into(source, tmp_path / "out", "dawid-skene", progress=heard.append)
    assert heard == [*range(1, len(heard) + 1)]
    assert len(heard) >= found.result.rounds


def test_a_method_may_be_given_with_its_parameters(tmp_path: Path, source: Path) -> None:
    by_name = infer_into(source, tmp_path / "a", "dawid-skene", parameters={"max_rounds": 2})
    as_such = infer_into(source, tmp_path / "b", DawidSkene(2))
    assert by_name.result.rounds == 2
    np.testing.assert_array_equal(as_such.result.weights, by_name.result.weights)


def policy(mechanism: str = "randomized-response", **domain: Any) -> Policy:
    chosen = Domain.numeric(0, 10, step=1) if domain else Domain.categorical(["0", "1", "2"])
    return make_policy(chosen, mechanism, Target(2.0))


@pytest.mark.parametrize("method", ["aware-numbers", "aware-ordinal", "aware-factorization"])
def test_methods_that_look_at_all_tasks_are_refused_by_name(
    tmp_path: Path, source: Path, method: str
) -> None:
    reports = tmp_path / "reports.parquet"
    duckdb.execute(f"COPY (SELECT worker, task, label AS report FROM '{source}') TO '{reports}'")
    with pytest.raises(UsageError, match=f"{method} needs all tasks in memory"):
        infer_into(reports, tmp_path / "out", method, policy=policy())


@pytest.mark.parametrize("method", ["glad", "kos", "m-msr"])
def test_methods_for_which_sums_do_not_suffice_are_refused_by_name(
    tmp_path: Path, source: Path, method: str
) -> None:
    table = tmp_path / "two.parquet"
    duckdb.execute(f"COPY (FROM '{source}' WHERE label < '2') TO '{table}'")
    with pytest.raises(UsageError, match=f"{method} needs all tasks in memory"):
        infer_into(table, tmp_path / "out", method)


def test_the_noise_of_numbers_is_not_known_here(tmp_path: Path) -> None:
    reports = tmp_path / "reports.parquet"
    duckdb.execute(f"COPY (SELECT 1 AS worker, 2 AS task, 3.0 AS report) TO '{reports}'")
    with pytest.raises(UsageError, match="methods that model the noise of numbers need all"):
        infer_into(reports, tmp_path / "out", policy=policy("laplace", numbers=True))
    found = infer_into(reports, tmp_path / "out", "mean", policy=policy("laplace", numbers=True))
    assert found.result.provenance.policy_hash is not None


def test_reports_that_are_no_answers_are_for_methods_that_know_the_noise(tmp_path: Path) -> None:
    reports = tmp_path / "reports.parquet"
    duckdb.execute(f"COPY (SELECT 1 AS worker, 2 AS task, '0 2' AS report) TO '{reports}'")
    with pytest.raises(UsageError, match="cannot be read as answers"):
        infer_into(reports, tmp_path / "out", "dawid-skene", policy=policy("subset-selection"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engine": "dask"}, "engine= must be chunked or spark, not 'dask'"),
        ({"master": "local"}, "a Spark master and Spark settings need engine="),
        ({"engine": "spark", "memory": 1}, "set Spark's memory in Spark"),
        ({"memory": 1}, "memory= must be at least 256 MiB, not 1 bytes"),
        ({"policy": policy(), "domain": Domain.categorical("ab")}, "drop domain="),
        ({"method": "known"}, "no method 'known'"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, source: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        infer_into(source, tmp_path / "out", **options)


def test_a_second_run_makes_no_sum_again(tmp_path: Path, source: Path) -> None:
    kept = tmp_path / "kept"
    first = infer_into(source, tmp_path / "a", checkpoint=kept)
    made, packed = passes(kept), (kept / "table" / "reports").stat().st_mtime_ns
    again = infer_into(source, tmp_path / "b", checkpoint=kept)
    assert (passes(kept), (kept / "table" / "reports").stat().st_mtime_ns) == (made, packed)
    assert rows(tmp_path / "b") == rows(tmp_path / "a")
    assert again.result.rounds == first.result.rounds


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_that_was_killed_goes_on_where_it_was(
    tmp_path: Path, source: Path, moment: str
) -> None:
    out, kept = tmp_path / "out", tmp_path / "kept"
    command = [sys.executable, "-c", RUN, str(source), str(out), str(kept), moment]
    assert subprocess.run(command, capture_output=True).returncode < 0
    assert not out.exists()
    before = passes(kept)
    assert len(before) == {"pass 1": 1, "pass 3": 3}.get(moment, len(before))
    assert (kept / "table").exists() == (moment != "packing")
    infer_into(source, out, checkpoint=kept)
    after = passes(kept)
    assert {name: after[name] for name in before} == before
    infer_into(source, tmp_path / "at-once")
    assert rows(out) == rows(tmp_path / "at-once")
    assert rows(out, "workers") == rows(tmp_path / "at-once", "workers")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"answers.parquet", "at-once", "kept", "out"}
    assert {path.name for path in kept.iterdir()} == {"lock", "sums", "table"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "majority-vote"}, "sums is the checkpoint of another run"),
        ({"parameters": {"tolerance": 1e-3}}, "sums is the checkpoint of another run"),
        ({"repeats": "last"}, "kept holds another table"),
        ({"bad_rows": "drop"}, "kept holds another table"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(
    tmp_path: Path, source: Path, options: dict[str, Any], words: str
) -> None:
    infer_into(source, tmp_path / "a", checkpoint=tmp_path / "kept")
    with pytest.raises(UsageError, match=words):
        infer_into(source, tmp_path / "b", checkpoint=tmp_path / "kept", **options)


def test_a_checkpoint_of_a_table_that_has_changed_is_refused(tmp_path: Path, source: Path) -> None:
    infer_into(source, tmp_path / "a", checkpoint=tmp_path / "kept")
    duckdb.execute(f"COPY (SELECT 1 AS worker, 2 AS task, 3 AS label) TO '{source}'")
    with pytest.raises(UsageError, match="holds another table, or an earlier version"):
        infer_into(source, tmp_path / "b", checkpoint=tmp_path / "kept")


FULL = """
import resource, sys
import sottovoce
from sottovoce.errors import SottovoceError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    sottovoce.infer_into(sys.argv[1], sys.argv[2])
except SottovoceError as error:
    print(error)
"""


@pytest.mark.parametrize("most", [1000, 9000])
def test_a_full_disk_is_one_line_and_leaves_nothing(
    tmp_path: Path, source: Path, most: int
) -> None:
    """No file may grow beyond `most` bytes: the sorted rows do not fit, or the output."""
    command = [sys.executable, "-c", FULL, str(source), str(tmp_path / "out"), str(most)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
    assert "cannot write " in done.stdout
    assert sorted(os.listdir(tmp_path)) == ["answers.parquet"]


def test_a_disk_without_room_is_refused_before_the_work(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    with pytest.raises(UsageError, match=r"takes 0\.0 GB and more in .*, where 0\.0 GB are free"):
        infer_into(source, tmp_path / "out")


def test_all_is_as_on_one_machine_for_a_table_that_is_compiled_for(tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    duckdb.execute(
        "COPY (SELECT hash(i, 1) % 500 AS worker, (i * 7919) % 20000 AS task, "
        "CASE WHEN hash(i, 2) % 10 < 6 THEN ((i * 7919) % 20000) % 4 ELSE hash(i, 3) % 4 END "
        f"AS label FROM range(120000) AS t(i)) TO '{path}'"
    )
    found, wanted = infer_into(path, tmp_path / "out"), sottovoce.infer(path)
    np.testing.assert_allclose(found.result.weights, wanted.weights, rtol=0, atol=1e-9)
    known = sorted(zip(wanted.tasks.tolist(), wanted.values.tolist(), strict=True))
    assert [row[:2] for row in rows(tmp_path / "out")] == known
