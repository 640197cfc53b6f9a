"""Measure start-up: imports, the command line's help, and the first compilation."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

from measuring import child

__all__ = ["compile_seconds", "help_seconds", "import_ratio"]


def import_ratio(repeats: int = 15) -> tuple[float, float, float]:
    """Seconds of `import numpy` and of `import sottovoce`, and the median of their ratios.

    The two take turns, so that other load affects both.
    """
    ours, theirs = [], []
    for _ in range(repeats):
        theirs.append(_import("numpy"))
        ours.append(_import("sottovoce"))
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    return min(theirs), min(ours), ratios[len(ratios) // 2]


def help_seconds(repeats: int = 5) -> float:
    """Wall time of `sottovoce --help`, best of several."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "sottovoce", "--help"], check=True, capture_output=True
        )
        times.append(time.perf_counter() - start)
    return min(times)


def compile_seconds(labels: int) -> float:
    """The additional cost of the first fit with an empty cache, compared with a warm one."""
    with tempfile.TemporaryDirectory() as folder:
        fits = [
            child("compiling.py", str(labels), environment={"NUMBA_CACHE_DIR": folder})["seconds"]
            for _ in range(2)
        ]
    return float(fits[0] - fits[1])


def _import(module: str) -> float:
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)
