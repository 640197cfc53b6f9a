"""Tables on a cluster: what is read, what is refused, and the messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.engines.large_table import Recoding
from sottovoce.engines.spark.table import SparkTable, open_table
from sottovoce.errors import DataError, SottovoceError, UsageError
from sottovoce.model import Domain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOUND = {"worker": ["a", "b", "a", "b"], "task": ["t", "t", "u", "u"], "answer": list("xxyx")}


def table(spark: SparkSession, folder: Path, columns: Any = None, **options: Any) -> SparkTable:
    pq.write_table(pa.table(SOUND if columns is None else columns), folder / "answers.parquet")
    return open_table(spark, folder / "answers.parquet", **options)


def test_labels_are_guessed_and_sorted(spark: SparkSession, tmp_path: Path) -> None:
    assert table(spark, tmp_path).domain == Domain.categorical(["x", "y"])


def test_whole_numbers_are_labels_where_they_are_few(spark: SparkSession, tmp_path: Path) -> None:
    found = table(spark, tmp_path, {**SOUND, "answer": [10, 9, 9, 10]})
    assert found.domain == Domain.categorical([9, 10])


def test_numbers_are_numbers(spark: SparkSession, tmp_path: Path) -> None:
    found = table(spark, tmp_path, {**SOUND, "answer": ["1.5", " 2", "-3e1", "0"]})
    assert found.domain == Domain.numeric()


def test_names_may_be_whole_numbers_in_a_column_of_fractions(
    spark: SparkSession, tmp_path: Path
) -> None:
    found = table(spark, tmp_path, {**SOUND, "worker": [7.0, 8.0, 7.0, 8.0]})
    assert found.engine().workers.tolist() == [7, 8]


def test_an_unused_label_of_a_given_domain_is_kept(spark: SparkSession, tmp_path: Path) -> None:
    domain = Domain.ordinal(["x", "y", "z"])
    assert table(spark, tmp_path, domain=domain).domain == domain


def test_reports_of_a_seed_are_known(spark: SparkSession, tmp_path: Path) -> None:
    columns = {"worker": ["a"], "task": ["t"], "simulated_report": ["x"]}
    assert table(spark, tmp_path, columns, reported=True).simulated


def test_a_table_of_the_catalogue(spark: SparkSession) -> None:
    spark.createDataFrame(pa.table(SOUND)).createOrReplaceTempView("answers_of_the_crowd")
    engine = open_table(spark, "table:answers_of_the_crowd").engine()
    assert (engine.answers, engine.task_count, engine.workers.tolist()) == (4, 2, ["a", "b"])


def test_several_files_are_read_in_the_order_of_their_names(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name, answer in (("b c", "y"), ("a", "x")):
        row = {"worker": ["w"], "task": ["t"], "answer": [answer]}
        pq.write_table(pa.table(row), tmp_path / f"{name}.parquet")
    for repeats, kept in (("first", 0), ("last", 1)):
        engine = open_table(spark, tmp_path, repeats=repeats).engine()  # type: ignore[arg-type]
        from sottovoce.inference.steps.votes import LabelCounts

        assert engine.total(LabelCounts(2)).tolist() == [1.0 - kept, float(kept)]
        assert (engine.reading.repeated, engine.reading.contradicting) == (1, 1)


def test_labels_stand_for_what_they_are_recoded_to(spark: SparkSession, tmp_path: Path) -> None:
    from sottovoce.inference.steps.means import TaskMeans

    recoding = Recoding(np.array([2.0, 5.0]), Domain.numeric(0, 10))
    engine = table(spark, tmp_path, domain=Domain.ordinal("xy")).engine(recoding)
    assert engine.total(TaskMeans()).tolist() == [4.0, 11.0]


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({**SOUND, "worker": ["a", None, "a", "b"]}, {}, r"row 2, column 'worker': empty cell"),
        ({**SOUND, "task": ["t", "t", "", "u"]}, {}, r"row 3, column 'task': empty cell"),
        ({**SOUND, "answer": [1.0, 2.5, float("nan"), 3.0]}, {}, r"row 3.*finite number"),
        ({**SOUND, "answer": ["1", "2.5", "x", "3"]}, {}, r"row 3.*mixes numbers and text"),
        (SOUND, {"domain": Domain.categorical("xz")}, r"row 3.*'y' is not one of the labels"),
        (
            {**SOUND, "answer": [1.0, 2.0, 12.0, 3.0]},
            {"domain": Domain.numeric(0, 10)},
            r"row 3.*outside the range 0\.\.10",
        ),
        (
            {**SOUND, "task": list("tttt")},
            {"repeats": "error"},
            r"row 3: worker 'a' answers task 't' again \(2 rows repeat a pair\)",
        ),
        ({**SOUND, "worker": [1.5, 2.0, 3.0, 4.0]}, {}, "numbers with fractions"),
        ({"worker": ["a"], "task": ["t"], "answer": [["x"]]}, {}, "holds array values"),
        ({"worker": ["a"], "task": ["t"]}, {}, "no column answer or label"),
        ({name: [] for name in SOUND}, {}, "the table has no rows"),
        (SOUND, {"repeats": "maybe"}, "repeats= must be first, last, keep or error"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_by_its_place(
    spark: SparkSession, tmp_path: Path, columns: Any, options: Any, words: str
) -> None:
    with pytest.raises(SottovoceError, match=words):
        table(spark, tmp_path, columns, **options).engine()


def test_rows_that_are_left_out_are_counted(spark: SparkSession, tmp_path: Path) -> None:
    columns = {"worker": ["a", None, "a", "b"], "task": ["t", "t", "", "u"], "answer": list("xxyz")}
    domain = Domain.categorical("xy")
    engine = table(spark, tmp_path, columns, domain=domain, bad_rows="drop").engine()
    assert engine.answers == 1
    assert engine.reading.rows == 4
    assert engine.reading.dropped == {
        "empty worker": 1, "empty task": 1, "answer not among the labels": 1,
    }  # fmt: skip


def test_nothing_is_left_of_a_table_of_bad_rows(spark: SparkSession, tmp_path: Path) -> None:
    columns = {**SOUND, "worker": ["", "", "", None]}
    with pytest.raises(DataError, match="no row is left"):
        table(spark, tmp_path, columns, bad_rows="drop")


def test_there_must_be_a_table(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "junk.parquet").write_bytes(b"junk" * 100)
    for source, words in (
        ("nowhere.parquet", "there is no such file or folder"),
        ("table:nowhere", "no such table in Spark's catalogue"),
        (tmp_path / "junk.parquet", "is not a Parquet file"),
    ):
        with pytest.raises(DataError, match=words):
            open_table(spark, source)


def test_only_parquet_is_read(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match=r"answers\.csv: the Spark engine reads Parquet"):
        open_table(spark, "answers.csv")
