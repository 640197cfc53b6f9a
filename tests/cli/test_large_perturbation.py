"""`sottovoce perturb --engine spark`, as a user meets it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from tests.engines.spark.java import java_missing

from sottovoce import Domain, Target, make_policy, write_policy

Run = Callable[..., "subprocess.CompletedProcess[str]"]

ON_SPARK = ("--engine", "spark", "--master", "local[2]")
UNDER = ("--policy", "p.json")


@pytest.fixture(autouse=True)
def policy(tmp_path: Path) -> None:
    domain = Domain.categorical(["no", "yes"])
    made = make_policy(domain, "randomized-response", Target(1.0, answers=12))
    write_policy(made, tmp_path / "p.json")


@pytest.fixture
def parquet(answers: Path) -> Path:
    file = answers.with_suffix(".parquet")
    duckdb.sql(f"COPY (FROM read_csv('{answers}', all_varchar = true)) TO '{file}'")
    return file


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*ON_SPARK, *UNDER), "noise added there protects nobody: pass --seed N"),
        ((*ON_SPARK, *UNDER, "--seed", "-3"), "seed must be an integer of at least 0, not -3"),
        ((*ON_SPARK, "--seed", "3"), "needs an existing policy: give --policy"),
        (
            (*ON_SPARK, "--seed", "3", *UNDER, "--epsilon", "1", "--domain", "numeric"),
            "the policy already fixes this: drop --epsilon, --domain",
        ),
        ((*ON_SPARK, "--seed", "3", *UNDER, "--format", "csv"), "--format does not work with"),
        (("--master", "local[2]", *UNDER), "--master needs --engine spark"),
        (("--conf", "spark.a=1", *UNDER), "--conf needs --engine spark"),
        ((*ON_SPARK, "--conf", "spark"), "--conf takes spark.NAME=VALUE, not 'spark'"),
    ],
)
def test_what_does_not_fit_is_refused_before_spark_starts(
    options: tuple[str, ...], message: str, call: Run, parquet: Path, tmp_path: Path
) -> None:
    done = call("perturb", parquet.name, "-o", "out", *options)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_there_is_refused_before_spark_starts(
    call: Run, parquet: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    done = call("perturb", parquet.name, "-o", "out", *ON_SPARK, *UNDER, "--seed", "3")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "out exists; pass --force" in done.stderr


def test_only_what_was_made_here_is_replaced(call: Run, parquet: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "truths").mkdir()
    done = call("perturb", parquet.name, "-o", "out", *ON_SPARK, *UNDER, "--seed", "3", "--force")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert (
        "out contains truths, which is not part of an export; nothing was replaced" in done.stderr
    )


@pytest.mark.slow
@pytest.mark.skipif(java_missing() is not None, reason=str(java_missing()))
def test_a_table_is_perturbed_where_spark_starts_for_it(
    run: Run, parquet: Path, tmp_path: Path
) -> None:
    done = run("perturb", parquet.name, "-o", "out", *ON_SPARK, *UNDER, "--seed", "3")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "wrote out/reports: 36 SIMULATED reports" in done.stderr
    assert done.stderr.splitlines()[-1] == "SIMULATED with seed 3: these reports protect nobody"
    inferred = run("infer", "out/reports", *ON_SPARK, *UNDER, "-o", "found")
    assert inferred.returncode == 0, inferred.stderr
    assert "note: SIMULATED reports" in inferred.stderr
    assert (tmp_path / "found" / "truths").is_dir()
