"""Whether two folders of truths say the same: that both ways compute one and the same EM.

    python spark_agreeing.py FOLDER FOLDER

prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from typing import Any

NEAR = 1e-6
"""Two labels whose probabilities differ by less are tied: either may be the truth."""


def agreement(one: str, other: str) -> dict[str, Any]:
    """How many tasks are in both, and by how much their truths' probabilities differ at most.

    `apart` are tasks with different truths that are no ties; `whole` says that no task is missing.
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
