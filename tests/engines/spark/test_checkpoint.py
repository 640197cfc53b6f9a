"""Checkpoints where a cluster keeps files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.contracts.large_engines import Case, compare, expected, parquet

from sottovoce import infer_into
from sottovoce.engines.spark.checkpoint import SparkSums
from sottovoce.engines.spark.hadoop_files import address_of, exists, read_bytes, remove, write_bytes
from sottovoce.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASE = Case("made-up", "majority-vote", {"repeats": "last"})


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return parquet("made-up", tmp_path_factory.mktemp("tables"))


def test_a_file_holds_what_was_written_last(spark: SparkSession, tmp_path: Path) -> None:
    path = address_of(tmp_path / "folder" / "file")
    assert read_bytes(spark, path) is None
    write_bytes(spark, path, b"first")
    write_bytes(spark, path, bytes(range(256)))
    assert read_bytes(spark, path) == bytes(range(256))
    remove(spark, address_of(tmp_path / "folder"))
    assert not exists(spark, path)


def test_sums_are_kept_as_they_are(spark: SparkSession, tmp_path: Path) -> None:
    sums = np.random.default_rng(1).random((7, 3))
    SparkSums(spark, str(tmp_path), "run").append(0, sums)
    found = SparkSums(spark, str(tmp_path), "run").read(0)
    assert found is not None
    np.testing.assert_array_equal(found, sums)
    assert SparkSums(spark, str(tmp_path), "other").read(0) is None


def test_a_damaged_sum_is_made_again_and_so_are_those_after_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    kept = SparkSums(spark, str(tmp_path), "run")
    for number in range(3):
        kept.append(number, np.full(4, float(number)))
    file = tmp_path / "sums-run" / "00001"
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert kept.read(1) is None
    kept.append(1, np.ones(4))
    assert kept.read(2) is None


def run(spark: SparkSession, source: Path, folder: Path, **options: Any) -> Any:
    kept = folder / "kept"
    given: dict[str, Any] = {**CASE.options, **options}
    out = folder / f"out-{len(list(folder.iterdir()))}"
    return infer_into(source, out, engine="spark", session=spark, checkpoint=kept, **given)


def test_blocks_are_packed_once(spark: SparkSession, source: Path, tmp_path: Path) -> None:
    compare(expected(CASE, source), run(spark, source, tmp_path))
    blocks = sorted((tmp_path / "kept" / "blocks").glob("*.parquet"))
    times = [block.stat().st_mtime_ns for block in blocks]
    compare(expected(CASE, source), run(spark, source, tmp_path))
    assert [block.stat().st_mtime_ns for block in blocks] == times
    for options, words in (({"repeats": "first"}, "another table, or of another domain"),):
        with pytest.raises(UsageError, match=words):
            run(spark, source, tmp_path, **options)


def test_half_a_checkpoint_counts_for_nothing(
    spark: SparkSession, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "kept" / "blocks").mkdir(parents=True)
    (tmp_path / "kept" / "blocks" / "part-00000.parquet").write_bytes(b"half")
    compare(expected(CASE, source), run(spark, source, tmp_path))
