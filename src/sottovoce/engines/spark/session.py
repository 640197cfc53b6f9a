"""The session that work on a cluster goes through."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sottovoce.engines.spark.failing import saying
from sottovoce.errors import NotInstalled, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SETTINGS", "spark_session"]

SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    # Through TCP each task of a round waits 40 ms for an acknowledgement that is delayed.
    "spark.python.unix.domain.socket.enabled": str(sys.platform != "win32").lower(),
}
"""For sessions that are started here: their words are ours, and batches are worth a call."""

_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set where spark-submit has started this process, and has the master."""


@contextmanager
def spark_session(
    master: str | None = None,
    session: SparkSession | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """The session that is given, or one on a master that ends with the block.

    Without either, that of this process: one that is active, or what spark-submit has prepared.
    """
    _check_installed()
    with warnings.catch_warnings():
        # It looks for pandas, which is not used here, and has something to say about it.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        with _found(master, session, settings) as spark:
            yield spark


@contextmanager
def _found(
    master: str | None, session: SparkSession | None, settings: Mapping[str, str] | None
) -> Iterator[SparkSession]:
    if session is not None:
        _check_classic(session)
        yield session
        return
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        _check_same(active, master, settings)
        yield active
        return
    if master is None and _SUBMITTED not in os.environ:
        raise UsageError(
            "which cluster? Say --master spark://host:7077, yarn or local[4], or start this with "
            "spark-submit"
        )
    with _started(master, settings or {}) as started:
        yield started


@contextmanager
def _started(master: str | None, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    if master is not None and master.startswith("local"):
        # Else it would be whichever python3 comes first on the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("sottovoce")
    if master is not None:
        builder = builder.master(master)
    for name, value in {**SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    with saying():
        spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def _check_installed() -> None:
    try:
        import pyarrow  # noqa: F401
        import pyspark
    except ImportError as error:
        library = str(error.name or "pyspark").partition(".")[0]
        raise NotInstalled(library, purpose="the Spark engine", extra="spark") from None
    if int(pyspark.__version__.partition(".")[0]) < 4:
        raise UsageError(
            f"the Spark engine needs PySpark 4 or newer, not {pyspark.__version__}: "
            "pip install 'sottovoce[spark]'"
        )


def _check_classic(session: SparkSession) -> None:
    from pyspark.errors import PySparkException

    try:
        session.sparkContext  # noqa: B018 - Connect's has none
    except PySparkException:
        raise UsageError("the session is one of Spark Connect: a classic one is needed") from None


def _check_same(
    active: SparkSession, master: str | None, settings: Mapping[str, str] | None
) -> None:
    there = active.sparkContext.master
    if master is not None and master != there:
        raise UsageError(
            f"this process is connected to {there} already: stop that session, or name no master"
        )
    if settings:
        raise UsageError("the session of this process has its settings: give them when it starts")
