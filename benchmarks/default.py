"""Compare the whole default for labels with Dawid-Skene, and an update with a fit from scratch.

    python default.py ANSWERS LABELS WORKERS

prints one JSON object. All times are CPU of `infer` on the same table in memory, kernels compiled
beforehand; Dawid-Skene stops at tolerance 1e-5. The update adds the last hundredth of the answers.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

from crowds import simulated
from measuring import best_cpu, peak_above
from sottovoce import Reports, infer


def main(answers: int, labels: int, workers: int) -> dict[str, float]:
    reports = simulated(answers, labels, workers)
    infer(rows(reports, slice(10**5)))  # compiled
    peak, _ = peak_above(lambda: infer(reports))
    cut = len(reports) - len(reports) // 100
    before, more = infer(rows(reports, slice(cut))), rows(reports, slice(cut, None))
    results: dict[str, Any] = {}

    def run(name: str, work: Any) -> float:
        results[name] = work()  # compiled
        return best_cpu(work, 3 if answers < 10**7 else 1)

    seconds = {
        "dawid_skene": run("ds", lambda: infer(reports, "dawid-skene", tolerance=1e-5)),
        "default": run("default", lambda: infer(reports)),
        "updated": run("updated", lambda: before.updated(more)),
    }
    whole, updated = results["default"], results["updated"]
    rounds = {f"{name}_rounds": result.rounds for name, result in results.items()}
    same = float((whole.truths == updated.truths).mean())
    return {**seconds, **rounds, "same": same, "peak": peak}


def rows(reports: Reports, chosen: slice) -> Reports:
    """Some of the rows."""
    columns: Any = {name: getattr(reports, name)[chosen] for name in ("worker", "task", "value")}
    return replace(reports, **columns)


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:4]))))
