"""Write any number of answers to a Parquet file in little memory, with hashes as randomness.

    python spark_answers.py FILE ANSWERS {labels,numbers} [WORKERS]

Ten answers per task, by ten of 10,000 workers (or WORKERS) of differing ability, on four labels or
on numbers around the truth. Rows are scattered as in a log: adjacent rows are of distant tasks.
"""

from __future__ import annotations

import sys
from pathlib import Path

from crowds import REDUNDANCY

__all__ = ["LABELS", "WORKERS"]

LABELS = 4
WORKERS = 10_000

_STEP = 61_803_419
"""A prime, so that steps of this size visit every row of a table once."""

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

    # A worker's strides are shorter than a tenth of the number of workers, so no task has it twice.
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
