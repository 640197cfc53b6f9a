"""A real Spark cluster on this machine: a master and workers, each a process that can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sottovoce.errors import SottovoceError
from sottovoce.testing.server_process import free_port, wait_until

__all__ = ["FEW_RETRIES", "SMALL_JAVA", "Cluster", "spark_environment", "spark_program"]

SMALL_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""For processes that live for seconds, next to others: they start sooner and need less."""

FEW_RETRIES = {"spark.shuffle.io.maxRetries": "1", "spark.shuffle.io.retryWait": "1s"}
"""Killed processes do not come back: short timeouts are enough."""

# A process that waits on a pipe from these tests ends its whole process group when that closes:
# nothing survives the tests, even if they crash. A worker's executors are in its group.
_TOGETHER = '"$@" & cat > /dev/null; kill -KILL 0'


def spark_environment() -> dict[str, str]:
    """This process's environment, in which Spark is PySpark's own and Python is this one."""
    import pyspark

    return {
        **os.environ,
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "192m",
        "SPARK_DAEMON_JAVA_OPTS": SMALL_JAVA,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(Path(__file__).parents[3]),  # steps that tests define
    }


def spark_program(name: str) -> str:
    """One of the programs that PySpark brings: spark-class, spark-submit."""
    return str(Path(spark_environment()["SPARK_HOME"]) / "bin" / name)


@dataclass(frozen=True, slots=True)
class _Member:
    """A process and all that it starts."""

    leader: subprocess.Popen[bytes]
    log: Path

    @classmethod
    def start(cls, folder: Path, *command: str, environment: Mapping[str, str]) -> Self:
        folder.mkdir(parents=True)
        log = folder / "log"
        with log.open("wb") as out:
            leader = subprocess.Popen(
                ["sh", "-c", _TOGETHER, "sh", spark_program("spark-class"), *command],
                cwd=folder,
                env={**environment, "SPARK_LOCAL_DIRS": str(folder / "local")},
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return cls(leader, log)

    def kill(self) -> None:
        if self.leader.poll() is None:
            os.killpg(self.leader.pid, signal.SIGKILL)
        self.leader.wait()
        if self.leader.stdin is not None:
            self.leader.stdin.close()


class Cluster:
    """A standalone cluster of workers with one core each, while the block runs.

    with Cluster(tmp_path) as cluster:
        SparkSession.builder.master(cluster.url)
        cluster.kill_worker()
        cluster.restart_workers()
    """

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder, self._wanted, self._started = folder, workers, 0
        self._port, self._page = free_port(), free_port()
        self._environment = spark_environment()
        self._master: _Member | None = None
        self._workers: list[_Member] = []

    @property
    def url(self) -> str:
        """The address for drivers."""
        return f"spark://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        try:
            self._master = _Member.start(
                self._folder / "master",
                "org.apache.spark.deploy.master.Master",
                *("--host", "127.0.0.1", "--port", str(self._port)),
                *("--webui-port", str(self._page)),
                environment=self._environment,
            )
            self.restart_workers()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        while self._workers:
            self.kill_worker()
        if self._master is not None:
            self._master.kill()

    def kill_worker(self) -> None:
        """Kill a worker and its executors at any moment (SIGKILL)."""
        self._workers.pop().kill()

    def restart_workers(self) -> None:
        """Start a worker for each that was killed, and wait until the master knows them all."""
        while len(self._workers) < self._wanted:
            self._started += 1
            self._workers.append(self._worker(self._folder / f"worker-{self._started}"))
        try:
            wait_until(self._complete, "the cluster's workers")
        except SottovoceError as error:
            raise SottovoceError(f"{error}: {self._last_words()}") from None

    def _worker(self, folder: Path) -> _Member:
        return _Member.start(
            folder,
            "org.apache.spark.deploy.worker.Worker",
            *("--host", "127.0.0.1", "--webui-port", "0", "--work-dir", str(folder / "work")),
            *("--cores", "1", "--memory", "1g", self.url),
            environment=self._environment,
        )

    def _complete(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=5) as page:
                known = json.load(page)["workers"]
        except OSError:
            return False  # not yet
        alive = sum(worker["state"] == "ALIVE" for worker in known)
        # The master may not have noticed yet that a worker was killed.
        return len(known) == self._started and alive == self._wanted

    def _last_words(self) -> str:
        members = [self._master, *self._workers]
        logs = [member.log.read_text(errors="replace") for member in members if member]
        return "\n".join(line for log in logs for line in log.splitlines()[-5:])
