"""Measure how the cost of a round grows with the number of answers, and its memory.

    python growth.py ANSWERS LABELS WORKERS

prints one JSON object.
"""

from __future__ import annotations

import json
import math
import sys
import time

from crowds import simulated
from measuring import best_cpu, peak_above
from sottovoce import DawidSkene, LocalEngine


def main(answers: int, labels: int, workers: int) -> dict[str, float]:
    reports = simulated(answers, labels, workers)
    few, many, repeats = (2, 22, 5) if answers < 10**8 else (1, 5, 2)

    def cost(rounds: int, threads: int) -> tuple[float, float]:
        """The minimum CPU and the minimum wall time of a fit, taken separately."""
        seen = []
        for _ in range(repeats):
            cpu, wall = time.process_time(), time.perf_counter()
            DawidSkene(rounds, -math.inf).fit(LocalEngine(reports, threads=threads))
            seen.append((time.process_time() - cpu, time.perf_counter() - wall))
        return min(cpu for cpu, _ in seen), min(wall for _, wall in seen)

    def per_round(threads: int) -> tuple[float, float]:
        low, high = cost(few, threads), cost(many, threads)
        return (high[0] - low[0]) / (many - few), (high[1] - low[1]) / (many - few)

    DawidSkene(1).fit(LocalEngine(reports))  # load the kernels, map the memory
    one, two = per_round(1), per_round(2)
    peak, _ = peak_above(lambda: DawidSkene(few).fit(LocalEngine(reports, threads=1)))
    return {
        "answers": answers,
        "labels": labels,
        "round": one[0],
        "sort": best_cpu(lambda: LocalEngine(reports, threads=1), repeats),
        "wall_round_1": one[1],
        "wall_round_2": two[1],
        "peak": peak,
    }


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:4]))))
