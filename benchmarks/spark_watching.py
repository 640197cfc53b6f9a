"""A Spark session of a benchmark that records the bytes moved and the memory of each round.

Bytes come from Spark's event log: those written to shuffles, those of tasks' results, and those of
broadcast pieces. Rounds are distinguished by the description of their jobs.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from measuring import resident
from sottovoce.engines.spark.session import SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["CORES", "Moved", "Watched", "watched"]

CORES = 2


@dataclass(slots=True)
class Moved:
    """Bytes sent from one process to another."""

    shuffled: int = 0
    broadcast: int = 0
    collected: int = 0


@dataclass(frozen=True, slots=True)
class Watched:
    """A session and the folder of its event log."""

    spark: SparkSession
    folder: Path
    moved: dict[str, Moved] = field(default_factory=dict)

    def describe(self, what: str) -> Self:
        """Set the description of the next jobs."""
        self.spark.sparkContext.setJobDescription(what)
        return self

    def held(self) -> dict[str, int]:
        """Peak resident bytes so far of Java and of the Python processes that it started.

        Pages that Python processes share count for each of them.
        """
        java = {pid for pid in _children(os.getpid()) if _command(pid) == "java"}
        python = {pid for parent in java for pid in _descendants(parent)}
        return {
            "java": sum(map(_peak, java)),
            "python": sum(map(_peak, python)),
        }


@contextmanager
def watched(memory: str, *, logged: bool, **settings: str) -> Iterator[Watched]:
    """A session on this machine's two cores.

    If `logged`, `moved` reports the bytes moved after the session; logging slows rounds down.
    """
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with TemporaryDirectory() as name:
        log = Path(name) / "log"
        log.mkdir()
        builder = SparkSession.builder.master(f"local[{CORES}]").appName("benchmark")
        for key, value in {
            "spark.driver.memory": memory,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": f"{name}/local",
            "spark.ui.enabled": "false",
            **SETTINGS,
            "spark.eventLog.enabled": str(logged).lower(),
            "spark.eventLog.dir": log.as_uri(),
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false",
            "spark.eventLog.logBlockUpdates.enabled": "true",
            **settings,
        }.items():
            builder = builder.config(key, value)
        session = Watched(builder.getOrCreate(), Path(name))
        try:
            yield session
        finally:
            session.spark.stop()
        for file in log.iterdir():
            session.moved.update(_moved(file))


def _moved(file: Path) -> dict[str, Moved]:
    """Bytes moved under each description.

    A broadcast happens before the job that needs it and has no job, so it counts for the
    description of the next job that starts.
    """
    moved: dict[str, Moved] = defaultdict(Moved)
    stages: dict[int, str] = {}
    waiting = 0
    for event in map(json.loads, file.read_text().splitlines()):
        match event["Event"]:
            case "SparkListenerJobStart":
                what = event["Properties"].get("spark.job.description", "")
                stages |= dict.fromkeys(event["Stage IDs"], what)
                moved[what].broadcast += waiting
                waiting = 0
            case "SparkListenerBlockUpdated":
                waiting += _piece(event["Block Updated Info"])
            case "SparkListenerTaskEnd":
                metrics = event.get("Task Metrics", {})
                task = moved[stages[event["Stage ID"]]]
                task.shuffled += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                task.collected += metrics["Result Size"]
    return moved


def _piece(update: dict[str, Any]) -> int:
    name = update["Block ID"]
    if not (name.startswith("broadcast_") and "_piece" in name):
        return 0
    return int(update["Memory Size"] + update["Disk Size"])


def _peak(process: int) -> int:
    """Peak resident bytes of a process; 0 if it has ended."""
    try:
        return resident(process, peak=True)
    except (LookupError, OSError):
        return 0


def _descendants(process: int) -> Iterator[int]:
    for pid in _children(process):
        yield pid
        yield from _descendants(pid)


def _children(process: int) -> list[int]:
    folder = Path(f"/proc/{process}/task")
    return [
        int(pid) for task in folder.iterdir() for pid in (task / "children").read_text().split()
    ]


def _command(process: int) -> str:
    return Path(f"/proc/{process}/comm").read_text().strip()
