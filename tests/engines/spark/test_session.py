"""Spark sessions: given, named by a master, or started by spark-submit."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from sottovoce.engines.spark.session import spark_session
from sottovoce.errors import NotInstalled, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_session_that_is_given_goes_on(spark: SparkSession) -> None:
    with spark_session(session=spark) as found:
        assert found is spark
    assert spark.range(3).count() == 3


def test_a_session_that_is_active_is_used(spark: SparkSession) -> None:
    with spark_session() as found:
        assert found.sparkContext is spark.sparkContext
    with spark_session("local[2]") as found:
        assert found.sparkContext is spark.sparkContext


def test_a_process_has_one_master(spark: SparkSession) -> None:
    refused = pytest.raises(UsageError, match=r"connected to local\[2\] already")
    with refused, spark_session("local[7]"):
        pass


def test_without_a_master_there_is_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(UsageError, match="no Spark master is named"), spark_session():
        pass


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    refused = pytest.raises(NotInstalled, match=r"needs pyspark.*\[spark\]")
    with refused, spark_session("local[2]"):
        pass
