"""Answers in a Parquet file, as many as one likes in little memory: hashes in place of a generator.

    python spark_answers.py FILE ANSWERS {labels,numbers} [WORKERS]

Ten answers a task, by ten of 10,000 workers (or as many as said) of differing ability, on four
labels or on numbers around the truth. Rows are scattered as a log's: the next row is of a task far
away.
"""

from __future__ import annotations

import sys
from pathlib import Path

from crowds import REDUNDANCY

__all__ = ["LABELS", "WORKERS"]

LABELS = 4
WORKERS = 10_000

_STEP = 61_803_419
"""A prime, so that stepping by it meets every row of a table once."""

_VALUES = {
    "labels": f"""
        CASE WHEN share(row, 'right') < .35 + .6 * share(worker, 'ability') THEN truth
        ELSE (truth + 1 + hash(row, 'wrong') % {LABELS - 1}) % {LABELS} END::TINYINT""",
    "numbers": """
        truth + share(task, 'shift') + (.1 + share(worker, 'ability'))
        * sqrt(-2 * ln(share(row, 'radius') + 1e-12)) * cos(2 * pi() * share(row, 'angle'))""",
}


def write(file: Path, answers: int, kind: str, workers: int = WORKERS) -> None:
    import duckdb

    # A worker's strides round the others are shorter than a tenth of them: no task has it twice.
    with duckdb.connect() as connection:
        connection.sql("SET memory_limit = '2GB'")
        connection.sql("CREATE MACRO share(a, b) AS (hash(a, b) % 1000003) / 1000003")
        connection.sql(f"""
            COPY (
                SELECT task, worker, {_VALUES[kind]} AS answer
                FROM (
                    SELECT row, task, hash(task, 'truth') % {LABELS} AS truth,
                        ((hash(task, 'first') % {workers} + row % {REDUNDANCY}
                        * (1 + hash(task, 'stride') % {workers // REDUNDANCY}))
                        % {workers})::INTEGER AS worker
                    FROM (
                        SELECT i * {_STEP} % {answers} AS row, row // {REDUNDANCY} AS task
                        FROM range({answers}) AS rows(i)
                    )
                )
            ) TO '{file}' (FORMAT parquet)
        """)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:]))
    print("{}")
