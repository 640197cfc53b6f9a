"""Measure rounds of Dawid-Skene on a Parquet file: on Spark, or on the engine of one machine.

    python spark_rounds.py {spark,timed,local} FILE ROUNDS FOLDER

prints one JSON object, and writes each task's truth to FOLDER. Spark has this machine's two cores;
the engine of one machine runs with one thread and with two. Seconds are wall time. `spark` also
reports bytes moved, from Spark's event log; `timed` does not write that log, which takes time.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from measuring import resident, tell
from sottovoce import DawidSkene, LocalEngine, read, write
from sottovoce.engines import WatchedEngine
from sottovoce.inference.dawid_skene import Expectation
from sottovoce.seams import Engine
from spark_watching import CORES, Moved, watched

__all__ = ["WARM", "learnt", "median_moved"]

WARM = 2
"""Warm-up rounds, which load the kernels and fill the caches; they are not counted."""


def on_spark(file: Path, rounds: int, folder: Path, *, logged: bool = True) -> dict[str, Any]:
    from sottovoce.engines.spark.table import open_table

    times = [time.perf_counter()]
    with watched("4g", logged=logged) as session:
        times.append(time.perf_counter())
        table = open_table(session.describe("opening").spark, str(file))
        times.append(time.perf_counter())
        session.describe("packing")
        engine = table.engine()
        times.append(time.perf_counter())
        start, opened, packed = (b - a for a, b in pairwise(times))
        tell(f"started in {start:.1f} s, opened in {opened:.1f} s, packed in {packed:.1f} s")
        found, seconds = learnt(engine, rounds, session.describe)
        held = session.held()
        session.describe("telling")
        before = time.perf_counter()
        engine.write_truths(DawidSkene(), found, folder)
        told = time.perf_counter() - before
    return {
        "start": start, "open": opened, "pack": packed, "tell": told, "held": held,
        "round": median(seconds[WARM:]), "rounds": seconds, "first": seconds[0],
        "moved": median_moved(session.moved, rounds) if logged else {},
        "packing": asdict(session.moved["packing"]) if logged else {},
    }  # fmt: skip


def locally(file: Path, rounds: int, folder: Path) -> dict[str, Any]:
    start = time.perf_counter()
    reports = read(file)
    opened = time.perf_counter() - start
    engines = {threads: LocalEngine(reports, threads=threads) for threads in (1, CORES)}
    seen = {}
    for threads, engine in engines.items():
        found, seconds = learnt(engine, rounds)
        seen[str(threads)] = median(seconds[WARM:])
        tell(f"{threads} threads: a round takes {seen[str(threads)]:.3f} s")
    held = resident(os.getpid(), peak=True)
    folder.mkdir()
    write(DawidSkene().tell(engine, found), folder / "truths.parquet")
    return {"read": opened, "round": seen, "held": held}


def learnt(
    engine: Engine, rounds: int, name: Callable[[str], object] = str
) -> tuple[Expectation, list[float]]:
    """The result of a number of rounds, and the seconds of each; `name` is called before each.

    A round is a pass and the computation on its sums. The pass before the first counts votes.
    """
    ends: list[float] = []

    def ended(passes: int) -> None:
        ends.append(time.perf_counter())
        name(f"round {passes}")

    found = DawidSkene(rounds, -math.inf).learn(WatchedEngine(engine, ended))
    return found, [end - start for start, end in pairwise(ends)]


def median_moved(moved: dict[str, Moved], rounds: int) -> dict[str, float]:
    """Bytes moved by a round, over the counted rounds."""
    counted = [asdict(moved[f"round {number}"]) for number in range(1 + WARM, rounds + 1)]
    return {what: median(each[what] for each in counted) for what in counted[0]}


if __name__ == "__main__":
    where, told, folder = Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    match sys.argv[1]:
        case "local":
            seen = locally(where, told, folder)
        case way:
            seen = on_spark(where, told, folder, logged=way == "spark")
    print(json.dumps(seen))
