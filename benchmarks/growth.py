"""How the cost of a round grows with the number of answers, and what it needs in memory.

    python growth.py ANSWERS LABELS WORKERS

prints one JSON object.
"""

from __future__ import annotations

import json
import math
import sys
import time

from crowds import simulated
from measuring import peak_above
from sottovoce import DawidSkene, LocalEngine


def main(answers: int, labels: int, workers: int) -> dict[str, float]:
    DawidSkene(1).fit(LocalEngine(simulated(200_000, labels)))
    reports = simulated(answers, labels, workers)
    times: dict[str, float] = {}

    def fit(rounds: int, threads: int) -> None:
        cpu, wall = time.process_time(), time.perf_counter()
        engine = LocalEngine(reports, threads=threads)
        times[f"sort{rounds}"] = time.process_time() - cpu
        DawidSkene(rounds, -math.inf).fit(engine)
        times[f"cpu{rounds}"] = time.process_time() - cpu
        times[f"wall{rounds}"] = time.perf_counter() - wall

    fit(1, 1)
    peak, _ = peak_above(lambda: fit(4, 1))
    one = dict(times)
    fit(1, 2)
    fit(4, 2)
    return {
        "answers": answers,
        "labels": labels,
        "round": (one["cpu4"] - one["cpu1"]) / 3,
        "sort": one["sort4"],
        "wall_round_1": (one["wall4"] - one["wall1"]) / 3,
        "wall_round_2": (times["wall4"] - times["wall1"]) / 3,
        "cpu_round_2": (times["cpu4"] - times["cpu1"]) / 3,
        "peak": peak,
    }


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:4]))))
