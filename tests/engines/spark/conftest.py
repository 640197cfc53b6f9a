"""A Spark session, and a real cluster.

Consecutive tests of this folder share one Java process, which takes seconds to start, and the
session that the last of them used. All of it ends before tests elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from tests.engines.spark.cluster import FEW_RETRIES, SMALL_JAVA, Cluster
from tests.engines.spark.java import java_missing

from sottovoce.engines.spark.session import SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL_SESSION = {
    **SETTINGS,
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": SMALL_JAVA,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": SMALL_JAVA,
    "spark.sql.shuffle.partitions": "2",
    # Tables are small here: compiling a query takes longer than running it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    **FEW_RETRIES,
}


@dataclass
class Running:
    """The processes of the tests in this folder, started by the first that needs them."""

    master: str | None = None
    session: SparkSession | None = None
    cluster: Cluster | None = None
    _folder: Path | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def connect(self, master: str) -> SparkSession:
        """The session with this master; one with another ends: a process has one at most."""
        if self.session is None or self.master != master:
            self.disconnect()
            self.session = self._started(master)
            self.master = master
        return self.session

    def disconnect(self) -> None:
        if self.session is not None:
            self.session.stop()
        self.master = self.session = None

    def whole_cluster(self) -> Cluster:
        """The cluster, with all its workers, after any earlier test."""
        if self.cluster is None:
            self.cluster = self._stack.enter_context(Cluster(self._place() / "cluster"))
        self.cluster.restart_workers()
        return self.cluster

    def end(self) -> None:
        self.disconnect()
        self.cluster = self._folder = None
        self._stack.close()

    def _started(self, master: str) -> SparkSession:
        from pyspark.sql import SparkSession

        place = self._place()
        places = {
            "spark.local.dir": str(place / "local"),
            "spark.sql.warehouse.dir": str(place / "warehouse"),
        }
        builder = SparkSession.builder.master(master).appName("sottovoce-tests")
        for name, value in {**SMALL_SESSION, **places}.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()

    def _place(self) -> Path:
        """A folder that is removed once nothing uses it."""
        if self._folder is None:
            patch = self._stack.enter_context(pytest.MonkeyPatch.context())
            patch.setenv("PYSPARK_PYTHON", sys.executable)
            patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
            folder = TemporaryDirectory(prefix="sottovoce-", ignore_cleanup_errors=True)
            self._folder = Path(self._stack.enter_context(folder))
            self._stack.callback(_end_java)
        return self._folder


def _end_java() -> None:
    """End the Java process behind all sessions; it would live until this process ends."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return
    gateway.shutdown()
    gateway.proc.stdin.close()  # which it waits for
    gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None


RUNNING = Running()

# PySpark looks for pandas whenever a table goes through a Python function, and warns about a new
# one; only Arrow is used here.
_PANDAS = "ignore:PySpark does not yet fully support pandas:FutureWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings(_PANDAS))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """After the last consecutive test of this folder, end everything."""
    try:
        yield
    finally:
        if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
            RUNNING.end()


@pytest.fixture(scope="session")
def java() -> None:
    """Skips a test if there is no Java that Spark can use."""
    missing = java_missing()
    if missing is not None:
        pytest.skip(missing)


@pytest.fixture
def spark(java: None) -> SparkSession:
    """A session on this machine, with two threads; other tests have used it before."""
    return RUNNING.connect("local[2]")


@pytest.fixture
def cluster(java: None) -> Cluster:
    """A real cluster of two workers without connections."""
    RUNNING.disconnect()
    return RUNNING.whole_cluster()


@pytest.fixture
def cluster_session(java: None) -> SparkSession:
    """A session on the cluster, which has all of its two cores; other tests have used it before."""
    return RUNNING.connect(RUNNING.whole_cluster().url)
