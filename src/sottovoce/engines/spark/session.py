"""The Spark session, and Spark's errors as one line."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sottovoce.engines.spark import check_installed
from sottovoce.errors import SottovoceError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkFailed(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A job that Spark gave up: the reason it gave; details are in its log."""


_KNOWN = {
    r"No module named '?sottovoce": (
        "Spark's workers have no sottovoce: install sottovoce[spark] for the Python there and "
        "name that Python in PYSPARK_PYTHON, or ship an environment (spark-submit --archives)"
    ),
    r"No module named '?(\w+)": (
        "Spark's workers have no {0}: install sottovoce[spark] for the Python there"
    ),
    r"PYTHON_VERSION_MISMATCH|different (?:minor )?version": (
        "Spark's workers run another version of Python: set PYSPARK_PYTHON to the same one"
    ),
    r"JAVA_GATEWAY_EXITED|UnsupportedClassVersionError|JAVA_HOME": (
        "Spark does not start: it needs Java 17 or newer, on the path or at JAVA_HOME"
    ),
    r"Could not parse Master URL: '?([^'\n]*)": (
        "{0!r} is not a Spark master: use spark://host:7077, yarn, k8s://… or local[4]"
    ),
    r"All masters are unresponsive": (
        "no Spark master answers at this address: is it running, and is the port right?"
    ),
    r"maxResultSize": ("the driver collects more than spark.driver.maxResultSize: raise it"),
    r"No space left on device": "a disk of the cluster is full: give spark.local.dir more room",
    r"OutOfMemoryError": (
        "Java ran out of memory: raise spark.executor.memory, or spark.driver.memory"
    ),
    r"stopped SparkContext|SparkContext was shut down|SparkContext has been shutdown": (
        "Spark has stopped: see its log for the reason"
    ),
}


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn an error that Spark raises inside the block into an error of one line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise _said(str(error)) from None


def _said(text: str) -> SottovoceError:
    for pattern, words in _KNOWN.items():
        found = re.search(pattern, text)
        if found is not None:
            return UsageError(words.format(*found.groups()))
    return SparkFailed(f"Spark gave up: {_reason(text)}")


def _reason(text: str) -> str:
    """The innermost reason in a possibly long Java and Python traceback."""
    raised = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception)): (.+)$", text, re.MULTILINE)
    lines = [f"{name}: {words}" for name, words in raised] or text.strip().splitlines() or ["?"]
    return lines[-1 if raised else 0][:300]


SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    # Over TCP each task of a round waits 40 ms for a delayed acknowledgement.
    "spark.python.unix.domain.socket.enabled": str(sys.platform != "win32").lower(),
}
"""Settings for sessions that are started here: quiet logs, and larger batches."""

_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set if spark-submit has started this process; then the master is known."""


@contextmanager
def spark_session(
    master: str | None = None,
    session: SparkSession | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """The given session, or one on a master that ends with the block.

    Without either, this process's session: the active one, or the one of spark-submit.
    """
    check_installed()
    with warnings.catch_warnings():
        # It looks for pandas, which is not used here, and warns about it.
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
            "no Spark master is named: pass master= (spark://host:7077, yarn or local[4]), or "
            "start this with spark-submit"
        )
    with _started(master, settings or {}) as started:
        yield started


@contextmanager
def _started(master: str | None, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    if master is not None and master.startswith("local"):
        # Otherwise it would be the first python3 on the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("sottovoce")
    if master is not None:
        builder = builder.master(master)
    for name, value in {**SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    with spark_errors():
        spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


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
        raise UsageError(
            "this process's Spark session already has its settings: pass them when it starts"
        )
