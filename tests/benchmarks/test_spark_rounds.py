"""Tests of the Spark benchmark at a small size: it measures the same EM three times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.conftest import BENCHMARKS
from tests.engines.spark.java import java_missing

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(java_missing() is not None, reason=str(java_missing())),
]

ROUNDS = 4


def run(script: str, *arguments: object) -> Any:
    command = [sys.executable, str(BENCHMARKS / script), *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("answers") / "answers.parquet"
    run("spark_answers.py", file, 100_000, "labels")
    return file


@pytest.fixture(scope="module")
def in_memory(answers: Path) -> Path:
    folder = answers.parent / "local"
    run("spark_rounds.py", "local", answers, ROUNDS, folder)
    return folder


def test_rounds_on_spark_end_where_those_in_memory_do_and_shuffle_nothing(
    answers: Path, in_memory: Path, tmp_path: Path
) -> None:
    seen = run("spark_rounds.py", "spark", answers, ROUNDS, tmp_path / "spark")
    agreement = run("spark_agreeing.py", tmp_path / "spark", in_memory)
    assert (agreement["whole"], agreement["tasks"], agreement["apart"]) == (True, 10_000, 0)
    assert agreement["difference"] < 1e-9
    assert len(seen["rounds"]) == ROUNDS
    assert seen["moved"]["shuffled"] == 0
    # One number per probability of each worker is sent once, and returned by each core.
    numbers = 8 * 10_000 * 4**2
    assert numbers < seen["moved"]["broadcast"] < 2 * numbers
    assert 2 * numbers * 0.99 < seen["moved"]["collected"] < 3 * numbers


def test_the_joins_are_the_same_em(answers: Path, in_memory: Path, tmp_path: Path) -> None:
    run("spark_joins.py", answers, ROUNDS, tmp_path / "joins")
    agreement = run("spark_agreeing.py", tmp_path / "joins", in_memory)
    assert (agreement["whole"], agreement["apart"]) == (True, 0)
    assert agreement["difference"] < 1e-6  # theirs is not rounded once per round
