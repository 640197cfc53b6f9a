"""CPU time and peak memory, measured in the same way for all benchmarks."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = [
    "FOLDER",
    "best_cpu",
    "child",
    "cpu_of_command",
    "peak_above",
    "resident",
    "this_machine",
]

FOLDER = Path(__file__).parent


def best_cpu(work: Callable[[], Any], repeats: int = 3) -> float:
    """The minimum CPU time of several runs, over all threads."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def cpu_of_command(command: list[str], repeats: int = 1) -> tuple[float, float]:
    """The minimum CPU and wall time of a command and its children."""
    seen = []
    for _ in range(repeats):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        seen.append((cpu, time.perf_counter() - start))
    return min(seen)


def peak_above(work: Callable[[], Any]) -> tuple[int, int]:
    """Peak resident bytes of this process during some work, in total and above the start.

    The kernel's high-water mark is reset first (Linux).
    """
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    work()
    peak = _status("VmHWM")
    return peak, peak - before


def child(script: str, *arguments: str, environment: dict[str, str] | None = None) -> Any:
    """The JSON output of a benchmark script, run in a new process."""
    done = subprocess.run(
        [sys.executable, str(FOLDER / script), *arguments],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    )
    return json.loads(done.stdout)


def this_machine() -> str:
    """The machine and the software versions, in one line."""
    import platform
    from importlib.metadata import version

    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    named = ("numpy", "numba", "pandas", "fastapi", "uvicorn", "sqlalchemy", "pyspark")
    libraries = ", ".join(f"{name} {version(name)}" for name in named)
    return (
        f"{os.cpu_count()} cores ({model}), Python {platform.python_version()}, {libraries}, "
        f"duckdb {version('duckdb')}, crowd-kit {version('crowd-kit')}"
    )


def resident(process: int, *, peak: bool = False) -> int:
    """Resident bytes of a process now, or their peak since the last reset."""
    return _status("VmHWM" if peak else "VmRSS", str(process))


def _status(field: str, process: str = "self") -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def tell(what: Any) -> None:
    print(f"… {what}", file=sys.stderr, flush=True)
