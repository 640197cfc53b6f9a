"""What goes wrong on a cluster, in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.errors import SottovoceError, UsageError

__all__ = ["SparkFailed", "saying"]


class SparkFailed(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A job that Spark gave up: the reason it gave; its log has the rest."""


_KNOWN = (
    (r"No module named '?sottovoce", (
        "Spark's workers have no sottovoce: install sottovoce[spark] for the Python there and say "
        "which one it is with PYSPARK_PYTHON, or ship an environment with --archives"
    )),
    (r"No module named '?(\w+)", (
        "Spark's workers have no {0}: install sottovoce[spark] for the Python there"
    )),
    (r"PYTHON_VERSION_MISMATCH|different (?:minor )?version", (
        "Spark's workers run another version of Python: set PYSPARK_PYTHON to the same one"
    )),
    (r"JAVA_GATEWAY_EXITED|UnsupportedClassVersionError|JAVA_HOME", (
        "Spark does not start: it needs Java 17 or newer, on the path or at JAVA_HOME"
    )),
    (r"Could not parse Master URL: '?([^'\n]*)", (
        "{0!r} is no Spark master: say spark://host:7077, yarn, k8s://… or local[4]"
    )),
    (r"All masters are unresponsive", (
        "no Spark master answers at this address: is it running, and is the port right?"
    )),
    (r"maxResultSize", (
        "what the driver collects is larger than spark.driver.maxResultSize: raise it"
    )),
    (r"No space left on device", "a disk of the cluster is full: give spark.local.dir more room"),
    (r"OutOfMemoryError", (
        "Java ran out of memory: raise spark.executor.memory, or spark.driver.memory"
    )),
    (r"stopped SparkContext|SparkContext was shut down|SparkContext has been shutdown", (
        "Spark has stopped: its log says why"
    )),
)  # fmt: skip


@contextmanager
def saying() -> Iterator[None]:
    """Turns what Spark raises inside the block into an error of one line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise _said(str(error)) from None


def _said(text: str) -> SottovoceError:
    for pattern, words in _KNOWN:
        found = re.search(pattern, text)
        if found is not None:
            return UsageError(words.format(*found.groups()))
    return SparkFailed(f"Spark gave up: {_reason(text)}")


def _reason(text: str) -> str:
    """The innermost reason in what may be pages of Java's and Python's traces."""
    raised = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception)): (.+)$", text, re.MULTILINE)
    lines = [f"{name}: {words}" for name, words in raised] or text.strip().splitlines() or ["?"]
    return lines[-1 if raised else 0][:300]
