"""Compare two folders of truths, to check that both ways compute the same EM.

    python spark_agreeing.py FOLDER FOLDER

prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from typing import Any

NEAR = 1e-6
"""Labels tie if their probabilities differ by less; either may be the truth."""


def agreement(one: str, other: str) -> dict[str, Any]:
    """The number of tasks in both, and the largest difference of their truths' probabilities.

    `apart` counts tasks with different truths that are not ties; `whole` means that no task is
    missing.
    """
    import duckdb

    with duckdb.connect() as connection:
        row = connection.execute(f"""
            SELECT count(*), count(*) FILTER (WHERE
                a.truth <> b.truth AND greatest(a.confidence, b.confidence) > .5 + {NEAR}
            ), max(abs(a.confidence - b.confidence)),
            (SELECT count(*) FROM '{one}/*.parquet') = count(*)
            AND (SELECT count(*) FROM '{other}/*.parquet') = count(*)
            FROM '{one}/*.parquet' AS a JOIN '{other}/*.parquet' AS b USING (task)
        """).fetchone()
    assert row is not None
    tasks, apart, difference, whole = row
    return {"tasks": tasks, "apart": apart, "difference": difference, "whole": whole}


if __name__ == "__main__":
    print(json.dumps(agreement(sys.argv[1], sys.argv[2])))
