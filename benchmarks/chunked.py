"""Measure packing a table on disk, a round over it, and the memory of both.

    python chunked.py ANSWERS [labels|numbers] [text]

writes that many answers to a Parquet file (`spark_answers.py`), with `text` under names that are
text, packs it and runs rounds of Dawid-Skene or CRH. Prints one JSON object: seconds for packing,
for a round and for writing truths; the same round in memory, if the table fits; peak resident
bytes, in total and above the process with its libraries.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import spark_answers
from measuring import peak_above, tell

ROUNDS = 5
FITS = 100_000_000
"""The largest number of answers for which the same round also runs in memory."""


def named(source: Path, target: Path) -> None:
    """The same table under names that are text."""
    import duckdb

    with duckdb.connect() as connection:
        connection.sql("SET memory_limit = '2GB'")
        connection.sql(
            "COPY (SELECT 'task-' || task AS task, 'worker-' || worker AS worker, answer "
            f"FROM '{source}') TO '{target}' (FORMAT parquet)"
        )


def method(kind: str, rounds: int) -> Any:
    """A method with a fixed number of rounds."""
    from sottovoce import CRH, DawidSkene

    return (DawidSkene if kind == "labels" else CRH)(rounds, -math.inf)


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def a_round(kind: str, engine: Any) -> float:
    """Seconds per round: the median of the last ones, each of them a pass."""
    from sottovoce.engines import WatchedEngine

    ends: list[float] = []
    watched = WatchedEngine(engine, lambda _: ends.append(time.perf_counter()))
    method(kind, 2 + ROUNDS).learn(watched)
    return median(end - start for start, end in pairwise(ends[-ROUNDS - 1 :]))


def warmed(kind: str, folder: Path) -> None:
    """Compile all kernels with a table that is large enough."""
    from sottovoce.engines.chunked.table import open_table

    spark_answers.write(folder / "small.parquet", 200_000, kind)
    engine = open_table(folder / "small.parquet", work=folder / "small").engine()
    made = method(kind, 1)
    engine.write_truths(made, made.learn(engine), folder / "small-truths")


def main(answers: int, kind: str, *, text: bool) -> dict[str, Any]:
    from sottovoce import LocalEngine, read
    from sottovoce.engines.chunked.table import open_table

    found: dict[str, Any] = {"answers": answers, "kind": kind, "text": text}
    with tempfile.TemporaryDirectory(prefix="chunked-", dir=".") as place:
        folder = Path(place)
        warmed(kind, folder)
        source = folder / "answers.parquet"
        tell(f"writing {answers:,} answers")
        spark_answers.write(source, answers, kind)
        if text:
            named(source, folder / "named.parquet")
            source = folder / "named.parquet"
        engines: list[Any] = []

        def work() -> None:
            tell("packing")
            table = open_table(source, work=folder / "work")
            found["packing"] = seconds(lambda: engines.append(table.engine()))
            tell("rounds")
            found["round"] = a_round(kind, engines[0])
            made = method(kind, 1)
            learnt = made.learn(engines[0])
            tell("truths")
            truths = folder / "truths"
            found["telling"] = seconds(lambda: engines[0].write_truths(made, learnt, truths))

        found["peak"], found["above"] = peak_above(work)
        found["packed"] = sum(f.stat().st_size for f in (folder / "work").rglob("*"))
        if answers <= FITS:
            tell("the same in memory")
            local = LocalEngine(read(source))
            # In turns, with the minimum of each, because other load slows only one of them.
            turns = [(a_round(kind, local), a_round(kind, engines[0])) for _ in range(3)]
            found["local_round"], found["round"] = map(min, zip(*turns, strict=True))
            found["ratio"] = found["round"] / found["local_round"]
    return found


if __name__ == "__main__":
    given = sys.argv[1:]
    wanted = "numbers" if "numbers" in given else "labels"
    print(json.dumps(main(int(given[0]), wanted, text="text" in given)))
