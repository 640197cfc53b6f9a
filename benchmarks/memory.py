"""Measure the peak memory of ten rounds of Dawid-Skene.

    python memory.py sottovoce|crowd-kit ANSWERS LABELS

prints one JSON object: peak resident bytes, in total and above the process with its data.
"""

from __future__ import annotations

import json
import math
import sys
import warnings

from crowds import simulated
from measuring import peak_above


def main(tool: str, answers: int, labels: int) -> dict[str, int]:
    reports = simulated(answers, labels)
    if tool == "sottovoce":
        from sottovoce import DawidSkene, LocalEngine

        DawidSkene(1).fit(LocalEngine(simulated(200_000, labels)))
        peak, above = peak_above(
            lambda: DawidSkene(10, -math.inf).fit(LocalEngine(reports, threads=1))
        )
    else:
        import numpy as np
        import pandas as pd
        from crowdkit.aggregation import DawidSkene as PeerDawidSkene

        warnings.simplefilter("ignore")
        frame = pd.DataFrame(
            {"worker": reports.worker, "task": reports.task, "label": reports.value}
        )
        del reports
        # Two rounds reach the peak; ten would take minutes.
        peak, above = peak_above(lambda: PeerDawidSkene(n_iter=2, tol=-np.inf).fit(frame))
    return {"peak": peak, "above": above}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
