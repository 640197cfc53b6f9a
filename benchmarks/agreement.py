"""Compare agreement with intervals, and the test for a signal, with Dawid-Skene.

    python agreement.py ANSWERS LABELS

prints one JSON object with the CPU seconds of each on the same table.
"""

from __future__ import annotations

import json
import sys

from crowds import simulated
from measuring import best_cpu
from sottovoce import DawidSkene, LocalEngine
from sottovoce.inference.agreement import agreement_of
from sottovoce.inference.signal import signal


def main() -> None:
    answers, labels = map(int, sys.argv[1:])
    table = simulated(answers, labels)
    engine = LocalEngine(table, threads=1)
    signal(engine)  # compiles
    seen = {
        "dawid_skene": best_cpu(lambda: DawidSkene(tolerance=1e-5).fit(engine)),
        "agreement": best_cpu(lambda: agreement_of(table)),
        "signal": best_cpu(lambda: signal(engine)),
    }
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
