"""Dawid-Skene with Spark's tables: joins and groups, without Python on rows.

    python spark_joins.py FILE ROUNDS FOLDER

prints one JSON object, and writes each task's most likely label and its posterior to FOLDER.

Answers are partitioned and sorted by task and cached, so neither step moves them. Labels are
columns, not rows: one join per answer, not one per label. The confusions, which are small, are
broadcast; each round is separated from the plan of the previous one.
"""

from __future__ import annotations

import json
import sys
import time
from functools import reduce
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from measuring import tell
from spark_answers import LABELS
from spark_watching import CORES, watched

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FLOOR = 1e-10
"""The smallest expected count, as in ours."""

_PARTITIONS = 4 * CORES
_WARM = 1
_LABELS = range(LABELS)


def main(file: Path, rounds: int, folder: Path) -> dict[str, Any]:
    settings = {
        "spark.sql.shuffle.partitions": str(_PARTITIONS),
        "spark.sql.adaptive.enabled": "true",
    }
    with watched("4g", logged=False, **settings) as session:
        start = time.perf_counter()
        answers = _answers(session.spark.read.parquet(str(file)))
        packed = time.perf_counter()
        posteriors = _votes(answers).cache()
        seconds = []
        for number in range(rounds):
            session.describe(f"round {number + 1}")
            before = time.perf_counter()
            confusions, prior = _maximized(answers, posteriors)
            expected = _expected(answers, confusions, prior).cache()
            expected.count()
            posteriors.unpersist()
            posteriors = expected
            seconds.append(time.perf_counter() - before)
            tell(f"round {number + 1} as joins: {seconds[-1]:.1f} s")
        _told(posteriors).write.parquet(str(folder))
    return {
        "pack": packed - start,
        "first": seconds[0],
        "round": median(seconds[_WARM:]),
    }


def _answers(table: DataFrame) -> DataFrame:
    by_task = table.repartition(_PARTITIONS, "task").sortWithinPartitions("task").cache()
    by_task.count()
    return by_task


def _votes(answers: DataFrame) -> DataFrame:
    """Each task's shares of votes, the start of EM."""
    from pyspark.sql import functions as sql

    shares = [sql.avg((sql.col("answer") == t).cast("double")).alias(f"p{t}") for t in _LABELS]
    return answers.groupBy("task").agg(*shares)


def _maximized(answers: DataFrame, posteriors: DataFrame) -> tuple[DataFrame, list[float]]:
    """The M step: ln P(answer | truth, worker) of each worker and answer, and the prior."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    prior = posteriors.agg(*[sql.avg(f"p{t}") for t in _LABELS]).first()
    assert prior is not None
    counts = (
        answers.join(posteriors, "task")
        .groupBy("worker", "answer")
        .agg(*[sql.greatest(sql.sum(f"p{t}"), sql.lit(FLOOR)).alias(f"n{t}") for t in _LABELS])
    )
    worker = Window.partitionBy("worker")
    logs = [
        sql.log(sql.col(f"n{t}") / sql.sum(f"n{t}").over(worker)).alias(f"l{t}") for t in _LABELS
    ]
    return counts.select("worker", "answer", *logs).localCheckpoint(), list(prior)


def _expected(answers: DataFrame, confusions: DataFrame, prior: list[float]) -> DataFrame:
    """The E step: each task's posterior."""
    from pyspark.sql import functions as sql

    scores = answers.join(sql.broadcast(confusions), ["worker", "answer"]).groupBy("task").agg(*[
        (sql.sum(f"l{t}") + sql.log(sql.lit(max(prior[t], FLOOR)))).alias(f"s{t}") for t in _LABELS
    ])  # fmt: skip
    top = sql.greatest(*[f"s{t}" for t in _LABELS])
    likely = scores.select(
        "task", *[sql.exp(sql.col(f"s{t}") - top).alias(f"e{t}") for t in _LABELS]
    )
    mass = reduce(_sum, (sql.col(f"e{t}") for t in _LABELS))
    return likely.select("task", *[(sql.col(f"e{t}") / mass).alias(f"p{t}") for t in _LABELS])


def _told(posteriors: DataFrame) -> DataFrame:
    from pyspark.sql import functions as sql

    each = [f"p{t}" for t in _LABELS]
    top = sql.greatest(*each)
    truth = sql.coalesce(*[sql.when(sql.col(f"p{t}") == top, t) for t in _LABELS])
    return posteriors.select("task", truth.alias("truth"), top.alias("confidence"))


def _sum(one: Column, other: Column) -> Column:
    return one + other


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))))
