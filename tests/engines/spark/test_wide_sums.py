"""Sums that are cut by workers equal those that are not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.contracts.large_engines import Case, compare, expected, parquet
from tests.engines.spark.engines import Packed

from sottovoce.engines.spark import sums
from sottovoce.engines.spark.sums import Cut

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[Cut]:
    """The cuts that were made: any sum of workers is too large, and is cut into three."""
    cuts: list[Cut] = []

    class InThree(Cut):
        @classmethod
        def of(cls, size: int, workers: int, most: int) -> Cut:
            cuts.append(Cut.of(size, workers, most)._replace(range=-(-workers // 3)))
            return cuts[-1]

    monkeypatch.setattr("sottovoce.engines.spark.engine.MOST_SHARED", 0)
    monkeypatch.setattr(sums, "Cut", InThree)
    return cuts


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return parquet("made-up", tmp_path_factory.mktemp("tables"))


@pytest.mark.parametrize(
    "method",
    [
        "dawid-skene",
        pytest.param("one-coin", marks=pytest.mark.slow),
        pytest.param("crh", marks=pytest.mark.slow),
    ],
)
def test_labels(
    spark: SparkSession, source: Path, tmp_path: Path, method: str, cut: list[Cut]
) -> None:
    case = Case("made-up", method, {"repeats": "last"})
    compare(expected(case, source), Packed(spark).infer(case, source, tmp_path))
    assert {each.ranges for each in cut} == {3}


@pytest.mark.parametrize("method", ["gtm", pytest.param("catd", marks=pytest.mark.slow)])
def test_numbers(
    spark: SparkSession, tmp_path: Path, real_table: Path, method: str, cut: list[Cut]
) -> None:
    case = Case("calories", method)
    compare(expected(case, real_table), Packed(spark).infer(case, real_table, tmp_path / "out"))
    assert {each.ranges for each in cut} == {3}


@pytest.fixture
def real_table(tmp_path: Path, real_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    return parquet("calories", tmp_path)


def test_a_cut_has_every_worker_once() -> None:
    cut = Cut.of(size=7 * 4 + 3, workers=7, most=2 * 4 * 8)
    assert cut == Cut(workers=7, each=4, rest=3, range=2)
    assert cut.ranges == 4
    places = np.concatenate([np.arange(i * 2, min(i * 2 + 2, 7)) for i in range(cut.ranges)])
    np.testing.assert_array_equal(places, np.arange(7))
