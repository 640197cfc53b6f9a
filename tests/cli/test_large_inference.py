"""`sottovoce infer --engine chunked`, as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from sottovoce.cli.inference import bytes_of
from sottovoce.errors import UsageError

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def table(tmp_path: Path, answers: Path) -> Path:
    """The answers of the other tests as Parquet."""
    path = tmp_path / "answers.parquet"
    duckdb.execute(f"COPY (FROM '{answers}') TO '{path}'")
    return path


def test_truths_go_to_a_folder_and_words_to_standard_error(
    run: Run, table: Path, tmp_path: Path
) -> None:
    done = run("infer", table.name, "--engine", "chunked", "-o", "out")
    assert (done.returncode, done.stdout) == (0, "")
    assert "wrote out/truths, out/workers" in done.stderr
    assert "aware-labels: 12 tasks, 3 workers, 36 answers" in done.stderr
    found = duckdb.execute(f"FROM '{tmp_path}/out/truths/*.parquet'")
    assert [column[0] for column in found.description] == ["task", "truth", "confidence", "answers"]
    assert len(found.fetchall()) == 12


def test_they_are_those_found_without_an_engine(call: Run, table: Path, tmp_path: Path) -> None:
    call("infer", table.name, "--engine", "chunked", "-o", "out")
    call("infer", table.name, "-o", "out.parquet")
    found, wanted = (
        duckdb.execute(f"SELECT task, truth, answers FROM '{tmp_path}/{files}' ORDER BY task")
        .fetchall()
        for files in ("out/truths/*.parquet", "out.parquet")
    )  # fmt: skip
    assert found == wanted


def test_json_is_the_summary(call: Run, table: Path, tmp_path: Path) -> None:
    done = call("infer", table.name, "--engine", "chunked", "-o", "out", "--json", "-m", "one-coin")
    seen = json.loads(done.stdout)
    assert seen == json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (seen["method"], seen["tasks"], seen["answers"]) == ("one-coin", 12, 36)


def test_what_happened_to_rows_is_said(call: Run, table: Path) -> None:
    duckdb.execute(
        f"COPY (FROM '{table}' UNION ALL SELECT 'ann', 'q0', 'yes' "
        f"UNION ALL SELECT NULL, 'q', 'no') TO '{table}'"
    )
    done = call("infer", table.name, "--engine", "chunked", "-o", "o", "--bad-rows", "drop")
    assert "1 of 38 rows repeats a (worker, task) pair: kept the first of each; 1" in done.stderr
    assert "1 of 38 rows dropped: empty worker" in done.stderr


def test_a_checkpoint_is_gone_on_from(call: Run, table: Path, tmp_path: Path) -> None:
    for output in ("a", "b"):
        done = call(
            "infer", table.name, "--engine", "chunked", "-o", output, "--checkpoint", "kept",
            "--memory", "1GB",
        )  # fmt: skip
        assert done.returncode == 0
    assert sorted(os.listdir(tmp_path / "kept")) == ["lock", "sums", "table"]


REFUSED = {
    "no output": ([], "--engine chunked writes a folder: add --output FOLDER"),
    "no file": (["-o", "out", "TABLE=nothing.parquet"], "nothing.parquet: there is no such file"),
    "no Parquet": (["-o", "out", "TABLE=answers.csv"], "answers.csv: is csv: the chunked engine"),
    "cut short": (["-o", "out", "TABLE=half.parquet"], "half.parquet: is a truncated Parquet file"),
    "no rows": (["-o", "out", "TABLE=empty.parquet"], "the table has a header but no rows"),
    "no column": (["-o", "out", "TABLE=two.parquet"], "there is no column answer or label"),
    "output there": (["-o", "there"], "there exists; pass --force to replace it"),
    "output nowhere": (["-o", "no/where"], "is not a folder: create it first"),
    "memory": (["-o", "out", "--memory", "lots"], "--memory takes an amount such as 2GB or"),
    "no memory": (["-o", "out", "--memory", "1MB"], "--memory must be at least 256 MiB"),
    "gold": (["-o", "out", "--gold", "g.csv"], "--gold does not work with --engine chunked: drop"),
    "ties": (["-o", "out", "--ties", "random"], "--ties does not work with --engine chunked"),
    "format": (["-o", "out", "--format", "csv"], "--format does not work with --engine chunked"),
    "weights": (["-o", "out", "--weights", "w.csv"], "--weights does not work with --engine"),
    "master": (["-o", "out", "--master", "local"], "a Spark master and Spark settings need"),
    "method": (["-o", "out", "-m", "aware-ordinal"], "aware-ordinal models the noise of a policy"),
    "numbers": (["-o", "out", "-m", "gtm"], "gtm does not take categorical"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), REFUSED.values(), ids=REFUSED)
def test_refusals_are_one_line(
    call: Run, table: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "half.parquet").write_bytes(table.read_bytes()[:-20])
    for name, select in (("empty", f"FROM '{table}' LIMIT 0"), ("two", "SELECT 1 worker, 2 task")):
        duckdb.execute(f"COPY ({select}) TO '{tmp_path / name}.parquet'")
    before = sorted(os.listdir(tmp_path))
    named = [each.removeprefix("TABLE=") for each in arguments if each.startswith("TABLE=")]
    others = [each for each in arguments if not each.startswith("TABLE=")]
    done = call("infer", *(named or [table.name]), "--engine", "chunked", *others)
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("option", ["--master", "--checkpoint", "--memory"])
def test_options_of_engines_need_one(call: Run, table: Path, option: str) -> None:
    done = call("infer", table.name, option, "1GB")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option} needs --engine chunked or spark" in done.stderr


@pytest.mark.parametrize("text", ["", "2 TB", "-1", "GB", "1e9", "２GB", "1.GB"])
def test_an_amount_of_memory_is_a_number_and_a_unit(text: str) -> None:
    with pytest.raises(UsageError, match="--memory takes an amount such as 2GB or 512MiB"):
        bytes_of(text)
