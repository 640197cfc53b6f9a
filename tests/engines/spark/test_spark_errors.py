"""What Spark says at length, in one line."""

from __future__ import annotations

import pytest

from sottovoce.engines.spark.session import SparkFailed, spark_errors
from sottovoce.errors import SottovoceError, UsageError

TRACE = """
Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times
Traceback (most recent call last):
  File "worker.py", line 3, in main
{}
\tat org.apache.spark.api.python.BasePythonRunner
"""


def said(words: str) -> SottovoceError:
    from pyspark.errors import PySparkException

    with pytest.raises(SottovoceError) as raised, spark_errors():
        raise PySparkException(words)
    return raised.value


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ModuleNotFoundError: No module named 'sottovoce'", "install sottovoce"),
        ("ModuleNotFoundError: No module named 'numba'", "Spark's workers have no numba"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker", "another version of Python"),
        ("[JAVA_GATEWAY_EXITED] Java gateway process exited", "needs Java 17"),
        ("Could not parse Master URL: 'cluster'", "'cluster' is not a Spark master"),
        ("All masters are unresponsive! Giving up.", "no Spark master answers"),
        ("is bigger than spark.driver.maxResultSize", "raise it"),
        ("java.io.IOException: No space left on device", "disk of the cluster is full"),
    ],
)
def test_known_mistakes_have_a_way_out(words: str, expected: str) -> None:
    error = said(TRACE.format(words))
    assert isinstance(error, UsageError)
    assert expected in str(error)
    assert "\n" not in str(error)


def test_anything_else_is_its_innermost_reason() -> None:
    error = said(TRACE.format("ValueError: buffer is smaller than requested size"))
    assert isinstance(error, SparkFailed)
    assert str(error) == "Spark gave up: ValueError: buffer is smaller than requested size"


def test_what_was_meant_for_people_goes_through() -> None:
    with pytest.raises(UsageError, match="as it is"), spark_errors():
        raise UsageError("as it is")
