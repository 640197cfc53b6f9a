"""CPU seconds of one fit that uses the kernels, in a fresh process.

python compiling.py LABELS
"""

from __future__ import annotations

import json
import sys
import time

from crowds import simulated
from sottovoce import DawidSkene, LocalEngine

if __name__ == "__main__":
    reports = simulated(100_000, int(sys.argv[1]))
    start = time.process_time()
    DawidSkene(1).fit(LocalEngine(reports))
    print(json.dumps({"seconds": time.process_time() - start}))
